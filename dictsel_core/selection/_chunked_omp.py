"""Replacement OMP over data in chunks, whose gains are summed."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from dictsel_core.selection.certificate import DataSums, SpectralBound, data_sums
from dictsel_core.selection.engine import (
    OMPEngine,
    ReplacementEngine,
    SelectedAtom,
    Selector,
    best_replacement,
)
from dictsel_core.selection.problem import Problem, as_points, problem_of
from dictsel_core.selection.run import SelectionRun, iterate
from dictsel_core.utility import Utility, as_utility

#: Like the built-in `map` with one iterable: returns the results in the order of the tasks.
Workers = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

#: Where patches share a constraint, chunks are asked for the gains of this many atoms at once.
_ATOMS_AT_ONCE = 8

Answer = TypeVar("Answer")


class _Sums(NamedTuple):
    """Sums over patches for all atoms, (n,) each: upper bounds on the values of replacements, and gains."""

    bounds: NDArray[np.float64]
    gains: NDArray[np.float64]


class _State(NamedTuple):
    """All that has to be remembered of a chunk between two questions; supports and costs are (T_c, S)."""

    supports: Ints | None = None
    costs: Floats | None = None
    objective: float = 0.0


class _Chunk:
    """One chunk of the data: its state, and its engine if that is kept.

    It can be pickled, without the engine, and answer questions elsewhere. Its capacity is the maximum size of
    a support; its constraint applies to its own patches, and is None where that would not make bounds smaller
    than sums of gains.
    """

    capacity: int
    constraint: SeparableConstraint | AverageSparsity | None = None

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
        self.state = _State()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_engine": None}

    def size(self) -> int:
        """Read and check the data; return the number of patches."""
        return len(self._problem())

    def data_sums(self) -> DataSums:
        """Return what bounds the optimum."""
        problem = self._problem()
        if self._utility is not None:
            return DataSums(float(problem.energies.sum()) / 2, float(problem.energies.max()), None)
        return data_sums(problem.data, complete=problem.observed is None)

    def after(self, atom: int | None, replacement: Replacement | None, price: float) -> _Sums:
        """Apply a replacement by an atom, if given; return bounds and summed gains of all atoms.

        By default it is the best one of the chunk, whose patches then have constraints of their own, and the
        bounds are exact. Those of `AverageSparsity` are without the term of the unused budget.
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
        self.state = _State(engine.state.supports, table.costs, engine.state.objective)
        return _Sums(bounds.astype(np.float64, copy=False), gains)

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T_c, len(atoms))."""
        return self._open().gains[:, atoms]

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        return self._open().state.fitted()

    def _problem(self) -> Problem:
        return problem_of(self._ground_set, as_points(self._ground_set, *self._given), self._utility)

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


def _answer(task: tuple[_Chunk, Callable[[_Chunk], Answer]]) -> tuple[int, Answer, _State]:
    """Ask a chunk; return its number, the answer and its state. This is what workers call."""
    chunk, question = task
    with single_threaded_blas:
        return chunk.number, question(chunk), chunk.state


class _Chunks:
    """All chunks: what they have reached, and what they answer together."""

    def __init__(
        self,
        chunks: list[_Chunk],
        ground_set: GroundSet,
        constraint: Constraint,
        n_atoms: int,
        threads: int,
        workers: Workers | None,
    ) -> None:
        self._chunks, self.ground_set, self.constraint = chunks, ground_set, constraint
        self._threads, self._workers = threads, workers
        sizes = self.ask(_Chunk.size)  # every chunk is checked before any work
        self.n_points, self.n_candidates = sum(sizes), len(ground_set)
        constraint.check(self.n_points, self.n_candidates)
        capacity = constraint.capacity(self.n_points, self.n_candidates, n_atoms)
        self._ends, nowhere = np.cumsum(sizes)[:-1], np.full((self.n_points, 1), -1)
        for chunk, rows in zip(chunks, np.split(np.arange(self.n_points), self._ends), strict=True):
            chunk.capacity = capacity
            if isinstance(constraint, SeparableConstraint | AverageSparsity):
                chunk.constraint = constraint.part(rows, nowhere)

    @property
    def objective(self) -> float:
        return sum(chunk.state.objective for chunk in self._chunks)

    def ask(self, question: Callable[[_Chunk], Answer]) -> list[Answer]:
        """Return the answers of all chunks to one question, in their order."""
        return self.ask_each([question] * len(self._chunks))

    def ask_each(self, questions: Sequence[Callable[[_Chunk], Answer]]) -> list[Answer]:
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

    def after(self, atom: int | None, replacement: Replacement | None, price: float = 0.0) -> _Sums:
        """Apply a replacement by an atom, if given; return summed bounds and gains of all atoms."""
        parts: Sequence[Replacement | None] = [None] * len(self._chunks)
        if replacement is not None:
            arrays = (np.split(each, self._ends) for each in (replacement.added, replacement.removed))
            parts = [Replacement(0.0, *pair) for pair in zip(*arrays, strict=True)]
        questions = [partial(_Chunk.after, atom=atom, replacement=part, price=price) for part in parts]
        sums = _Sums(np.zeros(self.n_candidates), np.zeros(self.n_candidates))
        for part in self.ask_each(questions):  # in the order of the chunks, whoever was first
            sums.bounds[...] += part.bounds
            sums.gains[...] += part.gains
        return sums

    def gains(self, atoms: Ints) -> Floats:
        """Return the gains of all patches for some atoms: (T, len(atoms))."""
        return np.concatenate(self.ask(partial(_Chunk.gains, atoms=atoms)))

    def table(self) -> ReplacementGains:
        """Return the costs of all patches, without gains."""
        states = [chunk.state for chunk in self._chunks]
        costs = np.concatenate([state.costs for state in states if state.costs is not None])
        supports = np.concatenate([state.supports for state in states if state.supports is not None])
        nothing = np.broadcast_to(0.0, (len(costs), self.n_candidates))
        return ReplacementGains(nothing, costs, supports, (supports >= 0).sum(axis=1))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        parts = self.ask(_Chunk.fitted)
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
    keep: bool = True,
    threads: int | None = None,
    workers: Workers | None = None,
) -> SelectionRun:
    """Select a dictionary by Replacement OMP from data in chunks.

    Where each patch has a constraint of its own, the value of an atom (eq. 5) is a sum over patches, so that
    chunks only have to add up n numbers in each step. Where patches share a budget, atoms or anything else,
    they add up n upper bounds, and send the gains of all patches for the few atoms whose bounds are largest,
    for which the constraint then finds the replacement. Either way the result is that of `replacement_omp` on
    all data at once, up to rounding. Chunks may be memory-mapped files.

    Parameters
    ----------
    ground_set, n_atoms, utility
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
        Whether to keep the gains of all patches in memory, T x n numbers. If False, they are computed again
        in every step, chunk by chunk; only the supports are kept, and every chunk is read once per iteration,
        or some times more where patches share a constraint. Default is True.
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
    Selector("chunked_replacement_omp", _Engine).check(constraint)
    if not len(chunks):
        raise ValueError("chunks must hold at least one array of patches.")
    if workers is not None and not callable(workers):
        raise TypeError(f"workers must be a function such as map, not {type(workers).__name__}.")
    masks, all_weights = (
        _per_chunk(each, name, len(chunks)) for each, name in ((mask, "mask"), (weights, "weights"))
    )
    count = as_n_atoms(n_atoms, len(ground_set))
    u = None if utility is None else as_utility(utility)
    given = enumerate(zip(chunks, masks, all_weights, strict=True))
    parts = [_Chunk(number, ground_set, each, u, count, keep) for number, each in given]
    everything = _Chunks(parts, ground_set, constraint, count, as_thread_count(threads), workers)
    bound = SpectralBound(lambda: everything.ask(_Chunk.data_sums))
    return SelectionRun(ground_set, count, lambda: _Engine(everything, count), bound)


iter_chunked_replacement_omp = iterate(chunked_replacement_omp)


class _Engine(ReplacementEngine):
    """Algorithm 1 on sums over chunks: of values if the constraint is separable, otherwise of bounds."""

    def __init__(self, chunks: _Chunks, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._price = chunks, 0.0
        self._sums = chunks.after(None, None)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        replacement: Replacement | None = None
        if isinstance(self._chunks.constraint, SeparableConstraint):  # each chunk finds its own part
            values = np.where(eligible, self._sums.bounds, 0)
            atom, n_exact = int(values.argmax()), len(values)
            value = float(values[atom])
        else:
            atom, replacement, n_exact = self._best(eligible)
            value = 0.0 if replacement is None else replacement.value
        if value <= 0:
            return SelectedAtom(int(np.where(new, self._sums.gains, -1.0).argmax()), 0.0, n_exact)
        self._price = 0.0 if replacement is None else replacement.price
        self._sums = self._chunks.after(atom, replacement, self._price)
        return SelectedAtom(atom, value / self._chunks.ground_set.smoothness, n_exact)

    def _best(self, eligible: Bools) -> tuple[int, Replacement | None, int]:
        """Find the best replacement for all patches at once, by gains that chunks send as far as needed."""
        chunks, constraint, table = self._chunks, self._chunks.constraint, self._chunks.table()
        bounds = self._sums.bounds
        if isinstance(constraint, AverageSparsity):
            bounds = bounds + self._price * min(constraint.budget - int(table.sizes.sum()), chunks.n_points)
        bounds = np.where(eligible, bounds, 0)
        order = np.argsort(-bounds, kind="stable")
        columns: dict[int, Floats] = {}

        def solve(atom: int) -> Replacement:
            if atom not in columns:
                place = int(np.flatnonzero(order == atom)[0])
                wanted = order[place : place + _ATOMS_AT_ONCE]
                columns.update(zip(wanted.tolist(), chunks.gains(wanted).T, strict=True))
            # Only the column of the atom is looked at.
            gains = np.broadcast_to(columns[atom][:, None], table.gains.shape)
            return constraint.replacement(table.with_gains(gains), atom)

        return best_replacement(bounds, solve)


def _per_chunk(
    values: Sequence[ArrayLike | None] | None, name: str, n_chunks: int
) -> Sequence[ArrayLike | None]:
    if values is None:
        return [None] * n_chunks
    if len(values) != n_chunks:
        raise ValueError(f"{name} must be one per chunk, {n_chunks}, but there are {len(values)}.")
    return values
