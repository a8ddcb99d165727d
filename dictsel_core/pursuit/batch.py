"""Orthogonal matching pursuit of many patches with missing entries at once."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.arrays import read_only
from dictsel_core._support.least_squares import StackedLeastSquares
from dictsel_core._support.threads import as_thread_count, map_chunks
from dictsel_core._support.validation import (
    Bools,
    Floats,
    Ints,
    ObservedData,
    as_caps,
    as_matrix,
    as_nonnegative,
    needs_double,
    rounding_level,
)
from dictsel_core.pursuit.codes import CHUNK, SparseCodes

__all__ = ["Pursuit", "omp"]

#: Changes scores (B, k) in place, given the supports so far (B, s).
Rule = Callable[[Floats, Ints], None]


def omp(
    dictionary: ArrayLike,
    data: ArrayLike,
    sparsity: int | ArrayLike,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    tolerance: float = 0.0,
    threads: int | None = None,
) -> SparseCodes:
    r"""Code each patch by orthogonal matching pursuit on its observed entries.

    In each step, a patch with residual r selects the atom with the largest
    :math:`|a^\top r| / \lVert m \circ a \rVert`, where m is 1 at observed entries and m and r are 0
    elsewhere, and all its weights are refitted by least squares on the observed entries. This is
    ordinary OMP [1]_ in the dictionary restricted to the observed rows and scaled to unit columns. With
    weights, m is their square root, and r is multiplied by it.

    Parameters
    ----------
    dictionary : (d, k) array_like
        Atoms as columns, of any length.
    data : (T, d) array_like
        Patches as rows. Missing entries may have any value, NaN included.
    sparsity : int or (T,) array_like of int
        Maximum number of atoms per patch.
    mask : (T, d) array_like of bool, optional
        True = missing. By default nothing is missing.
    weights : (T, d) or (T,) array_like, optional
        Of each entry, or of each patch: how many times its squared error counts. An entry of weight 0 is
        missing. Default is 1.
    tolerance : float, optional
        A patch is finished when its squared residual is at most this. Default is 0.
    threads : int, optional
        Number of threads; by default all available cores. The result does not depend on it.

    Returns
    -------
    SparseCodes
        In float32 if the data are float32 and their squares are within its range, else in float64. A
        patch uses fewer than `sparsity` atoms if no other atom reduces its residual: an exact fit, or no
        observed entry. Of atoms that are equal up to sign, only the first is used.

    See Also
    --------
    constrained_omp : Codes patches under any sparsity constraint, such as a budget that they share.
    utilities : What each patch gains from a dictionary.

    References
    ----------
    .. [1] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal matching pursuit: recursive function
       approximation with applications to wavelet decomposition", Asilomar Conference on Signals, Systems and
       Computers, 1993. :DOI:`10.1109/ACSSC.1993.342465`

    Examples
    --------
    >>> import numpy as np
    >>> codes = omp(np.eye(3), [[0.0, 2.0, 1.0]], 1)
    >>> codes.rebuilt
    array([[0., 2., 0.]])
    """
    max_residual = as_nonnegative(tolerance, "tolerance")
    atoms, points = as_coding_problem(dictionary, data, mask, weights)
    caps = _as_caps(sparsity, len(points))
    pursuit = Pursuit(atoms, int(caps.max()), max_residual, weak=points.has_partial_weights)
    return code_points(pursuit, points, caps, as_thread_count(threads))


def as_coding_problem(
    dictionary: ArrayLike, data: ArrayLike, mask: ArrayLike | None, weights: ArrayLike | None
) -> tuple[Floats, ObservedData]:
    """Return dictionary and data, checked and of one dtype."""
    atoms = as_matrix(dictionary, "dictionary", "(features, atoms)")
    if not np.isfinite(atoms).all():
        raise ValueError("dictionary must be finite, but it contains NaN or infinity.")
    points = ObservedData(data, mask, atoms.shape[0], weights)
    if needs_double(atoms, "dictionary"):
        points.dtype = np.dtype(np.float64)
    return atoms.astype(points.dtype, copy=False), points


def code_points(
    pursuit: "Pursuit",
    points: ObservedData,
    caps: Ints,
    threads: int,
    *,
    rules: Mapping[tuple[int, int], Rule] | None = None,
    path: Floats | None = None,
) -> SparseCodes:
    """Code all points by chunks.

    Parameters
    ----------
    pursuit : Pursuit
    points : ObservedData
    caps : (T,) ndarray of int
        Sparsity of each patch, which may be 0.
    threads : int
    rules : mapping of (int, int) to Rule, optional
        A rule for each chunk (start, stop). By default chunks have a fixed size and no rules.
    path : (T, S + 1) ndarray, optional
        Filled with the squared residual after 0, 1, ... steps.
    """
    supports = np.empty((len(points), pursuit.capacity), dtype=np.intp)
    coefficients = np.empty(supports.shape, points.dtype)
    energies = np.empty(len(points), points.dtype)

    def code(start: int, stop: int) -> None:
        rows = slice(start, stop)
        clean, observed = points.rows(start, stop)
        supports[rows], coefficients[rows], energies[rows] = pursuit(
            clean,
            observed,
            caps[rows],
            rule=None if rules is None else rules[start, stop],
            path=None if path is None else path[rows],
        )

    if rules is None:
        chunks = map_chunks(code, len(points), CHUNK, threads)
    else:
        bounds = list(rules)
        chunks = map_chunks(lambda number, _: code(*bounds[number]), len(bounds), 1, threads)
    for _ in chunks:
        pass
    if points.scales is not None:
        coefficients /= points.scales[:, None].astype(points.dtype)
    return SparseCodes(
        *(read_only(each) for each in (pursuit.atoms.copy(), supports, coefficients, energies))
    )


class Pursuit:
    """The kernel of `omp` for one dictionary; it may be called from several threads.

    Assumes finite atoms and data of the same dtype.

    Parameters
    ----------
    atoms : (d, k) ndarray
    capacity : int
        Maximum sparsity of any patch.
    tolerance : float
        Squared residual at which a patch is finished.
    weak : bool
        Whether some weights lie between 0 (missing) and 1 (observed).
    """

    def __init__(self, atoms: Floats, capacity: int, tolerance: float = 0.0, *, weak: bool = False) -> None:
        self.atoms = np.ascontiguousarray(atoms)
        self._rows = np.ascontiguousarray(atoms.T)
        self._squares = self.atoms**2
        self.capacity = min(capacity, *atoms.shape)
        self._tolerance = tolerance
        self._weak = weak
        # Relative magnitude below which a correlation, or the masked length of an atom, is rounding error.
        self._rounding = rounding_level(atoms.shape[0], atoms.dtype)
        # Duplicates of an earlier atom are never selected: rounding must not decide between them.
        self._squares[:, duplicate_columns(self.atoms)] = 0
        self._free: list[_Workspace] = []  # shared by all threads

    def __call__(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None = None,
        *,
        rule: Rule | None = None,
        path: Floats | None = None,
    ) -> tuple[Ints, Floats, Floats]:
        """Code one chunk by weighted least squares.

        Parameters
        ----------
        data : (B, d) ndarray
            Multiplied by the weights: zero at missing entries.
        weights : (B, d) ndarray or None
            1 where observed, 0 where missing; None if all entries are observed. With B / C rows they are
            those of every B / C consecutive rows of the data, such as the same patches of C channels.
        caps : (B,) ndarray of int, optional
            Sparsity of each patch; by default the capacity.
        rule : Rule, optional
            Changes the scores of every step in place. A patch that cannot use the selected atom then goes on
            without it.
        path : (B, s + 1) ndarray, optional
            Filled with the squared residual after 0, 1, ... steps.

        Returns
        -------
        supports : (B, s) ndarray of int
        coefficients : (B, s) ndarray
        residual_energy : (B,) ndarray
        """
        work = self._take_workspace(len(data))
        try:
            return self._code(data, weights, caps, work, rule, path)
        finally:
            self._free.append(work)

    def _code(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None,
        work: "_Workspace",
        rule: Rule | None,
        path: Floats | None,
    ) -> tuple[Ints, Floats, Floats]:
        n = len(data)
        fit, scores = work.fit, work.scores[:n]
        inverse_lengths = self._inverse_lengths(weights, work.inverse_lengths[:n])
        supports = np.full((n, self.capacity), -1)
        rows = np.arange(n)
        fit.begin(data)
        energy = np.vecdot(data, data)
        min_score = energy * self._rounding**2
        active = energy > self._tolerance
        if path is not None:
            path[...] = energy[:, None]
        for j in range(self.capacity):
            residual = fit.residual
            if self._weak and weights is not None:
                residual = _weighted(residual, weights, out=work.weighted[:n])
            np.matmul(residual, self.atoms, out=scores)
            np.square(scores, out=scores)
            np.multiply(scores, inverse_lengths, out=scores)
            if rule is not None:
                rule(scores, supports)
            chosen = scores.argmax(axis=1)
            active &= scores[rows, chosen] > min_score
            if caps is not None:
                active &= caps > j
            if not active.any():
                break
            column = fit.next_column()
            np.take(self._rows, chosen, axis=0, out=column, mode="clip")
            if weights is not None:
                _weighted(column, weights, out=column)
            # A dependent column ends the pursuit of its patch: even the best atom explains nothing.
            taken = fit.append(inverse_lengths[rows, chosen], active)
            active = taken if rule is None else active
            supports[:, j] = np.where(taken, chosen, -1)
            if path is not None:
                path[:, j + 1 :] = np.vecdot(fit.residual, fit.residual)[:, None]
            if self._tolerance > 0:
                active &= np.vecdot(fit.residual, fit.residual) > self._tolerance
        return supports, fit.coefficients, np.vecdot(fit.residual, fit.residual)

    def _inverse_lengths(self, weights: Floats | None, out: Floats) -> Floats:
        """Put 1 / |m * a|^2 for every patch and atom into `out`, and return it."""
        full = self._squares.sum(axis=0)
        first = out if weights is None else out[: len(weights)]
        if weights is None:
            first[...] = full
        else:
            np.matmul(np.square(weights) if self._weak else weights, self._squares, out=first)
        # The masked length of a nearly hidden atom is bounded from below; atoms of zeros are never selected.
        np.maximum(first, np.where(full > 0, full * self._rounding**2, np.inf), out=first)
        np.divide(1, first, out=first)
        if len(first) < len(out):
            out.reshape(-1, *first.shape)[1:] = first
        return out

    def _take_workspace(self, n_rows: int) -> "_Workspace":
        try:
            work = self._free.pop()
        except IndexError:
            work = None
        if work is None or len(work.scores) < n_rows:
            work = None  # release it before there is a larger one
            work = _Workspace(self.capacity, n_rows, self.atoms)
        return work


class _Workspace:
    """Arrays that are reused for all chunks."""

    def __init__(self, capacity: int, n_rows: int, atoms: Floats) -> None:
        n_features, n_atoms = atoms.shape
        self.fit = StackedLeastSquares(capacity, n_rows, n_features, atoms.dtype)
        self.weighted = np.empty((n_rows, n_features), atoms.dtype)
        self.scores = np.empty((n_rows, n_atoms), atoms.dtype)
        self.inverse_lengths = np.empty_like(self.scores)


def _weighted(rows: Floats, weights: Floats, out: Floats) -> Floats:
    """Put rows (C * B, d), multiplied by weights (B, d), into `out`, and return it."""
    shape = (-1, *weights.shape)
    np.multiply(rows.reshape(shape), weights, out=out.reshape(shape))
    return out


def duplicate_columns(atoms: Floats) -> Bools:
    """Return which columns are multiples of an earlier one: (k,)."""
    lengths = np.linalg.norm(atoms, axis=0)
    units = atoms / np.where(lengths > 0, lengths, 1)
    close = 1 - 4 * rounding_level(atoms.shape[0], atoms.dtype)
    duplicate = np.zeros(atoms.shape[1], bool)
    for start in range(0, atoms.shape[1], CHUNK):
        block = units[:, start : start + CHUNK]
        products = np.abs(block.T @ units[:, : start + block.shape[1]])
        duplicate[start : start + CHUNK] = (np.tril(products, start - 1) > close).any(axis=1)
    return duplicate


def _as_caps(sparsity: int | ArrayLike, n_points: int) -> Ints:
    caps = as_caps(sparsity, "sparsity")
    if isinstance(caps, int):
        return np.full(n_points, caps)
    if len(caps) != n_points:
        raise ValueError(
            f"sparsity must be one number or one per patch, {n_points}, but there are {len(caps)}."
        )
    return caps
