"""Average sparsity: all patches share one budget of atoms."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.validation import Bools, Floats, Ints, as_caps, as_count
from dictsel_core.constraints.average_step import best_exchange, price_bounds
from dictsel_core.constraints.individual import check_caps
from dictsel_core.constraints.protocol import (
    Constraint,
    Replacement,
    ReplacementGains,
    Supports,
    support_sizes,
)


@dataclass(frozen=True, eq=False)
class AverageSparsity(Constraint):
    """All patches together may use at most s' atoms: sum of ``|Z_t|`` <= s', ``|Z_t| <= s_t`` (section 3).

    Parameters
    ----------
    s : int, (T,) array_like of int, or None
        Cap on each patch as in `IndividualSparsity`; None for average sparsity without individual
        sparsity (appendix B.3).
    budget : int
        s', the total over all patches (not the average).

    References
    ----------
    .. [1] V. Cevher and A. Krause, "Greedy dictionary selection for sparse representation", IEEE Journal
       of Selected Topics in Signal Processing 5(5), 2011.

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

    s: int | ArrayLike | None
    budget: int
    caps: int | Ints | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the caps and the budget."""
        object.__setattr__(self, "caps", None if self.s is None else as_caps(self.s, "s"))
        object.__setattr__(self, "budget", as_count(self.budget, "budget"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if there is not one cap per patch."""
        if self.caps is not None:
            check_caps(self.caps, n_points)

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
        return (1 if self.s is None else 2) * n_atoms + used - 1

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether neither a cap nor the budget is exceeded."""
        sizes = support_sizes(supports)
        capped = self.caps is None or bool((sizes <= self.caps).all())
        return capped and int(sizes.sum()) <= self.budget

    def values(self, table: ReplacementGains) -> Floats:
        """Solve the problem of appendix C exactly for every atom."""
        costs, at_cap = self.removals(table)
        unused = self._unused_budget(table.sizes)
        solved = (best_exchange(gains, costs, at_cap, unused) for gains in table.gains.T)
        return np.array([exchange.value for exchange in solved])

    def bounds(self, table: ReplacementGains, price: float) -> Floats:
        """Bound the value of every atom by the Lagrangian dual at the price of the last step, in one pass."""
        return self.bounds_without_budget(table, price) + price * self._unused_budget(table.sizes)

    def bounds_without_budget(self, table: ReplacementGains, price: float) -> Floats:
        """Return the bounds without the price of the unused budget: a sum over patches."""
        costs, at_cap = self.removals(table)
        return price_bounds(table.gains, costs, at_cap, price, table.largest, table.threads)

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement for one atom, by an exact solve."""
        costs, at_cap = self.removals(table)
        slots, unused = table.cheapest[0], self._unused_budget(table.sizes)
        return budget_replacement(table.gains[:, atom], costs, slots, at_cap, unused)

    def part(self, rows: Ints) -> "AverageSparsity":
        """Return the constraint on some of the patches, with the budget of all."""
        return AverageSparsity(self.caps[rows], self.budget) if isinstance(self.caps, np.ndarray) else self

    def removals(self, table: ReplacementGains) -> tuple[Floats, Bools]:
        """Return the cheapest removal of each patch, and whether the patch is at its cap."""
        sizes: Ints = table.sizes
        at_cap = np.zeros(len(sizes), bool) if self.caps is None else sizes >= self.caps
        return table.cheapest[1], at_cap

    def _unused_budget(self, sizes: Ints) -> int:
        """Return the unused budget; one atom goes to T patches at most."""
        return min(self.budget - int(sizes.sum()), len(sizes))


def budget_replacement(gains: Floats, costs: Floats, slots: Ints, at_cap: Bools, unused: int) -> Replacement:
    """Return the best replacement for one atom, given its gains and the cheapest removals, with slots."""
    exchange = best_exchange(gains, costs, at_cap, unused)
    removed = np.where(exchange.removed, slots, -1)
    return Replacement(exchange.value, exchange.added, removed, exchange.price)
