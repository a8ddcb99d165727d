"""The interface between a selector and a sparsity constraint."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dictsel_core._support.validation import Bools, Floats, Ints

Supports = Sequence[Ints]


@dataclass(frozen=True, eq=False)
class ReplacementGains:
    """Gains and costs of all replacements at the current supports (Z_1, ..., Z_T).

    A feasible replacement adds one atom to some of the supports and removes at most one atom from
    each (eq. 3). Its value is the sum of the gains of its additions minus the costs of its removals.
    Replacement OMP multiplies both by M, which changes no comparison: squares of A^T r_t, and of M w_t.
    Replacement OLS uses twice the true differences of f_t.

    Attributes
    ----------
    gains : (T, n) ndarray
        Gain of adding atom a to patch t; at least 0, and 0 where the patch has the atom already.
    costs : (T, S) ndarray
        Cost of removing the atom in a slot of the support; infinite for empty slots.
    supports : (T, S) ndarray of int
        Ground-set indices in the first ``sizes[t]`` slots of row t, then -1. An atom stays in its slot
        unless an earlier one is removed without replacement.
    sizes : (T,) ndarray of int
    largest : (T,) ndarray or None
        Largest gain of each patch, if known; it saves looking at patches that cannot gain.
    threads : int
        How many threads sums over patches may use; they do not depend on it.

    Examples
    --------
    Two patches with empty supports gain 3 and 1 by atom 0, and so both of them receive it:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity
    >>> table = ReplacementGains(
    ...     gains=np.array([[3.0, 0.0], [1.0, 2.0]]),
    ...     costs=np.full((2, 1), np.inf),
    ...     supports=np.full((2, 1), -1),
    ...     sizes=np.zeros(2, int),
    ... )
    >>> IndividualSparsity(1).replacement(table, 0).value
    4.0
    """

    gains: Floats
    costs: Floats
    supports: Ints
    sizes: Ints
    largest: Floats | None = None
    threads: int = 1

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

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity
    >>> table = SwapTable(
    ...     additions=np.array([[3.0, 0.0], [1.0, 2.0]]),
    ...     swaps=np.full((2, 1, 2), -np.inf),
    ...     supports=np.full((2, 1), -1),
    ...     sizes=np.zeros(2, int),
    ... )
    >>> IndividualSparsity(1).swap(table, 0).value
    4.0
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
        Patches that receive the atom.
    removed : (T,) ndarray of int
        Slot of the atom that each patch loses; -1 if it loses none.
    price : float
        Value of one more unit of shared budget; 0 if patches share no budget.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity
    >>> empty, sizes = np.full((2, 1), -1), np.zeros(2, int)
    >>> table = ReplacementGains(np.ones((2, 3)), np.full((2, 1), np.inf), empty, sizes)
    >>> IndividualSparsity(1).replacement(table, 0).added.tolist()
    [True, True]
    """

    value: float
    added: Bools
    removed: Ints
    price: float = 0.0


class Constraint(ABC):
    """A p-replacement sparse family of supports (section 3), as needed by Replacement OMP.

    Derive from it to write a custom constraint. This one excludes some atoms from all supports:

    >>> import numpy as np
    >>> from dictsel_core import Constraint, IndividualSparsity
    >>> from dictsel_core.constraints import Replacement
    >>> class Excluding(Constraint):
    ...     def __init__(self, sparsity, excluded):
    ...         self.inner, self.excluded = IndividualSparsity(sparsity), list(excluded)
    ...     def capacity(self, n_points, n_candidates, n_atoms):
    ...         return self.inner.capacity(n_points, n_candidates, n_atoms)
    ...     def replacement_sparsity(self, n_atoms, n_used=None):
    ...         return n_atoms
    ...     def is_feasible(self, supports):
    ...         used = {int(atom) for support in supports for atom in support}
    ...         return self.inner.is_feasible(supports) and used.isdisjoint(self.excluded)
    ...     def values(self, table):
    ...         values = self.inner.values(table)
    ...         values[self.excluded] = 0
    ...         return values
    ...     def replacement(self, table, atom):
    ...         if atom not in self.excluded:
    ...             return self.inner.replacement(table, atom)
    ...         n_points = len(table.sizes)
    ...         return Replacement(0.0, np.zeros(n_points, bool), np.full(n_points, -1))
    """

    #: Whether the replacements that `replacement_sparsity` counts are one for each atom of the optimal
    #: dictionary, as in propositions B.1 and B.2. Only then may their values be summed over different atoms.
    one_replacement_per_atom: ClassVar[bool] = False
    #: Whether supports stay allowed if an atom is replaced by another one everywhere. Then no optimal support
    #: needs two atoms that are equal.
    treats_atoms_alike: ClassVar[bool] = False

    def check(self, n_points: int, n_candidates: int) -> None:  # noqa: B027  (optional, not abstract)
        """Raise ValueError if the constraint does not fit T = `n_points` and n = `n_candidates`."""

    @abstractmethod
    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support: s of theorems 4.1 to 4.3."""

    @abstractmethod
    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return the replacement-sparsity parameter p (definition 3.1).

        It is the number of feasible replacements that lead from any supports made of `n_used` atoms to any
        supports made of `n_atoms` atoms, those of the optimal dictionary. By default both numbers are
        equal, as in the paper.
        """

    @abstractmethod
    def is_feasible(self, supports: Supports) -> bool:
        """Return whether (Z_1, ..., Z_T) belongs to the family."""

    @abstractmethod
    def values(self, table: ReplacementGains) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    @abstractmethod
    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""

    def bounds(self, table: ReplacementGains, price: float) -> Floats:
        """Return upper bounds on `values` that are cheap to compute, (n,); by default `values` itself.

        `price` is a hint: the price of the last replacement.
        """
        return self.values(table)

    def shared_caps(self, n_points: int) -> Sequence[tuple[Ints, int]]:
        """Return disjoint groups of patches, each with the number of atoms that it may use altogether.

        Patches in no group have no such limit; by default there is no group. It bounds the optimum.
        """
        return ()


class LocalConstraint(Constraint):
    """A constraint whose best replacement can be found from true utility differences.

    Average sparsity is not local: the choice of one patch depends on all others, and true differences
    are not sums of gains and costs.

    Examples
    --------
    >>> from dictsel_core import AverageSparsity, IndividualSparsity
    >>> isinstance(IndividualSparsity(3), LocalConstraint), isinstance(AverageSparsity(3, 5), LocalConstraint)
    (True, False)
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
