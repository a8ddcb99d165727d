"""Data in chunks: the part of a selection that each chunk does for itself, wherever that is."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.threads import map_chunks, single_threaded_blas
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.constraints import (
    AverageSparsity,
    IndividualSparsity,
    MatroidSparsity,
    Replacement,
    ReplacementGains,
)
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection._replacement_omp import OMPEngine
from dictsel_core.selection.certificate import DataSums, data_sums
from dictsel_core.selection.engine.utility_fit import UtilityProblem
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.utility import Utility

#: Constraints that come apart by patches, but for the budget of the last one.
SeparableConstraint = IndividualSparsity | MatroidSparsity | AverageSparsity
#: Like the built-in `map` with one iterable: returns the results in the order of the tasks.
Workers = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

Answer = TypeVar("Answer")


class AtomSums(NamedTuple):
    """Sums over patches for all atoms, (n,) each: values or bounds of replacements, and gains."""

    values: NDArray[np.float64]
    gains: NDArray[np.float64]


class Removals(NamedTuple):
    """The cheapest removal of each patch, its slot, and whether the patch is at its cap: (T,) each."""

    costs: Floats
    slots: Ints
    at_cap: Bools


class ChunkState(NamedTuple):
    """What a chunk has reached: all that has to be remembered between two questions."""

    supports: Ints | None = None
    objective: float = 0.0
    n_used: int = 0
    removals: Removals | None = None


class Chunk:
    """One chunk of the data: its state, and its engine if that is kept.

    It can be pickled, without the engine, and answer questions elsewhere.

    Parameters
    ----------
    number : int
    ground_set : GroundSet
    given : tuple
        Data, mask and weights.
    utility : Utility or None
        None for the squared one.
    n_atoms : int
    keep : bool
        Whether to keep the engine between questions.
    """

    constraint: SeparableConstraint

    def __init__(
        self,
        number: int,
        ground_set: GroundSet,
        given: tuple[ArrayLike, ArrayLike | None, ArrayLike | None],
        utility: Utility | None,
        n_atoms: int,
        keep: bool,
    ) -> None:
        self.number = number
        self._ground_set, self._given, self._utility = ground_set, given, utility
        self._n_atoms, self._keep = n_atoms, keep
        self._engine: OMPEngine | None = None
        self.state = ChunkState()

    def __getstate__(self) -> dict[str, object]:
        """Return everything but the engine."""
        return {**self.__dict__, "_engine": None}

    def size(self) -> int:
        """Read and check the data; return the number of patches."""
        return len(self._problem())

    def data_sums(self) -> DataSums:
        """Return what bounds the optimum."""
        problem = self._problem()
        if isinstance(problem, UtilityProblem):
            return DataSums(float(problem.energies.sum()) / 2, float(problem.energies.max()), None)
        return data_sums(problem.data, complete=problem.observed is None)

    def values(self, atom: int | None) -> AtomSums:
        """Apply the best replacement by an atom, if given; return values and summed gains of all atoms."""
        engine = self._open()
        if atom is not None:
            replacement = self.constraint.replacement(self._table(engine), atom)
            engine.update_gains(engine.state.apply(replacement, atom))
        values = self.constraint.values(self._table(engine))
        self._close(engine)
        return AtomSums(values.astype(np.float64), engine.gains.sum(axis=0, dtype=np.float64))

    def bounds(self, change: tuple[int, Replacement] | None, price: float) -> AtomSums:
        """Apply a replacement by an atom, if given; return bounds and summed gains of all atoms.

        The bounds are those of `AverageSparsity` without the term of the unused budget.
        """
        engine = self._open()
        if change is not None:
            atom, replacement = change
            engine.update_gains(engine.state.apply(replacement, atom))
        assert isinstance(self.constraint, AverageSparsity)
        table = self._table(engine)
        costs, at_cap = self.constraint.removals(table)
        bounds = self.constraint.bounds_without_budget(table, price)
        self._close(engine, Removals(costs, table.cheapest[0], at_cap))
        return AtomSums(bounds.astype(np.float64, copy=False), engine.gains.sum(axis=0, dtype=np.float64))

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T_c, len(atoms))."""
        engine = self._open()
        self._close(engine, self.state.removals)
        return engine.gains[:, atoms]

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and the weights that fit them best."""
        engine = self._open()
        self._close(engine, self.state.removals)
        return engine.state.fitted()

    def _problem(self) -> Problem:
        points = as_points(self._ground_set, *self._given)
        if self._utility is not None:
            return UtilityProblem(self._ground_set, points, self._utility)
        return Problem(self._ground_set, points)

    def _table(self, engine: OMPEngine) -> ReplacementGains:
        return engine.replacement_gains(self._ground_set.smoothness)

    def _open(self) -> OMPEngine:
        if self._engine is not None:
            return self._engine
        engine = OMPEngine(self._problem(), self.constraint, self._n_atoms, False, None, 1.0)
        supports = self.state.supports
        if supports is not None:
            engine.state.set_supports(supports)
            engine.update_gains(np.arange(len(supports)))
        return engine

    def _close(self, engine: OMPEngine, removals: Removals | None = None) -> None:
        supports = engine.state
        self.state = ChunkState(supports.supports, supports.objective, int(supports.sizes.sum()), removals)
        if self._keep:
            self._engine = engine


def answer(task: tuple[Chunk, Callable[[Chunk], Answer]]) -> tuple[int, Answer, ChunkState]:
    """Ask a chunk; return its number, the answer and its state. This is what workers call."""
    chunk, question = task
    with single_threaded_blas:
        return chunk.number, question(chunk), chunk.state


class Chunks:
    """All chunks: what they have reached, and what they answer together.

    Parameters
    ----------
    chunks : list of Chunk
    n_candidates : int
    threads : int
    workers : callable, optional
        Asks the chunks in place of threads.
    """

    def __init__(
        self, chunks: list[Chunk], n_candidates: int, threads: int, workers: Workers | None = None
    ) -> None:
        self._chunks, self.n_candidates = chunks, n_candidates
        self._threads, self._workers = threads, workers
        self.sizes = self.ask(Chunk.size)  # every chunk is checked before any work

    def __len__(self) -> int:
        """Return the number T of patches."""
        return sum(self.sizes)

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t) over all patches."""
        return sum(chunk.state.objective for chunk in self._chunks)

    @property
    def n_used(self) -> int:
        """Sum of the sizes of all supports."""
        return sum(chunk.state.n_used for chunk in self._chunks)

    def split(self, constraint: SeparableConstraint) -> None:
        """Give each chunk its part of the constraint; the budget of average sparsity stays that of all."""
        start = 0
        for chunk, size in zip(self._chunks, self.sizes, strict=True):
            chunk.constraint = constraint.part(np.arange(start, start + size))
            start += size

    def ask(self, question: Callable[[Chunk], Answer]) -> list[Answer]:
        """Return the answers of all chunks to one question, in their order."""
        return self.ask_each([question] * len(self._chunks))

    def ask_each(self, questions: Sequence[Callable[[Chunk], Answer]]) -> list[Answer]:
        """Return the answers of all chunks, each to a question of its own, in their order."""
        tasks = list(zip(self._chunks, questions, strict=True))
        results: Iterable[Any]
        if self._workers is None:
            results = map_chunks(lambda number, _: answer(tasks[number]), len(tasks), 1, self._threads)
        else:
            results = self._workers(answer, tasks)
        answers: list[Answer] = []
        for number, found, state in results:
            if number != len(answers):
                raise ValueError("workers must return results in the order of the tasks, as map does.")
            self._chunks[number].state = state
            answers.append(found)
        if len(answers) < len(tasks):
            raise ValueError(f"workers must return {len(tasks)} results, as map does, not {len(answers)}.")
        return answers

    def values(self, atom: int | None) -> AtomSums:
        """Apply the best replacement by an atom, if given; return summed values and gains of all atoms."""
        return self._summed(self.ask(partial(Chunk.values, atom=atom)))

    def bounds(self, change: tuple[int, Replacement] | None, price: float) -> AtomSums:
        """Apply a replacement by an atom, if given; return summed bounds and gains of all atoms."""
        if change is None:
            return self._summed(self.ask(partial(Chunk.bounds, change=None, price=price)))
        atom, replacement = change
        parts = self._parts(replacement)
        questions = [partial(Chunk.bounds, change=(atom, part), price=price) for part in parts]
        return self._summed(self.ask_each(questions))

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T, len(atoms))."""
        return np.concatenate(self.ask(partial(Chunk.gains, atoms=atoms)))

    def removals(self) -> Removals:
        """Return the cheapest removals of all patches."""
        parts = [chunk.state.removals for chunk in self._chunks]
        return Removals(*map(np.concatenate, zip(*(part for part in parts if part), strict=True)))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and the weights that fit them best."""
        parts = self.ask(Chunk.fitted)
        return [z for zs, _ in parts for z in zs], [w for _, ws in parts for w in ws]

    def _summed(self, parts: list[AtomSums]) -> AtomSums:
        """Sum in the order of the chunks, whoever was first."""
        sums = AtomSums(np.zeros(self.n_candidates), np.zeros(self.n_candidates))
        for part in parts:
            sums.values[...] += part.values
            sums.gains[...] += part.gains
        return sums

    def _parts(self, replacement: Replacement) -> list[Replacement]:
        """Return the part of a replacement that belongs to each chunk."""
        ends = np.cumsum(self.sizes)[:-1]
        pairs = zip(np.split(replacement.added, ends), np.split(replacement.removed, ends), strict=True)
        return [Replacement(0.0, *pair) for pair in pairs]
