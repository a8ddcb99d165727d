"""Many small least-squares problems at once, by whole-array operations, with any masks.

The pursuit adds columns to its problems one at a time (`StackedLeastSquares`, by Gram-Schmidt). The
selectors fit given supports (`fit_supports`, by refined normal equations).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Bools, Floats, Ints

#: A column is dependent on the previous ones, and gets the coefficient zero, if less than this many machine
#: epsilons of its squared length are orthogonal to them.
DEPENDENCE_EPSILONS = 16.0
#: Gram-Schmidt is repeated if less than this fraction of the squared length of a column is left.
REPEAT_BELOW = 0.1
#: Ridge on the normal equations of unit columns: dependent columns then give large inverses, not errors.
RIDGE = 1e-13
#: Largest entry of an inverse Gram matrix up to which a fit needs no refinement ...
WELL_CONDITIONED = 1e2
#: ... and above which it is computed by singular values instead.
ILL_CONDITIONED = 1e6
#: Singular values up to this fraction of the largest one are rounding error.
_NEGLIGIBLE = 1e-10


class StackedLeastSquares:
    """Least-squares fits of the rows of a target by columns that are appended one at a time.

    Problem b minimizes ``|target_b - sum_j w_bj column_bj|^2``. Each appended column is made orthogonal
    to the previous ones of its problem (classical Gram-Schmidt, repeated in case of cancellation), which
    gives the residual at once; coefficients are computed by back-substitution on request.

    Parameters
    ----------
    capacity : int
        Maximum number of columns of a problem.
    n_rows, n_features : int
        Maximum number of problems in a batch, and the length of a column.
    dtype : dtype
        float32 or float64.

    Attributes
    ----------
    residual : (B, d) ndarray
        Target minus fit, of the current batch.
    """

    def __init__(self, capacity: int, n_rows: int, n_features: int, dtype: np.dtype) -> None:
        # Memory is reused for all batches: new pages cost more than the arithmetic on them.
        self._basis = np.empty((capacity, n_rows, n_features), dtype)
        self._inverse = np.empty((capacity, n_rows), dtype)
        self._overlaps = np.empty((capacity, capacity, n_rows), dtype)
        self._steps = np.empty((capacity, n_rows), dtype)
        self._residual = np.empty((n_rows, n_features), dtype)
        self._scratch = np.empty((n_rows, n_features), dtype)
        self._dependence_threshold = DEPENDENCE_EPSILONS * np.finfo(dtype).eps

    def begin(self, target: Floats) -> None:
        """Start a batch of ``len(target)`` problems without columns."""
        self._n_rows = len(target)
        self._n_columns = 0
        self.residual = self._residual[: self._n_rows]
        self.residual[...] = target

    def next_column(self) -> Floats:
        """Return the (B, d) array to be filled with the next column of each problem."""
        column: Floats = self._basis[self._n_columns, : self._n_rows]
        return column

    def append(self, inverse_length: Floats, wanted: Bools) -> Bools:
        """Append the columns written to `next_column`, and update the residual.

        Parameters
        ----------
        inverse_length : (B,) ndarray
            One over the squared length of each new column.
        wanted : (B,) ndarray of bool
            Problems that get their column; the others stay as they are.

        Returns
        -------
        taken : (B,) ndarray of bool
            Wanted, and independent of the previous columns.
        """
        j, n = self._n_columns, self._n_rows
        column = self._basis[j, :n]
        overlaps = self._overlaps[j, :j, :n]
        if j:
            overlaps[...] = self._orthogonalize(slice(0, n), column)
        remaining = np.einsum("bd,bd->b", column, column)
        if j:
            again = np.flatnonzero(wanted & (remaining * inverse_length < REPEAT_BELOW))
            if again.size:
                part = column[again]
                overlaps[:, again] += self._orthogonalize(again, part)
                column[again] = part
                remaining[again] = np.einsum("bd,bd->b", part, part)
        taken: Bools = wanted & (remaining * inverse_length > self._dependence_threshold)
        inverse = self._inverse[j, :n]
        inverse[...] = 0
        np.divide(1, remaining, out=inverse, where=taken)
        step = np.einsum("bd,bd->b", column, self.residual, out=self._steps[j, :n])
        step *= inverse
        scaled = self._scratch[:n]
        np.multiply(column, step[:, None], out=scaled)
        np.subtract(self.residual, scaled, out=self.residual)
        self._n_columns += 1
        return taken

    @property
    def coefficients(self) -> Floats:
        """Weights of the columns, (B, capacity); zero for dependent columns and for those not appended."""
        weights = np.zeros((len(self._steps), self._n_rows), self._steps.dtype)
        weights[: self._n_columns] = self._steps[: self._n_columns, : self._n_rows]
        for j in range(self._n_columns - 1, 0, -1):
            weights[:j] -= self._overlaps[j, :j, : self._n_rows] * weights[j]
        return np.ascontiguousarray(weights.T)

    def _orthogonalize(self, rows: slice | Ints, column: Floats) -> Floats:
        """Project `column` onto the complement of the previous columns, in place; return overlaps (j, B)."""
        j = self._n_columns
        earlier = self._basis[:j, rows]
        overlap: Floats = np.einsum("jbd,bd->jb", earlier, column)
        overlap *= self._inverse[:j, rows]
        column -= np.einsum("jb,jbd->bd", overlap, earlier, out=self._scratch[: len(column)])
        return overlap


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

    columns: NDArray[np.float64]
    inverse: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    residual: NDArray[np.float64]
    ill_conditioned: Ints

    @property
    def orthonormal(self) -> NDArray[np.float64]:
        """Orthonormal rows with the span of the columns: (B, S, d), some of them zero."""
        ill = self.ill_conditioned
        inverse = self.inverse.copy()
        inverse[ill] = np.eye(inverse.shape[1])
        rows: NDArray[np.float64] = np.linalg.cholesky(inverse).transpose(0, 2, 1) @ self.columns
        if ill.size:
            directions = orthonormal_rows(self.columns[ill])
            width = directions.shape[1]  # at most the number of features
            rows[ill, width:] = 0
            rows[ill, :width] = directions
        return rows


def orthonormal_rows(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return orthonormal rows with the span of columns (B, S, d), by singular values: (B, min(S, d), d).

    Some of them are zero if columns are dependent.
    """
    if columns.shape[1] == 0:
        return columns
    _, sizes, directions = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions * (sizes > _NEGLIGIBLE * sizes[:, :1])[:, :, None])


def fit_supports(columns: NDArray[np.float64], target: Floats) -> SupportFit:
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


def invert_gram(gram: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
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
