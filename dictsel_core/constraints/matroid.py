"""Matroids on the ground set: which sets of atoms are independent."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import Bools, Ints, as_caps, as_count, as_counts

Exchanges = tuple[Bools, Bools]


class Matroid(ABC):
    """A matroid on the ground set. Subclass it, or wrap a function in `OracleMatroid`.

    Examples
    --------
    >>> isinstance(UniformMatroid(3), Matroid)
    True
    """

    @abstractmethod
    def is_independent(self, atoms: Sequence[int]) -> bool:
        """Return whether a set of ground-set indices, each given once, is independent."""

    def check(self, n_candidates: int) -> None:
        """Raise ValueError if the matroid does not fit a ground set of `n_candidates` atoms."""
        if not self.is_independent(()):
            raise ValueError("The empty set must be independent in a matroid, but the oracle denies it.")

    def rank(self, n_candidates: int) -> int:
        """Return the size of a largest independent set."""
        largest: list[int] = []
        for atom in range(n_candidates):
            if self.is_independent([*largest, atom]):
                largest.append(atom)
        return len(largest)

    def exchanges(self, supports: Ints, candidates: Ints) -> Exchanges:
        """Return which candidates each support can receive, and which atoms it would have to lose.

        Parameters
        ----------
        supports : (B, S) ndarray of int
            Independent sets, padded with -1.
        candidates : (m,) ndarray of int

        Returns
        -------
        free : (B, m) ndarray of bool
            The support stays independent if the candidate is added.
        slots : (B, S, m) ndarray of bool
            It is independent if the candidate replaces the atom in this slot.
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
        """Check that the oracle can be called."""
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
        """Check the size."""
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
        """Check groups and capacities."""
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
