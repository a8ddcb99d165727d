import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from brute_force import best_replacement, is_replacement, pad_supports
from constraints import KINDS, LOCAL_KINDS, make_constraint
from hypothesis import given, settings
from hypothesis import strategies as st

import dictsel_core
from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    constraints,
)
from dictsel_core.constraints import Matroid, OracleMatroid, ReplacementGains, SwapTable, UniformMatroid

N_POINTS, N_CANDIDATES = 3, 6


def feasible_supports(rng, constraint):
    """Random supports that the constraint allows, grown atom by atom."""
    supports = [[] for _ in range(N_POINTS)]
    for _ in range(int(rng.integers(0, 12))):
        t, atom = int(rng.integers(N_POINTS)), int(rng.integers(N_CANDIDATES))
        if atom in supports[t]:
            continue
        supports[t].append(atom)
        if not constraint.is_feasible([np.array(z, int) for z in supports]):
            supports[t].pop()
    return supports


def gains_for(rng, supports, capacity):
    gains = rng.integers(0, 5, (N_POINTS, N_CANDIDATES)).astype(float)  # ties are frequent
    costs = np.full((N_POINTS, capacity), np.inf)
    for t, support in enumerate(supports):
        gains[t, support] = 0
        costs[t, : len(support)] = rng.integers(0, 4, len(support))
    sizes = np.array([len(z) for z in supports])
    return ReplacementGains(gains, costs, pad_supports(supports, capacity), sizes)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(list(KINDS)))
def test_best_replacement_equals_brute_force_over_all_feasible_ones(seed, kind):
    rng = np.random.default_rng(seed)
    constraint = make_constraint(kind, rng, N_POINTS, N_CANDIDATES)
    supports = feasible_supports(rng, constraint)
    capacity = constraint.capacity(N_POINTS, N_CANDIDATES, N_CANDIDATES)
    table = gains_for(rng, supports, capacity)
    values = constraint.values(table)
    bounds = constraint.bounds(table, float(rng.integers(0, 4)))
    for atom in range(N_CANDIDATES):

        def worth(t, option, atom=atom):
            added, slot = option
            return added * table.gains[t, atom] - (table.costs[t, slot] if slot >= 0 else 0)

        optimum = best_replacement(constraint, supports, atom, worth)
        found = constraint.replacement(table, atom)
        assert values[atom] == pytest.approx(optimum)
        assert found.value == pytest.approx(optimum)
        assert bounds[atom] >= optimum - 1e-9
        assert is_replacement(constraint, supports, atom, found)
        pairs = zip(found.added.tolist(), found.removed.tolist(), strict=True)
        assert sum(worth(t, option) for t, option in enumerate(pairs)) == pytest.approx(optimum)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(LOCAL_KINDS))
def test_best_swap_equals_brute_force_with_utilities_that_do_not_add_up(seed, kind):
    """Any monotone utilities f_t do: here, random ones that are not sums."""
    rng = np.random.default_rng(seed)
    constraint = make_constraint(kind, rng, N_POINTS, N_CANDIDATES)
    supports = feasible_supports(rng, constraint)
    capacity = constraint.capacity(N_POINTS, N_CANDIDATES, N_CANDIDATES)
    weights = rng.integers(0, 9, (N_POINTS, 4, N_CANDIDATES))

    def utility(t, atoms):
        return float(weights[t, :, list(atoms)].max(axis=0, initial=0).sum())

    additions = np.zeros((N_POINTS, N_CANDIDATES))
    swaps = np.full((N_POINTS, capacity, N_CANDIDATES), -np.inf)
    for t, support in enumerate(supports):
        for atom in set(range(N_CANDIDATES)) - set(support):
            additions[t, atom] = utility(t, [*support, atom]) - utility(t, support)
            for slot in range(len(support)):
                swapped = [*support[:slot], atom, *support[slot + 1 :]]
                swaps[t, slot, atom] = utility(t, swapped) - utility(t, support)
    sizes = np.array([len(z) for z in supports])
    table = SwapTable(additions, swaps, pad_supports(supports, capacity), sizes)
    values = constraint.swap_values(table)
    for atom in range(N_CANDIDATES):

        def worth(t, option, atom=atom):
            added, slot = option
            after = [a for s, a in enumerate(supports[t]) if s != slot] + [atom] * added
            return utility(t, after) - utility(t, supports[t])

        optimum = best_replacement(constraint, supports, atom, worth)
        found = constraint.swap(table, atom)
        assert values[atom] == pytest.approx(optimum)
        assert found.value == pytest.approx(optimum)
        assert is_replacement(constraint, supports, atom, found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_points", [1, N_POINTS, 10])
def test_every_kind_fits_its_data_and_allows_empty_supports(kind, n_points):
    constraint = make_constraint(kind, np.random.default_rng(0), n_points, N_CANDIDATES)
    assert isinstance(constraint, Constraint)
    constraint.check(n_points, N_CANDIDATES)
    assert constraint.is_feasible([np.array([], int)] * n_points)


def test_every_constraint_is_exported():
    names = [f"{constraints.__name__}.{module.name}" for module in pkgutil.iter_modules(constraints.__path__)]
    members = [value for name in names for value in vars(importlib.import_module(name)).values()]
    found = {each for each in members if inspect.isclass(each) and issubclass(each, Constraint)}
    public = {each.__name__ for each in found if not each.__name__.startswith("_")}
    assert "BlockMatroidSparsity" in public
    assert public <= set(dictsel_core.constraints.__all__)


def test_every_exported_constraint_and_matroid_has_a_kind():
    """A class that is not in the catalog would go untested."""
    made = [make_constraint(kind, np.random.default_rng(0), N_POINTS, N_CANDIDATES) for kind in KINDS]
    matroids = [m for c in made if isinstance(c, MatroidSparsity) for m in np.atleast_1d(c.matroids)]
    exported = (getattr(dictsel_core.constraints, name) for name in dictsel_core.constraints.__all__)
    classes = {value for value in exported if isinstance(value, type)}
    concrete = {c for c in classes if issubclass(c, Constraint | Matroid) and not inspect.isabstract(c)}
    assert concrete == {type(thing) for thing in (*made, *matroids)}


def test_feasibility_is_the_definition():
    z = [np.array(atoms, int) for atoms in ([0, 1], [1, 2, 3], [])]
    assert IndividualSparsity(3).is_feasible(z)
    assert not IndividualSparsity(2).is_feasible(z)
    assert IndividualSparsity([2, 3, 1]).is_feasible(z)
    assert not IndividualSparsity([3, 2, 1]).is_feasible(z)
    assert AverageSparsity(3, 5).is_feasible(z)
    assert not AverageSparsity(3, 4).is_feasible(z)
    assert not AverageSparsity(2, 5).is_feasible(z)
    assert AverageSparsity(None, 5).is_feasible(z)
    assert BlockSparsity([[0, 1], [2]], 4).is_feasible(z)
    assert not BlockSparsity([[0, 1], [2]], 3).is_feasible(z)
    assert BlockSparsity([[0], [1], [2]], [2, 3, 1]).is_feasible(z)
    assert MatroidSparsity(PartitionMatroid([0, 1, 0, 1, 1], [1, 2])).is_feasible(z)
    assert not MatroidSparsity(PartitionMatroid([0, 1, 0, 1, 1], 1)).is_feasible(z)


def test_labels_may_be_any_numbers_and_the_budget_any_integer_type():
    by_label = BlockSparsity.from_labels([7, 10**9, 7], [1, 2])
    z = [np.array(atoms, int) for atoms in ([0], [1, 2], [0])]
    assert by_label.is_feasible(z)
    assert not by_label.is_feasible([z[1], z[1], z[0]])
    assert type(AverageSparsity(2, np.uint8(200)).budget) is int


def test_replacement_sparsity_parameters_are_the_papers():
    k = 7
    matroid = MatroidSparsity(UniformMatroid(2))
    assert IndividualSparsity(2).replacement_sparsity(k) == k
    assert matroid.replacement_sparsity(k) == k
    assert BlockSparsity([[0]], 2).replacement_sparsity(k) == k
    assert AverageSparsity(2, 5).replacement_sparsity(k) == 3 * k - 1
    assert AverageSparsity(None, 5).replacement_sparsity(k) == 2 * k - 1
    for steps in (1, 3, 12):
        assert IndividualSparsity(2).replacement_sparsity(k, steps) == k
        assert matroid.replacement_sparsity(k, steps) == k
        assert BlockSparsity([[0]], 2).replacement_sparsity(k, steps) == k
        assert AverageSparsity(2, 5).replacement_sparsity(k, steps) == 2 * k + steps - 1
        assert AverageSparsity(None, 5).replacement_sparsity(k, steps) == k + steps - 1


@pytest.mark.parametrize("matroid", [UniformMatroid(3), PartitionMatroid([0, 0, 1, 1, 1, 2], [1, 2, 0])])
def test_vectorized_exchanges_equal_the_oracles(matroid):
    rng = np.random.default_rng(1)
    constraint = MatroidSparsity(matroid)
    for _ in range(50):
        supports = pad_supports(feasible_supports(rng, constraint), 3)
        atoms = np.arange(N_CANDIDATES)
        free, slots = matroid.exchanges(supports, atoms)
        oracle_free, oracle_slots = OracleMatroid(matroid.is_independent).exchanges(supports, atoms)
        for row, support in enumerate(supports):
            others = np.setdiff1d(atoms, support)
            np.testing.assert_array_equal(free[row, others], oracle_free[row, others])
            np.testing.assert_array_equal(slots[row][:, others], oracle_slots[row][:, others])
    assert matroid.rank(N_CANDIDATES) == OracleMatroid(matroid.is_independent).rank(N_CANDIDATES)


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: IndividualSparsity(0), ValueError, "sparsity must be at least 1"),
        (lambda: IndividualSparsity(2.5), TypeError, "whole number"),
        (lambda: IndividualSparsity(True), TypeError, "whole number"),
        (lambda: IndividualSparsity([1, 0]), ValueError, r"sparsity\[1\] is 0"),
        (lambda: IndividualSparsity([[1]]), TypeError, "one-dimensional"),
        (lambda: AverageSparsity(3, -1), ValueError, "budget must be at least 1, but is -1"),
        (lambda: AverageSparsity(3, 2.0), TypeError, "budget must be a whole number"),
        (lambda: AverageSparsity(0, 5), ValueError, "sparsity must be at least 1"),
        (lambda: BlockSparsity([[0, 1], [1, 2]], 2), ValueError, "patch 1 is named twice"),
        (lambda: BlockSparsity([[0], [2]], 2), ValueError, "patch 1 is in none"),
        (lambda: BlockSparsity([[0], []], 2), ValueError, "blocks must not be empty"),
        (lambda: BlockSparsity(5, 2), TypeError, "sequence of blocks"),
        (lambda: BlockSparsity([[0, 10**12]], 2), ValueError, "patch 1 is in none"),
        (lambda: BlockSparsity([], 2), ValueError, "at least one block"),
        (lambda: BlockSparsity([[0]], [1, 2]), ValueError, "one cap or one per block"),
        (lambda: BlockSparsity([[0]], 0), ValueError, "at least 1"),
        (lambda: UniformMatroid(0), ValueError, "size"),
        (lambda: PartitionMatroid([0, 1], [1]), ValueError, "one entry per group"),
        (lambda: PartitionMatroid([0, -1], 1), ValueError, "groups"),
        (lambda: MatroidSparsity(lambda atoms: True), TypeError, "OracleMatroid"),
        (lambda: MatroidSparsity([]), TypeError, "OracleMatroid"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


@pytest.mark.parametrize(
    ("constraint", "sentence"),
    [
        (IndividualSparsity([1, 2]), "one per patch, 3, but there are 2"),
        (AverageSparsity([1, 2], 5), "one per patch, 3, but there are 2"),
        (BlockSparsity([[0, 1]], 2), "cover 2 patches, but there are 3"),
        (MatroidSparsity([UniformMatroid(1)] * 2), "one per patch, 3, but there are 2"),
        (MatroidSparsity(PartitionMatroid([0, 1], 1)), "each atom of the ground set, 6"),
        (MatroidSparsity(OracleMatroid(lambda atoms: len(atoms) > 1)), "empty set must be independent"),
    ],
)
def test_constraints_that_do_not_fit_the_data_are_refused_with_a_sentence(constraint, sentence):
    with pytest.raises(ValueError, match=sentence):
        constraint.check(N_POINTS, N_CANDIDATES)
