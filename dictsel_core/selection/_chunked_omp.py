"""Replacement OMP over data in chunks, whose gains are summed."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import as_thread_count, finished
from dictsel_core._util.validation import Bools, Floats, as_n_atoms
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import (
    AverageSparsity,
    Constraint,
    Replacement,
    ReplacementGains,
    SeparableConstraint,
)
from dictsel_core.selection._chunks import Chunk, Chunks, Input, OwnChunk, SharedChunk, Workers, as_table
from dictsel_core.selection.engine import (
    Repeats,
    ReplacementEngine,
    SelectedAtom,
    Selector,
    as_max_repeats,
    as_smoothness,
    best_replacement,
)
from dictsel_core.selection.run import SelectionRun, SpectralBound, iterate
from dictsel_core.utility import Utility, as_utility

#: Where patches share a constraint, chunks are asked for the gains of this many atoms at once.
_ATOMS_AT_ONCE = 8
#: Values that are kept up to date may be off by this fraction of the largest value of the first step.
_ROUNDING = 2e-7
#: If the values of more atoms than this are as good as equal, all are worked out again.
_FEW = 32


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
        constraint, also their gains, T x n. If False, only the supports are kept, and every chunk is read
        once or some times per iteration. Default is True.
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
    common = Input(ground_set, u, count, as_smoothness(smoothness, ground_set), keep)
    max_repeats = as_max_repeats(repeats, count)
    kind: type[OwnChunk | SharedChunk] = OwnChunk if is_own else SharedChunk
    given = enumerate(zip(chunks, masks, all_weights, strict=True))
    parts = [kind(number, each, common) for number, each in given]
    everything = Chunks(parts, common, constraint, as_thread_count(threads), workers)
    bound = SpectralBound(lambda: everything.ask(Chunk.data_sums))
    return SelectionRun(ground_set, count, lambda: engine(everything, max_repeats), bound)


iter_chunked_replacement_omp = iterate(chunked_replacement_omp)


class _OwnEngine(ReplacementEngine):
    """Algorithm 1 on values of atoms that are sums over patches, kept up to date.

    They are exact but for rounding; where that could decide, those of the best atoms are worked out again.
    """

    def __init__(self, chunks: Chunks, max_repeats: int | None) -> None:
        super().__init__(chunks, max_repeats)
        self._chunks = chunks
        self._values = chunks.summed(OwnChunk.values)
        self._rounding = _ROUNDING * float(self._values.max())
        self._copies, self._originals = chunks.ground_set.duplicates
        self._are_exact = False

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        atom, value, n_exact = self._best(eligible)
        if value <= 0:
            gains = self._chunks.summed(OwnChunk.gains)
            return SelectedAtom(int(np.where(new, gains, -1.0).argmax()), 0.0, n_exact)
        self._values += self._chunks.summed(partial(OwnChunk.replace, atom=atom))
        self._are_exact = False
        return SelectedAtom(atom, value / self._chunks.smoothness, n_exact)

    def _best(self, eligible: Bools) -> tuple[int, float, int]:
        """Return the best atom, its value, and the number of values that were worked out again."""
        values, n_exact = self._eligible_values(eligible), 0
        near = np.flatnonzero(eligible & (values >= values.max() - self._rounding))
        if not self._are_exact and len(near) > _FEW:
            self._values, n_exact = self._chunks.summed(partial(OwnChunk.values, exact=True)), len(values)
            self._are_exact, values = True, self._eligible_values(eligible)
        elif not self._are_exact and (len(near) > 1 or values.max() <= self._rounding):
            values[near], n_exact = self._chunks.summed(partial(OwnChunk.values_of, atoms=near)), len(near)
        atom = int(values.argmax())
        return atom, float(values[atom]), n_exact or 1

    def _eligible_values(self, eligible: Bools) -> Floats:
        self._values[self._copies] = self._values[self._originals]  # then the first one is selected
        return np.where(eligible, self._values, 0)


class _SharedEngine(ReplacementEngine):
    """Algorithm 1 on sums of bounds, and on the gains of all patches for the few atoms that need them."""

    def __init__(self, chunks: Chunks, max_repeats: int | None) -> None:
        super().__init__(chunks, max_repeats)
        self._chunks, self._price = chunks, 0.0
        nothing = partial(SharedChunk.bounds, atom=None, replacement=None, price=0.0)
        self._bounds = chunks.summed(nothing)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        chunks = self._chunks
        atom, replacement, n_exact = self._best(eligible)
        if replacement is None:
            gains = chunks.summed(SharedChunk.gains)
            return SelectedAtom(int(np.where(new, gains, -1.0).argmax()), 0.0, n_exact)
        self._price = replacement.price
        arrays = (np.split(each, chunks.ends) for each in (replacement.added, replacement.removed))
        parts = [Replacement(0.0, *pair) for pair in zip(*arrays, strict=True)]
        self._bounds = chunks.summed(
            *(partial(SharedChunk.bounds, atom=atom, replacement=part, price=self._price) for part in parts)
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
                gains = np.concatenate(chunks.ask(partial(SharedChunk.gains_of, atoms=wanted)))
                columns.update(zip(wanted.tolist(), gains.T, strict=True))
            return constraint.replacement(
                table.with_gains(as_table(columns[atom], chunks.n_candidates)), atom
            )

        return best_replacement(bounds, solve)

    def _table(self) -> ReplacementGains:
        states = [part.state for part in self._chunks.parts]
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
