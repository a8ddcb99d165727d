"""Gains estimated from samples: the same as exact ones if all patches are drawn, and errors that hold."""

import numpy as np
import pytest
from synthetic import planted, random_ground_set

from dictsel_core import (
    AverageSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import UniformMatroid
from dictsel_core.selection import iter_stochastic_replacement_omp, stochastic_replacement_omp


def problem(seed, n_points=300):
    rng = np.random.default_rng(seed)
    return rng, random_ground_set(rng, 10, 24), rng.normal(size=(n_points, 10))


MATROIDS = PartitionMatroid(np.arange(24) % 3, [1, 2, 1]), UniformMatroid(3)
CONSTRAINTS = {
    "caps": IndividualSparsity(np.arange(60) % 3 + 1),
    "matroid": MatroidSparsity(MATROIDS[0]),
    "matroids": MatroidSparsity(MATROIDS * 30),
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("seed", range(3))
def test_if_all_patches_are_drawn_it_is_replacement_omp(seed, kind):
    rng, ground_set, data = problem(seed, 60)
    mask = rng.random(data.shape) < 0.2
    weights = rng.choice([0.5, 1.0, 2.0], size=data.shape)
    constraint = CONSTRAINTS[kind]
    ours = stochastic_replacement_omp(ground_set, data, constraint, 10, mask=mask, weights=weights)
    exact = replacement_omp(ground_set, data, constraint, 10, mask=mask, weights=weights)
    np.testing.assert_array_equal(ours.indices, exact.indices)
    np.testing.assert_allclose(ours.gains, exact.gains, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.objective, exact.objective)
    for z, theirs in zip(ours.supports, exact.supports, strict=True):
        assert z.tolist() == theirs.tolist()
    for w, theirs in zip(ours.coefficients, exact.coefficients, strict=True):
        np.testing.assert_allclose(w, theirs, rtol=1e-7)


def true_gains(ground_set, data, supports, cap):
    """Eq. 5 for all patches, from the definition."""
    gains = np.zeros(len(ground_set))
    smoothness = ground_set.smoothness
    for y, support in zip(data, supports, strict=True):
        columns = ground_set.atoms[:, support]
        weights = np.linalg.lstsq(columns, y, rcond=None)[0]
        squares = (ground_set.atoms.T @ (y - columns @ weights)) ** 2
        squares[support] = 0
        cost = smoothness * np.square(weights).min() if len(support) == cap else 0.0
        gains += np.maximum(squares / smoothness - cost, 0)
    return gains


@pytest.mark.parametrize("sample", [40, 250])
@pytest.mark.parametrize("seed", range(2))
def test_the_gain_of_a_step_is_within_its_error_of_the_largest(seed, sample):
    _, ground_set, data = problem(seed)
    run = iter_stochastic_replacement_omp(
        ground_set, data, IndividualSparsity(3), 6, sample=sample, confidence=0.5, rng=seed
    )
    supports = run.result.supports
    for step in run:
        gains = true_gains(ground_set, data, supports, 3)
        assert gains[step.atom] >= gains.max() - step.error
        supports = run.result.supports
    assert max(map(len, supports)) == 3


def test_samples_under_matroids_have_errors_that_hold():
    """A uniform matroid is a cap, and samples of patches with matroids of their own keep to them."""
    _, ground_set, data = problem(2)
    options = {"sample": 60, "confidence": 0.5, "rng": 1}
    capped = list(iter_stochastic_replacement_omp(ground_set, data, IndividualSparsity(3), 6, **options))
    uniform = MatroidSparsity([UniformMatroid(3) for _ in data])
    assert list(iter_stochastic_replacement_omp(ground_set, data, uniform, 6, **options)) == capped
    own = MatroidSparsity(MATROIDS * 150)
    assert own.is_feasible(stochastic_replacement_omp(ground_set, data, own, 6, **options).supports)


def test_unbounded_samples_would_break_what_is_stated():
    """The error is no empty promise: the best atom is missed at times, and larger samples promise more."""
    _, ground_set, data = problem(7)
    chosen = ground_set, data, IndividualSparsity(3), 1
    best = replacement_omp(*chosen).indices[0]
    first = {
        sample: [
            next(
                iter_stochastic_replacement_omp(
                    ground_set, data, IndividualSparsity(3), 1, sample=sample, rng=i
                )
            )
            for i in range(20)
        ]
        for sample in (10, 75, 295)
    }
    errors = [np.mean([step.error for step in steps]) for steps in first.values()]
    missed = [np.mean([step.atom != best for step in steps]) for steps in first.values()]
    assert errors[0] > errors[1] > errors[2] > 0
    assert missed[0] > missed[2]


def test_supports_and_certificate_are_those_of_all_patches():
    _, ground_set, data = problem(3)
    selection = stochastic_replacement_omp(ground_set, data, IndividualSparsity(3), 6, sample=50)
    reached = 0.0
    for y, support, weights in zip(data, selection.supports, selection.coefficients, strict=True):
        np.testing.assert_allclose(weights, np.linalg.lstsq(ground_set.atoms[:, support], y, rcond=None)[0])
        reached += (y @ y - np.square(y - ground_set.atoms[:, support] @ weights).sum()) / 2
    np.testing.assert_allclose(selection.certificate.achieved, reached)
    assert reached <= selection.certificate.upper_bound
    np.testing.assert_allclose(selection.objective[-1], reached, rtol=0.2)  # an estimate


def test_the_same_seed_selects_the_same_from_a_file(tmp_path):
    ground_set = standard_ground_set((4, 4))
    data, _ = planted(np.random.default_rng(0), ground_set, 400, 4, 2)
    np.save(tmp_path / "data.npy", data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    options = {"sample": 60, "rng": 5}
    from_file = stochastic_replacement_omp(ground_set, mapped, IndividualSparsity(2), 4, **options)
    from_memory = stochastic_replacement_omp(ground_set, data, IndividualSparsity(2), 4, **options)
    np.testing.assert_array_equal(from_file.indices, from_memory.indices)
    np.testing.assert_array_equal(from_file.gains, from_memory.gains)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_errors_are_those_of_data_in_other_units(scale):
    _, ground_set, data = problem(0)
    problem_of = ground_set, IndividualSparsity(3), 4
    ours, reference = (
        list(iter_stochastic_replacement_omp(problem_of[0], y, *problem_of[1:], sample=200))
        for y in (scale * data, data)
    )
    for step, unit in zip(ours, reference, strict=True):
        assert step.atom == unit.atom
        np.testing.assert_allclose(step.error, unit.error * scale * scale, rtol=1e-8)


def test_bad_options_are_refused():
    ground_set, data = standard_ground_set((2, 2)), np.ones((3, 4))
    with pytest.raises(TypeError, match="stochastic_replacement_omp needs a sparsity constraint"):
        stochastic_replacement_omp(ground_set, data, AverageSparsity, 2)
    with pytest.raises(ValueError, match="sample must be at least 1"):
        stochastic_replacement_omp(ground_set, data, IndividualSparsity(1), 2, sample=0)
    with pytest.raises(ValueError, match="confidence must be below 1"):
        stochastic_replacement_omp(ground_set, data, IndividualSparsity(1), 2, confidence=1.0)
