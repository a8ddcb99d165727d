"""Supports of patches in which nothing is missing, fitted by shared inner products in compiled code."""

from collections.abc import Callable

import numpy as np

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.least_squares import RIDGE, WELL_CONDITIONED
from dictsel_core._support.threads import map_chunks
from dictsel_core._support.validation import Floats, Ints
from dictsel_core.constraints import Replacement
from dictsel_core.selection.engine._kernels import solve_supports, square_by_products
from dictsel_core.selection.engine.fits import GramFit
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem

_LIMITS = RIDGE, WELL_CONDITIONED
#: Patches that a thread works on at a time; fewer are not worth it.
_CHUNK = 4096


def gram_state(problem: Problem, capacity: int, n_atoms: int, threads: int = 1) -> SupportState:
    """Return a state whose patches are fitted by inner products, compiled if kernels are."""
    fit = GramFit(problem, n_atoms)
    state = CompiledGramState if is_enabled() else SupportState
    return state(problem, capacity, fit, threads)


class CompiledGramState(SupportState):
    """What `SupportState` is with a `GramFit`; one call fits all patches, and one writes their squares."""

    _fit: GramFit

    def __init__(self, problem: Problem, capacity: int, fit: GramFit, threads: int = 1) -> None:
        super().__init__(problem, capacity, fit, threads)
        self._arrays = self.supports, self.sizes, self.coefficients, self.explained
        self._known = problem.rounding, problem.ground_set.duplicates

    def apply(self, replacement: Replacement, atom: int) -> Ints:
        """Change the supports, refit the changed patches, and return their indices."""
        self._fit.add_products([atom])
        return super().apply(replacement, atom)

    def set_supports(self, supports: Ints) -> None:
        """Replace all supports at once, and refit."""
        self._fit.add_products(np.unique(supports[supports >= 0]).tolist())
        super().set_supports(supports)

    def refit(self, rows: Ints) -> None:
        """Fit the given patches by least squares."""
        self._in_chunks(self._refit, rows)

    def _refit(self, rows: Ints) -> None:
        rest = solve_supports(rows, self._arrays, self._fit.inner, _LIMITS)
        for block, supports in self.blocks(rest) if len(rest) else ():
            weights, self.explained[block] = self._fit.refit_by_columns(block, supports)
            self.coefficients[block, : weights.shape[1]] = weights

    def update_squares(self, rows: Ints, squares: Floats, largest: Floats) -> None:
        """Write (A^T r)^2 of the given patches, and the largest of each, to arrays for all patches."""
        out = squares, largest
        self._in_chunks(
            lambda part: square_by_products(part, self._arrays, self._fit.inner, self._known, out), rows
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
