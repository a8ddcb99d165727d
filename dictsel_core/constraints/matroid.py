"""Matroids on the ground set, and the constraint that every support is independent in one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.validation import Bools, Floats, Ints, as_caps, as_count, as_counts
from dictsel_core.constraints.constraint import (
    Replacement,
    ReplacementGains,
    SeparableConstraint,
    Supports,
    SwapTable,
)

Exchanges = tuple[Bools, Bools]


class Matroid(ABC):
    """A matroid on the ground set. Subclass it, or wrap a function in `OracleMatroid`."""

    @abstractmethod
    def is_independent(self, atoms: Sequence[int]) -> bool:
        """Return whether a set of ground-set indices, each given once, is independent."""

    def check(self, n_candidates: int) -> None:
        """Raise ValueError if the matroid does not fit a ground set of `n_candidates` atoms."""
        if not self.is_independent(()):
            raise ValueError("The empty set must be independent in a matroid, but the oracle denies it.")

    def rank(self, n_candidates: int) -> int:
        """Return the size of a largest independent set."""
        return self.rank_of(range(n_candidates))

    def rank_of(self, atoms: Iterable[int]) -> int:
        """Return the size of a largest independent set of some atoms."""
        largest: list[int] = []
        for atom in atoms:
            if self.is_independent([*largest, atom]):
                largest.append(atom)
        return len(largest)

    def exchanges(self, supports: Ints, candidates: Ints) -> Exchanges:
        """Return which candidates each support can receive, (B, m), and which may replace what, (B, S, m).

        Supports, (B, S), are independent, and padded with -1.
        """
        free = np.zeros((len(supports), len(candidates)), bool)
        slots = np.zeros((*supports.shape, len(candidates)), bool)
        for row, padded in enumerate(supports):
            support = padded[padded >= 0].tolist()
            for column, atom in enumerate(candidates.tolist()):
                if atom in support:
                    continue
                free[row, column] = self.is_independent([*support, atom])
                for slot in range(len(support)):
                    swapped = [*support[:slot], atom, *support[slot + 1 :]]
                    slots[row, slot, column] = free[row, column] or self.is_independent(swapped)
        return free, slots


@dataclass(frozen=True)
class OracleMatroid(Matroid):
    """A matroid given by an independence oracle.

    Parameters
    ----------
    oracle : callable
        Takes a sequence of distinct ground-set indices; True if the set is independent. That the
        independent sets form a matroid is not checked. It is called T n (s + 1) times per step.

    Examples
    --------
    Atoms as the edges of a triangle; sets without a cycle are independent:

    >>> triangle = OracleMatroid(lambda atoms: len(atoms) < 3)
    >>> triangle.is_independent([0, 2]), triangle.is_independent([0, 1, 2])
    (True, False)
    >>> triangle.rank(3)
    2
    """

    oracle: Callable[[Sequence[int]], bool]

    def __post_init__(self) -> None:
        if not callable(self.oracle):
            raise TypeError(f"The oracle must be a function of a set of atoms, not {self.oracle!r}.")

    def is_independent(self, atoms: Sequence[int]) -> bool:
        """Call the oracle."""
        try:
            return bool(self.oracle(atoms))
        except Exception as error:
            name = getattr(self.oracle, "__qualname__", repr(self.oracle))
            raise ValueError(
                f"The oracle {name} of an OracleMatroid could not say whether {list(atoms)} is independent: "
                f"it raised {type(error).__name__}: {error}"
            ) from error


@dataclass(frozen=True)
class UniformMatroid(Matroid):
    """The sets of at most `size` atoms: individual sparsity as a matroid.

    Parameters
    ----------
    size : int
        The size of a largest independent set.

    Examples
    --------
    >>> UniformMatroid(2).is_independent([0, 5]), UniformMatroid(2).is_independent([0, 1, 5])
    (True, False)
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_count(self.size, "size"))

    def is_independent(self, atoms: Sequence[int]) -> bool:
        """Return whether the set is small enough."""
        return len(atoms) <= self.size

    def rank(self, n_candidates: int) -> int:
        """Return the size of a largest independent set."""
        return min(self.size, n_candidates)

    def exchanges(self, supports: Ints, candidates: Ints) -> Exchanges:
        """See `Matroid.exchanges`: any addition below the size, any swap at it."""
        used = supports >= 0
        free = np.repeat(used.sum(axis=1, keepdims=True) < self.size, len(candidates), axis=1)
        return free, np.repeat(used[:, :, None], len(candidates), axis=2)


@dataclass(frozen=True, eq=False)
class PartitionMatroid(Matroid):
    """At most `capacities[g]` atoms of each group g.

    Parameters
    ----------
    groups : (n,) array_like of int
        The group 0, 1, ... of each atom of the ground set.
    capacities : int or (n_groups,) array_like of int
        One for all groups, or one for each; 0 forbids a group.

    Examples
    --------
    Two coarse and one fine atom of a wavelet basis:

    >>> from dictsel_core import standard_ground_set
    >>> ground_set = standard_ground_set(bases=["haar"])
    >>> is_fine = [int(origin.level == 1) for origin in ground_set.origins]
    >>> matroid = PartitionMatroid(is_fine, [2, 1])
    >>> matroid.rank(len(ground_set))
    3
    """

    groups: ArrayLike
    capacities: int | ArrayLike
    _groups: Ints = field(init=False, repr=False)
    _capacities: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = as_counts(self.groups, "groups", minimum=0)
        n_groups = int(groups.max(initial=-1)) + 1
        caps = as_caps(self.capacities, "capacities", minimum=0)
        capacities = np.full(n_groups, caps) if isinstance(caps, int) else caps
        if len(capacities) < n_groups:
            raise ValueError(
                f"capacities must have one entry per group, {n_groups}, but has {len(capacities)}."
            )
        object.__setattr__(self, "_groups", groups)
        object.__setattr__(self, "_capacities", capacities)

    def check(self, n_candidates: int) -> None:
        """Raise ValueError if there is not one group per atom."""
        if len(self._groups) != n_candidates:
            raise ValueError(
                f"groups must name a group for each atom of the ground set, {n_candidates}, "
                f"but has {len(self._groups)} entries."
            )

    def is_independent(self, atoms: Sequence[int]) -> bool:
        """Return whether no group is over its capacity."""
        counts = np.bincount(self._groups[list(atoms)], minlength=len(self._capacities))
        return bool((counts <= self._capacities).all())

    def rank(self, n_candidates: int) -> int:
        """Return the size of a largest independent set."""
        sizes = np.bincount(self._groups, minlength=len(self._capacities))
        return int(np.minimum(sizes, self._capacities).sum())

    def exchanges(self, supports: Ints, candidates: Ints) -> Exchanges:
        """See `Matroid.exchanges`: any addition to a group below its capacity, swaps within it at it."""
        used = supports >= 0
        groups = np.where(used, self._groups[supports], -1)
        same = groups[:, :, None] == self._groups[candidates]
        room = self._capacities[self._groups[candidates]]
        free = same.sum(axis=1) < room
        return free, used[:, :, None] & (free[:, None, :] | same) & (room > 0)


@dataclass(frozen=True, eq=False)
class MatroidSparsity(SeparableConstraint):
    """The support of each patch is independent in a matroid (section 3, individual matroids).

    Parameters
    ----------
    matroids : Matroid or sequence of Matroid
        One for all patches, or one for each.

    Examples
    --------
    Each patch may use one of the atoms 0 and 1, and one of the atoms 2 and 3:

    >>> from dictsel_core import PartitionMatroid
    >>> constraint = MatroidSparsity(PartitionMatroid([0, 0, 1, 1], 1))
    >>> constraint.is_feasible([[0, 2], [3]])
    True
    >>> constraint.is_feasible([[0, 1], [3]])
    False
    """

    one_replacement_per_atom: ClassVar[bool] = True

    matroids: Matroid | Sequence[Matroid]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matroids", as_matroids(self.matroids, "MatroidSparsity"))

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the matroids do not fit the patches or the ground set."""
        for matroid, _ in self.matroids_with_rows(n_points):
            matroid.check(n_candidates)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the largest rank."""
        rank = max(matroid.rank(n_candidates) for matroid, _ in self.matroids_with_rows(n_points))
        return max(1, min(rank, n_atoms))

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether every support is independent."""
        matroids = [self.matroids] * len(supports) if isinstance(self.matroids, Matroid) else self.matroids
        pairs = zip(matroids, supports, strict=True)
        return all(matroid.is_independent([int(a) for a in support]) for matroid, support in pairs)

    def patch_values(self, table: ReplacementGains) -> Floats:
        """Return max(0, gain - cheapest removal that restores independence): (T, n)."""
        values = np.empty(table.gains.shape)
        for rows, free, slots in self._exchanges(table.supports, np.arange(table.gains.shape[1])):
            costs = np.where(slots, table.costs[rows][:, :, None], np.inf).min(axis=1)
            values[rows] = np.maximum(table.gains[rows] - np.where(free, 0, costs), 0)
        return values

    def part(self, rows: Ints, supports: Ints | None = None) -> "MatroidSparsity":
        """Return the constraint on some of the patches."""
        if isinstance(self.matroids, Matroid):
            return self
        return MatroidSparsity([self.matroids[row] for row in rows.tolist()])

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement: the best of each patch."""
        differences = SwapTable(
            additions=table.gains[:, [atom]],
            swaps=table.gains[:, None, [atom]] - table.costs[:, :, None],
            supports=table.supports,
            sizes=table.sizes,
        )
        return self._best(differences, 0, atom)

    def swap_values(self, table: SwapTable) -> Floats:
        """Sum over patches of the best true difference that stays independent."""
        totals = np.zeros(table.additions.shape[1])
        for rows, free, slots in self._exchanges(table.supports, np.arange(len(totals))):
            swapped = np.where(slots, table.swaps[rows], -np.inf).max(axis=1)
            totals += np.maximum(np.where(free, table.additions[rows], swapped), 0).sum(axis=0)
        return totals

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best replacement by true differences."""
        return self._best(table, atom, atom)

    def _best(self, table: SwapTable, column: int, atom: int) -> Replacement:
        values = np.zeros(len(table.sizes))
        removed = np.full(len(table.sizes), -1)
        for rows, free, slots in self._exchanges(table.supports, np.array([atom])):
            swapped = np.where(slots[:, :, 0], table.swaps[rows][:, :, column], -np.inf)
            values[rows] = np.where(free[:, 0], table.additions[rows, column], swapped.max(axis=1))
            removed[rows] = np.where(free[:, 0], -1, swapped.argmax(axis=1))
        added = values > 0
        return Replacement(float(values[added].sum()), added, np.where(added, removed, -1))

    def _exchanges(self, supports: Ints, candidates: Ints) -> Iterator[tuple[Ints, Bools, Bools]]:
        """Yield (rows, free, slots) in blocks of patches that share a matroid."""
        step = chunk_rows(supports.shape[1] * len(candidates) * 8)
        for matroid, members in self.matroids_with_rows(len(supports)):
            for start in range(0, len(members), step):
                rows = members[start : start + step]
                yield rows, *matroid.exchanges(supports[rows], candidates)

    def matroids_with_rows(self, n_points: int) -> list[tuple[Matroid, Ints]]:
        """Return each different matroid with the patches that it is for; ValueError if they do not fit."""
        if isinstance(self.matroids, Matroid):
            return [(self.matroids, np.arange(n_points))]
        if len(self.matroids) != n_points:
            raise ValueError(
                f"There must be one matroid or one per patch, {n_points}, but there are {len(self.matroids)}."
            )
        names, rows = np.unique([id(matroid) for matroid in self.matroids], return_inverse=True)
        members = [np.flatnonzero(rows == number) for number in range(len(names))]
        return [(self.matroids[each[0]], each) for each in members]


def as_matroids(given: object, needed_by: str) -> Matroid | tuple[Matroid, ...]:
    """Return one matroid, or several, checked."""
    if isinstance(given, Matroid):
        return given
    each = tuple(given) if isinstance(given, Sequence) else ()
    if not each or not all(isinstance(matroid, Matroid) for matroid in each):
        raise TypeError(
            f"{needed_by} needs a Matroid or a sequence of them; wrap a function in OracleMatroid."
        )
    return each
