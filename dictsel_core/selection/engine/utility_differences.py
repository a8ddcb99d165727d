"""Differences of a utility for all additions and swaps, each by a refit."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Floats, Ints
from dictsel_core.selection.engine.utility_fit import UtilityMaximum, UtilityProblem, maximize_utility

#: A difference below this fraction of the largest possible utility may be rounding error, and counts as 0.
_ROUNDING = 1e-10


class UtilityDifferences:
    """Differences of a utility for the patches of a problem.

    There is no closed form: every atom and every swap is a fit of its own, which begins at the weights of
    the support.
    """

    def __init__(self, problem: UtilityProblem) -> None:
        self._problem = problem

    def of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return f(Z + a) - f(Z), (B, n), and f(Z - b + a) - f(Z), (B, S, n), of patches with supports Z.

        Those for atoms of the support, and for empty slots, are meaningless.
        """
        n_candidates = len(self._problem.ground_set)
        additions = np.empty((len(rows), n_candidates))
        swaps = np.full((len(rows), supports.shape[1], n_candidates), -np.inf)
        for place, (row, padded) in enumerate(zip(rows.tolist(), supports, strict=True)):
            support = padded[padded >= 0]
            now = self._maximum(row, support[None], None)
            additions[place] = self._after(row, support, now.weights[0]) - now.values
            for slot in range(len(support)):
                kept = np.arange(len(support)) != slot
                swaps[place, slot] = self._after(row, support[kept], now.weights[0, kept]) - now.values
        noise = _ROUNDING * self._problem.energies[rows] / 2
        additions[np.abs(additions) <= noise[:, None]] = 0
        swaps[np.abs(swaps) <= noise[:, None, None]] = 0
        return additions, swaps

    def of_single_atoms(self) -> Floats:
        """Return f({a}) for every patch and atom, the modular approximation: (T, n)."""
        n_points = len(self._problem)
        return self.of_supports(np.arange(n_points), np.full((n_points, 0), -1))[0]

    def _after(self, row: int, support: Ints, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(Z + a) of one patch for all atoms a, from the given weights of Z and 0 for a: (n,)."""
        n_candidates = len(self._problem.ground_set)
        enlarged = np.empty((n_candidates, len(support) + 1), np.intp)
        enlarged[:, :-1], enlarged[:, -1] = support, np.arange(n_candidates)
        start = np.zeros(enlarged.shape)
        start[:, :-1] = weights
        return self._maximum(row, enlarged, start).values

    def _maximum(self, row: int, supports: Ints, start: NDArray[np.float64] | None) -> UtilityMaximum:
        """Fit one patch by several supports: (m, S)."""
        problem = self._problem
        shape = (len(supports), problem.data.shape[1])
        y = np.broadcast_to(problem.data[row].astype(np.float64), shape)
        counts = problem.entry_weights[row]
        return maximize_utility(problem.utility, problem.padded_rows[supports], y, counts[None], start)
