"""Orthogonal matching pursuit of many patches with missing entries at once."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import as_thread_count, map_chunks
from dictsel_core._util.validation import (
    Floats,
    Ints,
    ObservedData,
    as_caps,
    as_each,
    as_matrix,
    as_nonnegative,
    leaves_single,
)
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.columns import CHUNK, Pursuit, Rule


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Sparse representations of T patches in a dictionary of k atoms, in read-only arrays.

    Attributes
    ----------
    dictionary : (d, k) ndarray
        A copy of the given one.
    supports : (T, S) ndarray of int
        Columns of the dictionary in the order of selection, padded with -1; S is the largest
        sparsity, but at most d and at most k.
    coefficients : (T, S) ndarray
        Least-squares weights on the observed entries, padded with 0.
    residual_energy : (T,) ndarray
        Squared length of the residual on the observed entries, weighted as the data.
    """

    dictionary: Floats
    supports: Ints
    coefficients: Floats
    residual_energy: Floats

    def __repr__(self) -> str:
        return (
            f"SparseCodes({len(self.supports)} patches in {self.dictionary.shape[1]} atoms, "
            f"using {self.n_used.mean():.3g} each)"
        )

    @cached_property
    def rebuilt(self) -> Floats:
        """The patches rebuilt from their codes, including missing entries: (T, d)."""
        chunks = map_chunks(
            lambda start, stop: self.dense(slice(start, stop)) @ self.dictionary.T,
            len(self.supports),
            CHUNK,
            threads=1,
        )
        return read_only(np.concatenate(list(chunks)))

    @property
    def n_used(self) -> Ints:
        """Number of atoms that each patch uses: (T,)."""
        counts: Ints = (self.supports >= 0).sum(axis=1)
        return counts

    def dense(self, part: slice = slice(None)) -> Floats:
        """Return the codes of some patches, by default all, with zeros for atoms not in use: (B, k)."""
        supports, coefficients = self.supports[part], self.coefficients[part]
        codes = np.zeros((len(supports), self.dictionary.shape[1]), coefficients.dtype)
        scatter_codes(codes, supports, coefficients)
        return codes


def scatter_codes(codes: Floats, supports: Ints, coefficients: Floats) -> None:
    """Write padded codes into the dense, zeroed array `codes` (B, k)."""
    rows, slots = np.nonzero(supports >= 0)
    codes[rows, supports[rows, slots]] = coefficients[rows, slots]


#: A fit is exact if its squared residual is at most this fraction of its energy, by the size of a number.
_EXACT = {4: 1e-6, 8: 1e-12}


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
        How many times the squared error of each entry, or patch, counts. Default is 1; 0 is missing.
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

    Warns
    -----
    RuntimeWarning
        If a pursuit ends early: a patch has fewer atoms than it may have, copies aside, and is neither fitted
        exactly nor within the tolerance.

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
    codes = code_data(dictionary, data, sparsity, mask, weights, max_residual, threads)
    _warn_of_early_ends(codes, as_each(as_caps(sparsity, "sparsity"), len(codes.supports)), max_residual)
    return codes


def code_data(
    dictionary: ArrayLike,
    data: ArrayLike,
    sparsity: int | ArrayLike,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    tolerance: float = 0.0,
    threads: int | None = None,
) -> SparseCodes:
    """Do what `omp` does, for those whom an early end does not surprise."""
    atoms, points = as_coding_problem(dictionary, data, mask, weights)
    caps = as_each(as_caps(sparsity, "sparsity"), len(points))
    pursuit = Pursuit(atoms, int(caps.max()), tolerance, sparse=points.are_sparse)
    return code_points(pursuit, points, caps, as_thread_count(threads))


def _warn_of_early_ends(codes: SparseCodes, caps: Ints, tolerance: float) -> None:
    """Say how many patches have room for more atoms, and a residual that no atom reduces."""
    room = np.minimum(caps, codes.supports.shape[1]) - codes.n_used
    if not (room > 0).any():
        return
    room = room - int(duplicate_columns(codes.dictionary).sum())  # copies are never used
    rows = np.flatnonzero((room > 0) & (codes.residual_energy > tolerance))
    residual, weights = codes.residual_energy[rows], codes.coefficients[rows]
    lengths = np.square(codes.dictionary).sum(axis=0)[codes.supports[rows]]
    n_early = int(
        (residual > _EXACT[codes.coefficients.itemsize] * (np.square(weights) * lengths).sum(axis=1)).sum()
    )
    if n_early:
        warnings.warn(
            f"The pursuit ended early for {n_early} of {len(codes.supports)} patches: no other atom reduces "
            "their residuals, because it depends on those in use, or is orthogonal to what is left.",
            RuntimeWarning,
            stacklevel=3,
        )


def as_coding_problem(
    dictionary: ArrayLike, data: ArrayLike, mask: ArrayLike | None, weights: ArrayLike | None
) -> tuple[Floats, ObservedData]:
    """Return dictionary and data, checked and of one dtype."""
    atoms = as_matrix(dictionary, "dictionary", "(features, atoms)")
    if not np.isfinite(atoms).all():
        raise ValueError("dictionary must be finite, but it contains NaN or infinity.")
    points = ObservedData(data, mask, atoms.shape[0], weights)
    if leaves_single(float(np.abs(atoms).max()), "dictionary"):
        points.dtype = np.dtype(np.float64)
    return atoms.astype(points.dtype, copy=False), points


def code_points(
    pursuit: Pursuit,
    points: ObservedData,
    caps: Ints,
    threads: int,
    *,
    rules: Mapping[tuple[int, int], Rule] | None = None,
    path: Floats | None = None,
) -> SparseCodes:
    """Code all points by chunks, with a rule for each chunk (start, stop) if given; caps may be 0.

    The path, (T, S + 1), is filled with the squared residual after 0, 1, ... steps.
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
