"""Replacement OMP over data in chunks, whose gains are summed."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._runs import stepwise
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools, Floats, as_n_atoms
from dictsel_core.constraints import AverageSparsity, IndividualSparsity, MatroidSparsity
from dictsel_core.constraints.average import exchange_atoms
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.certificate import SpectralBound
from dictsel_core.selection.chunks import Chunk, Chunks, SeparableConstraint, split_constraint
from dictsel_core.selection.engine.gain_cost import best_replacement
from dictsel_core.selection.engine.replacement import Pick, ReplacementEngine
from dictsel_core.selection.result import Selection
from dictsel_core.selection.run import SelectionRun

#: Under a shared budget, chunks are asked for the gains of this many atoms at once.
_ATOMS_AT_ONCE = 8


def chunked_replacement_omp(
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: SeparableConstraint,
    n_atoms: int,
    *,
    masks: Sequence[ArrayLike | None] | None = None,
    weights: Sequence[ArrayLike | None] | None = None,
    keep: bool = True,
    threads: int | None = None,
) -> Selection:
    """Select a dictionary by Replacement OMP from data in chunks.

    Where each patch has a constraint of its own, the value of an atom (eq. 5) is a sum over patches, so that
    chunks only have to add up n numbers in each step. Under a budget that all patches share, they add up
    n upper bounds, and send the gains of all patches for the few atoms whose bounds are largest, for which
    the exchange is then solved exactly. Either way the result is that of `replacement_omp` on all data at
    once, up to rounding. Chunks may be memory-mapped files.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    chunks : sequence of (T_c, d) array_like
        Patches as rows.
    constraint : IndividualSparsity, MatroidSparsity or AverageSparsity
        Where it has a cap or a matroid for each patch, they are in the order of the chunks.
    n_atoms : int
        The dictionary size k.
    masks : sequence of (T_c, d) array_like of bool or None, optional
        True = missing, for each chunk; None for a chunk with nothing missing. By default nothing is missing.
    weights : sequence of (T_c, d) or (T_c,) array_like or None, optional
        Of each entry, or of each patch, for each chunk, as in `replacement_omp`. Default is 1.
    keep : bool, optional
        Whether to keep the gains of all patches in memory, T x n numbers. If False, they are computed again
        in every step, chunk by chunk; only the supports are kept, and every chunk is read once per iteration,
        or some times more under a shared budget. Default is True.
    threads : int, optional
        How many chunks to work on at the same time; by default as many as there are cores available. The
        result does not depend on it.

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
    >>> bool((chunked.atoms == whole.atoms).all())
    True
    """
    return iter_chunked_replacement_omp(
        ground_set, chunks, constraint, n_atoms, masks=masks, weights=weights, keep=keep, threads=threads
    ).finish()


class _SummedEngine(ReplacementEngine):
    """Algorithm 1 on summed values."""

    def __init__(self, chunks: Chunks, smoothness: float, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._smoothness = chunks, smoothness
        self._values, self._totals = chunks.summed(lambda chunk: chunk.values(None))

    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Make one iteration of algorithm 1."""
        values = np.where(eligible, self._values, 0)
        atom, n = int(values.argmax()), len(values)
        if values[atom] <= 0:
            return Pick(int(np.where(new, self._totals, -1.0).argmax()), 0.0, n)
        self._values, self._totals = self._chunks.summed(lambda chunk: chunk.values(atom))
        return Pick(atom, float(values[atom]) / self._smoothness, n)


class _BudgetEngine(ReplacementEngine):
    """Algorithm 1 under a shared budget: bounds are summed, exchanges are solved for all patches at once."""

    def __init__(self, chunks: Chunks, constraint: AverageSparsity, smoothness: float, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._budget, self._smoothness = chunks, constraint.budget, smoothness
        self._price = 0.0
        self._bounds, self._totals = chunks.summed(lambda chunk: chunk.bounds(None, 0.0))

    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Make one iteration of algorithm 1."""
        chunks = self._chunks
        n_used = sum(chunk.n_used for chunk in chunks.chunks)
        spare = min(self._budget - n_used, len(chunks))
        bounds = np.where(eligible, self._bounds + self._price * spare, 0)
        order = np.argsort(-bounds, kind="stable")
        columns: dict[int, Floats] = {}

        def gains_of(atom: int) -> Floats:
            if atom not in columns:
                place = int(np.flatnonzero(order == atom)[0])
                wanted = order[place : place + _ATOMS_AT_ONCE]
                columns.update(zip(wanted.tolist(), chunks.gains(wanted).T, strict=True))
            return columns[atom]

        costs, slots, tight = chunks.removals()
        atom, replacement, n_exact = best_replacement(
            bounds, lambda atom: exchange_atoms(gains_of(atom), costs, slots, tight, spare)
        )
        if replacement is None:
            return Pick(int(np.where(new, self._totals, -1.0).argmax()), 0.0, n_exact)
        self._price = replacement.price
        parts = chunks.split(replacement)
        self._bounds, self._totals = chunks.summed(
            lambda chunk: chunk.bounds((atom, parts[chunk.number]), replacement.price)
        )
        return Pick(atom, replacement.value / self._smoothness, n_exact)


def _parts(chunks: list[Chunk]) -> Iterator[tuple[Floats, bool]]:
    """Yield the rows of each chunk, and whether nothing is missing in them."""
    for chunk in chunks:
        problem = chunk.problem()
        yield problem.data, problem.observed is None


def _start(
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: SeparableConstraint,
    n_atoms: int,
    masks: Sequence[ArrayLike | None] | None,
    weights: Sequence[ArrayLike | None] | None,
    keep: bool,
    threads: int | None,
) -> SelectionRun:
    if not isinstance(constraint, IndividualSparsity | MatroidSparsity | AverageSparsity):
        raise TypeError(
            "chunked_replacement_omp needs IndividualSparsity, MatroidSparsity or AverageSparsity, "
            f"not {type(constraint).__name__}; use replacement_omp for other constraints."
        )
    if not len(chunks):
        raise ValueError("chunks must hold at least one array of patches.")
    n_chunks = len(chunks)
    own_masks, own_weights = _per_chunk(masks, "masks", n_chunks), _per_chunk(weights, "weights", n_chunks)
    count = as_n_atoms(n_atoms, len(ground_set))
    parts = [
        Chunk(number, ground_set, (data, own_masks[number], own_weights[number]), count, keep)
        for number, data in enumerate(chunks)
    ]
    sizes = [len(part.problem()) for part in parts]  # every chunk is checked before any work
    constraint.check(sum(sizes), len(ground_set))
    for part, own in zip(parts, split_constraint(constraint, sizes), strict=True):
        part.constraint = own
    everything = Chunks(parts, sizes, len(ground_set), as_thread_count(threads))

    def engine() -> _SummedEngine | _BudgetEngine:
        if isinstance(constraint, AverageSparsity):
            return _BudgetEngine(everything, constraint, ground_set.smoothness, count)
        return _SummedEngine(everything, ground_set.smoothness, count)

    return SelectionRun(ground_set, count, engine, SpectralBound(lambda: _parts(parts)))


def _per_chunk(
    values: Sequence[ArrayLike | None] | None, name: str, n_chunks: int
) -> Sequence[ArrayLike | None]:
    if values is None:
        return [None] * n_chunks
    if len(values) != n_chunks:
        raise ValueError(f"{name} must be one per chunk, {n_chunks}, but there are {len(values)}.")
    return values


iter_chunked_replacement_omp = stepwise(chunked_replacement_omp, _start)
