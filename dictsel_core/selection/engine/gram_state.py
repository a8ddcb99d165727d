"""Supports of patches in which nothing is missing, fitted by inner products that patches share."""

from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np

from dictsel_core._support.least_squares import RIDGE, WELL_CONDITIONED
from dictsel_core._support.threads import map_chunks
from dictsel_core._support.validation import Floats, Ints
from dictsel_core.constraints import Replacement
from dictsel_core.selection.engine._kernels import solve_supports, square_by_products
from dictsel_core.selection.engine.fits import ColumnFit
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem

_LIMITS = RIDGE, WELL_CONDITIONED
#: Patches that a thread works on at a time; fewer are not worth it.
_CHUNK = 4096


class GramState(SupportState):
    """A `SupportState` of small dictionaries that fits by inner products alone.

    With G = A^T A the weights solve G_ZZ w = (A^T y)_Z, and A^T r = A^T y - G_VZ w. One patch costs O(s^3)
    and O(kn), where `ColumnFit` takes O(ds^2) and O(dn); that one fits the patches whose normal equations are
    ill-conditioned.

    Parameters
    ----------
    problem : Problem
        With nothing missing.
    capacity : int
        Maximum size of a support.
    n_atoms : int
        Maximum number of different atoms in all supports.
    threads : int, optional
        The result does not depend on it. Default is 1.
    """

    def __init__(self, problem: Problem, capacity: int, n_atoms: int, threads: int = 1) -> None:
        super().__init__(problem, capacity, ColumnFit(problem), threads)
        atoms = problem.ground_set.atoms
        n_candidates = atoms.shape[1]
        self._products = np.zeros((n_atoms, n_candidates))
        self._places = np.full(n_candidates, -1)  # rows of the products
        self._n_used = 0
        self._lock = Lock()
        moments = problem.data.astype(np.float64, copy=False) @ atoms
        self._inner = moments, self._products, self._places
        self._arrays = self.supports, self.sizes, self.coefficients, self.explained
        self._known = problem.rounding, problem.ground_set.duplicates

    def apply(self, replacement: Replacement, atom: int) -> Ints:
        """Change the supports, refit the changed patches, and return their indices."""
        self._add_products([atom])
        return super().apply(replacement, atom)

    def set_supports(self, supports: Ints) -> None:
        """Replace all supports at once, and refit."""
        self._add_products(np.unique(supports[supports >= 0]).tolist())
        super().set_supports(supports)

    def refit(self, rows: Ints) -> None:
        """Fit the given patches by least squares."""
        self._in_chunks(self._refit, rows)

    def _refit(self, rows: Ints) -> None:
        rest = solve_supports(rows, self._arrays, self._inner, _LIMITS)
        for block, supports in self.blocks(rest) if len(rest) else ():
            weights, self.explained[block] = self._fit.refit(block, supports)
            self.coefficients[block, : weights.shape[1]] = weights

    def update_squares(self, rows: Ints, squares: Floats, largest: Floats) -> None:
        """Write (A^T r)^2 of the given patches, and the largest of each, to arrays for all patches."""
        out = squares, largest
        self._in_chunks(
            lambda part: square_by_products(part, self._arrays, self._inner, self._known, out), rows
        )

    def _in_chunks(self, function: Callable[[Ints], None], rows: Ints) -> None:
        """Call a function for all rows, by threads if there are many."""
        if self.threads == 1 or len(rows) <= _CHUNK:
            function(rows)
        else:
            chunks = map_chunks(
                lambda start, stop: function(rows[start:stop]), len(rows), _CHUNK, self.threads
            )
            for _ in chunks:
                pass

    def _add_products(self, atoms: Iterable[int]) -> None:
        """Compute the inner products of those atoms that are new."""
        with self._lock:  # several threads may meet the same new atom
            for atom in atoms:
                if self._places[atom] < 0:
                    row = self.problem.padded_rows[atom]
                    np.matmul(row, self.problem.ground_set.atoms, out=self._products[self._n_used])
                    self._places[atom] = self._n_used
                    self._n_used += 1
