"""Many small least-squares problems side by side, by whole-array operations whatever their masks are.

The pursuit grows its problems one column at a time (`StackedLeastSquares`, by Gram-Schmidt); the
selectors fit given supports at once (`SupportFit`, by refined normal equations, and
`solve_normal_equations`, for those that are well-conditioned).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools, Floats, Ints

#: A column is dependent on its predecessors if its part orthogonal to them keeps less than this many
#: machine epsilons of its squared length. It then gets the coefficient zero.
_DEPENDENT = 16.0
#: Gram-Schmidt is repeated where it cancels all but this part of the squared length of a column.
_CANCELLED = 0.1
#: Ridge on the normal equations of unit columns: dependent ones then give large inverses, not errors.
_RIDGE = 1e-13
#: Largest entry of an inverse Gram matrix up to which a fit needs no refinement ...
_WELL_CONDITIONED = 1e2
#: ... and beyond which it is made again by singular values.
_ILL_CONDITIONED = 1e6
#: Singular values up to this part of the largest one are rounding error.
_NEGLIGIBLE = 1e-10


class StackedLeastSquares:
    """Least-squares fits of the rows of a target by columns that are appended one at a time.

    Problem b minimizes ``|target_b - sum_j w_bj column_bj|^2``. Each appended column is made orthogonal
    to the earlier ones of its problem (classical Gram-Schmidt, repeated where it cancels), which gives
    the residual at once; coefficients follow by back-substitution when they are asked for.

    Parameters
    ----------
    capacity : int
        Largest number of columns of one problem.
    n_rows, n_features : int
        Largest number of problems of one batch, and the length of a column.
    dtype : dtype
        float32 or float64.

    Attributes
    ----------
    residual : (B, d) ndarray
        Target minus fit, of the batch begun last.
    """

    def __init__(self, capacity: int, n_rows: int, n_features: int, dtype: np.dtype) -> None:
        # Memory is reused by all batches: fresh pages cost more than the arithmetic done on them.
        self._basis = np.empty((capacity, n_rows, n_features), dtype)
        self._inverse = np.empty((capacity, n_rows), dtype)
        self._overlaps = np.empty((capacity, capacity, n_rows), dtype)
        self._steps = np.empty((capacity, n_rows), dtype)
        self._residual = np.empty((n_rows, n_features), dtype)
        self._scratch = np.empty((n_rows, n_features), dtype)
        self._dependent = _DEPENDENT * np.finfo(dtype).eps

    def begin(self, target: Floats) -> None:
        """Start a batch of ``len(target)`` problems that have no column yet."""
        self._n_rows = len(target)
        self._n_columns = 0
        self.residual = self._residual[: self._n_rows]
        self.residual[...] = target

    def next_column(self) -> Floats:
        """Return the (B, d) array that the caller fills with the next column of each problem."""
        column: Floats = self._basis[self._n_columns, : self._n_rows]
        return column

    def append(self, inverse_length: Floats, wanted: Bools) -> Bools:
        """Append the column put into `next_column` and update the residual.

        Parameters
        ----------
        inverse_length : (B,) ndarray
            One over the squared length of each new column.
        wanted : (B,) ndarray of bool
            Problems that take their column; the others stay as they are.

        Returns
        -------
        taken : (B,) ndarray of bool
            Wanted, and independent of the columns before.
        """
        j, n = self._n_columns, self._n_rows
        column = self._basis[j, :n]
        overlaps = self._overlaps[j, :j, :n]
        if j:
            overlaps[...] = self._orthogonalize(slice(0, n), column)
        remaining = np.einsum("bd,bd->b", column, column)
        if j:
            again = np.flatnonzero(wanted & (remaining * inverse_length < _CANCELLED))
            if again.size:
                part = column[again]
                overlaps[:, again] += self._orthogonalize(again, part)
                column[again] = part
                remaining[again] = np.einsum("bd,bd->b", part, part)
        taken: Bools = wanted & (remaining * inverse_length > self._dependent)
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
        """Weights of the columns, (B, capacity); zero for columns that were refused or not appended."""
        weights = np.zeros((len(self._steps), self._n_rows), self._steps.dtype)
        weights[: self._n_columns] = self._steps[: self._n_columns, : self._n_rows]
        for j in range(self._n_columns - 1, 0, -1):
            weights[:j] -= self._overlaps[j, :j, : self._n_rows] * weights[j]
        return np.ascontiguousarray(weights.T)

    def _orthogonalize(self, rows: slice | Ints, column: Floats) -> Floats:
        """Take the span of the earlier columns out of `column`, in place; return what was taken, (j, B)."""
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
        Inverse of the Gram matrix of the columns; of no meaning in empty places.
    coefficients : (B, S) ndarray
    residual : (B, d) ndarray
    ill_conditioned : ndarray of int
        Problems whose columns are, or nearly are, dependent: these were fitted by singular values.
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
            _, sizes, directions = np.linalg.svd(self.columns[ill], full_matrices=False)
            width = directions.shape[1]  # there are no more directions than features
            rows[ill, width:] = 0
            rows[ill, :width] = directions * (sizes > _NEGLIGIBLE * sizes[:, :1])[:, :, None]
        return rows


def fit_supports(columns: NDArray[np.float64], target: Floats) -> SupportFit:
    """Fit every target by its columns; dependent columns share the weight (minimum norm).

    Parameters
    ----------
    columns : (B, S, d) ndarray of float64
        Zero where a problem has fewer columns.
    target : (B, d) ndarray
    """
    gram = columns @ columns.transpose(0, 2, 1)
    lengths = np.einsum("bss->bs", gram)  # a view
    lengths *= 1 + _RIDGE
    lengths[lengths == 0] = 1  # columns of zeros get the weight zero
    inverse = np.linalg.inv(gram).astype(np.float64, copy=False)
    residual = target.astype(np.float64)
    coefficients = np.matvec(inverse, np.matvec(columns, residual))
    residual -= np.vecmat(coefficients, columns)
    strain = (np.einsum("bss->bs", inverse) * lengths).max(axis=1)
    ill = np.flatnonzero(strain > _ILL_CONDITIONED)
    fit = SupportFit(columns, inverse, coefficients, residual, ill)
    if strain.max() > _WELL_CONDITIONED:
        _refine(fit, np.flatnonzero((strain > _WELL_CONDITIONED) & (strain <= _ILL_CONDITIONED)))
        _refit_by_singular_values(fit, ill, target)
    return fit


def solve_normal_equations(system: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Fit targets by unit columns, given the inner products; tell which fits need nothing more.

    By elimination, all problems side by side, which is several times faster than LAPACK on many problems of
    a few columns. The product of the pivots is the determinant; its inverse bounds the diagonal of the
    inverse Gram matrix, by Hadamard's inequality.

    Parameters
    ----------
    system : (S, S + 1, B) ndarray of float64
        The Gram matrix of the columns of each problem, then their products with the target; zero where a
        problem has fewer columns. Overwritten.

    Returns
    -------
    coefficients : (S, B) ndarray
        Weights of the columns.
    reliable : (B,) ndarray of bool
        Whether the fit is as good as that of `fit_supports`.
    """
    pivots = np.einsum("ssb->sb", system[:, :-1])  # a view
    pivots[...] = 1 + _RIDGE
    for j, pivot in enumerate(pivots):
        row = system[j, j + 1 :] / pivot
        system[:, j + 1 :] -= system[:, j, None] * row
        system[j, j + 1 :] = row
    return system[:, -1], np.multiply.reduce(pivots) * _WELL_CONDITIONED >= 1


def _refine(fit: SupportFit, rows: Ints) -> None:
    """Take the effect of the ridge, and of rounding, out of some fits."""
    columns = fit.columns[rows]
    step = np.matvec(fit.inverse[rows], np.matvec(columns, fit.residual[rows]))
    fit.coefficients[rows] += step
    fit.residual[rows] -= np.vecmat(step, columns)


def _refit_by_singular_values(fit: SupportFit, rows: Ints, target: Floats) -> None:
    """Fit some targets again, which is slow but right for columns however close to dependent."""
    if not rows.size:
        return
    columns = fit.columns[rows]
    duals = np.linalg.pinv(columns.transpose(0, 2, 1), rcond=_NEGLIGIBLE)
    fit.inverse[rows] = duals @ duals.transpose(0, 2, 1)
    fit.coefficients[rows] = np.matvec(duals, target[rows].astype(np.float64))
    fit.residual[rows] = target[rows] - np.vecmat(fit.coefficients[rows], columns)
