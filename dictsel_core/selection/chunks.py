"""Data in chunks: the part of a selection that each chunk does for itself."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.constraints import (
    AverageSparsity,
    IndividualSparsity,
    Matroid,
    MatroidSparsity,
    Replacement,
    ReplacementGains,
)
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection._replacement_omp import OMPEngine
from dictsel_core.selection.problem import Problem, as_points

#: Constraints that come apart by patches, but for the budget of the last one.
SeparableConstraint = IndividualSparsity | MatroidSparsity | AverageSparsity

Sums = tuple[NDArray[np.float64], NDArray[np.float64]]


class Chunk:
    """One chunk of the data: its supports, and its engine if that is kept.

    Parameters
    ----------
    number : int
    ground_set : GroundSet
    given : tuple
        Data, mask and weights.
    n_atoms : int
    keep : bool
        Whether to keep the engine between calls.
    """

    constraint: SeparableConstraint

    def __init__(
        self,
        number: int,
        ground_set: GroundSet,
        given: tuple[ArrayLike, ArrayLike | None, ArrayLike | None],
        n_atoms: int,
        keep: bool,
    ) -> None:
        self.number = number
        self._ground_set, self._given, self._n_atoms, self._keep = ground_set, given, n_atoms, keep
        self._engine: OMPEngine | None = None
        self._supports: Ints | None = None
        self.objective = 0.0
        self.n_used = 0
        self._removals: tuple[Floats, Ints, Bools] | None = None

    def problem(self) -> Problem:
        """Read and check the data."""
        return Problem(self._ground_set, as_points(self._ground_set, *self._given))

    def values(self, atom: int | None) -> Sums:
        """Apply the best replacement by an atom, if given; return values and summed gains of all atoms."""
        engine = self._open()
        if atom is not None:
            replacement = self.constraint.replacement(self._table(engine), atom)
            engine.update_gains(engine.state.apply(replacement, atom))
        values = self.constraint.values(self._table(engine))
        self._close(engine)
        return values.astype(np.float64), engine.gains.sum(axis=0, dtype=np.float64)

    def bounds(self, change: tuple[int, Replacement] | None, price: float) -> Sums:
        """Apply a replacement by an atom, if given; return bounds and summed gains of all atoms.

        The bounds are those of `AverageSparsity` without the term of the unused budget.
        """
        engine = self._open()
        if change is not None:
            atom, replacement = change
            engine.update_gains(engine.state.apply(replacement, atom))
        assert isinstance(self.constraint, AverageSparsity)
        table = self._table(engine)
        costs, tight = self.constraint.removals(table)
        self._removals = costs, table.cheapest[0], tight
        bounds = self.constraint.bounds_without_budget(table, price)
        self._close(engine)
        return bounds.astype(np.float64, copy=False), engine.gains.sum(axis=0, dtype=np.float64)

    def removals(self) -> tuple[Floats, Ints, Bools]:
        """Return the cheapest removal of each patch, its slot, and whether the patch is at its cap."""
        assert self._removals is not None  # since the first bounds
        return self._removals

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T_c, len(atoms))."""
        engine = self._open()
        self._close(engine)
        return engine.gains[:, atoms]

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        engine = self._open()
        self._close(engine)
        return engine.state.fitted()

    def _table(self, engine: OMPEngine) -> ReplacementGains:
        return engine.replacement_gains(self._ground_set.smoothness)

    def _open(self) -> OMPEngine:
        if self._engine is not None:
            return self._engine
        engine = OMPEngine(self.problem(), self.constraint, self._n_atoms, False, None, 1.0)
        if self._supports is not None:
            engine.state.set_supports(self._supports)
            engine.update_gains(np.arange(len(self._supports)))
        return engine

    def _close(self, engine: OMPEngine) -> None:
        self.objective = engine.state.objective
        self.n_used = int(engine.state.sizes.sum())
        if self._keep:
            self._engine = engine
        else:
            self._supports = engine.state.supports.copy()


class Chunks:
    """All chunks: what they have reached, and what they answer together.

    Parameters
    ----------
    chunks : list of Chunk
    sizes : list of int
        Number of patches of each chunk.
    n_candidates : int
    threads : int
    """

    def __init__(self, chunks: list[Chunk], sizes: list[int], n_candidates: int, threads: int) -> None:
        self.chunks, self.n_candidates, self._threads = chunks, n_candidates, threads
        self._ends = np.cumsum(sizes)

    def __len__(self) -> int:
        """Return the number T of patches."""
        return int(self._ends[-1])

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t) over all patches."""
        return sum(chunk.objective for chunk in self.chunks)

    def summed(self, ask: Callable[[Chunk], Sums]) -> Sums:
        """Sum the answers of all chunks, in their order, whatever the threads."""
        first, second = np.zeros(self.n_candidates), np.zeros(self.n_candidates)
        for more_first, more_second in self._map(ask):
            first += more_first
            second += more_second
        return first, second

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T, len(atoms))."""
        return np.concatenate(list(self._map(lambda chunk: chunk.gains(atoms))))

    def removals(self) -> tuple[Floats, Ints, Bools]:
        """Return the cheapest removal of each patch, its slot, and whether the patch is at its cap."""
        costs, slots, tight = zip(*(chunk.removals() for chunk in self.chunks), strict=True)
        return np.concatenate(costs), np.concatenate(slots), np.concatenate(tight)

    def split(self, replacement: Replacement) -> list[Replacement]:
        """Return the part of a replacement that belongs to each chunk."""
        added = np.split(replacement.added, self._ends[:-1])
        removed = np.split(replacement.removed, self._ends[:-1])
        return [Replacement(0.0, *pair) for pair in zip(added, removed, strict=True)]

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        parts = [chunk.fitted() for chunk in self.chunks]
        return [z for zs, _ in parts for z in zs], [w for _, ws in parts for w in ws]

    def _map(self, ask: Callable[[Chunk], object]) -> Iterator[Any]:
        return map_chunks(lambda number, _: ask(self.chunks[number]), len(self.chunks), 1, self._threads)


def split_constraint(constraint: SeparableConstraint, sizes: Sequence[int]) -> list[SeparableConstraint]:
    """Return the constraint of each chunk; the budget of average sparsity stays that of all."""
    ends = np.cumsum(sizes)
    bounds = list(zip(ends - sizes, ends, strict=True))
    if isinstance(constraint, MatroidSparsity):
        matroids = constraint.matroids
        if isinstance(matroids, Matroid):
            return [constraint] * len(sizes)
        return [MatroidSparsity(matroids[start:stop]) for start, stop in bounds]
    caps = constraint.caps
    if not isinstance(caps, np.ndarray):
        return [constraint] * len(sizes)
    if isinstance(constraint, IndividualSparsity):
        return [IndividualSparsity(caps[start:stop]) for start, stop in bounds]
    return [AverageSparsity(caps[start:stop], constraint.budget) for start, stop in bounds]
