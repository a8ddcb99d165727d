"""Replacement OMP over data in chunks, whose gains are summed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import as_thread_count
from dictsel_core._util.runs import with_parameters_of
from dictsel_core._util.validation import Bools, Floats, as_n_atoms
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import AverageSparsity, Constraint, Replacement, SeparableConstraint
from dictsel_core.selection.certificate import SpectralBound
from dictsel_core.selection.chunks import Chunk, Chunks, Workers
from dictsel_core.selection.engine.selector import (
    ReplacementEngine,
    SelectedAtom,
    Selector,
    best_replacement,
)
from dictsel_core.selection.run import Selection, SelectionRun
from dictsel_core.utility import Utility, as_utility

#: Where patches share a constraint, chunks are asked for the gains of this many atoms at once.
_ATOMS_AT_ONCE = 8


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
) -> Selection:
    """Select a dictionary by Replacement OMP from data in chunks.

    Where each patch has a constraint of its own, the value of an atom (eq. 5) is a sum over patches, so that
    chunks only have to add up n numbers in each step. Where patches share a budget, atoms or anything else,
    they add up n upper bounds, and send the gains of all patches for the few atoms whose bounds are largest,
    for which the constraint then finds the replacement. Either way the result is that of `replacement_omp` on
    all data at once, up to rounding. Chunks may be memory-mapped files.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    chunks : sequence of (T_c, d) array_like
        Patches as rows. A chunk may be any object with ``__array__``, which is called where the chunk is
        worked on.
    constraint : Constraint
        Which supports are allowed. Where it says something about each patch, patches are in the order of the
        chunks.
    n_atoms : int
        The dictionary size k.
    mask : sequence of (T_c, d) array_like of bool or None, optional
        True = missing, for each chunk; None for a chunk with nothing missing. By default nothing is missing.
    weights : sequence of (T_c, d) or (T_c,) array_like or None, optional
        Of each entry, or of each patch, for each chunk, as in `replacement_omp`. Default is 1.
    utility : Utility, optional
        Another utility than the squared one, as in `replacement_omp`.
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
        kept by `keep` stays where it is, so that it saves time in threads only. The result does not depend on
        who works.

    Returns
    -------
    Selection
        Its supports are in the order of the chunks.

    See Also
    --------
    iter_chunked_replacement_omp : The same, step by step.
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

    Chunks that are read where they are worked on, by an executor; that of a cluster is used alike:

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> class Stored:
    ...     def __init__(self, seed):  # or the name of a file
    ...         self.seed = seed
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.random.default_rng(self.seed).normal(size=(30, 64))
    >>> with ThreadPoolExecutor(2) as pool:
    ...     spread = chunked_replacement_omp(
    ...         ground_set, [Stored(1), Stored(2)], shared, 5, workers=pool.map
    ...     )
    >>> len(spread.supports)
    60
    """
    return iter_chunked_replacement_omp(
        ground_set,
        chunks,
        constraint,
        n_atoms,
        mask=mask,
        weights=weights,
        utility=utility,
        keep=keep,
        threads=threads,
        workers=workers,
    ).finish()


class _SeparableEngine(ReplacementEngine):
    """Algorithm 1 on summed values: each patch has a constraint of its own."""

    def __init__(self, chunks: Chunks, smoothness: float, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._smoothness = chunks, smoothness
        self._sums = chunks.after(None, None)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Make one iteration of algorithm 1."""
        values = np.where(eligible, self._sums.bounds, 0)
        atom, n = int(values.argmax()), len(values)
        if values[atom] <= 0:
            return SelectedAtom(int(np.where(new, self._sums.gains, -1.0).argmax()), 0.0, n)
        self._sums = self._chunks.after(atom, None)
        return SelectedAtom(atom, float(values[atom]) / self._smoothness, n)


class _SharedEngine(ReplacementEngine):
    """Algorithm 1 where patches share a constraint: bounds are summed, replacements found for all at once."""

    def __init__(self, chunks: Chunks, constraint: Constraint, smoothness: float, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._constraint, self._smoothness = chunks, constraint, smoothness
        self._price = 0.0
        self._sums = chunks.after(None, None)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Make one iteration of algorithm 1."""
        chunks, constraint = self._chunks, self._constraint
        table = chunks.table()
        bounds = self._sums.bounds
        if isinstance(constraint, AverageSparsity):
            unused = min(constraint.budget - int(table.sizes.sum()), len(chunks))
            bounds = bounds + self._price * unused
        bounds = np.where(eligible, bounds, 0)
        order = np.argsort(-bounds, kind="stable")
        columns: dict[int, Floats] = {}

        def solve(atom: int) -> Replacement:
            if atom not in columns:
                place = int(np.flatnonzero(order == atom)[0])
                wanted = order[place : place + _ATOMS_AT_ONCE]
                columns.update(zip(wanted.tolist(), chunks.gains(wanted).T, strict=True))
            return constraint.replacement(table.with_gains(chunks.columns(columns[atom])), atom)

        atom, replacement, n_exact = best_replacement(bounds, solve)
        if replacement is None:
            return SelectedAtom(int(np.where(new, self._sums.gains, -1.0).argmax()), 0.0, n_exact)
        self._price = replacement.price
        self._sums = chunks.after(atom, replacement, replacement.price)
        return SelectedAtom(atom, replacement.value / self._smoothness, n_exact)


@with_parameters_of(chunked_replacement_omp)
def iter_chunked_replacement_omp(  # noqa: PLR0913  (the options above)
    *,
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: Constraint,
    n_atoms: int,
    mask: Sequence[ArrayLike | None] | None,
    weights: Sequence[ArrayLike | None] | None,
    utility: Utility | None,
    keep: bool,
    threads: int | None,
    workers: Workers | None,
) -> SelectionRun:
    """Start `chunked_replacement_omp`, and return its run, which selects one atom per step.

    The parameters are those of `chunked_replacement_omp`, checked at the call. There is a result after
    every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> chunks = np.random.default_rng(0).normal(size=(3, 30, 64))
    >>> run = iter_chunked_replacement_omp(standard_ground_set(), chunks, IndividualSparsity(4), 5)
    >>> next(run).objective < next(run).objective
    True
    """
    Selector("chunked_replacement_omp", _SharedEngine).check(constraint)
    if not len(chunks):
        raise ValueError("chunks must hold at least one array of patches.")
    if workers is not None and not callable(workers):
        raise TypeError(f"workers must be a function such as map, not {type(workers).__name__}.")
    n_chunks = len(chunks)
    given = zip(
        chunks, _per_chunk(mask, "mask", n_chunks), _per_chunk(weights, "weights", n_chunks), strict=True
    )
    count = as_n_atoms(n_atoms, len(ground_set))
    u = None if utility is None else as_utility(utility)
    parts = [Chunk(number, ground_set, each, u, count, keep) for number, each in enumerate(given)]
    everything = Chunks(parts, len(ground_set), as_thread_count(threads), workers)
    constraint.check(len(everything), len(ground_set))
    everything.split(constraint, count)

    def engine() -> ReplacementEngine:
        if isinstance(constraint, SeparableConstraint):
            return _SeparableEngine(everything, ground_set.smoothness, count)
        return _SharedEngine(everything, constraint, ground_set.smoothness, count)

    bound = SpectralBound(lambda: everything.ask(Chunk.data_sums))
    return SelectionRun(ground_set, count, engine, bound)


def _per_chunk(
    values: Sequence[ArrayLike | None] | None, name: str, n_chunks: int
) -> Sequence[ArrayLike | None]:
    if values is None:
        return [None] * n_chunks
    if len(values) != n_chunks:
        raise ValueError(f"{name} must be one per chunk, {n_chunks}, but there are {len(values)}.")
    return values
