"""Individual matroids: the support of every patch must be independent in a matroid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.constraints.constraint import (
    Replacement,
    ReplacementGains,
    SeparableConstraint,
    Supports,
    SwapTable,
)
from dictsel_core.constraints.matroid import Matroid


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
        """Check the types."""
        if isinstance(self.matroids, Matroid):
            return
        matroids: object = self.matroids
        given = tuple(matroids) if isinstance(matroids, Sequence) else ()
        if not given or not all(isinstance(matroid, Matroid) for matroid in given):
            raise TypeError(
                "MatroidSparsity needs a Matroid or a sequence of them; wrap a function in OracleMatroid."
            )
        object.__setattr__(self, "matroids", given)

    def check(self, n_points: int, n_candidates: int) -> None:
        """Raise ValueError if the matroids do not fit the patches or the ground set."""
        self._check_count(n_points)
        for matroid in self._distinct():
            matroid.check(n_candidates)

    def _check_count(self, n_points: int) -> None:
        if isinstance(self.matroids, tuple) and len(self.matroids) != n_points:
            raise ValueError(
                f"There must be one matroid or one per patch, {n_points}, but there are {len(self.matroids)}."
            )

    def capacity(self, n_points: int, n_candidates: int, n_atoms: int) -> int:
        """Return the largest rank."""
        rank = max(matroid.rank(n_candidates) for matroid in self._distinct())
        return max(1, min(rank, n_atoms))

    def replacement_sparsity(self, n_atoms: int, n_used: int | None = None) -> int:
        """Return p = k: one replacement for each atom of the optimal dictionary (proposition B.1)."""
        return n_atoms

    def is_feasible(self, supports: Supports) -> bool:
        """Return whether every support is independent."""
        matroids = [self.matroids] * len(supports) if isinstance(self.matroids, Matroid) else self.matroids
        pairs = zip(matroids, supports, strict=True)
        return all(matroid.is_independent([int(a) for a in support]) for matroid, support in pairs)

    def values(self, table: ReplacementGains) -> Floats:
        """Sum over patches of max(0, gain - cheapest removal that restores independence)."""
        totals = np.zeros(table.gains.shape[1])
        for _, values in self._blocks_of_values(table):
            totals += values.sum(axis=0)
        return totals

    def patch_values(self, table: ReplacementGains) -> Floats:
        """Return what each patch contributes to `values`: (T, n)."""
        contributions = np.empty(table.gains.shape)
        for rows, values in self._blocks_of_values(table):
            contributions[rows] = values
        return contributions

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

    def _blocks_of_values(self, table: ReplacementGains) -> Iterator[tuple[Ints, Floats]]:
        """Yield some patches, and what they contribute to the value of every atom."""
        for rows, free, slots in self._exchanges(table.supports, np.arange(table.gains.shape[1])):
            costs = np.where(slots, table.costs[rows][:, :, None], np.inf).min(axis=1)
            yield rows, np.maximum(table.gains[rows] - np.where(free, 0, costs), 0)

    def _exchanges(self, supports: Ints, candidates: Ints) -> Iterator[tuple[Ints, Bools, Bools]]:
        """Yield (rows, free, slots) in blocks of patches that share a matroid."""
        step = chunk_rows(supports.shape[1] * len(candidates) * 8)
        for matroid, members in self._distinct_with_rows(len(supports)):
            for start in range(0, len(members), step):
                rows = members[start : start + step]
                yield rows, *matroid.exchanges(supports[rows], candidates)

    def matroids_with_rows(self, n_points: int) -> list[tuple[Matroid, Ints]]:
        """Return each different matroid with the patches that it is for; ValueError if they do not fit."""
        self._check_count(n_points)
        return self._distinct_with_rows(n_points)

    def _distinct(self) -> list[Matroid]:
        if isinstance(self.matroids, Matroid):
            return [self.matroids]
        return list({id(matroid): matroid for matroid in self.matroids}.values())

    def _distinct_with_rows(self, n_points: int) -> list[tuple[Matroid, Ints]]:
        if isinstance(self.matroids, Matroid):
            return [(self.matroids, np.arange(n_points))]
        identities = np.array([id(matroid) for matroid in self.matroids])
        return [(matroid, np.flatnonzero(identities == id(matroid))) for matroid in self._distinct()]
