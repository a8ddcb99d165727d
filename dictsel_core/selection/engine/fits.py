"""Least-squares weights on given supports, and the correlations of all atoms with the residuals."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.least_squares import (
    ILL_CONDITIONED,
    REPEAT_BELOW,
    SupportFit,
    fit_supports,
)
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.selection.engine.column_kernels import fit_columns
from dictsel_core.selection.problem import Problem

Doubles = NDArray[np.float64]

#: Of kernels that fit columns.
FIT_LIMITS = REPEAT_BELOW, ILL_CONDITIONED


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
        """What kernels read of a problem."""
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
