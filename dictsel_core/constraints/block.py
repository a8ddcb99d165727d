"""Constraints on blocks of patches: few atoms, or independent ones, for all patches of a block."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import LARGEST_COUNT, Bools, Floats, Ints, as_caps, as_counts
from dictsel_core.constraints.constraint import (
    LocalConstraint,
    Replacement,
    ReplacementGains,
    Supports,
    SwapTable,
)
from dictsel_core.constraints.matroid import Matroid


@dataclass(frozen=True, eq=False)
class BlockSparsity(LocalConstraint):
    """The union of the supports of block b has at most s_b atoms (section 3, block sparsity).

    Parameters
    ----------
    blocks : sequence of (T_b,) array_like of int
        The patches of each block; every patch belongs to exactly one. See also `from_labels`.
    sparsity : int or (n_blocks,) array_like of int
        One cap for all blocks, or one for each.

    Examples
    --------
    Patches 0 and 1 share two atoms, patch 2 has two of its own:

    >>> constraint = BlockSparsity([[0, 1], [2]], 2)
    >>> constraint.is_feasible([[4, 7], [7], [0, 1]])
    True
    >>> constraint.is_feasible([[4, 7], [8], [0, 1]])
    False
    """

    one_replacement_per_atom: ClassVar[bool] = True
    treats_atoms_alike: ClassVar[bool] = True

    blocks: Sequence[ArrayLike]
    sparsity: int | ArrayLike
    caps: int | Ints = field(init=False, repr=False)
    _members: tuple[Ints, ...] = field(init=False, repr=False)
    _labels: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the blocks are disjoint and cover 0, ..., T-1; freeze them."""
        given: object = self.blocks
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise TypeError(f"blocks must be a sequence of blocks, such as [[0, 1], [2]], not {given!r}.")
        blocks = tuple(as_counts(block, f"blocks[{b}]", minimum=0) for b, block in enumerate(given))
        if not blocks:
            raise ValueError("blocks must name the patches of at least one block, such as [[0, 1], [2]].")
        if not all(len(block) for block in blocks):
            raise ValueError("blocks must not be empty, but one of them is.")
        members = np.sort(np.concatenate(blocks))
        if (twice := members[1:][np.diff(members) == 0]).size:
            raise ValueError(f"blocks must be disjoint, but patch {twice[0]} is named twice.")
        if members[-1] >= len(members):
            absent = int(np.argmax(members != np.arange(len(members))))
            raise ValueError(
                f"Every patch must be in a block, but patch {absent} is in none; add a block for it."
            )
        caps = as_caps(self.sparsity, "sparsity")
        if not isinstance(caps, int) and len(caps) != len(blocks):
            raise ValueError(
                f"sparsity must be one cap or one per block, {len(blocks)}, but there are {len(caps)}."
            )
        object.__setattr__(self, "_members", blocks)
        object.__setattr__(self, "caps", caps)
        labels = np.empty(len(members), dtype=np.intp)
        for b, block in enumerate(blocks):
            labels[block] = b
        object.__setattr__(self, "_labels", labels)

    @classmethod
    def from_labels(cls, labels: ArrayLike, sparsity: int | ArrayLike) -> "BlockSparsity":
        """Build it from a label for each patch, (T,): patches with equal labels form a block.

        Blocks are in the order of their labels.

        Examples
        --------
        >>> constraint = BlockSparsity.from_labels([0, 0, 1], 2)
        >>> constraint.is_feasible([[4, 7], [8], [0, 1]])
        False
        """
        given = as_counts(labels, "labels", minimum=0)
        if not given.size:
            raise ValueError("labels must not be empty: there is one for each patch.")
        _, numbers = np.unique(given, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        return cls(np.split(order, np.cumsum(np.bincount(numbers))[:-1]), sparsity)

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the blocks do not cover exactly the patches."""
        if len(self._labels) != n_points:
            raise ValueError(f"blocks cover {len(self._labels)} patches, but there are {n_points}.")

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the maximum size of a support within the caps and the dictionary."""
        return min(int(np.max(self.caps)), n_atoms)

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return p = k: one replacement for each atom of the optimal dictionary (proposition B.2)."""
        return n_atoms

    def shared_caps(self, n_points: int) -> Sequence[tuple[Ints, int]]:
        """Return the blocks and their caps."""
        caps = np.broadcast_to(self.caps, len(self._members))
        return list(zip(self._members, caps.tolist(), strict=True))

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether no block uses more atoms than its cap."""
        unions = [{int(a) for t in block for a in supports[t]} for block in self._members]
        return bool((np.array([len(union) for union in unions]) <= self.caps).all())

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over blocks of max(0, summed gain - cheapest atom to remove from the whole block)."""
        totals: Floats = np.maximum(self._block_values(table), 0).sum(axis=0)
        return totals

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement: the best of each block."""
        cheapest, costs = self._removals(table)
        closed = self._closed(table.supports, table.gains.shape[1])[:, atom]
        values = self.sum_over_blocks(table.gains[:, [atom]])[:, 0] - np.where(closed, costs, 0)
        takes = values > 0
        added = takes[self._labels] & (table.gains[:, atom] > 0)
        removed = self._slots_of(table.supports, np.where(takes & closed, cheapest, -1))
        return Replacement(float(values[takes].sum()), added, removed)

    def swap_values(self, table: SwapTable) -> Floats:
        """Sum over blocks of the best true difference."""
        totals: Floats = np.maximum(self._block_differences(table)[0], 0).sum(axis=0)
        return totals

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best replacement by true differences."""
        values, replaced = self._block_differences(table)
        return self.replacement_of_blocks(
            values[:, atom], replaced[:, atom], table.supports, table.additions[:, atom] > 0
        )

    def _block_values(self, table: ReplacementGains) -> Floats:
        """Value of every atom in every block, which may be negative where the block is full: (b, n)."""
        gains = self.sum_over_blocks(table.gains)
        closed = self._closed(table.supports, table.gains.shape[1])
        return gains - np.where(closed, self._removals(table)[1][:, None], 0)

    def _removals(self, table: ReplacementGains) -> tuple[Ints, Floats]:
        """Atom whose removal from all patches of the block is cheapest, and its cost: (b,) each."""
        n_candidates = table.gains.shape[1]
        rows, slots = np.nonzero(table.supports >= 0)
        cell = self._labels[rows] * n_candidates + table.supports[rows, slots]
        size = len(self._members) * n_candidates
        totals = np.bincount(cell, weights=table.costs[rows, slots], minlength=size).astype(np.float64)
        totals[np.bincount(cell, minlength=size) == 0] = np.inf
        totals = totals.reshape(len(self._members), n_candidates)
        return totals.argmin(axis=1), totals.min(axis=1)

    def _closed(self, supports: Ints, n_candidates: int) -> Bools:
        """Return which atoms a block can use only in exchange for another: (b, n)."""
        used = np.zeros((len(self._members), n_candidates), bool)
        rows, slots = np.nonzero(supports >= 0)
        used[self._labels[rows], supports[rows, slots]] = True
        full: Bools = used.sum(axis=1) >= self.caps
        return full[:, None] & ~used

    @property
    def members(self) -> tuple[Ints, ...]:
        """The patches of each block."""
        return self._members

    def replacement_of_blocks(
        self, values: Floats, replaced: Ints, supports: Ints, gains: Bools
    ) -> Replacement:
        """Return the replacement by one atom in all blocks where its value is positive.

        Blocks lose the atoms `replaced`, -1 for none. Patches that do not gain receive the atom only in
        exchange.
        """
        takes = values > 0
        removed = self._slots_of(supports, np.where(takes, replaced, -1))
        added = takes[self._labels] & (gains | (removed >= 0))
        return Replacement(float(values[takes].sum()), added, removed)

    def _slots_of(self, supports: Ints, atoms: Ints) -> Ints:
        """Slot of each patch that holds a given atom of its block, -1 if none does: (T,)."""
        sought = atoms[self._labels]
        holds = (supports == sought[:, None]) & (sought >= 0)[:, None]
        return np.where(holds.any(axis=1), holds.argmax(axis=1), -1)

    def _block_differences(self, table: SwapTable) -> tuple[Floats, Ints]:
        """Value of every atom in every block, and the atom it would replace (-1: none): (b, n) each."""
        n_candidates = table.additions.shape[1]
        values = self.sum_over_blocks(table.additions)
        replaced = np.full(values.shape, -1)
        closed = self._closed(table.supports, n_candidates)
        for b in np.flatnonzero(closed.any(axis=1)):
            rows = self._members[b]
            best = np.full(n_candidates, -np.inf)
            for old in np.unique(table.supports[rows][table.supports[rows] >= 0]):
                holders, slots = np.nonzero(table.supports[rows] == old)
                change = table.swaps[rows[holders], slots] - table.additions[rows[holders]]
                total = values[b] + change.sum(axis=0)
                better = closed[b] & (total > best)
                replaced[b, better] = old
                best[better] = total[better]
            values[b] = np.where(closed[b], best, values[b])
        return values, replaced

    def sum_over_blocks(self, values: Floats) -> Floats:
        """Sum the rows of each block: (T, n) becomes (b, n)."""
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import, and needed here alone)

        n_points = len(self._labels)
        indicator = csr_array(
            (np.ones(n_points), (self._labels, np.arange(n_points))), shape=(len(self._members), n_points)
        )
        sums: Floats = indicator @ values
        return sums


@dataclass(frozen=True, eq=False)
class BlockMatroidSparsity(LocalConstraint):
    """The union of the supports of a block is independent in a matroid (end of appendix B.2).

    The common generalization of `BlockSparsity`, where the matroids are uniform, and of `MatroidSparsity`,
    where every patch is a block of its own.

    Parameters
    ----------
    blocks : sequence of (T_b,) array_like of int
        The patches of each block; every patch belongs to exactly one.
    matroids : Matroid or sequence of Matroid
        One for all blocks, or one for each.

    Examples
    --------
    Patches 0 and 1 share one of the atoms 0 and 1, and one of the atoms 2 and 3:

    >>> from dictsel_core import PartitionMatroid
    >>> constraint = BlockMatroidSparsity([[0, 1], [2]], PartitionMatroid([0, 0, 1, 1], 1))
    >>> constraint.is_feasible([[0], [0, 2], [1, 3]])
    True
    >>> constraint.is_feasible([[0], [1, 2], [1, 3]])
    False
    """

    one_replacement_per_atom: ClassVar[bool] = True

    blocks: Sequence[ArrayLike]
    matroids: Matroid | Sequence[Matroid]
    partition: BlockSparsity = field(init=False, repr=False)
    _each: tuple[Matroid, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check blocks and matroids."""
        partition = BlockSparsity(self.blocks, LARGEST_COUNT)
        given: object = self.matroids
        if isinstance(given, Matroid):
            each: tuple[object, ...] = (given,) * len(partition.members)
        else:
            each = tuple(given) if isinstance(given, Sequence) else ()
        if not each or not all(isinstance(matroid, Matroid) for matroid in each):
            raise TypeError(
                "BlockMatroidSparsity needs a Matroid or a sequence of them; wrap a function in "
                "OracleMatroid."
            )
        if len(each) != len(partition.members):
            raise ValueError(
                f"There must be one matroid or one per block, {len(partition.members)}, "
                f"but there are {len(each)}."
            )
        object.__setattr__(self, "partition", partition)
        object.__setattr__(self, "_each", each)

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the blocks do not fit the patches, or a matroid not the ground set."""
        self.partition.check(n_points, n_candidates)
        for matroid in set(self._each):
            matroid.check(n_candidates)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the largest rank."""
        return max(1, min(max(matroid.rank(n_candidates) for matroid in set(self._each)), n_atoms))

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return p = k: one replacement for each atom of the optimal dictionary (appendix B.2)."""
        return n_atoms

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether the union of every block is independent."""
        unions = ({int(a) for t in block for a in supports[t]} for block in self.partition.members)
        pairs = zip(self._each, unions, strict=True)
        return all(matroid.is_independent(sorted(union)) for matroid, union in pairs)

    def matroid_of_block(self, number: int) -> Matroid:
        """Return the matroid of one block."""
        return self._each[number]

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over blocks of max(0, summed gain - cheapest atom whose removal restores independence)."""
        totals: Floats = np.maximum(self._block_values(table)[0], 0).sum(axis=0)
        return totals

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement: the best of each block."""
        values, replaced = self._block_values(table)
        return self.partition.replacement_of_blocks(
            values[:, atom], replaced[:, atom], table.supports, table.gains[:, atom] > 0
        )

    def swap_values(self, table: SwapTable) -> Floats:
        """Sum over blocks of the best true difference."""
        totals: Floats = np.maximum(self._block_differences(table)[0], 0).sum(axis=0)
        return totals

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best replacement by true differences."""
        values, replaced = self._block_differences(table)
        return self.partition.replacement_of_blocks(
            values[:, atom], replaced[:, atom], table.supports, table.additions[:, atom] > 0
        )

    def _block_values(self, table: ReplacementGains) -> tuple[Floats, Ints]:
        """Value of every atom in every block, and the atom it would replace (-1: none): (b, n) each."""
        values = self.partition.sum_over_blocks(table.gains)
        replaced = np.full(values.shape, -1)
        for b, rows in enumerate(self.partition.members):
            union, open_, slots = self._exchanges(b, table.supports[rows], values.shape[1])
            holds = table.supports[rows][None] == union[:, None, None]
            totals = np.where(holds, table.costs[rows][None], 0).sum(axis=(1, 2))
            costs = np.where(slots, totals[:, None], np.inf)
            closed = np.flatnonzero(~open_)
            if closed.size and len(union):
                cheapest = costs[:, closed].argmin(axis=0)
                replaced[b, closed] = union[cheapest]
                values[b, closed] -= costs[cheapest, closed]
            else:
                values[b, closed] = -np.inf
        return values, replaced

    def _block_differences(self, table: SwapTable) -> tuple[Floats, Ints]:
        """Do the same for true differences."""
        values = self.partition.sum_over_blocks(table.additions)
        replaced = np.full(values.shape, -1)
        for b, rows in enumerate(self.partition.members):
            union, open_, slots = self._exchanges(b, table.supports[rows], values.shape[1])
            best = np.full(values.shape[1], -np.inf)
            for old, possible in zip(union.tolist(), slots, strict=True):
                holders, places = np.nonzero(table.supports[rows] == old)
                change = table.swaps[rows[holders], places] - table.additions[rows[holders]]
                # Swaps of atoms that a patch has already are not defined, nor are they wanted here.
                total = values[b] + np.where(possible & ~open_, change.sum(axis=0), -np.inf)
                better = total > best
                replaced[b, better], best[better] = old, total[better]
            values[b] = np.where(open_, values[b], best)
        return values, np.where(values > -np.inf, replaced, -1)

    def _exchanges(self, number: int, supports: Ints, n_candidates: int) -> tuple[Ints, Bools, Bools]:
        """Return the atoms of a block, (U,), what it can receive, (n,), and what may replace what, (U, n)."""
        union = np.unique(supports[supports >= 0])
        free, slots = self._each[number].exchanges(union[None], np.arange(n_candidates))
        free[0, union] = True
        return union, free[0], slots[0]
