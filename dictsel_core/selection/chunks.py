"""Data in chunks: the part of a selection that each chunk does for itself, wherever that is."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.parallel import map_chunks, single_threaded_blas
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import (
    AverageSparsity,
    Constraint,
    IndividualSparsity,
    Replacement,
    ReplacementGains,
    SeparableConstraint,
)
from dictsel_core.selection.certificate import DataSums, data_sums
from dictsel_core.selection.engine.omp import OMPEngine
from dictsel_core.selection.engine.utilities import UtilityProblem
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.utility import Utility

#: Like the built-in `map` with one iterable: returns the results in the order of the tasks.
Workers = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

Answer = TypeVar("Answer")


class AtomSums(NamedTuple):
    """Sums over patches for all atoms, (n,) each: upper bounds on the values of replacements, and gains."""

    bounds: NDArray[np.float64]
    gains: NDArray[np.float64]


class ChunkState(NamedTuple):
    """The state of a chunk: all that has to be remembered between two questions.

    Supports and the costs of removals are (T_c, S); None before the first question.
    """

    supports: Ints | None = None
    costs: Floats | None = None
    objective: float = 0.0


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

    Attributes
    ----------
    capacity : int
        Maximum size of a support.
    constraint : Constraint or None
        What applies to the patches of the chunk, if that makes bounds smaller than sums of gains.
    """

    capacity: int
    constraint: SeparableConstraint | AverageSparsity | None

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

    def after(self, atom: int | None, replacement: Replacement | None, price: float) -> AtomSums:
        """Apply a replacement by an atom, if given; return bounds and summed gains of all atoms.

        By default the replacement is the best one of the chunk, whose patches then have constraints of their
        own, and the bounds are exact. Those of `AverageSparsity` are without the term of the unused budget.
        """
        engine, constraint = self._open(), self.constraint
        if atom is not None:
            if replacement is None:
                assert isinstance(constraint, SeparableConstraint)
                replacement = constraint.replacement(engine.table(), atom)
            engine.apply(replacement, atom)
        table, gains = engine.table(), engine.gains.sum(axis=0, dtype=np.float64)
        bounds: Floats = gains
        if isinstance(constraint, AverageSparsity):
            bounds = constraint.bounds_without_budget(table, price)
        elif constraint is not None:
            bounds = constraint.values(table)
        self.state = ChunkState(engine.state.supports, table.costs, engine.state.objective)
        return AtomSums(bounds.astype(np.float64, copy=False), gains)

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T_c, len(atoms))."""
        return self._open().gains[:, atoms]

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and the weights that fit them best."""
        return self._open().state.fitted()

    def _problem(self) -> Problem:
        points = as_points(self._ground_set, *self._given)
        if self._utility is not None:
            return UtilityProblem(self._ground_set, points, self._utility)
        return Problem(self._ground_set, points)

    def _open(self) -> OMPEngine:
        if self._engine is not None:
            return self._engine
        # The constraint is applied where all patches are; the engine only needs room for the supports.
        engine = OMPEngine(self._problem(), IndividualSparsity(self.capacity), self._n_atoms)
        supports = self.state.supports
        if supports is not None:
            engine.state.set_supports(supports)
            engine.update_gains(np.arange(len(supports)))
        if self._keep:
            self._engine = engine
        return engine


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

    def split(self, constraint: Constraint, n_atoms: int) -> None:
        """Give each chunk its part of the constraint."""
        capacity, start = constraint.capacity(len(self), self.n_candidates, n_atoms), 0
        nowhere = np.full((len(self), 1), -1)
        for chunk, size in zip(self._chunks, self.sizes, strict=True):
            rows = np.arange(start, start + size)
            chunk.capacity, chunk.constraint = capacity, None
            if isinstance(constraint, SeparableConstraint | AverageSparsity):
                chunk.constraint = constraint.part(rows, nowhere)
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

    def after(self, atom: int | None, replacement: Replacement | None, price: float = 0.0) -> AtomSums:
        """Apply a replacement by an atom, if given; return summed bounds and gains of all atoms."""
        parts = [None] * len(self._chunks) if replacement is None else self._parts(replacement)
        questions = [partial(Chunk.after, atom=atom, replacement=part, price=price) for part in parts]
        sums = AtomSums(np.zeros(self.n_candidates), np.zeros(self.n_candidates))
        for part in self.ask_each(questions):  # in the order of the chunks, whoever was first
            sums.bounds[...] += part.bounds
            sums.gains[...] += part.gains
        return sums

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T, len(atoms))."""
        return np.concatenate(self.ask(partial(Chunk.gains, atoms=atoms)))

    def table(self) -> ReplacementGains:
        """Return the costs of all patches, without gains: see `columns`."""
        states = [chunk.state for chunk in self._chunks]
        costs = np.concatenate([state.costs for state in states if state.costs is not None])
        supports = np.concatenate([state.supports for state in states if state.supports is not None])
        return ReplacementGains(
            self.columns(np.zeros(len(costs))), costs, supports, (supports >= 0).sum(axis=1)
        )

    def columns(self, gains: Floats) -> Floats:
        """Return the gains of one atom, (T,), as those of all: only its own column is looked at."""
        return np.broadcast_to(gains[:, None], (len(gains), self.n_candidates))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and the weights that fit them best."""
        parts = self.ask(Chunk.fitted)
        return [z for zs, _ in parts for z in zs], [w for _, ws in parts for w in ws]

    def _parts(self, replacement: Replacement) -> list[Replacement | None]:
        """Return the part of a replacement that belongs to each chunk."""
        ends = np.cumsum(self.sizes)[:-1]
        pairs = zip(np.split(replacement.added, ends), np.split(replacement.removed, ends), strict=True)
        return [Replacement(0.0, *pair) for pair in pairs]
