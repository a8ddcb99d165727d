"""Data of a selection in chunks: each answers questions about its own patches, elsewhere if need be."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import methodcaller
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.parallel import map_chunks, single_threaded_blas
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import (
    AverageSparsity,
    Constraint,
    IndividualSparsity,
    Replacement,
    SeparableConstraint,
)
from dictsel_core.selection.engine import OMPEngine
from dictsel_core.selection.problem import Problem, as_points, problem_of
from dictsel_core.selection.run import DataSums, data_sums
from dictsel_core.selection.state import Fitted, SupportState, joined
from dictsel_core.utility import Utility

#: Like the built-in `map` with one iterable: returns the results in the order of the tasks.
Workers = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

#: Patches whose correlations are worked out at once, at least.
_LEAST_ROWS = 64

Answer = TypeVar("Answer")


class State(NamedTuple):
    """All that has to be remembered of a chunk between two questions; supports and costs are (T_c, S).

    Costs are for patches that share a constraint.
    """

    supports: Ints | None = None
    costs: Floats | None = None
    objective: float = 0.0


class Input(NamedTuple):
    """The common part of the input of all chunks."""

    ground_set: GroundSet
    utility: Utility | None
    n_atoms: int
    smoothness: float
    keep: bool


Opened = TypeVar("Opened", SupportState, OMPEngine)


class Chunk(ABC, Generic[Opened]):
    """One chunk of the data: its state, and what is worked on if that is kept.

    It can be pickled, without the latter, and answer questions elsewhere. Its capacity is the maximum size of
    a support; its constraint applies to its own patches.
    """

    capacity: int
    constraint: Constraint

    def __init__(
        self, number: int, given: tuple[ArrayLike, ArrayLike | None, ArrayLike | None], common: Input
    ) -> None:
        self.number, self._given, self._common = number, given, common
        self._opened: Opened | None = None
        self.state = State()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_opened": None}

    def size(self) -> int:
        """Read and check the data; return the number of patches."""
        return len(self._problem())

    def data_sums(self) -> DataSums:
        """Return what bounds the optimum."""
        return data_sums(self._problem())

    @abstractmethod
    def fitted(self) -> Fitted:
        """Return supports and weights of the patches."""

    @abstractmethod
    def _make(self, problem: Problem, supports: Ints | None) -> Opened:
        """Return what is worked on, with the given supports."""

    def _problem(self) -> Problem:
        common = self._common
        return problem_of(common.ground_set, as_points(common.ground_set, *self._given), common.utility)

    def _open(self) -> Opened:
        if self._opened is not None:
            return self._opened
        opened = self._make(self._problem(), self.state.supports)
        if self._common.keep:
            self._opened = opened
        return opened


class OwnChunk(Chunk[SupportState]):
    """A chunk whose patches have constraints of their own: values of atoms are sums over patches.

    A step changes few patches, and only what these contribute is worked out again.
    """

    constraint: SeparableConstraint

    def values(self, exact: bool = False) -> Floats:
        """Return the values of the best replacements by all atoms, (n,), with all patches alike if exact."""
        state = self._open()
        return self._contributed(state, np.arange(len(state.problem)), exact)

    def values_of(self, atoms: Ints) -> Floats:
        """Return the values of some atoms: (m,)."""
        state = self._open()
        columns = state.squares_with(atoms).T
        found = [self._replacement(state, *each).value for each in zip(columns, atoms.tolist(), strict=True)]
        return np.array(found)

    def replace(self, atom: int) -> Floats:
        """Make the best replacement by an atom; return by how much the values of all atoms grow: (n,)."""
        state = self._open()
        replacement = self._replacement(state, state.squares_with(np.array([atom]))[:, 0], atom)
        rows = np.flatnonzero(replacement.added | (replacement.removed >= 0))
        before = self._contributed(state, rows)
        state.apply(replacement, atom)
        self.state = State(state.supports, None, state.objective)
        return self._contributed(state, rows) - before

    def gains(self) -> Floats:
        """Return the summed gains of all atoms: (n,)."""
        state = self._open()
        return _summed_squares(state, np.arange(len(state.problem)))

    def fitted(self) -> Fitted:
        return self._open().fitted()

    def _make(self, problem: Problem, supports: Ints | None) -> SupportState:
        state = SupportState(problem, self.capacity)
        if supports is not None:
            state.set_supports(supports)
        return state

    def _replacement(self, state: SupportState, gains: Floats, atom: int) -> Replacement:
        table = state.table(as_table(gains, state.n_candidates), self._common.smoothness)
        return self.constraint.replacement(table, atom)

    def _contributed(self, state: SupportState, rows: Ints, exact: bool = False) -> Floats:
        """Return what some patches contribute to the values of all atoms: (n,)."""
        free = self.constraint.has_room(state.sizes)[rows]
        totals = np.zeros(state.n_candidates)
        if free.any() and not exact:
            totals += _summed_squares(state, rows[free])
            rows = rows[~free]
        step = max(_LEAST_ROWS, chunk_rows(state.problem.data.itemsize * len(totals)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            table = state.table(state.squared_correlations(block), self._common.smoothness, block)
            totals += self.constraint.part(block).values(table)
        return totals


def _summed_squares(state: SupportState, rows: Ints) -> Floats:
    """Return the sums of (a^T r)^2 over some patches, a^T R^T R a, for all atoms: (n,)."""
    atoms = state.problem.ground_set.atoms
    products = np.zeros((len(atoms), len(atoms)))
    step = 16 * chunk_rows(8 * len(atoms))
    for start in range(0, len(rows), step):
        vectors = state.gradients(rows[start : start + step]).astype(np.float64, copy=False)
        products += vectors.T @ vectors
    sums: Floats = np.einsum("dn,dn->n", atoms, products @ atoms)
    return sums


def as_table(gains: Floats, n_candidates: int) -> Floats:
    """Return the gains of one atom, (T,), as those of all: only the column of the atom is looked at."""
    return np.broadcast_to(gains[:, None], (len(gains), n_candidates))


class SharedChunk(Chunk[OMPEngine]):
    """A chunk whose patches share a constraint with those of others: values of atoms have bounds."""

    def bounds(self, atom: int | None, replacement: Replacement | None, price: float) -> Floats:
        """Apply a replacement by an atom, if given; return bounds on the values of all atoms: (n,).

        Those of `AverageSparsity` are without the term of the unused budget; others are summed gains.
        """
        engine = self._open()
        if atom is not None and replacement is not None:
            engine.apply(replacement, atom)
        table, supports = engine.table(), engine.state.supports
        costs = np.full(supports.shape, np.inf)
        costs[:, : table.costs.shape[1]] = table.costs
        self.state = State(supports, costs, engine.state.objective)
        if isinstance(self.constraint, AverageSparsity):
            return self.constraint.bounds_without_budget(table, price)
        return self.gains()

    def gains(self) -> Floats:
        """Return the summed gains of all atoms: (n,)."""
        sums: Floats = self._open().gains.sum(axis=0, dtype=np.float64)
        return sums

    def gains_of(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T_c, m)."""
        return self._open().gains[:, atoms]

    def fitted(self) -> Fitted:
        return self._open().state.fitted()

    def _make(self, problem: Problem, supports: Ints | None) -> OMPEngine:
        # The constraint is applied where all patches are; the engine only needs room for the supports.
        common = self._common
        engine = OMPEngine(
            problem, IndividualSparsity(self.capacity), common.n_atoms, smoothness=common.smoothness
        )
        if supports is not None:
            engine.state.set_supports(supports)
            engine.update_gains(np.arange(len(supports)))
        return engine


def _answer(task: tuple[Chunk[Any], Callable[[Any], Answer]]) -> tuple[int, Answer, State]:
    """Ask a chunk; return its number, the answer and its state. This is what workers call."""
    chunk, question = task
    with single_threaded_blas:
        return chunk.number, question(chunk), chunk.state


class Chunks:
    """All chunks: what they have reached, and what they answer together."""

    def __init__(
        self,
        chunks: Sequence[Chunk[Any]],
        common: Input,
        constraint: Constraint,
        threads: int,
        workers: Workers | None,
    ) -> None:
        self.parts, self.ground_set, self.constraint = chunks, common.ground_set, constraint
        self.smoothness = common.smoothness
        self._threads, self._workers = threads, workers
        sizes = self.ask(Chunk.size)  # every chunk is checked before any work
        self.n_points, self.n_candidates = sum(sizes), len(common.ground_set)
        constraint.check(self.n_points, self.n_candidates)
        capacity = constraint.capacity(self.n_points, self.n_candidates, common.n_atoms)
        self.ends, nowhere = np.cumsum(sizes)[:-1], np.full((self.n_points, 1), -1)
        shares = not isinstance(constraint, SeparableConstraint | AverageSparsity)
        for chunk, rows in zip(chunks, np.split(np.arange(self.n_points), self.ends), strict=True):
            chunk.capacity = capacity
            chunk.constraint = constraint if shares else constraint.part(rows, nowhere)

    @property
    def objective(self) -> float:
        return sum(chunk.state.objective for chunk in self.parts)

    def ask(self, *questions: Callable[[Any], Answer]) -> list[Answer]:
        """Return the answers of all chunks, in their order, to one question or each to its own."""
        each = questions * len(self.parts) if len(questions) == 1 else questions
        tasks = list(zip(self.parts, each, strict=True))
        results: Iterable[Any]
        if self._workers is None:
            results = map_chunks(lambda number, _: _answer(tasks[number]), len(tasks), 1, self._threads)
        else:
            results = self._workers(_answer, tasks)
        answers: list[Answer] = []
        for number, found, state in results:
            if number != len(answers):
                raise ValueError("workers must return results in the order of the tasks, as map does.")
            self.parts[number].state = state
            answers.append(found)
        if len(answers) < len(tasks):
            raise ValueError(f"workers must return {len(tasks)} results, as map does, not {len(answers)}.")
        return answers

    def summed(self, *questions: Callable[[Any], Floats]) -> Floats:
        """Return the sum of the answers of all chunks."""
        answers = self.ask(*questions)
        total = np.zeros(answers[0].shape)
        for answer in answers:  # in the order of the chunks, whoever was first
            total += answer
        return total

    def fitted(self) -> Fitted:
        return joined(self.ask(methodcaller("fitted")))
