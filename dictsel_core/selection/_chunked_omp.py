"""Replacement OMP over data in chunks, whose gains are summed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.parallel import as_thread_count, finished, map_chunks, single_threaded_blas
from dictsel_core._util.validation import Bools, Floats, Ints, as_n_atoms
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import (
    AverageSparsity,
    Constraint,
    IndividualSparsity,
    Replacement,
    ReplacementGains,
    SeparableConstraint,
)
from dictsel_core.selection.engine import (
    OMPEngine,
    Repeats,
    ReplacementEngine,
    SelectedAtom,
    Selector,
    as_max_repeats,
    as_smoothness,
    best_replacement,
)
from dictsel_core.selection.problem import Problem, as_points, problem_of
from dictsel_core.selection.run import DataSums, SelectionRun, SpectralBound, data_sums, iterate
from dictsel_core.selection.state import SupportState
from dictsel_core.utility import Utility, as_utility

#: Like the built-in `map` with one iterable: returns the results in the order of the tasks.
Workers = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

#: Where patches share a constraint, chunks are asked for the gains of this many atoms at once.
_ATOMS_AT_ONCE = 8
#: Values that are kept up to date may be off by this fraction of the largest value of the first step.
_ROUNDING = 2e-7
#: If the values of more atoms than this are as good as equal, all are worked out again.
_FEW = 32
#: Patches whose correlations are worked out at once, at least.
_LEAST_ROWS = 64

Answer = TypeVar("Answer")


class _State(NamedTuple):
    """All that has to be remembered of a chunk between two questions; supports and costs are (T_c, S).

    Costs are for patches that share a constraint.
    """

    supports: Ints | None = None
    costs: Floats | None = None
    objective: float = 0.0


class _Input(NamedTuple):
    """What all chunks are worked on with; M is None for that of the ground set."""

    ground_set: GroundSet
    utility: Utility | None
    n_atoms: int
    smoothness: float | None
    keep: bool


Opened = TypeVar("Opened", SupportState, OMPEngine)


class _Chunk(ABC, Generic[Opened]):
    """One chunk of the data: its state, and what is worked on if that is kept.

    It can be pickled, without the latter, and answer questions elsewhere. Its capacity is the maximum size of
    a support; its constraint applies to its own patches.
    """

    capacity: int
    constraint: Constraint

    def __init__(
        self, number: int, given: tuple[ArrayLike, ArrayLike | None, ArrayLike | None], common: _Input
    ) -> None:
        self.number, self._given, self._common = number, given, common
        self._opened: Opened | None = None
        self.state = _State()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_opened": None}

    def size(self) -> int:
        """Read and check the data; return the number of patches."""
        return len(self._problem())

    def data_sums(self) -> DataSums:
        """Return what bounds the optimum."""
        problem = self._problem()
        if self._common.utility is not None:
            return DataSums(float(problem.energies.sum()) / 2, float(problem.energies.max()), None)
        return data_sums(problem.data, complete=problem.observed is None)

    @abstractmethod
    def fitted(self) -> tuple[list[Ints], list[Floats]]:
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


class _OwnChunk(_Chunk[SupportState]):
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
        self.state = _State(state.supports, None, state.objective)
        return self._contributed(state, rows) - before

    def gains(self) -> Floats:
        """Return the summed gains of all atoms: (n,)."""
        state = self._open()
        return _summed_squares(state, np.arange(len(state.problem)))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        return self._open().fitted()

    def _make(self, problem: Problem, supports: Ints | None) -> SupportState:
        state = SupportState(problem, self.capacity)
        if supports is not None:
            state.set_supports(supports)
        return state

    def _replacement(self, state: SupportState, gains: Floats, atom: int) -> Replacement:
        table = state.table(_as_table(gains, state.n_candidates), self._common.smoothness)
        return self.constraint.replacement(table, atom)

    def _contributed(self, state: SupportState, rows: Ints, exact: bool = False) -> Floats:
        """Return what some patches contribute to the values of all atoms: (n,)."""
        free = self.constraint.has_room(state.sizes)[rows]
        totals = np.zeros(state.n_candidates)
        if free.any() and not exact:
            totals += _summed_squares(state, rows[free])
            rows = rows[~free]
        dtype = state.problem.data.dtype
        step = max(_LEAST_ROWS, chunk_rows(dtype.itemsize * len(totals)))
        squares = np.empty((min(step, len(rows)), len(totals)), dtype)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            part = squares[: len(block)]
            largest = state.squared_correlations(block, part)
            totals += self.constraint.part(block).values(
                state.table(part, self._common.smoothness, largest, block)
            )
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


def _as_table(gains: Floats, n_candidates: int) -> Floats:
    """Return the gains of one atom, (T,), as those of all: only the column of the atom is looked at."""
    return np.broadcast_to(gains[:, None], (len(gains), n_candidates))


class _SharedChunk(_Chunk[OMPEngine]):
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
        self.state = _State(supports, costs, engine.state.objective)
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

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
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


def _answer(task: tuple[_Chunk[Any], Callable[[Any], Answer]]) -> tuple[int, Answer, _State]:
    """Ask a chunk; return its number, the answer and its state. This is what workers call."""
    chunk, question = task
    with single_threaded_blas:
        return chunk.number, question(chunk), chunk.state


class _Chunks:
    """All chunks: what they have reached, and what they answer together."""

    def __init__(
        self,
        chunks: Sequence[_Chunk[Any]],
        common: _Input,
        constraint: Constraint,
        threads: int,
        workers: Workers | None,
    ) -> None:
        self._chunks, self.ground_set, self.constraint = chunks, common.ground_set, constraint
        self._smoothness = common.smoothness
        self._threads, self._workers = threads, workers
        sizes = self.ask(_Chunk.size)  # every chunk is checked before any work
        self.n_points, self.n_candidates = sum(sizes), len(common.ground_set)
        constraint.check(self.n_points, self.n_candidates)
        capacity = constraint.capacity(self.n_points, self.n_candidates, common.n_atoms)
        self.ends, nowhere = np.cumsum(sizes)[:-1], np.full((self.n_points, 1), -1)
        shares = not isinstance(constraint, SeparableConstraint | AverageSparsity)
        for chunk, rows in zip(chunks, np.split(np.arange(self.n_points), self.ends), strict=True):
            chunk.capacity = capacity
            chunk.constraint = constraint if shares else constraint.part(rows, nowhere)

    @property
    def smoothness(self) -> float:
        """M."""
        return self._smoothness or self.ground_set.smoothness

    @property
    def objective(self) -> float:
        return sum(chunk.state.objective for chunk in self._chunks)

    @property
    def states(self) -> list[_State]:
        """The states of all chunks."""
        return [chunk.state for chunk in self._chunks]

    def ask(self, question: Callable[[Any], Answer]) -> list[Answer]:
        """Return the answers of all chunks to one question, in their order."""
        return self.ask_each([question] * len(self._chunks))

    def ask_each(self, questions: Sequence[Callable[[Any], Answer]]) -> list[Answer]:
        """Return the answers of all chunks, each to a question of its own, in their order."""
        tasks = list(zip(self._chunks, questions, strict=True))
        results: Iterable[Any]
        if self._workers is None:
            results = map_chunks(lambda number, _: _answer(tasks[number]), len(tasks), 1, self._threads)
        else:
            results = self._workers(_answer, tasks)
        answers: list[Answer] = []
        for number, found, state in results:
            if number != len(answers):
                raise ValueError("workers must return results in the order of the tasks, as map does.")
            self._chunks[number].state = state
            answers.append(found)
        if len(answers) < len(tasks):
            raise ValueError(f"workers must return {len(tasks)} results, as map does, not {len(answers)}.")
        return answers

    def summed(self, *questions: Callable[[Any], Floats]) -> Floats:
        """Return the sum of the answers to a question, the same for all chunks or one for each."""
        answers = self.ask(questions[0]) if len(questions) == 1 else self.ask_each(questions)
        total = np.zeros(answers[0].shape)
        for answer in answers:  # in the order of the chunks, whoever was first
            total += answer
        return total

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        parts = self.ask(methodcaller("fitted"))
        return [z for zs, _ in parts for z in zs], [w for _, ws in parts for w in ws]


@finished
def chunked_replacement_omp(  # noqa: PLR0913  (options by keyword)
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: Sequence[ArrayLike | None] | None = None,
    weights: Sequence[ArrayLike | None] | None = None,
    utility: Utility | None = None,
    smoothness: float | None = None,
    repeats: Repeats = "extra",
    keep: bool = True,
    threads: int | None = None,
    workers: Workers | None = None,
) -> SelectionRun:
    """Select a dictionary by Replacement OMP from data in chunks.

    Where each patch has a constraint of its own, the value of an atom (eq. 5) is a sum over patches, and a
    step changes only what the few patches contribute whose supports it changes. Where patches share a budget,
    atoms or anything else, chunks add up n upper bounds, and send the gains of all patches for the few atoms
    whose bounds are largest, for which the constraint then finds the replacement. Either way the result is
    that of `replacement_omp` on all data at once, up to rounding. Chunks may be memory-mapped files.

    Parameters
    ----------
    ground_set, n_atoms, utility, smoothness, repeats
        As in `replacement_omp`.
    chunks : sequence of (T_c, d) array_like
        Patches as rows. A chunk may be any object with ``__array__``, which is called where the chunk is
        worked on.
    constraint : Constraint
        Which supports are allowed. Where it says something about each patch, patches are in the order of the
        chunks.
    mask, weights : sequence of array_like or None, optional
        Those of `replacement_omp` for each chunk; None for a chunk with nothing missing, or weights of 1.
    keep : bool, optional
        Whether to keep the data and their residuals in memory, T x d numbers each; where patches share a
        constraint, also their gains, T x n. If False, they are computed again in every step, chunk by chunk;
        only the supports are kept, and every chunk is read once or twice per iteration, or some times more
        where patches share a constraint. Default is True.
    threads : int, optional
        How many chunks to work on at the same time; by default as many as there are cores available. The
        result does not depend on it.
    workers : callable, optional
        Works on the chunks in place of threads, here or on other machines: a function like the built-in
        `map`, such as ``ProcessPoolExecutor().map``. It is called as ``workers(function, tasks)`` some times
        in every iteration, and returns the results in the order of the tasks. Function, tasks and results can
        be pickled; a task holds its chunk as given, the ground set and the supports of the patches. What is
        kept by `keep` stays where it is, so that it saves time in threads only.

    Returns
    -------
    Selection
        Its supports are in the order of the chunks.

    See Also
    --------
    replacement_omp : For data in one array.
    stochastic_replacement_omp : Evaluates a sample of the patches in each step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import AverageSparsity, replacement_omp, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> data = np.random.default_rng(0).normal(size=(90, 64))
    >>> shared = AverageSparsity(4, budget=3 * 90)
    >>> chunked = chunked_replacement_omp(ground_set, np.split(data, 3), shared, 5)
    >>> whole = replacement_omp(ground_set, data, shared, 5)
    >>> bool((chunked.indices == whole.indices).all())
    True
    """
    is_own = isinstance(constraint, SeparableConstraint)
    engine = _OwnEngine if is_own else _SharedEngine
    Selector("chunked_replacement_omp", engine).check(constraint)
    if not len(chunks):
        raise ValueError("chunks must hold at least one array of patches.")
    if workers is not None and not callable(workers):
        raise TypeError(f"workers must be a function such as map, not {type(workers).__name__}.")
    masks, all_weights = (
        _per_chunk(each, name, len(chunks)) for each, name in ((mask, "mask"), (weights, "weights"))
    )
    count = as_n_atoms(n_atoms, len(ground_set))
    u = None if utility is None else as_utility(utility)
    common = _Input(ground_set, u, count, as_smoothness(smoothness), keep)
    max_repeats = as_max_repeats(repeats, count)
    kind: type[_OwnChunk | _SharedChunk] = _OwnChunk if is_own else _SharedChunk
    given = enumerate(zip(chunks, masks, all_weights, strict=True))
    parts = [kind(number, each, common) for number, each in given]
    everything = _Chunks(parts, common, constraint, as_thread_count(threads), workers)
    bound = SpectralBound(lambda: everything.ask(_Chunk.data_sums))
    return SelectionRun(ground_set, count, lambda: engine(everything, max_repeats), bound)


iter_chunked_replacement_omp = iterate(chunked_replacement_omp)


class _OwnEngine(ReplacementEngine):
    """Algorithm 1 on values of atoms that are sums over patches, kept up to date.

    They are exact but for rounding; where that could decide, those of the best atoms are worked out again.
    """

    def __init__(self, chunks: _Chunks, max_repeats: int | None) -> None:
        super().__init__(chunks, max_repeats)
        self._chunks = chunks
        self._values = chunks.summed(_OwnChunk.values)
        self._rounding = _ROUNDING * float(self._values.max())
        self._copies, self._originals = chunks.ground_set.duplicates
        self._are_exact = False

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        atom, value, n_exact = self._best(eligible)
        if value <= 0:
            gains = self._chunks.summed(_OwnChunk.gains)
            return SelectedAtom(int(np.where(new, gains, -1.0).argmax()), 0.0, n_exact)
        self._values += self._chunks.summed(partial(_OwnChunk.replace, atom=atom))
        self._are_exact = False
        return SelectedAtom(atom, value / self._chunks.smoothness, n_exact)

    def _best(self, eligible: Bools) -> tuple[int, float, int]:
        """Return the best atom, its value, and the number of values that were worked out again."""
        values, n_exact = self._eligible_values(eligible), 0
        near = np.flatnonzero(eligible & (values >= values.max() - self._rounding))
        if not self._are_exact and len(near) > _FEW:
            self._values, n_exact = self._chunks.summed(partial(_OwnChunk.values, exact=True)), len(values)
            self._are_exact, values = True, self._eligible_values(eligible)
        elif not self._are_exact and (len(near) > 1 or values.max() <= self._rounding):
            values[near], n_exact = self._chunks.summed(partial(_OwnChunk.values_of, atoms=near)), len(near)
        atom = int(values.argmax())
        return atom, float(values[atom]), n_exact or 1

    def _eligible_values(self, eligible: Bools) -> Floats:
        self._values[self._copies] = self._values[self._originals]  # then the first one is selected
        return np.where(eligible, self._values, 0)


class _SharedEngine(ReplacementEngine):
    """Algorithm 1 on sums of bounds, and on the gains of all patches for the few atoms that need them."""

    def __init__(self, chunks: _Chunks, max_repeats: int | None) -> None:
        super().__init__(chunks, max_repeats)
        self._chunks, self._price = chunks, 0.0
        nothing = partial(_SharedChunk.bounds, atom=None, replacement=None, price=0.0)
        self._bounds = chunks.summed(nothing)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        chunks = self._chunks
        atom, replacement, n_exact = self._best(eligible)
        if replacement is None:
            gains = chunks.summed(_SharedChunk.gains)
            return SelectedAtom(int(np.where(new, gains, -1.0).argmax()), 0.0, n_exact)
        self._price = replacement.price
        arrays = (np.split(each, chunks.ends) for each in (replacement.added, replacement.removed))
        parts = [Replacement(0.0, *pair) for pair in zip(*arrays, strict=True)]
        self._bounds = chunks.summed(
            *(partial(_SharedChunk.bounds, atom=atom, replacement=part, price=self._price) for part in parts)
        )
        return SelectedAtom(atom, replacement.value / chunks.smoothness, n_exact)

    def _best(self, eligible: Bools) -> tuple[int, Replacement | None, int]:
        """Find the best replacement for all patches at once, by gains that chunks send as far as needed."""
        chunks, constraint, table = self._chunks, self._chunks.constraint, self._table()
        bounds = self._bounds
        if isinstance(constraint, AverageSparsity):
            bounds = bounds + self._price * min(constraint.budget - int(table.sizes.sum()), chunks.n_points)
        bounds = np.where(eligible, bounds, 0)
        order = np.argsort(-bounds, kind="stable")
        columns: dict[int, Floats] = {}

        def solve(atom: int) -> Replacement:
            if atom not in columns:
                place = int(np.flatnonzero(order == atom)[0])
                wanted = order[place : place + _ATOMS_AT_ONCE]
                gains = np.concatenate(chunks.ask(partial(_SharedChunk.gains_of, atoms=wanted)))
                columns.update(zip(wanted.tolist(), gains.T, strict=True))
            return constraint.replacement(
                table.with_gains(_as_table(columns[atom], chunks.n_candidates)), atom
            )

        return best_replacement(bounds, solve)

    def _table(self) -> ReplacementGains:
        """Return the costs of all patches, without gains."""
        states = self._chunks.states
        costs = np.concatenate([state.costs for state in states if state.costs is not None])
        supports = np.concatenate([state.supports for state in states if state.supports is not None])
        nothing = np.broadcast_to(0.0, (len(costs), self._chunks.n_candidates))
        return ReplacementGains(nothing, costs, supports, (supports >= 0).sum(axis=1))


def _per_chunk(
    values: Sequence[ArrayLike | None] | None, name: str, n_chunks: int
) -> Sequence[ArrayLike | None]:
    if values is None:
        return [None] * n_chunks
    if len(values) != n_chunks:
        raise ValueError(f"{name} must be one per chunk, {n_chunks}, but there are {len(values)}.")
    return values
