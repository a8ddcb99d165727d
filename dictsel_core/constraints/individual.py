"""Individual sparsity: a cap on the support of every patch."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import positive_part_sums
from dictsel_core._util.validation import Bools, Floats, Ints, as_caps
from dictsel_core.constraints.constraint import (
    Replacement,
    ReplacementGains,
    SeparableConstraint,
    Supports,
    SwapTable,
    support_sizes,
)


@dataclass(frozen=True, eq=False)
class IndividualSparsity(SeparableConstraint):
    """Each patch may use at most s atoms: ``|Z_t| <= s_t`` (section 3; the standard dictionary selection).

    Parameters
    ----------
    sparsity : int or (T,) array_like of int
        One cap for all patches, or one for each.

    Examples
    --------
    >>> supports = [[0, 3], [1]]  # of two patches
    >>> IndividualSparsity(2).is_feasible(supports)
    True
    >>> IndividualSparsity([1, 2]).is_feasible(supports)
    False
    """

    one_replacement_per_atom: ClassVar[bool] = True
    treats_atoms_alike: ClassVar[bool] = True

    sparsity: int | ArrayLike
    caps: int | Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the caps."""
        object.__setattr__(self, "caps", as_caps(self.sparsity, "sparsity"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if there is not one cap per patch."""
        check_caps(self.caps, n_points)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support within the caps and the dictionary."""
        return min(int(np.max(self.caps)), n_atoms)

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return p = k: one replacement for each atom of the optimal dictionary (proposition 3.6)."""
        return n_atoms

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether no patch uses more atoms than its cap."""
        return bool((support_sizes(supports) <= self.caps).all())

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over patches of max(0, gain - cheapest removal); below the cap nothing is removed."""
        _, costs = table.cheapest
        floors = np.where(self._full(table.sizes), costs, 0)
        return positive_part_sums(table.gains, floors, table.largest, table.threads)

    def patch_values(self, table: ReplacementGains) -> Floats:
        """Return what each patch contributes to `values`: (T, n)."""
        floors = np.where(self._full(table.sizes), table.cheapest[1], 0)
        return np.maximum(table.gains - floors[:, None], 0)

    def part(self, rows: Ints, supports: Ints | None = None) -> "IndividualSparsity":
        """Return the constraint on some of the patches."""
        return IndividualSparsity(self.caps[rows]) if isinstance(self.caps, np.ndarray) else self

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement: the best of each patch."""
        full = self._full(table.sizes)
        slots, costs = table.cheapest
        values = table.gains[:, atom] - np.where(full, costs, 0)
        return _replacement(values, full, slots)

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
        return _replacement(np.where(full, swapped, table.additions[:, atom]), full, slots)

    def _full(self, sizes: Ints) -> Bools:
        full: Bools = sizes >= self.caps
        return full


def _replacement(values: Floats, full: Bools, slots: Ints) -> Replacement:
    """Return the replacement in all patches of positive value; full ones lose the atom in a given slot."""
    added = values > 0
    return Replacement(float(values[added].sum()), added, np.where(added & full, slots, -1))


def check_caps(caps: int | Ints, n_points: int) -> None:
    """Raise ValueError unless there is one cap for all patches or one per patch."""
    if not isinstance(caps, int) and len(caps) != n_points:
        raise ValueError(f"sparsity must be one cap or one per patch, {n_points}, but there are {len(caps)}.")
