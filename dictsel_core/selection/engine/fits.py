"""Least-squares weights on given supports, and the correlations of all atoms with the residuals."""

from collections.abc import Iterable
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.least_squares import (
    ILL_CONDITIONED,
    REPEAT_BELOW,
    SupportFit,
    fit_supports,
    solve_normal_equations,
)
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.selection.engine.column_kernels import fit_columns
from dictsel_core.selection.problem import Problem

Doubles = NDArray[np.float64]

#: Of kernels that fit columns.
FIT_LIMITS = REPEAT_BELOW, ILL_CONDITIONED
#: Larger supports are left to LAPACK, which then takes less time.
_MAX_COMPILED = 20


class Fit(Protocol):
    """Fits the patches of a problem; supports are (B, S), with -1 in empty slots."""

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Return the weights of some patches, (B, S), and |y|^2 - |r|^2, (B,), on their observed entries."""

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Put A^T r of some patches into `out`, (B, n), given their supports and latest weights."""


class ColumnFit:
    """Fits by the columns of each support, under the mask of the patch; keeps all residuals."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._residuals = problem.data.copy()
        ones = np.ones((1, problem.ground_set.n_features), problem.data.dtype)
        self._factors = ones if problem.observed is None else problem.observed

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit by the columns of the supports."""
        if supports.shape[1] > _MAX_COMPILED or not self._is_compiled():
            return self._refit_with_numpy(rows, supports)
        weights, explained = np.empty(supports.shape), np.empty(len(rows))
        reliable = np.empty(len(rows), bool)
        self._refit_compiled(rows, supports, (weights, explained, reliable))
        if not reliable.all():
            rest = np.flatnonzero(~reliable)
            weights[rest], explained[rest] = self._refit_with_numpy(rows[rest], supports[rest])
        return weights, explained

    def _is_compiled(self) -> bool:
        return is_enabled()

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


class GramFit:
    """Fits by inner products alone, which patches share if nothing is missing; for small dictionaries.

    With G = A^T A the weights solve G_ZZ w = (A^T y)_Z, and A^T r = A^T y - G_VZ w. One patch costs O(s^3)
    and O(kn), where `ColumnFit` takes O(ds^2) and O(dn).

    Parameters
    ----------
    problem : Problem
        With nothing missing.
    n_atoms : int
        Maximum number of different atoms in all supports.

    Attributes
    ----------
    inner : tuple of ndarray
        Inner products of all patches with the atoms (T, n + 1), and of the atoms in use with all of them
        (k + 1, n + 1); the row in which those of each atom are, or -1 (n + 1,). Empty slots refer to the
        last column, and to row 0 of the products.
    """

    def __init__(self, problem: Problem, n_atoms: int) -> None:
        self._problem = problem
        atoms = problem.ground_set.atoms
        n_candidates = atoms.shape[1]
        self._moments = np.zeros((len(problem), n_candidates + 1))
        np.matmul(problem.data.astype(np.float64, copy=False), atoms, out=self._moments[:, :-1])
        self._products = np.zeros((n_atoms + 1, n_candidates + 1))
        self._n_used = 1
        self._places = np.full(n_candidates + 1, -1)
        self._places[-1] = 0
        self.inner = self._moments, self._products, self._places
        self._lock = Lock()

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Solve the normal equations; fit by columns where they are ill-conditioned."""
        self.add_products(supports[self._places[supports] < 0].tolist())
        by_slot, n_slots = supports.T, supports.shape[1]
        moments = self._moments[rows, by_slot]
        system = np.empty((n_slots, n_slots + 1, len(rows)))
        system[:, :-1] = self._products[self._places[by_slot][:, None], by_slot]
        system[:, -1] = moments
        by_weight, reliable = solve_normal_equations(system)
        weights, explained = by_weight.T, np.einsum("sb,sb->b", by_weight, moments)
        if not reliable.all():
            rest = np.flatnonzero(~reliable)
            weights[rest], explained[rest] = self.refit_by_columns(rows[rest], supports[rest])
        return weights, explained

    def refit_by_columns(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit by the columns of the supports, which takes longer and is always accurate."""
        columns = self._problem.columns(rows, supports)
        weights = fit_supports(columns, self._problem.data[rows]).coefficients
        return weights, np.vecdot(weights, self._moments[rows[:, None], supports])

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Subtract the inner products of the fit with all atoms from those of the data."""
        dense = np.zeros((len(rows), self._n_used))
        dense[np.arange(len(rows))[:, None], self._places[supports]] = weights
        explained = dense @ self._products[: self._n_used, :-1]
        np.subtract(self._moments.take(rows, axis=0)[:, :-1], explained, out=out)

    def add_products(self, atoms: Iterable[int]) -> None:
        """Compute the inner products of those atoms that are new."""
        with self._lock:  # several threads may meet the same new atom
            for atom in atoms:
                if self._places[atom] < 0:
                    row = self._problem.padded_rows[atom]
                    np.matmul(row, self._problem.ground_set.atoms, out=self._products[self._n_used, :-1])
                    self._places[atom] = self._n_used
                    self._n_used += 1
