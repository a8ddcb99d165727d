"""Many small least-squares problems at once, to which columns are added one at a time."""

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints

#: A column is dependent on the previous ones, and gets the coefficient zero, if less than this many machine
#: epsilons of its squared length are orthogonal to them.
DEPENDENCE_EPSILONS = 16.0
#: Gram-Schmidt is repeated if less than this fraction of the squared length of a column is left.
REPEAT_BELOW = 0.1


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
