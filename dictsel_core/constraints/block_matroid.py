"""Block matroids: the atoms that a block of patches uses are independent in a matroid."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import LARGEST_COUNT, Bools, Floats, Ints
from dictsel_core.constraints.block import BlockSparsity
from dictsel_core.constraints.constraint import (
    LocalConstraint,
    Replacement,
    ReplacementGains,
    Supports,
    SwapTable,
)
from dictsel_core.constraints.matroid import Matroid


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
