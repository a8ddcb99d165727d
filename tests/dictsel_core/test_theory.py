from itertools import combinations, product

import numpy as np
import pytest
from constraints import KINDS, make_constraint
from hypothesis import given
from hypothesis import strategies as st
from synthetic import optimum, random_ground_set

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    ground_set_from_array,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import LocalConstraint, ReplacementGains, UniformMatroid
from dictsel_core.online import OnlineReplacementGreedy, OnlineReplacementOMP, OnlineSDSMA, utilities
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp
from dictsel_core.theory import approximation_bound, regret_bound


def test_an_orthonormal_basis_is_guaranteed_1_minus_1_over_e():
    bound = approximation_bound(
        standard_ground_set(bases=["haar"]), IndividualSparsity(5), n_points=100, n_atoms=20
    )
    assert bound.ratio == pytest.approx(1 - np.exp(-1))
    assert (bound.sparsity, bound.replacement_sparsity) == (5, 20)
    average = approximation_bound(
        standard_ground_set(bases=["haar"]), AverageSparsity(5, 300), n_points=100, n_atoms=20
    )
    assert average.ratio == pytest.approx(1 - np.exp(-20 / 59))


def test_the_standard_ground_set_has_duplicates_and_no_guarantee():
    assert (
        approximation_bound(standard_ground_set(), IndividualSparsity(5), n_points=100, n_atoms=20).ratio == 0
    )


@given(st.integers(0, 2**32 - 1))
def test_concavity_is_a_lower_bound_on_sigma_min(seed):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 8, 9)
    bound = approximation_bound(ground_set, IndividualSparsity(2), n_points=10, n_atoms=5)
    sigmas = [
        np.linalg.svd(ground_set.atoms[:, subset], compute_uv=False)[-1] ** 2
        for subset in map(list, combinations(range(9), 4))
    ]
    assert bound.concavity == pytest.approx(min(sigmas), rel=1e-6, abs=1e-9)


def test_concavity_of_large_ground_sets_is_bounded_by_their_coherence():
    rng = np.random.default_rng(0)
    atoms = np.eye(300) + 0.002 * rng.normal(size=(300, 300))
    ground_set = ground_set_from_array(atoms)
    bound = approximation_bound(ground_set, IndividualSparsity(3), n_points=10, n_atoms=5)
    assert 0 < bound.concavity < 1
    for _ in range(200):
        subset = rng.choice(300, 6, replace=False)
        assert np.linalg.svd(ground_set.atoms[:, subset], compute_uv=False)[-1] ** 2 >= bound.concavity


def nearly_orthonormal(rng):
    basis, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    return ground_set_from_array(basis + 0.15 * rng.normal(size=(5, 5)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_guarantee_holds_against_the_true_optimum(kind, seed):
    """Theorems 4.1 and 4.2 on instances small enough for enumeration, with more steps than atoms too."""
    rng = np.random.default_rng(seed)
    ground_set, data = nearly_orthonormal(rng), rng.normal(size=(3, 5))
    constraint = make_constraint(kind, rng, 3, 5)
    best = optimum(ground_set, data, constraint, 2)
    selectors = [replacement_omp] + [replacement_greedy] * isinstance(constraint, LocalConstraint)
    for select, n_steps in product(selectors, (2, 3, 4)):
        reached = select(ground_set, data, constraint, n_steps).objective[-1]
        bound = approximation_bound(ground_set, constraint, n_points=3, n_atoms=2, n_steps=n_steps)
        assert reached >= bound.ratio * best - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_p_replacements_make_up_for_any_other_supports(kind):
    """What the proofs need of p: the best replacement times p is worth the exchange of all supports."""
    rng = np.random.default_rng(5)
    n_points, n_candidates, n_checked = 4, 8, 0
    for _ in range(30):
        constraint = make_constraint(kind, rng, n_points, n_candidates)
        n_atoms, n_used = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        ours = random_supports(rng, constraint, n_points, rng.choice(n_candidates, n_used, replace=False))
        used = len(set().union(*ours))
        table = gains_table(rng, ours, n_candidates)
        p = constraint.replacement_sparsity(n_atoms, used)
        limit = p * max(constraint.values(table))
        if constraint.one_replacement_per_atom:
            limit = np.sort(constraint.values(table))[::-1][:n_atoms].sum()
        for _ in range(20):
            atoms = rng.choice(n_candidates, n_atoms, replace=False)
            theirs = random_supports(rng, constraint, n_points, atoms)
            worth = sum(
                table.gains[t, list(new - old)].sum()
                - sum(table.costs[t, slot] for slot, a in enumerate(table.supports[t]) if a in old - new)
                for t, (old, new) in enumerate(zip(ours, theirs, strict=True))
            )
            assert worth <= limit + 1e-9
            n_checked += worth > 0
    assert n_checked > 20


def random_supports(rng, constraint, n_points, atoms):
    """Feasible supports within the given atoms, filled in a random order as long as the constraint allows."""
    supports = [set() for _ in range(n_points)]
    places = [(t, int(a)) for t in range(n_points) for a in atoms]
    for t, atom in (places[i] for i in rng.permutation(len(places))):
        supports[t].add(atom)
        if rng.random() < 0.1 or not constraint.is_feasible([np.array(sorted(z), int) for z in supports]):
            supports[t].discard(atom)
    return supports


def gains_table(rng, supports, n_candidates):
    width = max(1, *map(len, supports))
    padded = np.full((len(supports), width), -1)
    for row, support in zip(padded, supports, strict=True):
        row[: len(support)] = sorted(support)
    gains = rng.exponential(size=(len(supports), n_candidates))
    for t, support in enumerate(supports):
        gains[t, sorted(support)] = 0
    costs = np.where(padded >= 0, rng.exponential(size=padded.shape), np.inf)
    return ReplacementGains(gains, costs, padded, (padded >= 0).sum(axis=1))


def test_more_steps_promise_more():
    """The theorem for a fixed k and growing k', on an orthonormal basis where m = M = 1."""
    basis = standard_ground_set(bases=["haar"])
    expected = {
        IndividualSparsity(5): [1, 2, 3],
        MatroidSparsity(UniformMatroid(5)): [1, 2, 3],
        BlockSparsity([range(100)], 5): [1, 2, 3],
        AverageSparsity(5, 300): [20 / 59, 40 / 79, 60 / 99],
        AverageSparsity(None, 300): [20 / 39, 40 / 59, 60 / 79],
    }
    for constraint, rates in expected.items():
        bounds = [
            approximation_bound(basis, constraint, n_points=100, n_atoms=20, n_steps=n_steps)
            for n_steps in (20, 40, 60)
        ]
        assert [bound.ratio for bound in bounds] == pytest.approx([1 - np.exp(-rate) for rate in rates])


def test_a_bound_is_never_worse_than_after_fewer_steps():
    """Without individual sparsity supports grow with the dictionary, and m becomes smaller."""
    ground_set = ground_set_from_array(np.eye(9) + 0.05)
    ratios = [
        approximation_bound(
            ground_set, AverageSparsity(None, 20), n_points=5, n_atoms=2, n_steps=n_steps
        ).ratio
        for n_steps in range(2, 9)
    ]
    assert ratios == sorted(ratios)
    assert ratios[-1] > ratios[0] > 0


def test_steps_of_some_accuracy_count_in_proportion():
    """Remark 4.4."""
    basis = standard_ground_set(bases=["haar"])
    half = approximation_bound(basis, IndividualSparsity(5), n_points=9, n_atoms=20, accuracy=0.5)
    assert half.ratio == pytest.approx(1 - np.exp(-0.5))
    with pytest.raises(ValueError, match="accuracy must be at most 1"):
        approximation_bound(basis, IndividualSparsity(5), n_points=9, n_atoms=20, accuracy=1.5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["individual", "average"])
def test_the_guarantees_of_sds_hold_against_the_true_optimum(kind, seed):
    """Table 1. That of SDS_OMP is for the best codes in its dictionary."""
    rng = np.random.default_rng(seed)
    ground_set, data = nearly_orthonormal(rng), rng.normal(size=(3, 5))
    constraint = IndividualSparsity(2) if kind == "individual" else AverageSparsity(2, 4)
    best = optimum(ground_set, data, constraint, 3)
    bound = approximation_bound(ground_set, constraint, n_points=3, n_atoms=3, selector="sds_ma")
    assert 0 < bound.ratio < 1 - 1 / np.e
    assert sds_ma(ground_set, data, constraint, 3).certificate.achieved >= bound.ratio * best
    if kind == "individual":
        bound = approximation_bound(ground_set, constraint, n_points=3, n_atoms=3, selector="sds_omp")
        chosen = ground_set_from_array(sds_omp(ground_set, data, constraint, 3).dictionary)
        assert 0 < bound.ratio < 1 / 3
        assert optimum(chosen, data, constraint, 3) >= bound.ratio * best


def test_equal_atoms_do_not_spoil_the_guarantee():
    """Unless a matroid tells them apart."""
    atoms = np.hstack([np.eye(8), np.eye(8)[:, :2]])
    ground_set = ground_set_from_array(atoms)
    alike = approximation_bound(ground_set, IndividualSparsity(2), n_points=5, n_atoms=3)
    assert alike.concavity == pytest.approx(1)
    assert alike.ratio > 0
    matroid = MatroidSparsity(PartitionMatroid([0] * 8 + [1] * 2, 1))
    assert approximation_bound(ground_set, matroid, n_points=5, n_atoms=3).ratio == 0


@pytest.mark.parametrize("selector", ["replacement_omp", "replacement_greedy", "sds_ma"])
def test_regret_stays_below_its_bound(selector):
    """Appendix D, against the best dictionary in hindsight."""
    rng = np.random.default_rng(0)
    ground_set, data = nearly_orthonormal(rng), rng.normal(size=(40, 5))
    energy, constraint = float(np.square(data).sum(axis=1).max()), IndividualSparsity(2)
    bound = regret_bound(
        ground_set, sparsity=2, n_atoms=2, rounds=40, largest_energy=energy, selector=selector
    )
    best = max(utilities(ground_set.atoms[:, list(x)], data, 2).sum() for x in combinations(range(5), 2))
    players = {
        "replacement_omp": OnlineReplacementOMP,
        "replacement_greedy": OnlineReplacementGreedy,
        "sds_ma": OnlineSDSMA,
    }
    totals = []
    for trial in range(5):
        player = players[selector](ground_set, 2, 2, largest_energy=energy, rounds=40, rng=trial)
        total = 0.0
        for y in data:
            total += utilities(ground_set.atoms[:, player.play()], y, 2)[0]
            player.observe(y)
        totals.append(total)
    assert bound.alpha * best - np.mean(totals) <= bound.regret
    assert bound.alpha == pytest.approx(
        approximation_bound(ground_set, constraint, n_points=40, n_atoms=2, selector=selector).ratio
    )
    with pytest.raises(ValueError, match="selector must be one of"):
        regret_bound(ground_set, sparsity=2, n_atoms=2, rounds=4, largest_energy=1.0, selector="ols")


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="n_atoms must be at most"):
        approximation_bound(standard_ground_set(), IndividualSparsity(2), n_points=5, n_atoms=300)
    with pytest.raises(ValueError, match="cover 2 patches"):
        approximation_bound(standard_ground_set(), BlockSparsity([[0, 1]], 2), n_points=5, n_atoms=3)
