"""Engines that value replacements by the gains of additions and the costs of removals."""

from collections.abc import Callable

import numpy as np

from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.constraints import Constraint, Replacement, ReplacementGains
from dictsel_core.selection.engine.replacement import ReplacementEngine, SelectedAtom
from dictsel_core.selection.engine.state import SupportState


class GainCostEngine(ReplacementEngine):
    """Values replacements by gains and costs, among which the constraint finds the best combination.

    Parameters
    ----------
    state : SupportState
        Modified by `apply_best`.
    constraint : Constraint
    max_repeats : int or None
        See `ReplacementEngine`.
    accuracy : float
        Fraction of the largest value that the replacement reaches at least.
    """

    def __init__(
        self,
        state: SupportState,
        constraint: Constraint,
        max_repeats: int | None,
        accuracy: float = 1.0,
    ) -> None:
        super().__init__(state, max_repeats)
        self.state = state
        self.constraint, self._accuracy = constraint, accuracy
        self._price = 0.0

    def apply_best(
        self, table: ReplacementGains, scale: float, eligible: Bools, new: Bools
    ) -> tuple[SelectedAtom, Ints]:
        """Apply the best replacement; return the pick, its gain over `scale`, and the patches changed.

        If no replacement has a positive value, the new atom with the largest summed gain is picked.
        """
        bounds = np.where(eligible, self.constraint.bounds(table, self._price), 0)
        atom, replacement, n_exact = best_replacement(
            bounds, lambda atom: self.constraint.replacement(table, atom), self._accuracy
        )
        if replacement is None:
            totals = table.gains.sum(axis=0, dtype=np.float64)
            unchanged = np.zeros(0, np.intp)
            return SelectedAtom(int(np.where(new, totals, -1.0).argmax()), 0.0, n_exact), unchanged
        self._price = replacement.price
        return SelectedAtom(atom, replacement.value / scale, n_exact), self.state.apply(replacement, atom)


def best_replacement(
    bounds: Floats, solve: Callable[[int], Replacement], accuracy: float = 1.0
) -> tuple[int, Replacement | None, int]:
    """Return the atom of the best replacement, that replacement, and the number of exact solves.

    Atoms are tried in the order of their upper bounds, (n,), until no bound, times the accuracy, exceeds the
    best value. The replacement is None if no value is positive. The bounds are overwritten.
    """
    best_atom, best, best_value, n_exact = -1, None, 0.0, 0
    while accuracy * bounds[atom := int(bounds.argmax())] > best_value:
        replacement = solve(atom)
        n_exact += 1
        bounds[atom] = 0
        if replacement.value > best_value:
            best_atom, best, best_value = atom, replacement, replacement.value
    return best_atom, best, n_exact
