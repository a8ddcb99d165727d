"""Constraints written by users, with as little as `is_feasible`."""

import doctest

import numpy as np
import pytest
from brute_force import best_replacement, is_replacement, pad_supports
from constraints import KINDS, make_constraint
from synthetic import planted, random_ground_set

from dictsel_core import (
    AverageSparsity,
    Constraint,
    IndividualSparsity,
    constrained_omp,
    replacement_ols,
    replacement_omp,
)
from dictsel_core.constraints import LocalConstraint, ReplacementGains, SeparableConstraint
from dictsel_core.selection import (
    chunked_replacement_omp,
    iter_chunked_replacement_omp,
    iter_replacement_ols,
    iter_replacement_omp,
    iter_stochastic_replacement_omp,
    replacement_greedy,
    stochastic_replacement_omp,
)
from dictsel_core.theory import approximation_bound

N_POINTS, N_CANDIDATES = 12, 10
SEPARABLE = [
    kind
    for kind in KINDS
    if isinstance(make_constraint(kind, np.random.default_rng(0), 3, 6), SeparableConstraint)
]


class ByFeasibility(Constraint):
    """Any constraint, of which nothing is known but what it allows."""

    def __init__(self, inner):
        self.inner = inner

    def is_feasible(self, supports):
        return self.inner.is_feasible(supports)


@pytest.fixture(scope="module")
def excluding():
    """The class that the documentation of `Constraint` defines."""
    names: dict[str, object] = {}
    example = doctest.DocTestFinder(recurse=False).find(Constraint, "Constraint", globs=names)[0]
    assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0
    return example.globs["Excluding"]


def problem(seed):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 8, N_CANDIDATES)
    return rng, ground_set, planted(rng, ground_set, N_POINTS, 5, 3)[0]


def runs(ground_set, data, constraint, n_atoms):
    """Runs of all selectors that take any constraint."""
    chunks = np.split(data, [5, 7])
    return {
        "replacement_omp": iter_replacement_omp(ground_set, data, constraint, n_atoms),
        "replacement_ols": iter_replacement_ols(ground_set, data, constraint, n_atoms),
        "chunked": iter_chunked_replacement_omp(ground_set, chunks, constraint, n_atoms),
        "sampled": iter_stochastic_replacement_omp(ground_set, data, constraint, n_atoms, sample=5),
        "drawn": iter_stochastic_replacement_omp(ground_set, data, constraint, n_atoms),
    }


@pytest.mark.parametrize("decay", [False, True])
def test_it_works_end_to_end(excluding, decay):
    rng = np.random.default_rng(0)
    ground_set, data = random_ground_set(rng, 8, 12), rng.normal(size=(20, 8))
    free = replacement_omp(ground_set, data, IndividualSparsity(2), 4, decay=decay)
    excluded = free.indices[:2].tolist()
    constraint = excluding(2, excluded)
    selection = replacement_omp(ground_set, data, constraint, 4, decay=decay)
    assert constraint.is_feasible(selection.supports)
    assert not constraint.is_feasible(free.supports)
    assert set(selection.indices.tolist()).isdisjoint(excluded)
    # Excluding nothing is the constraint it wraps.
    unrestricted = replacement_omp(ground_set, data, excluding(2, []), 4, decay=decay)
    np.testing.assert_array_equal(unrestricted.indices, free.indices)


@pytest.mark.parametrize("kind", SEPARABLE)
def test_where_each_patch_has_its_own_constraint_the_greedy_replacement_is_the_best(kind):
    rng, ground_set, data = problem(1)
    constraint = make_constraint(kind, rng, N_POINTS, N_CANDIDATES)
    ours, exact = (runs(ground_set, data, each, 6) for each in (ByFeasibility(constraint), constraint))
    for name in ("replacement_omp", "replacement_ols", "chunked", "drawn"):
        found, wanted = ours[name].finish(), exact[name].finish()
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_allclose(found.gains, wanted.gains, atol=1e-12)
        for support, other in zip(found.supports, wanted.supports, strict=True):
            assert set(support.tolist()) == set(other.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_every_selector_obeys_it_after_every_step(kind):
    rng, ground_set, data = problem(2)
    constraint = make_constraint(kind, rng, N_POINTS, N_CANDIDATES)
    best = replacement_omp(ground_set, data, constraint, 6)
    for name, run in runs(ground_set, data, ByFeasibility(constraint), 6).items():
        before = 0.0
        for step in run:
            assert constraint.is_feasible(run.result.supports), name
            if name in ("replacement_omp", "chunked", "drawn"):
                assert step.objective >= before - 1e-9
                before = step.objective
        certificate = run.result.certificate
        assert certificate.achieved <= certificate.upper_bound
        assert best.certificate.achieved <= certificate.upper_bound * (1 + 1e-9), name


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_of_this_package_work_in_chunks_and_samples(kind):
    rng, ground_set, data = problem(3)
    constraint = make_constraint(kind, rng, N_POINTS, N_CANDIDATES)
    whole = replacement_omp(ground_set, data, constraint, 6)
    chunked = chunked_replacement_omp(ground_set, np.split(data, [5, 7]), constraint, 6)
    np.testing.assert_array_equal(chunked.indices, whole.indices)
    np.testing.assert_allclose(chunked.objective, whole.objective)
    drawn = stochastic_replacement_omp(ground_set, data, constraint, 6)
    np.testing.assert_array_equal(drawn.indices, whole.indices)
    np.testing.assert_allclose(drawn.objective, whole.objective)
    sampled = stochastic_replacement_omp(ground_set, data, constraint, 6, sample=5)
    assert constraint.is_feasible(sampled.supports)


def test_samples_have_error_bounds_only_if_patches_share_nothing():
    _, ground_set, data = problem(4)
    for constraint, is_bounded in ((IndividualSparsity(2), True), (AverageSparsity(2, 20), False)):
        step = next(iter_stochastic_replacement_omp(ground_set, data, constraint, 3, sample=5))
        assert np.isfinite(step.error) == is_bounded


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_greedy_replacement_is_feasible_and_its_bounds_hold(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = make_constraint(kind, rng, 3, 6)
    supports = [[] for _ in range(3)]
    for t, atom in zip(rng.integers(3, size=6).tolist(), rng.permutation(6).tolist(), strict=True):
        supports[t].append(atom)
        if not constraint.is_feasible([np.array(z, int) for z in supports]):
            supports[t].pop()
    gains, costs = rng.integers(0, 5, (3, 6)).astype(float), np.full((3, 6), np.inf)
    for t, support in enumerate(supports):
        gains[t, support], costs[t, : len(support)] = 0, rng.integers(0, 4, len(support))
    sizes = np.array([len(support) for support in supports])
    table = ReplacementGains(gains, costs, pad_supports(supports, 6), sizes)
    greedy = ByFeasibility(constraint)
    for atom in range(6):

        def worth(t, option, atom=atom):
            added, slot = option
            return added * gains[t, atom] - (costs[t, slot] if slot >= 0 else 0)

        optimum = best_replacement(constraint, supports, atom, worth)
        found = greedy.replacement(table, atom)
        assert is_replacement(constraint, supports, atom, found)
        assert found.value <= optimum + 1e-9 <= greedy.values(table)[atom] + 2e-9
        pairs = zip(found.added.tolist(), found.removed.tolist(), strict=True)
        assert found.value == pytest.approx(sum(worth(t, pair) for t, pair in enumerate(pairs)))


def test_data_are_coded_under_it(excluding):
    _, ground_set, data = problem(5)
    constraint = excluding(2, [0, 1])
    selection = replacement_ols(ground_set, data, constraint, 5)
    codes = constrained_omp(selection.dictionary, data, constraint, indices=selection.indices)
    assert constraint.is_feasible([selection.indices[row[row >= 0]] for row in codes.supports])


def test_nothing_is_guaranteed_where_nothing_is_known(excluding):
    _, ground_set, _ = problem(6)
    bound = approximation_bound(ground_set, excluding(2, []), n_points=20, n_atoms=4)
    assert (bound.ratio, bound.replacement_sparsity, bound.sparsity) == (0.0, None, 4)


def test_one_replacement_for_each_atom_guarantees_what_individual_sparsity_does():
    class Individual(ByFeasibility):
        one_replacement_per_atom = treats_atoms_alike = True

        def capacity(self, *sizes):
            return self.inner.capacity(*sizes)

    inner, ground_set = IndividualSparsity(2), problem(6)[1]
    own, known = (
        approximation_bound(ground_set, each, n_points=20, n_atoms=4) for each in (Individual(inner), inner)
    )
    assert own == known
    assert own.replacement_sparsity == 4


def test_replacement_greedy_asks_for_a_local_constraint(excluding):
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="not Excluding; use replacement_omp"):
        replacement_greedy(random_ground_set(rng, 4, 5), rng.normal(size=(3, 4)), excluding(1, [0]), 2)


@pytest.mark.parametrize("base", [Constraint, LocalConstraint, SeparableConstraint])
def test_a_method_left_out_is_named(base):
    for name in base.__abstractmethods__:
        others = {other: getattr(AverageSparsity, other, None) for other in base.__abstractmethods__ - {name}}
        unfinished = type("Unfinished", (base,), others)
        with pytest.raises(TypeError, match=rf"Unfinished.* abstract method '?{name}\b"):
            unfinished()
