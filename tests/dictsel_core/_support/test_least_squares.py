"""Least squares side by side, against LAPACK one by one."""

import numpy as np
import pytest

from dictsel_core._support.least_squares import StackedLeastSquares, fit_supports

N_PROBLEMS, N_COLUMNS, N_FEATURES = 30, 4, 12


def problems(seed, angle, *, masked=False):
    """Unit columns, (B, S, d), the first two of which are `angle` apart, and targets (B, d)."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(N_PROBLEMS, N_COLUMNS, N_FEATURES))
    columns /= np.linalg.norm(columns, axis=2, keepdims=True)
    columns[:, 1] = columns[:, 0] + angle * columns[:, 1]
    columns /= np.linalg.norm(columns, axis=2, keepdims=True)
    target = rng.normal(size=(N_PROBLEMS, N_FEATURES))
    if masked:
        observed = rng.random(target.shape) < 0.7
        columns *= observed[:, None]
        target *= observed
    return columns, target


def by_lapack(columns, target):
    """Minimum-norm weights and residuals."""
    weights = [np.linalg.lstsq(c.T, y, rcond=1e-10)[0] for c, y in zip(columns, target, strict=True)]
    return np.array(weights), target - np.vecmat(np.array(weights), columns)


def assert_close(found, expected, relative):
    """The largest error is small against the largest entry of each problem."""
    error = np.abs(found - expected).max(axis=1)
    assert (error <= relative * np.abs(expected).max(axis=1)).all(), error.max()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("angle", [1, 1e-1, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 0])
def test_given_supports_are_fitted_as_lapack_does_however_close_to_dependent(angle, masked):
    columns, target = problems(1, angle, masked=masked)
    weights, residual = by_lapack(columns, target)
    fit = fit_supports(columns, target)
    assert_close(fit.coefficients, weights, 1e-10)
    np.testing.assert_allclose(fit.residual, residual, atol=1e-9)


@pytest.mark.parametrize("angle", [1, 1e-2, 1e-4, 0])
def test_the_inverse_gram_matrix_is_that_of_the_dual_vectors(angle):
    columns, target = problems(2, angle)
    duals = np.linalg.pinv(columns.transpose(0, 2, 1), rcond=1e-10)
    fit = fit_supports(columns, target)
    assert_close(fit.inverse.reshape(N_PROBLEMS, -1), (duals @ duals.mT).reshape(N_PROBLEMS, -1), 1e-7)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("angle", [1, 1e-2, 1e-4, 1e-6, 1e-8, 0])
def test_orthonormal_rows_span_what_the_columns_span(angle, masked):
    columns, target = problems(5, angle, masked=masked)
    columns[::3, -1] = 0
    columns[1::3, 2] *= 1e-7  # hardly visible under the mask
    rows = fit_supports(columns, target).orthonormal
    projectors = np.linalg.pinv(columns, rcond=1e-10) @ columns
    np.testing.assert_allclose(rows.mT @ rows, projectors, atol=1e-5)


def test_supports_of_unequal_size_are_fitted_together():
    columns, target = problems(3, 1e-3)
    used = np.arange(N_COLUMNS) < np.arange(N_PROBLEMS)[:, None] % (N_COLUMNS + 1)
    columns *= used[:, :, None]
    fit = fit_supports(columns, target)
    for b, size in enumerate(used.sum(axis=1)):
        weights, residual = by_lapack(columns[b : b + 1, :size], target[b : b + 1])
        np.testing.assert_allclose(fit.coefficients[b, :size], weights[0], rtol=1e-8)
        np.testing.assert_array_equal(fit.coefficients[b, size:], 0)
        np.testing.assert_allclose(fit.residual[b], residual[0], atol=1e-9)


def test_single_precision_targets_are_fitted_in_double():
    columns, target = problems(4, 1e-2)
    single = target.astype(np.float32)
    fit = fit_supports(columns, single)
    assert_close(fit.coefficients, by_lapack(columns, single.astype(float))[0], 1e-10)


def grow(columns, target, wanted=None):
    """Append all columns one by one; return the fit and who took which column, (B, S)."""
    n_problems, n_columns, n_features = columns.shape
    fit = StackedLeastSquares(n_columns, n_problems, n_features, columns.dtype)
    fit.begin(target)
    taken = []
    for j in range(n_columns):
        fit.next_column()[...] = columns[:, j]
        inverse = 1 / np.vecdot(columns[:, j], columns[:, j])
        taken.append(fit.append(inverse, np.ones(n_problems, bool) if wanted is None else wanted[:, j]))
    return fit, np.array(taken).T


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("angle", [1, 1e-2, 1e-4, 1e-6])
def test_growing_problems_are_fitted_as_lapack_does(angle, masked):
    columns, target = problems(5, angle, masked=masked)
    weights, residual = by_lapack(columns, target)
    fit, taken = grow(columns, target)
    assert taken.all()
    assert_close(fit.coefficients, weights, 1e-6)
    np.testing.assert_allclose(fit.residual, residual, atol=1e-8)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-6])
def test_the_residual_is_orthogonal_to_all_columns_after_a_near_dependent_one(angle):
    """One pass of Gram-Schmidt leaves rounding of relative size 1/angle in the new direction."""
    columns, target = problems(6, angle)
    fit, _ = grow(columns, target)
    np.testing.assert_allclose(np.matvec(columns, fit.residual), 0, atol=1e-14)


def test_growing_problems_in_single_precision():
    columns, target = (part.astype(np.float32) for part in problems(7, 1e-2))
    weights, residual = by_lapack(columns.astype(float), target.astype(float))
    fit, taken = grow(columns, target)
    assert taken.all()
    assert fit.residual.dtype == fit.coefficients.dtype == np.float32
    assert_close(fit.coefficients, weights, 1e-3)
    np.testing.assert_allclose(fit.residual, residual, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dependent_and_unwanted_columns_change_nothing(dtype):
    columns, target = (part.astype(dtype) for part in problems(8, 0))
    wanted = np.ones(columns.shape[:2], bool)
    wanted[::3, 2] = False
    fit, taken = grow(columns, target, wanted)
    np.testing.assert_array_equal(taken[:, 1], False)  # the second column repeats the first
    np.testing.assert_array_equal(taken[:, 2], wanted[:, 2])
    np.testing.assert_array_equal(fit.coefficients[~taken], 0)
    expected = by_lapack(columns * taken[:, :, None], target)[1]
    np.testing.assert_allclose(fit.residual, expected, atol=1e-5 if dtype is np.float32 else 1e-12)


def test_a_smaller_batch_sees_nothing_of_the_one_before():
    columns, target = problems(9, 1)
    fit = StackedLeastSquares(N_COLUMNS, N_PROBLEMS, N_FEATURES, columns.dtype)
    for n in (N_PROBLEMS, 7):
        fit.begin(target[-n:])
        for j in range(N_COLUMNS):
            fit.next_column()[...] = columns[-n:, j]
            fit.append(np.ones(n), np.ones(n, bool))
        assert_close(fit.coefficients, by_lapack(columns[-n:], target[-n:])[0], 1e-8)
