"""What a selector offers to a sparsity constraint, and what the constraint answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from dictsel_core._validation import Bools, Floats, Ints

Supports = Sequence[Ints]


@dataclass(frozen=True, eq=False)
class Offer:
    """Gains and costs of all replacements at the current supports (Z_1, ..., Z_T).

    A feasible replacement adds one atom to some of the supports and removes at most one atom from
    each (eq. 3). It is worth the gains of its additions minus the costs of its removals.

    Attributes
    ----------
    gains : (T, n) ndarray
        Gain of adding atom a to patch t; at least 0, and 0 where the patch has the atom already.
    costs : (T, S) ndarray
        Cost of removing the atom in a slot of the support; infinite for empty slots.
    supports : (T, S) ndarray of int
        Ground-set indices; the first ``sizes[t]`` slots of row t are used, the others hold -1.
    sizes : (T,) ndarray of int
    """

    gains: Floats
    costs: Floats
    supports: Ints
    sizes: Ints


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


@runtime_checkable
class Constraint(Protocol):
    """A p-replacement sparse family of supports (section 3), as Replacement OMP needs it."""

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the constraint does not fit T = `n_points` and n = `n_candidates`."""

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the most atoms that any one support can hold: s of theorems 4.1 to 4.3."""

    def replacement_sparsity(self, n_atoms: int) -> int:
        """Return the replacement-sparsity parameter p for dictionaries of `n_atoms` atoms."""

    def is_feasible(self, supports: Supports) -> bool:
        """Tell whether (Z_1, ..., Z_T) belongs to the family."""

    def values(self, offer: Offer) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    def bounds(self, offer: Offer, price: float) -> Floats:
        """Return upper bounds on `values` that are cheap to compute: (n,).

        `price` is the price of the replacement made last, a hint.
        """

    def replacement(self, offer: Offer, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""


@runtime_checkable
class LocalConstraint(Constraint, Protocol):
    """A constraint whose best replacement can be found from true utility differences.

    Average sparsity is not one: there the choice of one patch depends on all the others, and
    the differences do not add up from gains and costs.
    """

    def swap_values(self, table: SwapTable) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""


def support_sizes(supports: Supports) -> Ints:
    """Return the number of atoms of each support: (T,)."""
    return np.array([len(support) for support in supports], dtype=np.intp)


def pad_supports(supports: Iterable[Sequence[int]], width: int) -> Ints:
    """Return supports as rows of one array, filled up with -1."""
    rows = [[*support, *[-1] * (width - len(support))] for support in supports]
    return np.array(rows, dtype=np.intp).reshape(-1, width)
