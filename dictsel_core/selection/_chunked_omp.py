"""Replacement OMP over data in chunks, whose gains are summed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._runs import stepwise
from dictsel_core._threads import as_thread_count, map_chunks
from dictsel_core._validation import Bools, Floats, Ints, as_n_atoms
from dictsel_core.constraints import IndividualSparsity, Matroid, MatroidSparsity
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection._replacement_omp import OMPEngine
from dictsel_core.selection.certificate import Certificate, spectral_certificate
from dictsel_core.selection.driver import Pick, ReplacementEngine
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.result import Selection
from dictsel_core.selection.run import SelectionRun


def chunked_replacement_omp(
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: IndividualSparsity | MatroidSparsity,
    n_atoms: int,
    *,
    masks: Sequence[ArrayLike | None] | None = None,
    keep: bool = True,
    threads: int | None = None,
) -> Selection:
    """Select a dictionary by Replacement OMP from data in chunks.

    Where each patch has a constraint of its own, the value of an atom (eq. 5) is a sum over patches, so that
    chunks only have to add up n numbers in each step. The result is that of `replacement_omp` on all data at
    once, up to rounding. Chunks may be memory-mapped files.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    chunks : sequence of (T_c, d) array_like
        Patches as rows.
    constraint : IndividualSparsity or MatroidSparsity
        One cap, or one matroid, for all patches.
    n_atoms : int
        The dictionary size k.
    masks : sequence of (T_c, d) array_like of bool or None, optional
        True = missing, for each chunk; None for a chunk with nothing missing. By default nothing is missing.
    keep : bool, optional
        Whether to keep the gains of all patches in memory, T x n numbers. If False, they are computed again
        in every step, chunk by chunk; only the supports are kept, and every chunk is read once per iteration.
        Default is True.
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

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> data = np.random.default_rng(0).normal(size=(90, 64))
    >>> chunked = chunked_replacement_omp(ground_set, np.split(data, 3), IndividualSparsity(3), 5)
    >>> whole = replacement_omp(ground_set, data, IndividualSparsity(3), 5)
    >>> bool((chunked.atoms == whole.atoms).all())
    True
    """
    return iter_chunked_replacement_omp(
        ground_set, chunks, constraint, n_atoms, masks=masks, keep=keep, threads=threads
    ).finish()


class _Chunk:
    """One chunk of the data: its supports, and its engine if that is kept."""

    def __init__(
        self,
        ground_set: GroundSet,
        data: ArrayLike,
        mask: ArrayLike | None,
        constraint: IndividualSparsity | MatroidSparsity,
        n_atoms: int,
        keep: bool,
    ) -> None:
        self._ground_set, self._data, self._mask = ground_set, data, mask
        self._constraint, self._n_atoms, self._keep = constraint, n_atoms, keep
        self._engine: OMPEngine | None = None
        self._supports: Ints | None = None
        self.objective = 0.0

    def problem(self) -> Problem:
        """Read and check the data."""
        problem = Problem(self._ground_set, self._data, self._mask)
        self._constraint.check(len(problem), len(self._ground_set))
        return problem

    def visit(self, atom: int | None) -> tuple[Floats, Floats]:
        """Apply the best replacement by an atom, if given; return values and summed gains of all atoms."""
        engine = self._open()
        if atom is not None:
            table = engine.replacement_gains(self._ground_set.smoothness)
            replacement = self._constraint.replacement(table, atom)
            engine.update_gains(engine.state.apply(replacement, atom))
        values = self._constraint.values(engine.replacement_gains(self._ground_set.smoothness))
        totals = engine.gains.sum(axis=0, dtype=np.float64)
        self.objective = engine.state.objective
        self._close(engine)
        return values, totals

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        engine = self._open()
        self._close(engine)
        return engine.state.fitted()

    def _open(self) -> OMPEngine:
        if self._engine is not None:
            return self._engine
        engine = OMPEngine(self.problem(), self._constraint, self._n_atoms, False, None, 1.0)
        if self._supports is not None:
            engine.state.set_supports(self._supports)
            engine.update_gains(np.arange(len(self._supports)))
        return engine

    def _close(self, engine: OMPEngine) -> None:
        if self._keep:
            self._engine = engine
        else:
            self._supports = engine.state.supports.copy()


class _Chunks:
    """All chunks: what they have reached."""

    def __init__(self, chunks: list[_Chunk], n_candidates: int, threads: int) -> None:
        self.chunks, self.n_candidates, self._threads = chunks, n_candidates, threads

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t) over all patches."""
        return sum(chunk.objective for chunk in self.chunks)

    def visit(self, atom: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum the answers of all chunks."""
        values, totals = np.zeros(self.n_candidates), np.zeros(self.n_candidates)
        answers = map_chunks(
            lambda number, _: self.chunks[number].visit(atom), len(self.chunks), 1, self._threads
        )
        for more_values, more_totals in answers:  # in their order, whatever the threads
            values += more_values
            totals += more_totals
        return values, totals

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        parts = [chunk.fitted() for chunk in self.chunks]
        return [z for zs, _ in parts for z in zs], [w for _, ws in parts for w in ws]


class _Engine(ReplacementEngine):
    """Algorithm 1 on summed values."""

    def __init__(self, chunks: _Chunks, smoothness: float, n_atoms: int) -> None:
        super().__init__(chunks, max_repeats=n_atoms)
        self._chunks, self._smoothness = chunks, smoothness
        self._values, self._totals = chunks.visit(None)

    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Make one iteration of algorithm 1."""
        values = np.where(eligible, self._values, 0)
        atom, n = int(values.argmax()), len(values)
        if values[atom] <= 0:
            return Pick(int(np.where(new, self._totals, -1.0).argmax()), 0.0, n)
        self._values, self._totals = self._chunks.visit(atom)
        return Pick(atom, float(values[atom]) / self._smoothness, n)


class _Bound:
    """Upper bounds on the optimum that are sums over chunks: the energy, and the spectrum."""

    def __init__(self, chunks: list[_Chunk]) -> None:
        self._chunks = chunks
        self._known: tuple[float, NDArray[np.float64] | None] | None = None

    @property
    def energy(self) -> float:
        """Half the energy of the data, on observed entries."""
        return self._sums()[0]

    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return the certificate of a selection of `n_atoms` atoms."""
        return spectral_certificate(n_atoms, achieved, *self._sums())

    def _sums(self) -> tuple[float, NDArray[np.float64] | None]:
        if self._known is None:
            energy, gram, complete = 0.0, None, True
            for chunk in self._chunks:
                problem = chunk.problem()
                energy += float(problem.energies.sum()) / 2
                complete &= problem.observed is None
                rows = problem.data.astype(np.float64, copy=False)
                gram = rows.T @ rows + (0.0 if gram is None else gram)
            self._known = energy, gram if complete else None
        return self._known


def _start(
    ground_set: GroundSet,
    chunks: Sequence[ArrayLike],
    constraint: IndividualSparsity | MatroidSparsity,
    n_atoms: int,
    masks: Sequence[ArrayLike | None] | None,
    keep: bool,
    threads: int | None,
) -> SelectionRun:
    separable = (isinstance(constraint, IndividualSparsity) and isinstance(constraint.caps, int)) or (
        isinstance(constraint, MatroidSparsity) and isinstance(constraint.matroids, Matroid)
    )
    if not separable:
        raise TypeError(
            "chunked_replacement_omp needs IndividualSparsity or MatroidSparsity with one cap or one matroid "
            "for all patches; use replacement_omp for other constraints."
        )
    if not len(chunks):
        raise ValueError("chunks must hold at least one array of patches.")
    if masks is not None and len(masks) != len(chunks):
        raise ValueError(f"masks must be one per chunk, {len(chunks)}, but there are {len(masks)}.")
    count = as_n_atoms(n_atoms, len(ground_set))
    parts = [
        _Chunk(ground_set, data, mask, constraint, count, keep)
        for data, mask in zip(chunks, masks or [None] * len(chunks), strict=True)
    ]
    for part in parts:
        part.problem()  # every chunk is checked before any work
    everything = _Chunks(parts, len(ground_set), as_thread_count(threads))
    return SelectionRun(
        ground_set, count, lambda: _Engine(everything, ground_set.smoothness, count), _Bound(parts)
    )


iter_chunked_replacement_omp = stepwise(chunked_replacement_omp, _start)
