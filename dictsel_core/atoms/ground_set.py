"""The ground set V: candidate atoms with their origin, coherence and smoothness."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows, read_only
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints, as_count, as_matrix, rounding_level
from dictsel_core.atoms.bases import AtomOrigin, orthonormal_basis

#: The bases of the paper's experiments (section 6): n = 256 atoms on 8 x 8 patches.
STANDARD_BASES = ("dct", "haar", "db4", "coif1")
#: Maximum number of subsets for which restricted eigenvalues are computed exactly.
_MAX_SUBSETS = 20_000
#: Atoms with larger products are compared; they are equal if their entries differ by no more than this.
_NEARLY_PARALLEL, _EQUAL = 1.0 - 1e-12, 1e-15


def _as_origins(origins: object) -> tuple[AtomOrigin, ...]:
    """Return the origins of atoms; refuse what is something else, whose use would fail later."""
    found = tuple(origins) if isinstance(origins, Iterable) else (origins,)
    for each in found:
        if not isinstance(each, AtomOrigin):
            kind = type(each).__name__
            raise TypeError(f"origins must be AtomOrigins, not {kind}; ground_set_from_array makes them.")
    return found


@dataclass(frozen=True, eq=False)
class GroundSet:
    """Candidate atoms as unit columns of one matrix, from `standard_ground_set` or `ground_set_from_array`.

    Attributes
    ----------
    atoms : (d, n) ndarray of float64, read-only
        The matrix A of the paper; every column has unit length.
    origins : tuple of AtomOrigin, length n
        Origin of each column.
    patch_shape : (int, int) or None
        Height and width of the atoms as image patches; None if they are not images.
    """

    atoms: Doubles
    origins: tuple[AtomOrigin, ...]
    patch_shape: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Keep a read-only copy of the atoms, so that a ground set can be shared."""
        atoms = as_matrix(self.atoms, "atoms", "(d, n)").astype(np.float64, order="C")
        origins = _as_origins(self.origins)
        if len(origins) != atoms.shape[1]:
            raise ValueError(f"origins must hold one origin for each of {atoms.shape[1]} atoms.")
        object.__setattr__(self, "atoms", read_only(atoms))
        object.__setattr__(self, "origins", origins)

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a pickled or copied ground set, read-only as it was."""
        self.__dict__.update(state)
        read_only(self.atoms)

    def __repr__(self) -> str:
        bases = dict.fromkeys(o.basis for o in self.origins if o.orientation != "custom")
        kind = "+".join(bases) or "custom"
        return f"GroundSet({len(self)} atoms with {self.n_features} entries: {kind})"

    def __len__(self) -> int:
        return int(self.atoms.shape[1])

    @property
    def n_features(self) -> int:
        """The dimension d of an atom."""
        return int(self.atoms.shape[0])

    @cached_property
    def coherence(self) -> float:
        """Largest ``|<a_i, a_j>|``, i != j; 1 if atoms are equal, as the constants of the standard bases."""
        largest = (products.max(initial=0.0) for _, products in _products_with_earlier(self.atoms))
        return min(float(max(largest)), 1.0)

    @cached_property
    def duplicates(self) -> Ints:
        """Atoms that equal an earlier one up to sign, and the first such atom: (2, n_duplicates).

        Equal but for the rounding of their lengths: two atoms with the least angle between them span a plane.
        """
        if self.coherence <= _NEARLY_PARALLEL:
            return np.empty((2, 0), np.intp)
        found = [
            (start + row, same[0])
            for start, products in _products_with_earlier(self.atoms)
            for row in np.flatnonzero(products.max(axis=1, initial=0.0) > _NEARLY_PARALLEL).tolist()
            if (same := self._equal_atoms(start + row, np.flatnonzero(products[row] > _NEARLY_PARALLEL))).size
        ]
        return np.array(found, np.intp).reshape(-1, 2).T

    def _equal_atoms(self, atom: int, others: Ints) -> Ints:
        """Return which of other atoms equal an atom up to sign."""
        column, columns = self.atoms[:, atom, None], self.atoms[:, others]
        signs = np.sign(column.T @ columns)
        return np.asarray(others[np.abs(columns - signs * column).max(axis=0) <= _EQUAL])

    def equal_or_copied(self, supports: Ints) -> Bools:
        """Return which atoms equal one of each support (B, S), padded with -1, or an earlier atom: (B, n)."""
        firsts = self.firsts
        is_copy: Bools = firsts != np.append(np.arange(len(self)), -1)
        found = is_copy[None].repeat(len(supports), axis=0)
        found[np.arange(len(supports))[:, None], firsts[supports]] = True
        return found[:, :-1]

    @cached_property
    def firsts(self) -> Ints:
        """The first atom that equals each one, maybe itself; then -1, for the index of no atom: (n + 1,)."""
        copies, originals = self.duplicates
        firsts = np.append(np.arange(len(self)), -1)
        firsts[copies] = originals
        return firsts

    @cached_property
    def smoothness(self) -> float:
        """Upper bound on the restricted smoothness M_{s,2} of the squared l2 utility.

        With u(y, x) = |y|^2/2 - |y - x|^2/2 it is sigma_max^2(A, 2) = 1 + coherence (section 4.2). It
        also holds for masked data: deleting rows of A cannot increase a singular value.
        """
        return 1.0 + self.coherence

    def smallest_eigenvalue(self, size: int, *, merge_duplicates: bool = False) -> float:
        """Return a lower bound on sigma_min^2(A, size), the restricted concavity m_size of section 2.1.

        It is 0 if `size` of the atoms may be dependent, and exact for small ground sets. With
        `merge_duplicates`, only the first of atoms that are equal up to sign counts.
        """
        key = size, merge_duplicates
        if key not in self._smallest_eigenvalues:
            self._smallest_eigenvalues[key] = self._find_smallest_eigenvalue(size, merge_duplicates)
        return self._smallest_eigenvalues[key]

    @cached_property
    def _smallest_eigenvalues(self) -> dict[tuple[int, bool], float]:
        return {}  # they take as long as several steps of a selection

    def _find_smallest_eigenvalue(self, size: int, merge_duplicates: bool) -> float:
        different = np.arange(len(self))
        if merge_duplicates:
            different = np.setdiff1d(different, self.duplicates[0])
        count = min(size, len(different))
        if count > self.n_features:
            return 0.0
        # Less what rounding may have added: a bound that is too large would promise too much.
        smallest = 1.0 - self._eigenvalue_shift(different, count, -1.0) - 1e-14 * count
        return smallest if smallest > 1e-12 else 0.0

    def largest_eigenvalue(self, size: int) -> float:
        """Return an upper bound on sigma_max^2(A, size), the restricted smoothness M_size of section 2.1."""
        bound = 1.0 + self._eigenvalue_shift(np.arange(len(self)), min(size, len(self)), 1.0)
        return min(bound, float(np.linalg.norm(self.atoms, 2)) ** 2 * (1 + 1e-12))

    def _eigenvalue_shift(self, atoms: Ints, size: int, sign: float) -> float:
        """Return how far the eigenvalues of the Gram matrix of any `size` atoms are from 1, at most."""
        if size <= 1:
            return 0.0
        columns = self.atoms[:, atoms]
        products = columns.T @ columns
        if comb(len(atoms), size) <= _MAX_SUBSETS:
            subsets = np.array(list(combinations(range(len(atoms)), size)))
            values = np.linalg.eigvalsh(products[subsets[:, :, None], subsets[:, None, :]])
            return float((sign * (values - 1.0)).max())
        np.fill_diagonal(products, 0.0)
        largest = np.partition(np.abs(products), len(atoms) - size, axis=0)[len(atoms) - size + 1 :]
        return float(largest.sum(axis=0).max())


def standard_ground_set(
    patch_shape: tuple[int, int] = (8, 8), bases: Sequence[str] = STANDARD_BASES
) -> GroundSet:
    """Return the union of orthonormal bases of image patches (section 6, "Ground set").

    Parameters
    ----------
    patch_shape : (int, int), optional
        Height and width of a patch in pixels; wavelets require both to be even. Default is (8, 8).
    bases : sequence of str, optional
        "dct" or any orthonormal PyWavelets wavelet, in the order of the columns. Default is
        ("dct", "haar", "db4", "coif1").

    Returns
    -------
    GroundSet
        With d = height * width and n = d * len(bases). Columns are patches in row-major order. As in the
        paper, the constant atom occurs once per basis.

    Examples
    --------
    >>> ground_set = standard_ground_set()
    >>> ground_set.atoms.shape
    (64, 256)
    >>> str(ground_set.origins[64])
    'haar level 3 approximation (0, 0)'
    """
    names = as_basis_names(bases)
    shape = _as_patch_shape(patch_shape)
    atoms, origins = zip(*(orthonormal_basis(name, shape) for name in names), strict=True)
    return GroundSet(np.concatenate(atoms, axis=1), tuple(chain.from_iterable(origins)), shape)


def ground_set_from_array(
    atoms: ArrayLike, *, names: Sequence[str] | None = None, patch_shape: tuple[int, int] | None = None
) -> GroundSet:
    """Return a ground set of custom atoms.

    Parameters
    ----------
    atoms : (d, n) array_like
        One candidate per column; columns are scaled to unit length. For media summarization, where the
        atoms are the data points themselves, pass ``data.T``; selectors then need memory for T x T gains.
    names : sequence of str, optional
        A name for each column, used in `origins` and in error messages. Default is "atom 0", "atom 1", ...
    patch_shape : (int, int), optional
        Height and width of the columns as image patches. By default they are not images.

    """
    columns = as_matrix(atoms, "atoms", "(features, candidates)")
    n_features, n_candidates = columns.shape
    given: object = [f"atom {j}" for j in range(n_candidates)] if names is None else names
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"names must be a sequence with a name for each column, not {given!r}.")
    labels = [str(name) for name in given]
    if len(labels) != n_candidates:
        raise ValueError(f"names must have one entry per column, {n_candidates}, but has {len(labels)}.")
    shape = None if patch_shape is None else _as_patch_shape(patch_shape)
    if shape is not None and shape[0] * shape[1] != n_features:
        raise ValueError(f"patch_shape {shape} does not fit atoms with {n_features} entries.")
    columns = unit_columns(columns, "atoms", labels)
    origins = tuple(AtomOrigin(label, 0, "custom", 0, j) for j, label in enumerate(labels))
    return GroundSet(columns, origins, shape)


def unit_columns(given: Floats, name: str, labels: Sequence[str] = ()) -> Doubles:
    """Return the columns of a matrix, of which each may have a label, scaled to unit length."""
    scale = np.abs(given).max(axis=0)
    for j in np.flatnonzero(~np.isfinite(scale) | (scale == 0.0))[:1]:
        which = f"{labels[j]!r} (column {j})" if labels else f"column {j}"
        problem = "is zero" if scale[j] == 0.0 else "contains NaN or infinity"
        raise ValueError(f"Every column of {name} must be finite and nonzero, but {which} {problem}.")
    columns = given.astype(np.float64) / scale  # so that squares neither vanish nor overflow
    return np.ascontiguousarray(columns / np.linalg.norm(columns, axis=0))


def as_ground_set(value: object) -> GroundSet:
    """Return a ground set; TypeError for anything else."""
    if not isinstance(value, GroundSet):
        raise TypeError(
            "ground_set must be a GroundSet, from standard_ground_set or ground_set_from_array, "
            f"not {type(value).__name__}."
        )
    return value


def as_basis_names(value: object) -> tuple[str, ...]:
    """Return the names of bases, checked; they may still be unknown."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"bases must be a sequence of names, such as ('dct', 'haar'), not {value!r}.")
    names = tuple(value)
    if not names:
        raise ValueError("bases must name at least one basis, such as 'dct'.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"A basis is named by a string such as 'dct' or 'haar', not by {name!r}.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"bases must not name a basis twice, but names {twice!r} {names.count(twice)} times."
        )
    return names


def _as_patch_shape(value: object) -> tuple[int, int]:
    if not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise TypeError(f"patch_shape must be a pair (height, width), not {value!r}.")
    return as_count(value[0], "patch height"), as_count(value[1], "patch width")


def duplicate_columns(atoms: Floats) -> Bools:
    """Return which columns of a matrix, of any length, are multiples of an earlier one: (k,)."""
    lengths = np.linalg.norm(atoms, axis=0)
    units = atoms / np.where(lengths > 0, lengths, 1)
    close = 1 - 4 * rounding_level(atoms.shape[0], atoms.dtype)
    duplicate = np.zeros(atoms.shape[1], bool)
    for start, products in _products_with_earlier(units):
        duplicate[start : start + len(products)] = (products > close).any(axis=1)
    return duplicate


def _products_with_earlier(columns: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield (start, ``|<a_i, a_j>|``) for blocks of rows i from `start` on; 0 unless j < i."""
    block = 16 * chunk_rows(8 * columns.shape[1])  # a few megabytes of products
    for start in range(0, columns.shape[1], block):
        part = columns[:, start : start + block]
        products = part.T @ columns[:, : start + part.shape[1]]
        np.abs(products, out=products)
        products[:, start:] = np.tril(products[:, start:], -1)
        yield start, products
