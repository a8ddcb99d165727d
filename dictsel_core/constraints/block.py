"""Constraints on blocks of patches: few atoms, or independent ones, for all patches of a block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import Bools, Floats, Ints, as_caps, as_counts, as_each
from dictsel_core.constraints.constraint import (
    LocalConstraint,
    Replacement,
    ReplacementGains,
    Supports,
    SwapTable,
)
from dictsel_core.constraints.matroid import Matroid, UniformMatroid, as_matroids


class _BlockConstraint(LocalConstraint):
    """A constraint on each block of patches by itself; the base of those below."""

    one_replacement_per_atom: ClassVar[bool] = True

    matroid_of_block: tuple[Matroid, ...]
    members: tuple[Ints, ...]  #: The patches of each block.
    _labels: Ints

    def _set_blocks(self, given: object) -> None:
        """Check that the blocks are disjoint and cover 0, ..., T-1; keep them."""
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
        labels = np.empty(len(members), dtype=np.intp)
        for b, block in enumerate(blocks):
            labels[block] = b
        object.__setattr__(self, "members", blocks)
        object.__setattr__(self, "_labels", labels)

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the blocks do not fit the patches, or a matroid not the ground set."""
        self.check_count(n_points)
        for matroid in set(self.matroid_of_block):
            matroid.check(n_candidates)

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the largest rank."""
        return max(1, min(max(matroid.rank(n_candidates) for matroid in set(self.matroid_of_block)), n_atoms))

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether the union of the supports of every block is independent."""
        unions = [{int(a) for t in block for a in supports[t]} for block in self.members]
        pairs = zip(self.matroid_of_block, unions, strict=True)
        return all(matroid.is_independent(sorted(union)) for matroid, union in pairs)

    def check_count(self, n_points: int) -> None:
        """Raise ValueError if the blocks do not cover exactly the patches."""
        if len(self._labels) != n_points:
            raise ValueError(f"blocks cover {len(self._labels)} patches, but there are {n_points}.")

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over blocks of max(0, summed gain - cheapest atom to remove from the whole block)."""
        totals: Floats = np.maximum(self._block_values(table)[0], 0).sum(axis=0)
        return totals

    def replacement(self, table: ReplacementGains, atom: int) -> Replacement:
        """Return the best replacement: the best of each block."""
        values, replaced = self._block_values(table, slice(atom, atom + 1))
        added, removed = self._of_patches(values[:, 0], replaced[:, 0], table.supports)
        added &= table.gains[:, atom] > 0
        return Replacement(float(values[values > 0].sum()), added, removed)

    def swap_values(self, table: SwapTable) -> Floats:
        """Sum over blocks of the best true difference."""
        totals: Floats = np.maximum(self._block_differences(table)[0], 0).sum(axis=0)
        return totals

    def swap(self, table: SwapTable, atom: int) -> Replacement:
        """Return the best replacement by true differences."""
        all_values, replaced = self._block_differences(table)
        values = all_values[:, atom]
        added, removed = self._of_patches(values, replaced[:, atom], table.supports)
        added &= (table.additions[:, atom] > 0) | (removed >= 0)  # swaps have values of their own
        return Replacement(float(values[values > 0].sum()), added, removed)

    def _exchanges(self, supports: Ints, candidates: Ints) -> Iterator[tuple[int, Ints, Bools, Bools]]:
        """Yield blocks that cannot receive all candidates: number, atoms, what it can, and what for what."""
        for b, matroid in enumerate(self.matroid_of_block):
            used = supports[self.members[b]]
            union = np.unique(used[used >= 0])
            free, slots = matroid.exchanges(union[None], candidates)
            received = free[0] | np.isin(candidates, union)
            if not received.all():
                yield b, union, received, slots[0]

    def _block_values(self, table: ReplacementGains, candidates: slice = slice(None)) -> tuple[Floats, Ints]:
        """Return values of atoms in every block, and the atoms that they would replace, -1: (b, m) each."""
        values = self._sum_over_blocks(table.gains[:, candidates])
        names = np.arange(table.gains.shape[1])[candidates]
        replaced = np.full(values.shape, -1)
        for b, union, free, slots in self._exchanges(table.supports, names):
            rows, closed = self.members[b], np.flatnonzero(~free)
            holds = table.supports[rows][None] == union[:, None, None]
            costs = np.where(
                slots, np.where(holds, table.costs[rows][None], 0).sum(axis=(1, 2))[:, None], np.inf
            )
            if closed.size and len(union):
                cheapest = costs[:, closed].argmin(axis=0)
                replaced[b, closed] = union[cheapest]
                values[b, closed] -= costs[cheapest, closed]
            else:
                values[b, closed] = -np.inf
        return values, replaced

    def _block_differences(self, table: SwapTable) -> tuple[Floats, Ints]:
        """Return the same for true differences: (b, n) each."""
        values = self._sum_over_blocks(table.additions)
        replaced = np.full(values.shape, -1)
        for b, union, free, slots in self._exchanges(table.supports, np.arange(values.shape[1])):
            rows, best = self.members[b], np.full(values.shape[1], -np.inf)
            for old, possible in zip(union.tolist(), slots, strict=True):
                holders, places = np.nonzero(table.supports[rows] == old)
                change = table.swaps[rows[holders], places] - table.additions[rows[holders]]
                # Swaps of atoms that a patch has already are not defined, nor are they wanted here.
                total = values[b] + np.where(possible & ~free, change.sum(axis=0), -np.inf)
                better = total > best
                replaced[b, better], best[better] = old, total[better]
            values[b] = np.where(free, values[b], best)
        return values, np.where(values > -np.inf, replaced, -1)

    def _of_patches(self, values: Floats, replaced: Ints, supports: Ints) -> tuple[Bools, Ints]:
        """Return which patches are in blocks of positive value, and the slot that each loses, -1 for none."""
        takes = values > 0
        sought = np.where(takes, replaced, -1)[self._labels]
        holds = (supports == sought[:, None]) & (sought >= 0)[:, None]
        return takes[self._labels], np.where(holds.any(axis=1), holds.argmax(axis=1), -1)

    def _sum_over_blocks(self, values: Floats) -> Floats:
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import, and needed here alone)

        n_points = len(self._labels)
        indicator = csr_array(
            (np.ones(n_points), (self._labels, np.arange(n_points))), shape=(len(self.members), n_points)
        )
        sums: Floats = indicator @ values
        return sums


@dataclass(frozen=True, eq=False)
class BlockSparsity(_BlockConstraint):
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

    treats_atoms_alike: ClassVar[bool] = True

    blocks: Sequence[ArrayLike]
    sparsity: int | ArrayLike
    caps: int | Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_blocks(self.blocks)
        caps = as_caps(self.sparsity, "sparsity")
        each = as_each(caps, len(self.members), "block")
        object.__setattr__(self, "caps", caps)
        object.__setattr__(self, "matroid_of_block", tuple(map(UniformMatroid, each.tolist())))

    @classmethod
    def from_labels(cls, labels: ArrayLike, sparsity: int | ArrayLike) -> "BlockSparsity":
        """Build it from a label for each patch, (T,): patches with equal labels form a block.

        Blocks are in the order of their labels.
        """
        given = as_counts(labels, "labels", minimum=0)
        if not given.size:
            raise ValueError("labels must not be empty: there is one for each patch.")
        _, numbers = np.unique(given, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        return cls(np.split(order, np.cumsum(np.bincount(numbers))[:-1]), sparsity)

    def shared_caps(self, n_points: int) -> Sequence[tuple[Ints, int]]:
        """Return the blocks and their caps."""
        caps = np.broadcast_to(self.caps, len(self.members))
        return list(zip(self.members, caps.tolist(), strict=True))

    def _block_values(self, table: ReplacementGains, candidates: slice = slice(None)) -> tuple[Floats, Ints]:
        # All blocks at once: full ones lose the same atom for any that they do not use.
        costs = self._costs(table.supports, table.costs, table.gains.shape[1])
        used = costs < np.inf
        closed = (used.sum(axis=1) >= self.caps)[:, None] & ~used[:, candidates]
        values = self._sum_over_blocks(table.gains[:, candidates])
        values -= np.where(closed, costs.min(axis=1, keepdims=True), 0)
        return values, np.where(closed, costs.argmin(axis=1)[:, None], -1)

    def _costs(self, supports: Ints, costs: Floats, n_candidates: int) -> Floats:
        """Return what it costs to remove each atom from a whole block, infinite if it is not used: (b, n)."""
        rows, slots = np.nonzero(supports >= 0)
        cells = self._labels[rows] * n_candidates + supports[rows, slots]
        size = len(self.members) * n_candidates
        totals = np.bincount(cells, weights=costs[rows, slots], minlength=size).astype(np.float64)
        totals[np.bincount(cells, minlength=size) == 0] = np.inf
        return totals.reshape(len(self.members), n_candidates)


@dataclass(frozen=True, eq=False)
class BlockMatroidSparsity(_BlockConstraint):
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

    blocks: Sequence[ArrayLike]
    matroids: Matroid | Sequence[Matroid]

    def __post_init__(self) -> None:
        self._set_blocks(self.blocks)
        given, n_blocks = as_matroids(self.matroids, "BlockMatroidSparsity"), len(self.members)
        each = (given,) * n_blocks if isinstance(given, Matroid) else given
        if len(each) != n_blocks:
            raise ValueError(
                f"There must be one matroid or one per block, {n_blocks}, but there are {len(each)}."
            )
        object.__setattr__(self, "matroid_of_block", each)
