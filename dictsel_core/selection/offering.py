"""Steps that take the most valuable of all replacements that are offered."""

import numpy as np

from dictsel_core._validation import Bools, Ints
from dictsel_core.constraints import Constraint, Offer, Replacement
from dictsel_core.selection.driver import Pick, ReplacementEngine
from dictsel_core.selection.state import SupportState


class OfferingEngine(ReplacementEngine):
    """Values replacements by gains and costs, which the constraint weighs against each other.

    Parameters
    ----------
    state : SupportState
        Changed by `take_best`.
    constraint : Constraint
    repeats : int
        See `ReplacementEngine`.
    """

    def __init__(self, state: SupportState, constraint: Constraint, repeats: int) -> None:
        super().__init__(state, repeats)
        self.constraint = constraint
        self._price = 0.0

    def take_best(self, offer: Offer, scale: float, eligible: Bools, new: Bools) -> tuple[Pick, Ints]:
        """Carry out the best replacement; return the pick, its gain over `scale`, and the patches changed.

        Where nothing is worth anything, the new atom with the largest summed gain is picked.
        """
        atom, replacement, n_exact = best_replacement(self.constraint, offer, self._price, eligible)
        if replacement is None:
            totals = offer.gains.sum(axis=0, dtype=np.float64)
            unchanged = np.zeros(0, np.intp)
            return Pick(int(np.where(new, totals, -1.0).argmax()), 0.0, n_exact), unchanged
        self._price = replacement.price
        return Pick(atom, replacement.value / scale, n_exact), self.state.carry_out(replacement, atom)


def best_replacement(
    constraint: Constraint, offer: Offer, price: float, eligible: Bools
) -> tuple[int, Replacement | None, int]:
    """Return the eligible atom with the most valuable replacement, that one, and the exact solves made.

    Atoms are tried in the order of their upper bounds until no bound exceeds the best value. The
    replacement is None where no value is positive.
    """
    bounds = np.where(eligible, constraint.bounds(offer, price), 0)
    best_atom, best, best_value, n_exact = -1, None, 0.0, 0
    while bounds[atom := int(bounds.argmax())] > best_value:
        replacement = constraint.replacement(offer, atom)
        n_exact += 1
        bounds[atom] = 0
        if replacement.value > best_value:
            best_atom, best, best_value = atom, replacement, replacement.value
    return best_atom, best, n_exact
