"""Weighted observations: how many times the squared error of an entry, or of a patch, counts."""

import numpy as np
import pytest
from literal import Patches, gradient_rule, literal_run
from synthetic import random_ground_set

from dictsel_core import (
    AverageSparsity,
    IndividualSparsity,
    constrained_omp,
    ground_set_from_array,
    omp,
    replacement_ols,
    replacement_omp,
)
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp

SELECTORS = [replacement_omp, replacement_ols, replacement_greedy, sds_ma, sds_omp]
#: Their values do not change if atoms are scaled.
SCALE_FREE = SELECTORS[1:]


def problem(seed, n_points=20):
    rng = np.random.default_rng(seed)
    return rng, random_ground_set(rng, 8, 16), rng.normal(size=(n_points, 8))


def assert_same(first, second):
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_allclose(first.objective, second.objective, rtol=1e-9)


@pytest.mark.parametrize("select", SELECTORS)
def test_weight_zero_is_missing(select):
    rng, ground_set, data = problem(0)
    mask = rng.random(data.shape) < 0.3
    data[mask] = np.nan
    masked = select(ground_set, data, IndividualSparsity(3), 6, mask=mask)
    weighted = select(ground_set, data, IndividualSparsity(3), 6, weights=(~mask).astype(int))
    assert_same(masked, weighted)
    for ours, theirs in zip(weighted.coefficients, masked.coefficients, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("masked", [False, True], ids=["complete", "masked"])
@pytest.mark.parametrize("select", SELECTORS)
def test_a_patch_of_weight_three_counts_as_three(select, masked):
    rng, ground_set, data = problem(1)
    mask = (rng.random(data.shape) < 0.2) if masked else np.zeros(data.shape, bool)
    counts = rng.integers(1, 4, len(data))
    weighted = select(ground_set, data, IndividualSparsity(3), 6, mask=mask, weights=counts)
    repeated = select(
        ground_set, data.repeat(counts, axis=0), IndividualSparsity(3), 6, mask=mask.repeat(counts, axis=0)
    )
    assert_same(weighted, repeated)
    np.testing.assert_allclose(weighted.certificate.upper_bound, repeated.certificate.upper_bound)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for t, place in enumerate(first):
        assert weighted.supports[t].tolist() == repeated.supports[place].tolist()
        np.testing.assert_allclose(weighted.coefficients[t], repeated.coefficients[place])


class WeightedPatches(Patches):
    """Literal definitions; M is that of the ground set times the largest weight of the patch."""

    def __init__(self, ground_set, data, weights):
        super().__init__(ground_set, data, weights == 0)
        self.roots, self.largest = np.sqrt(weights), weights.max(axis=1)

    def fit(self, t, support):
        atoms = self.roots[t][:, None] * self.ground_set.atoms
        target = self.roots[t] * self.data[t]
        weights = np.linalg.lstsq(atoms[:, support], target, rcond=None)[0]
        return atoms, weights, target - atoms[:, support] @ weights

    def weights(self, t, support):
        return self.fit(t, support)[1] * np.sqrt(self.largest[t])

    def squared_correlations(self, t, support):
        atoms, _, residual = self.fit(t, support)
        squares = (atoms.T @ residual) ** 2 / self.largest[t]
        squares[support] = 0
        return np.where(squares > 1e-20, squares, 0)


@pytest.mark.parametrize("constraint", [IndividualSparsity(2), AverageSparsity(2, 6)], ids=["own", "shared"])
@pytest.mark.parametrize("seed", range(3))
def test_replacement_omp_is_algorithm_1_with_the_smoothness_of_each_patch(constraint, seed):
    rng = np.random.default_rng(seed)
    ground_set, data = random_ground_set(rng, 5, 7), rng.normal(size=(4, 5))
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], size=data.shape)
    weights[:, 0] = 1.0
    selection = replacement_omp(ground_set, data, constraint, 4, weights=weights)
    patches = WeightedPatches(ground_set, data, weights)
    steps = list(literal_run(patches, constraint, 4, gradient_rule(patches), repeats=4))
    assert selection.indices.tolist() == [step.atom for step in steps]
    np.testing.assert_allclose(selection.gains, [step.gain for step in steps], rtol=1e-8, atol=1e-10)
    assert [sorted(z.tolist()) for z in selection.supports] == [sorted(z) for z in steps[-1].supports]
    for t, (z, w) in enumerate(zip(selection.supports, selection.coefficients, strict=True)):
        np.testing.assert_allclose(w, patches.fit(t, z)[1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("select", SCALE_FREE)
def test_weights_of_entries_are_those_of_the_least_squares_problem(select):
    rng, ground_set, data = problem(3)
    weights = rng.uniform(0.2, 3, size=8)
    roots = np.sqrt(weights)
    weighted = select(ground_set, data, IndividualSparsity(3), 6, weights=np.tile(weights, (len(data), 1)))
    scaled = ground_set_from_array(roots[:, None] * ground_set.atoms)
    plain = select(scaled, roots * data, IndividualSparsity(3), 6)
    assert_same(weighted, plain)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_omp_weighs_entries(dtype):
    rng, ground_set, data = problem(4)
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], size=data.shape)
    weights[:, 0] = 1.0
    data = np.where(weights == 0, np.nan, data).astype(dtype)
    codes = omp(ground_set.atoms, data, 3, weights=weights)
    assert codes.coefficients.dtype == dtype
    for t in range(len(data)):
        seen = weights[t] > 0
        roots = np.sqrt(weights[t][seen])
        single = omp(roots[:, None] * ground_set.atoms[seen], (roots * data[t][seen])[None], 3)
        assert codes.supports[t].tolist() == single.supports[0].tolist()
        tolerance = 1e-3 if dtype == np.float32 else 1e-7
        np.testing.assert_allclose(codes.coefficients[t], single.coefficients[0], rtol=tolerance, atol=1e-4)
        np.testing.assert_allclose(codes.residual_energy[t], single.residual_energy[0], rtol=1e-2, atol=1e-5)


def test_a_shared_budget_goes_to_patches_of_more_weight():
    data = np.ones((2, 3))
    codes = constrained_omp(np.eye(3), data, AverageSparsity(None, 3), weights=[1.0, 2.0])
    assert codes.n_used.tolist() == [0, 3]
    np.testing.assert_allclose(codes.coefficients[1], 1.0)
    np.testing.assert_allclose(codes.residual_energy, [3.0, 0.0])


def test_a_patch_of_little_weight_is_coded_as_any_other():
    _, ground_set, data = problem(0, 3)
    data = data.astype(np.float32)
    plain = omp(ground_set.atoms, data, 3)
    weighted = omp(ground_set.atoms, data, 3, weights=[1, 1e-30, 1e-60])
    np.testing.assert_array_equal(weighted.supports, plain.supports)
    np.testing.assert_allclose(weighted.coefficients, plain.coefficients, rtol=1e-4)


def test_bad_weights_are_refused():
    _, ground_set, data = problem(5)
    for weights, message in (
        (np.ones(3), "one per entry"),
        (-np.ones(len(data)), "finite and at least 0"),
        (np.full(data.shape, np.inf), "finite and at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            replacement_omp(ground_set, data, IndividualSparsity(2), 3, weights=weights)
    with pytest.raises(TypeError, match="real numbers"):
        omp(ground_set.atoms, data, 2, weights=np.full(len(data), "a"))
