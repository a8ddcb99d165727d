"""Least-squares weights on given supports, and the correlations of all atoms with the residuals."""

from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.least_squares import (
    RIDGE,
    WELL_CONDITIONED,
    SupportFit,
    fit_supports,
    solve_normal_equations,
)
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.selection.engine import _kernels
from dictsel_core.selection.problem import Problem

Doubles = NDArray[np.float64]


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

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit by the columns of the supports."""
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
    """

    def __init__(self, problem: Problem, n_atoms: int) -> None:
        self._problem = problem
        atoms = problem.ground_set.atoms
        n_candidates = atoms.shape[1]
        # Empty slots refer to the last column, and to row 0 of the products.
        self._moments = np.zeros((len(problem), n_candidates + 1))
        np.matmul(problem.data.astype(np.float64, copy=False), atoms, out=self._moments[:, :-1])
        self._products = np.zeros((n_atoms + 1, n_candidates + 1))
        self._n_used = 1
        self._places = np.full(n_candidates + 1, -1)
        self._places[-1] = 0
        self._inner = self._moments, self._products, self._places  # what kernels read
        self._lock = Lock()

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Solve the normal equations; fit by columns where they are ill-conditioned."""
        weights, explained, reliable = self._solve(rows, supports)
        if not reliable.all():
            rest = np.flatnonzero(~reliable)
            columns = self._problem.columns(rows[rest], supports[rest])
            weights[rest] = fit_supports(columns, self._problem.data[rows[rest]]).coefficients
            explained[rest] = np.vecdot(weights[rest], self._moments[rows[rest, None], supports[rest]])
        return weights, explained

    def _solve(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles, Bools]:
        """Return weights, (B, S), explained energies, (B,), and which of them are accurate, (B,)."""
        self._add_products(supports)
        if is_enabled():
            fitted = np.empty(supports.shape), np.empty(len(rows)), np.empty(len(rows), bool)
            _kernels.solve_supports(rows, supports, self._inner, (RIDGE, WELL_CONDITIONED), fitted)
            return fitted
        by_slot, n_slots = supports.T, supports.shape[1]
        moments = self._moments[rows, by_slot]
        system = np.empty((n_slots, n_slots + 1, len(rows)))
        system[:, :-1] = self._products[self._places[by_slot][:, None], by_slot]
        system[:, -1] = moments
        weights, reliable = solve_normal_equations(system)
        return weights.T, np.einsum("sb,sb->b", weights, moments), reliable

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Subtract the inner products of the fit with all atoms from those of the data."""
        if is_enabled():
            _kernels.correlate(rows, supports, weights, self._inner, out)
            return
        dense = np.zeros((len(rows), self._n_used))
        dense[np.arange(len(rows))[:, None], self._places[supports]] = weights
        explained = dense @ self._products[: self._n_used, :-1]
        np.subtract(self._moments.take(rows, axis=0)[:, :-1], explained, out=out)

    def _add_products(self, supports: Ints) -> None:
        """Compute the inner products of atoms that are new."""
        is_new = self._places[supports] < 0
        if not is_new.any():
            return
        with self._lock:  # several threads may meet the same new atom
            problem = self._problem
            for atom in dict.fromkeys(supports[is_new].tolist()):
                if self._places[atom] < 0:
                    row = problem.padded_rows[atom]
                    np.matmul(row, problem.ground_set.atoms, out=self._products[self._n_used, :-1])
                    self._places[atom] = self._n_used
                    self._n_used += 1
