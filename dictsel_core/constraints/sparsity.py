"""Individual sparsity, a cap on every patch, and average sparsity, a budget for all."""

from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import positive_part_sums
from dictsel_core._util.validation import Bools, Floats, Ints, as_caps, as_count, as_each
from dictsel_core.constraints.constraint import (
    Constraint,
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
        object.__setattr__(self, "caps", as_caps(self.sparsity, "sparsity"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if there is not one cap per patch."""
        as_each(self.caps, n_points)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support within the caps and the dictionary."""
        return min(int(np.max(self.caps)), n_atoms)

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether no patch uses more atoms than its cap."""
        return bool((support_sizes(supports) <= self.caps).all())

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over patches of max(0, gain - cheapest removal); below the cap nothing is removed."""
        _, costs = table.cheapest
        floors = np.where(self._full(table.sizes), costs, 0)
        return positive_part_sums(table.gains, floors)

    def patch_values(self, table: ReplacementGains) -> Floats:
        """Return what each patch contributes to `values`: (T, n)."""
        floors = np.where(self._full(table.sizes), table.cheapest[1], 0)
        return np.maximum(table.gains - floors[:, None], 0)

    def has_room(self, sizes: Ints) -> Bools:
        """Return which patches are below their cap."""
        return ~self._full(sizes)

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


@dataclass(frozen=True, eq=False)
class AverageSparsity(Constraint):
    """All patches together may use at most s' atoms: sum of ``|Z_t|`` <= s', ``|Z_t| <= s_t`` (section 3).

    Parameters
    ----------
    sparsity : int, (T,) array_like of int, or None
        Cap on each patch as in `IndividualSparsity`; None for average sparsity without individual
        sparsity (appendix B.3).
    budget : int
        s', the total over all patches (not the average).

    Examples
    --------
    Two atoms per patch on average, three at most; one patch may use more if another uses fewer:

    >>> constraint = AverageSparsity(3, budget=2 * 2)
    >>> constraint.is_feasible([[0, 1, 2], [1]])
    True
    >>> constraint.is_feasible([[0, 1, 2], [1, 2]])
    False
    """

    treats_atoms_alike: ClassVar[bool] = True

    sparsity: int | ArrayLike | None
    budget: int
    caps: int | Ints | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "caps", None if self.sparsity is None else as_caps(self.sparsity, "sparsity")
        )
        object.__setattr__(self, "budget", as_count(self.budget, "budget"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if there is not one cap per patch."""
        if self.caps is not None:
            as_each(self.caps, n_points)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support within the caps and the budget."""
        cap = n_atoms if self.caps is None else int(np.max(self.caps))
        return min(cap, n_atoms, self.budget)

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return p = 2k + k' - 1, or k + k' - 1 without individual sparsity, for supports of k' atoms.

        With k' = k these are the 3k - 1 and 2k - 1 of propositions B.5 and B.3. In their proofs, k
        replacements serve the patches at their cap; each of the others exhausts one of the k' atoms to be
        removed or one of the k to be added. Empty supports take one replacement for each atom.
        """
        used = n_atoms if n_used is None else n_used
        if used == 0:
            return n_atoms
        return (1 if self.caps is None else 2) * n_atoms + used - 1

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether neither a cap nor the budget is exceeded."""
        sizes = support_sizes(supports)
        capped = self.caps is None or bool((sizes <= self.caps).all())
        return capped and int(sizes.sum()) <= self.budget

    def values(self, table: ReplacementGains) -> Floats:
        """Solve the problem of appendix C exactly for every atom."""
        return np.array([self.replacement(table, atom).value for atom in range(table.gains.shape[1])])

    def bounds(self, table: ReplacementGains, price: float) -> Floats:
        """Bound the value of every atom by the Lagrangian dual at the price of the last step, in one pass."""
        return self.bounds_without_budget(table, price) + price * self._unused_budget(table.sizes)

    def bounds_without_budget(self, table: ReplacementGains, price: float) -> Floats:
        r"""Return the bounds but for the price of the unused budget: a sum over patches.

        The Lagrangian of the budget decomposes by patch. At a price lam, a patch may do nothing (0), swap
        (g - c), remove only (lam - c), or, unless it is at its cap, add only (g - lam); hence

        .. math:: \lambda\theta + \sum_t \max(0, g_t - c_t, \lambda - c_t, [t \notin S] (g_t - \lambda))
                = \lambda\theta + \sum_t (\lambda - c_t)_+ + \sum_t (g_t - \phi_t)_+

        with the floor :math:`\phi_t = \lambda`, and at least c_t for patches at their cap.
        """
        _, costs = table.cheapest
        floors = np.where(self._at_cap(table.sizes), np.maximum(costs, price), price)
        removals = np.maximum(price - costs, 0).sum()
        bounds: Floats = removals + positive_part_sums(table.gains, floors)
        return bounds

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement for one atom, by an exact solve."""
        at_cap, unused = self._at_cap(table.sizes), self._unused_budget(table.sizes)
        return best_exchange(table.gains[:, atom], table.cheapest, at_cap, unused)

    def part(self, rows: Ints, supports: Ints) -> "AverageSparsity":
        """Return the constraint on some of the patches, with what the others leave of the budget."""
        part = copy(self)
        caps = self.caps[rows] if isinstance(self.caps, np.ndarray) else self.caps
        spent = np.count_nonzero(supports >= 0) - np.count_nonzero(supports[rows] >= 0)
        object.__setattr__(part, "caps", caps)
        object.__setattr__(part, "budget", self.budget - spent)
        return part

    def _at_cap(self, sizes: Ints) -> Bools:
        at_cap: Bools = np.zeros(len(sizes), bool) if self.caps is None else sizes >= self.caps
        return at_cap

    def _unused_budget(self, sizes: Ints) -> int:
        """Return the unused budget; one atom goes to T patches at most."""
        return min(self.budget - int(np.add.reduce(sizes)), len(sizes))


def best_exchange(gains: Floats, cheapest: tuple[Ints, Floats], at_cap: Bools, unused: int) -> Replacement:
    r"""Decide which patches receive an atom, and which lose another for it, in time linear in T.

    With g_t the gain of adding the atom to patch t, c_t its cheapest removal (infinite if the support is
    empty), S the patches at their cap and theta the unused budget, the problem is

    .. math:: \max_{A, B} \sum_{t \in A} g_t - \sum_{t \in B} c_t
       \quad\text{subject to}\quad |A| - |B| \le \theta, \; A \cap S \subseteq B.

    The paper solves it by algorithm 2, in O(T log T). Here, as a function of the multiplier lam, the optimal
    action of patch t changes at min(g_t, c_t), where it stops being a pure addition (if not at its cap), and
    at max(g_t, c_t), where it becomes a pure removal. The dual optimum is therefore an order statistic of
    these numbers; the primal optimum follows by breaking ties such that the budget is met. The removals are
    those of `ReplacementGains.cheapest`, and the price is the multiplier.
    """
    (slots, costs), gains, unused, price = cheapest, gains.astype(np.float64), max(unused, 0), 0.0
    low, high = np.where(at_cap, 0.0, np.minimum(gains, costs)), np.maximum(gains, costs)
    # The dual has the slope ``unused - #{low > lam} + #{high < lam}`` away from its kinks, and of the patches
    # T - #{high > lam} lie below lam, so that the slope turns at the (T + unused + 1)-th largest of both.
    if np.count_nonzero(low > 0) > unused:
        rank = len(gains) - unused - 1  # counted from the smallest
        price = float(np.partition(np.concatenate([low, high]), rank)[rank])
    added, removed = low > price, high < price
    surplus = unused + np.count_nonzero(removed) - np.count_nonzero(added)
    # Ties become additions or removals until the budget is met exactly; what is left are swaps.
    removed[np.flatnonzero(high == price)[: max(-surplus, 0)]] = True
    if price > 0:
        added[np.flatnonzero(low == price)[: max(surplus, 0)]] = True
    swapped = ~added & ~removed & (gains > costs)
    added, removed = added | swapped, removed | swapped
    value = float(gains[added].sum() - costs[removed].sum())
    return Replacement(value, added, np.where(removed, slots, -1), price)
