"""Least-squares weights on given supports, and the correlations of all atoms with the residuals."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.pursuit.least_squares import REPEAT_BELOW
from dictsel_core.selection.engine.column_kernels import fit_columns
from dictsel_core.selection.problem import Problem

Doubles = NDArray[np.float64]

#: Ridge on the normal equations of unit columns: dependent columns then give large inverses, not errors.
RIDGE = 1e-13
#: Largest entry of an inverse Gram matrix up to which a fit needs no refinement ...
WELL_CONDITIONED = 1e2
#: ... and above which it is computed by singular values instead.
ILL_CONDITIONED = 1e6
#: Singular values up to this fraction of the largest one are rounding error.
_NEGLIGIBLE = 1e-10
#: Of kernels that fit columns.
FIT_LIMITS = REPEAT_BELOW, ILL_CONDITIONED


@dataclass(frozen=True, eq=False)
class SupportFit:
    """Least-squares fits of B targets by up to S columns each, in float64.

    Attributes
    ----------
    columns : (B, S, d) ndarray
        Zero where a problem has fewer columns.
    inverse : (B, S, S) ndarray
        Inverse of the Gram matrix of the columns; meaningless in empty slots.
    coefficients : (B, S) ndarray
    residual : (B, d) ndarray
    ill_conditioned : ndarray of int
        Problems whose columns are dependent, or nearly so; these were fitted by singular values.
    """

    columns: Doubles
    inverse: Doubles
    coefficients: Doubles
    residual: Doubles
    ill_conditioned: Ints

    @property
    def orthonormal(self) -> Doubles:
        """Orthonormal rows with the span of the columns: (B, S, d), some of them zero."""
        ill = self.ill_conditioned
        inverse = self.inverse.copy()
        inverse[ill] = np.eye(inverse.shape[1])
        rows: Doubles = np.linalg.cholesky(inverse).transpose(0, 2, 1) @ self.columns
        if ill.size:
            directions = orthonormal_rows(self.columns[ill])
            width = directions.shape[1]  # at most the number of features
            rows[ill, width:] = 0
            rows[ill, :width] = directions
        return rows


def orthonormal_rows(columns: Doubles) -> Doubles:
    """Return orthonormal rows with the span of columns (B, S, d), by singular values: (B, min(S, d), d).

    Some of them are zero if columns are dependent.
    """
    if columns.shape[1] == 0:
        return columns
    _, sizes, directions = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions * (sizes > _NEGLIGIBLE * sizes[:, :1])[:, :, None])


def fit_supports(columns: Doubles, target: Floats) -> SupportFit:
    """Fit every target by its columns; dependent columns get the weights of minimum norm.

    Parameters
    ----------
    columns : (B, S, d) ndarray of float64
        Zero where a problem has fewer columns.
    target : (B, d) ndarray
    """
    gram = columns @ columns.transpose(0, 2, 1)
    lengths = np.einsum("bss->bs", gram)  # a view
    lengths *= 1 + RIDGE
    lengths[lengths == 0] = 1  # columns of zeros get the weight zero
    inverse = np.linalg.inv(gram).astype(np.float64, copy=False)
    residual = target.astype(np.float64)
    coefficients = np.matvec(inverse, np.matvec(columns, residual))
    residual -= np.vecmat(coefficients, columns)
    strain = (np.einsum("bss->bs", inverse) * lengths).max(axis=1, initial=0)
    ill = np.flatnonzero(strain > ILL_CONDITIONED)
    fit = SupportFit(columns, inverse, coefficients, residual, ill)
    if strain.max() > WELL_CONDITIONED:
        _refine(fit, np.flatnonzero((strain > WELL_CONDITIONED) & (strain <= ILL_CONDITIONED)))
        _fit_by_singular_values(fit, ill, target)
    return fit


def invert_gram(gram: Doubles) -> tuple[Doubles, bool]:
    """Return the inverse Gram matrix of a few unit columns, (S, S), and whether it is accurate."""
    regular = gram.copy()
    np.fill_diagonal(regular, 1 + RIDGE)
    inverse = np.linalg.inv(regular).astype(np.float64, copy=False)
    return inverse, bool(inverse.diagonal().max() <= WELL_CONDITIONED)


def _refine(fit: SupportFit, rows: Ints) -> None:
    """Remove the effects of the ridge and of rounding from some fits."""
    columns = fit.columns[rows]
    step = np.matvec(fit.inverse[rows], np.matvec(columns, fit.residual[rows]))
    fit.coefficients[rows] += step
    fit.residual[rows] -= np.vecmat(step, columns)


def _fit_by_singular_values(fit: SupportFit, rows: Ints, target: Floats) -> None:
    """Fit some targets by singular values, which is slow but accurate even for dependent columns."""
    if not rows.size:
        return
    columns = fit.columns[rows]
    duals = np.linalg.pinv(columns.transpose(0, 2, 1), rcond=_NEGLIGIBLE)
    fit.inverse[rows] = duals @ duals.transpose(0, 2, 1)
    fit.coefficients[rows] = np.matvec(duals, target[rows].astype(np.float64))
    fit.residual[rows] = target[rows] - np.vecmat(fit.coefficients[rows], columns)


class Fit(Protocol):
    """Fits the patches of a problem; supports are (B, S), with -1 in empty slots."""

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Return the weights of some patches, (B, S), and |y|^2 - |r|^2, (B,), on their observed entries."""

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Put A^T r of some patches into `out`, (B, n), given their supports and latest weights."""


class ColumnFit:
    """Fits by the columns of each support, under the mask of the patch; keeps all residuals."""

    #: Larger supports are left to LAPACK, which then takes less time.
    _max_compiled = 20

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._residuals = problem.data.copy()
        ones = np.ones((1, problem.ground_set.n_features), problem.data.dtype)
        self._factors = ones if problem.observed is None else problem.observed

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit by the columns of the supports."""
        if supports.shape[1] > self._max_compiled:
            return self._refit_with_numpy(rows, supports)
        weights, explained = np.empty(supports.shape), np.empty(len(rows))
        reliable = np.empty(len(rows), bool)
        self._refit_compiled(rows, supports, (weights, explained, reliable))
        if not reliable.all():
            rest = np.flatnonzero(~reliable)
            weights[rest], explained[rest] = self._refit_with_numpy(rows[rest], supports[rest])
        return weights, explained

    def _refit_compiled(self, rows: Ints, supports: Ints, fitted: tuple[Doubles, Doubles, Bools]) -> None:
        """Call a kernel, which leaves nearly dependent columns to NumPy."""
        fit_columns(rows, supports, self._known, FIT_LIMITS, self._residuals, fitted)

    @property
    def _known(self) -> tuple[Floats, Floats, Doubles]:
        """The arrays of a problem that kernels read."""
        return self._problem.data, self._factors, self._problem.padded_rows

    def _refit_with_numpy(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        problem = self._problem
        fit = fit_supports(problem.columns(rows, supports), problem.data.take(rows, axis=0))
        self._store(rows, supports, fit)
        return fit.coefficients, problem.energies.take(rows) - np.vecdot(fit.residual, fit.residual)

    def _store(self, rows: Ints, supports: Ints, fit: SupportFit) -> None:
        """Keep the residuals."""
        self._residuals[rows] = fit.residual

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Multiply the residuals by all atoms."""
        residuals = self._problem.apply_factors(rows, self._residuals.take(rows, axis=0))
        np.matmul(residuals, self._problem.atoms, out=out)
