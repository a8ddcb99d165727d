"""What a selector offers to a sparsity constraint, and what the constraint answers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dictsel_core._validation import Bools, Floats, Ints

Supports = Sequence[Ints]


@dataclass(frozen=True, eq=False)
class Offer:
    """Gains and costs of all replacements at the current supports (Z_1, ..., Z_T).

    A feasible replacement adds one atom to some of the supports and removes at most one atom from
    each (eq. 3). It is worth the gains of its additions minus the costs of its removals. Replacement
    OMP offers both multiplied by M, which changes no comparison: squares of A^T r_t, and of M w_t.
    Replacement OLS offers twice the true differences of f_t.

    Attributes
    ----------
    gains : (T, n) ndarray
        Gain of adding atom a to patch t; at least 0, and 0 where the patch has the atom already.
    costs : (T, S) ndarray
        Cost of removing the atom in a slot of the support; infinite for empty slots.
    supports : (T, S) ndarray of int
        Ground-set indices; the first ``sizes[t]`` slots of row t are used, the others hold -1. An atom
        stays in its slot unless an earlier one is given up without replacement.
    sizes : (T,) ndarray of int
    largest : (T,) ndarray or None
        Largest gain of each patch, if it is known: what cannot win need not be looked at.
    """

    gains: Floats
    costs: Floats
    supports: Ints
    sizes: Ints
    largest: Floats | None = None

    @cached_property
    def cheapest(self) -> tuple[Ints, Floats]:
        """Slot and cost of the cheapest removal of each patch, (T,) both."""
        slots = self.costs.argmin(axis=1)
        return slots, self.costs[np.arange(len(slots)), slots]


@dataclass(frozen=True, eq=False)
class SwapTable:
    """True utility differences of all additions and swaps, for Replacement Greedy.

    Attributes
    ----------
    additions : (T, n) ndarray
        f_t(Z_t + a) - f_t(Z_t).
    swaps : (T, S, n) ndarray
        f_t(Z_t - b + a) - f_t(Z_t) for the atom b in each slot; minus infinity for empty slots.
    supports : (T, S) ndarray of int
    sizes : (T,) ndarray of int
    """

    additions: Floats
    swaps: Floats
    supports: Ints
    sizes: Ints


@dataclass(frozen=True, eq=False)
class Replacement:
    """A feasible replacement for one atom.

    Attributes
    ----------
    value : float
        Sum of the gains of the additions minus the costs of the removals.
    added : (T,) ndarray of bool
        Patches that take the atom.
    removed : (T,) ndarray of int
        Slot that each patch gives up; -1 where it gives up none.
    price : float
        What one more unit of shared budget would be worth; 0 where patches share no budget.
    """

    value: float
    added: Bools
    removed: Ints
    price: float = 0.0


class Constraint(ABC):
    """A p-replacement sparse family of supports (section 3), as Replacement OMP needs it.

    Derive from it to write a constraint of your own; this one bars atoms from all supports:

    >>> import numpy as np
    >>> from dictsel_core import Constraint, IndividualSparsity, Replacement
    >>> class Barring(Constraint):
    ...     def __init__(self, sparsity, barred):
    ...         self.inner, self.barred = IndividualSparsity(sparsity), list(barred)
    ...     def capacity(self, n_points, n_candidates, n_atoms):
    ...         return self.inner.capacity(n_points, n_candidates, n_atoms)
    ...     def replacement_sparsity(self, n_atoms):
    ...         return n_atoms
    ...     def is_feasible(self, supports):
    ...         used = {int(atom) for support in supports for atom in support}
    ...         return self.inner.is_feasible(supports) and used.isdisjoint(self.barred)
    ...     def values(self, offer):
    ...         values = self.inner.values(offer)
    ...         values[self.barred] = 0
    ...         return values
    ...     def replacement(self, offer, atom):
    ...         if atom not in self.barred:
    ...             return self.inner.replacement(offer, atom)
    ...         n_points = len(offer.sizes)
    ...         return Replacement(0.0, np.zeros(n_points, bool), np.full(n_points, -1))
    """

    def check(self, n_points: int, n_candidates: int) -> None:  # noqa: B027  (optional, not abstract)
        """Raise ValueError if the constraint does not fit T = `n_points` and n = `n_candidates`."""

    @abstractmethod
    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the most atoms that any one support can hold: s of theorems 4.1 to 4.3."""

    @abstractmethod
    def replacement_sparsity(self, n_atoms: int) -> int:
        """Return the replacement-sparsity parameter p for dictionaries of `n_atoms` atoms."""

    @abstractmethod
    def is_feasible(self, supports: Supports) -> bool:
        """Tell whether (Z_1, ..., Z_T) belongs to the family."""

    @abstractmethod
    def values(self, offer: Offer) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    @abstractmethod
    def replacement(self, offer: Offer, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""

    def bounds(self, offer: Offer, price: float) -> Floats:
        """Return upper bounds on `values` that are cheap to compute, (n,): `values` unless overridden.

        `price` is the price of the replacement made last, a hint.
        """
        return self.values(offer)


class LocalConstraint(Constraint):
    """A constraint whose best replacement can be found from true utility differences.

    Average sparsity is not one: there the choice of one patch depends on all the others, and
    the differences do not add up from gains and costs.
    """

    @abstractmethod
    def swap_values(self, table: SwapTable) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    @abstractmethod
    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""


def support_sizes(supports: Supports) -> Ints:
    """Return the number of atoms of each support: (T,)."""
    return np.array([len(support) for support in supports], dtype=np.intp)
