"""Individual sparsity: every patch has a cap of its own."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._arrays import positive_part_sums
from dictsel_core._validation import Bools, Floats, Ints, as_caps
from dictsel_core.constraints.protocol import (
    LocalConstraint,
    Offer,
    Replacement,
    Supports,
    SwapTable,
    support_sizes,
)


@dataclass(frozen=True, eq=False)
class IndividualSparsity(LocalConstraint):
    """Each patch may use at most s atoms: |Z_t| <= s_t (section 3; the standard dictionary selection).

    Parameters
    ----------
    s : int or (T,) array_like of int
        One cap for all patches, or one for each.

    Examples
    --------
    >>> supports = [[0, 3], [1]]  # of two patches
    >>> IndividualSparsity(2).is_feasible(supports)
    True
    >>> IndividualSparsity([1, 2]).is_feasible(supports)
    False
    """

    s: int | ArrayLike
    caps: int | Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the caps."""
        object.__setattr__(self, "caps", as_caps(self.s, "s"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if there is not one cap per patch."""
        check_caps(self.caps, n_points)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the largest cap that a dictionary of `n_atoms` atoms can fill."""
        return min(int(np.max(self.caps)), n_atoms)

    def replacement_sparsity(self, n_atoms: int) -> int:
        """Return p = k (proposition 3.6)."""
        return n_atoms

    def is_feasible(self, supports: Supports) -> bool:
        """Tell whether no patch uses more atoms than its cap."""
        return bool((support_sizes(supports) <= self.caps).all())

    def values(self, offer: Offer) -> Floats:
        """Sum over patches of max(0, gain - cheapest removal), the removal being free below the cap."""
        _, costs = offer.cheapest
        floors = np.where(self._full(offer.sizes), costs, 0)
        return positive_part_sums(offer.gains, floors, offer.largest)

    def replacement(self, offer: Offer, atom: int) -> Replacement:
        """Return the best replacement: each patch decides for itself."""
        full = self._full(offer.sizes)
        slots, costs = offer.cheapest
        worth = offer.gains[:, atom] - np.where(full, costs, 0)
        added = worth > 0
        return Replacement(float(worth[added].sum()), added, np.where(added & full, slots, -1))

    def swap_values(self, table: SwapTable) -> Floats:
        """Sum over patches of the best true difference: an addition below the cap, else a swap."""
        full = self._full(table.sizes)[:, None]
        best = np.where(full, table.swaps.max(axis=1), table.additions)
        totals: Floats = np.maximum(best, 0).sum(axis=0)
        return totals

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best replacement by true differences."""
        full = self._full(table.sizes)
        slots = table.swaps[:, :, atom].argmax(axis=1)
        swapped = table.swaps[np.arange(len(slots)), slots, atom]
        worth = np.where(full, swapped, table.additions[:, atom])
        added = worth > 0
        return Replacement(float(worth[added].sum()), added, np.where(added & full, slots, -1))

    def _full(self, sizes: Ints) -> Bools:
        full: Bools = sizes >= self.caps
        return full


def check_caps(caps: int | Ints, n_points: int) -> None:
    """Raise ValueError if there is neither one cap nor one per patch."""
    if not isinstance(caps, int) and len(caps) != n_points:
        raise ValueError(f"s must be one cap or one per patch, {n_points}, but there are {len(caps)}.")
