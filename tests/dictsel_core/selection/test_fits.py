"""The least-squares fits behind selectors, against LAPACK patch by patch."""

import numpy as np
import pytest
from synthetic import random_ground_set

from dictsel_core import IndividualSparsity, ground_set_from_array, standard_ground_set
from dictsel_core.selection.engine import OMPEngine, Problem, SupportState

N_POINTS, N_FEATURES = 30, 12


def near_dependent(rng, angle, n_atoms):
    """A ground set whose first two atoms are `angle` apart."""
    atoms = rng.normal(size=(N_FEATURES, n_atoms))
    atoms /= np.linalg.norm(atoms, axis=0)
    atoms[:, 1] = atoms[:, 0] + angle * atoms[:, 1]
    return ground_set_from_array(atoms)


def by_lapack(ground_set, y, support, factors):
    """Minimum-norm weights and residual on the observed entries, whose errors count factors^2 times."""
    columns = ground_set.atoms[:, support] * factors[:, None]
    weights = np.linalg.lstsq(columns, y * factors, rcond=1e-10)[0]
    return weights, y * factors - columns @ weights


def assert_fitted(state, ground_set, data, factors, *, relative=1e-9):
    """Weights, objective, residuals and correlations are those of LAPACK."""
    total, everyone = 0.0, np.arange(len(data))
    squares, residuals = state.squared_correlations(everyone), state.gradients(everyone)
    accuracy = 1e-9 if data.dtype == np.float64 else 1e-4
    for t, size in enumerate(state.sizes):
        support = state.supports[t, :size]
        weights, residual = by_lapack(ground_set, data[t].astype(float), support, factors[t])
        largest = np.abs(weights).max(initial=1)
        np.testing.assert_allclose(state.coefficients[t, :size], weights, atol=relative * largest)
        np.testing.assert_array_equal(state.coefficients[t, size:], 0)
        np.testing.assert_allclose(residuals[t], factors[t] * residual, atol=accuracy)
        wanted = ground_set.atoms.T @ (factors[t] * residual)
        wanted[support] = 0
        np.testing.assert_allclose(np.sqrt(squares[t]), np.abs(wanted), atol=accuracy)
        total += (np.square(data[t] * factors[t]).sum() - residual @ residual) / 2
    assert state.objective == pytest.approx(total, rel=1e-9 if data.dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["complete", "masked", "weighted"])
@pytest.mark.parametrize("angle", [1, 1e-1, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5])
def test_given_supports_are_fitted_as_lapack_does_however_close_to_dependent(angle, kind, dtype):
    rng = np.random.default_rng(1)
    ground_set = near_dependent(rng, angle, 8)
    data = rng.normal(size=(N_POINTS, N_FEATURES)).astype(dtype)
    factors = np.ones(data.shape) if kind == "complete" else (rng.random(data.shape) < 0.8).astype(float)
    if kind == "weighted":
        factors *= rng.uniform(0.3, 1, data.shape)
    problem = Problem.of(ground_set, data, factors == 0, np.square(factors) if kind == "weighted" else None)
    state = SupportState(problem, 4)
    supports = np.array([[0, 1, 2, 3]] * N_POINTS)
    supports[::3, 2:], supports[::5] = -1, -1  # of unequal size
    state.set_supports(supports)
    np.testing.assert_array_equal(state.supports, supports)
    if kind != "weighted":  # the state of weighted patches is scaled
        assert_fitted(state, ground_set, data, factors, relative=1e-7)
    for t, size in enumerate(state.sizes):
        weights, _ = by_lapack(ground_set, data[t].astype(float), supports[t, :size], factors[t])
        found = state.fitted()[1][t]
        np.testing.assert_allclose(found, weights, rtol=1e-4, atol=1e-6 * np.abs(weights).max(initial=1))


@pytest.mark.parametrize("masked", [False, True])
def test_supports_of_more_atoms_than_features_have_the_least_weights(masked):
    rng = np.random.default_rng(2)
    ground_set, data = random_ground_set(rng, N_FEATURES, 30), rng.normal(size=(N_POINTS, N_FEATURES))
    mask = rng.random(data.shape) < 0.3 if masked else np.zeros(data.shape, bool)
    state = SupportState(Problem.of(ground_set, data, mask), 24)
    state.set_supports(np.array([rng.permutation(30)[:24] for _ in data]))
    for t, support in enumerate(state.supports):
        weights, _ = by_lapack(ground_set, data[t], support, (~mask[t]).astype(float))
        np.testing.assert_allclose(state.coefficients[t], weights, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["random", "standard", "close"])
def test_shared_inner_products_fit_as_lapack_does(kind, dtype):
    """Of complete data, atom after atom."""
    rng = np.random.default_rng(3)
    if kind == "standard":
        ground_set = standard_ground_set()
    else:
        ground_set = near_dependent(rng, 1 if kind == "random" else 1e-3, 30)
    data = rng.normal(size=(N_POINTS, ground_set.n_features)).astype(dtype)
    engine = OMPEngine(Problem.of(ground_set, data), IndividualSparsity(4), 12)
    for _ in range(12):
        engine.advance()
        assert_fitted(engine.state, ground_set, data, np.ones(data.shape), relative=1e-6)
