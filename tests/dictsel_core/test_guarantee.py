from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import least_squares, random_ground_set

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    approximation_bound,
    ground_set_from_array,
    replacement_greedy,
    replacement_omp,
    standard_ground_set,
)


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


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), average=st.booleans(), selector=st.booleans())
def test_the_guarantee_holds_against_the_true_optimum(seed, average, selector):
    """Theorems 4.1 and 4.2 on instances small enough to solve by enumeration."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    ground_set = ground_set_from_array(basis + 0.15 * rng.normal(size=(5, 5)))
    data = rng.normal(size=(3, 5))
    constraint = AverageSparsity(2, 3) if average else IndividualSparsity(1)
    select = replacement_omp if average or selector else replacement_greedy
    n_atoms = 2
    optimum = 0.0
    for dictionary in combinations(range(5), n_atoms):
        subsets = [z for size in range(3) for z in combinations(dictionary, size)]
        for supports in product(subsets, repeat=3):
            if constraint.is_feasible([np.array(z, int) for z in supports]):
                total = sum(
                    least_squares(ground_set, y, np.zeros(5, bool), z)[1]
                    for y, z in zip(data, supports, strict=True)
                )
                optimum = max(optimum, total)
    reached = select(ground_set, data, constraint, n_atoms).objective[-1]
    assert (
        reached
        >= approximation_bound(ground_set, constraint, n_points=3, n_atoms=n_atoms).ratio * optimum - 1e-9
    )


def test_more_steps_than_atoms_count_with_the_larger_dictionary():
    ground_set = random_ground_set(np.random.default_rng(1), 8, 9)
    bound = approximation_bound(ground_set, AverageSparsity(None, 10), n_points=5, n_atoms=1, n_steps=3)
    assert bound.sparsity == 3
    assert bound.replacement_sparsity == 5


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="n_atoms must be at most"):
        approximation_bound(standard_ground_set(), IndividualSparsity(2), n_points=5, n_atoms=300)
    with pytest.raises(ValueError, match="cover 2 patches"):
        approximation_bound(standard_ground_set(), BlockSparsity([[0, 1]], 2), n_points=5, n_atoms=3)
