"""The interface between a selector and a sparsity constraint."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints

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
    """

    gains: Floats
    costs: Floats
    supports: Ints
    sizes: Ints

    @cached_property
    def cheapest(self) -> tuple[Ints, Floats]:
        """Slot and cost of the cheapest removal of each patch, (T,) both."""
        slots = self.costs.argmin(axis=1)
        return slots, self.costs[np.arange(len(slots)), slots]

    def with_gains(self, gains: Floats) -> "ReplacementGains":
        """Return the same costs with other gains."""
        other = replace(self, gains=gains)
        other.__dict__["cheapest"] = self.cheapest  # not computed again
        return other


@dataclass(frozen=True, eq=False)
class SwapTable:
    """True utility differences of all additions and swaps, for Replacement Greedy.

    Additions, (T, n), are f_t(Z_t + a) - f_t(Z_t), and swaps, (T, S, n), f_t(Z_t - b + a) - f_t(Z_t) for the
    atom b in each slot, minus infinity for empty ones. Supports and sizes are those of `ReplacementGains`.
    """

    additions: Floats
    swaps: Floats
    supports: Ints
    sizes: Ints


@dataclass(frozen=True, eq=False)
class Replacement:
    """A feasible replacement for one atom.

    Its value is the sum of the gains of the additions minus the costs of the removals. Patches that receive
    the atom are `added`, (T,) bool; `removed`, (T,) int, is the slot of the atom that each patch loses, or
    -1. The price is the value of one more unit of shared budget, 0 if patches share none.
    """

    value: float
    added: Bools
    removed: Ints
    price: float = 0.0


class Constraint(ABC):
    """A family of supports (section 3): which (Z_1, ..., Z_T) are allowed.

    Derive from it for a constraint of your own. `is_feasible` is all that must be written, such that taking
    atoms away from allowed supports leaves them allowed. Replacements are then found greedily, which asks it
    many times; where there is a direct way, write `capacity`, `values` and `replacement`. This one excludes
    some atoms from all supports:

    >>> from dictsel_core import Constraint, IndividualSparsity, replacement_omp, standard_ground_set
    >>> class Excluding(Constraint):
    ...     def __init__(self, sparsity, excluded):
    ...         self.inner, self.excluded = IndividualSparsity(sparsity), set(excluded)
    ...     def is_feasible(self, supports):
    ...         used = {int(atom) for support in supports for atom in support}
    ...         return self.inner.is_feasible(supports) and used.isdisjoint(self.excluded)

    >>> import numpy as np
    >>> data = np.random.default_rng(0).normal(size=(10, 64))
    >>> selection = replacement_omp(standard_ground_set(), data, Excluding(2, range(64)), 3)
    >>> {selection.ground_set.origins[atom].basis for atom in selection.indices} & {"dct"}
    set()
    """

    #: Whether the replacements that `replacement_sparsity` counts are one for each atom of the optimal
    #: dictionary, as in propositions B.1 and B.2. Only then may their values be summed over different atoms.
    one_replacement_per_atom: ClassVar[bool] = False
    #: Whether supports stay allowed if an atom is replaced by another one everywhere. Then no optimal support
    #: needs two atoms that are equal.
    treats_atoms_alike: ClassVar[bool] = False

    @abstractmethod
    def is_feasible(self, supports: Supports) -> bool:
        """Return whether (Z_1, ..., Z_T), one array of ground-set indices for each patch, is allowed."""

    def check(self, n_points: int, n_candidates: int) -> None:  # noqa: B027  (optional, not abstract)
        """Raise ValueError if the constraint does not fit T = `n_points` and n = `n_candidates`."""

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support, s of theorems 4.1 to 4.3; by default the dictionary's."""
        return n_atoms

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int | None:
        """Return the replacement-sparsity parameter p (definition 3.1); None if it is unknown.

        It is the number of feasible replacements that lead from any supports made of `n_used` atoms to any
        supports made of `n_atoms` atoms, those of the optimal dictionary. By default both numbers are
        equal, as in the paper. It is k if there is one replacement for each atom (propositions 3.6, B.1 and
        B.2); where it is unknown, nothing is guaranteed in advance.
        """
        return n_atoms if self.one_replacement_per_atom else None

    def values(self, table: ReplacementGains) -> Floats:
        """Return the value of the best feasible replacement of every atom, or an upper bound on it: (n,).

        By default the sum of all gains, which no replacement exceeds.
        """
        sums: Floats = table.gains.sum(axis=0, dtype=np.float64)
        return sums

    def bounds(self, table: ReplacementGains, price: float) -> Floats:
        """Return cheap upper bounds on `values`, (n,); a hint is the price of the last replacement."""
        return self.values(table)

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom; by default a good one, found greedily.

        Then the patches decide one after the other, those that gain most first. Each of them takes the atom
        if all supports stay feasible, or in exchange for the cheapest atom of its own for which they do.
        """
        n_points = len(table.sizes)
        value, added, removed = 0.0, np.zeros(n_points, bool), np.full(n_points, -1)
        supports = [row[:size] for row, size in zip(table.supports, table.sizes.tolist(), strict=True)]
        gains = table.gains[:, atom]
        for t in np.argsort(-gains, kind="stable")[: np.count_nonzero(gains > 0)].tolist():
            before, costs = supports[t], table.costs[t]
            slots = np.argsort(costs[: len(before)], kind="stable").tolist()
            for slot in [-1, *(slot for slot in slots if costs[slot] < gains[t])]:
                kept = before if slot < 0 else np.delete(before, slot)
                supports[t] = np.append(kept, atom)
                if self.is_feasible(supports):
                    added[t], removed[t] = True, slot
                    value += float(gains[t]) - (float(costs[slot]) if slot >= 0 else 0.0)
                    break
                supports[t] = before
        return Replacement(value, added, removed)

    def part(self, rows: Ints, supports: Ints) -> "Constraint":
        """Return the constraint on some patches, (B,), while the others keep their supports, (T, S)."""
        return _Part(self, rows, supports)

    def shared_caps(self, n_points: int) -> Sequence[tuple[Ints, int]]:
        """Return disjoint groups of patches, each with the number of atoms that it may use altogether.

        Patches in no group have no such limit; by default there is no group. It bounds the optimum.
        """
        return ()


class _Part(Constraint):
    """A constraint on some patches, by the feasibility of all."""

    def __init__(self, whole: Constraint, rows: Ints, supports: Ints) -> None:
        self._whole, self._rows = whole, rows.tolist()
        self._supports = [row[row >= 0] for row in supports]

    def is_feasible(self, supports: Supports) -> bool:
        everything = self._supports.copy()
        for row, support in zip(self._rows, supports, strict=True):
            everything[row] = support
        return self._whole.is_feasible(everything)


class LocalConstraint(Constraint):
    """A constraint whose best replacement can be found from true utility differences.

    Average sparsity is not local: the choice of one patch depends on all others, and true differences
    are not sums of gains and costs.
    """

    @abstractmethod
    def swap_values(self, table: SwapTable) -> Floats:
        """Return the value of the best feasible replacement of every atom: (n,)."""

    @abstractmethod
    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best feasible replacement for one atom."""


class SeparableConstraint(LocalConstraint):
    """A constraint on each patch by itself, so that the value of an atom is a sum over patches."""

    def values(self, table: ReplacementGains) -> Floats:
        """Sum the values of all patches."""
        sums: Floats = self.patch_values(table).sum(axis=0)
        return sums

    @abstractmethod
    def patch_values(self, table: ReplacementGains) -> Floats:
        """Return what each patch contributes to `values`: (T, n)."""

    def has_room(self, sizes: Ints) -> Bools:
        """Return which patches may add any atom without removing one, by the sizes of their supports: (T,).

        Sums over such patches are faster. By default none is known to.
        """
        return np.zeros(len(sizes), bool)

    @abstractmethod
    def part(self, rows: Ints, supports: Ints | None = None) -> "SeparableConstraint":
        """Return the constraint on some of the patches; the supports of others do not matter."""


def as_constraint(value: object) -> Constraint:
    """Return a constraint; TypeError for anything else."""
    if not isinstance(value, Constraint):
        raise TypeError(f"constraint must be a Constraint, not {type(value).__name__}.")
    return value


def support_sizes(supports: Supports) -> Ints:
    """Return the number of atoms of each support: (T,)."""
    return np.array([len(support) for support in supports], dtype=np.intp)
