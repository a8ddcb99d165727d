"""Least squares on given supports, and what additions and swaps would change, in float64."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dictsel_core._util.validation import Bools, Doubles, Floats, Ints
from dictsel_core.selection.problem import Problem

#: Singular values up to this fraction of the largest one are rounding error.
_NEGLIGIBLE = 1e-10
#: An atom is dependent on a support if less than this fraction of its squared length lies outside of it.
_DEPENDENCE_TOLERANCE = 1e-16
#: Below this fraction, the squared length outside is no longer accurate as a difference of squared lengths.
_MAX_CANCELLED = 1e-5
#: Largest diagonal entry of an inverse Gram matrix of unit columns up to which the closed form is accurate.
_MAX_STRAIN = 1e4
#: A difference below this fraction of the utility that is removed may be rounding error, and counts as 0.
_RELATIVE_ROUNDING = 1e-8


def orthonormal_rows(columns: Doubles) -> Doubles:
    """Return orthonormal rows, or zeros, with the span of columns (B, S, d), by singular values."""
    if columns.shape[1] == 0:
        return columns
    _, sizes, directions = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions * (sizes > _NEGLIGIBLE * sizes[:, :1])[:, :, None])


class Candidates(NamedTuple):
    """All atoms as B patches see them: the matrix (d, n), and factors of the entries, None if all are 1.

    Lengths, (B, n), are squared, on observed entries; squared correlations up to `rounding`, (B,), are
    rounding error. Atoms are `known`, (B, n), that equal one of the support or an earlier one: nobody asks
    for their differences.
    """

    atoms: Doubles
    factors: Floats | None
    lengths: Floats
    rounding: Floats
    known: Bools

    def take(self, rows: Ints) -> "Candidates":
        """Return the same for some of the patches."""
        factors = None if self.factors is None else self.factors[rows]
        return Candidates(self.atoms, factors, self.lengths[rows], self.rounding[rows], self.known[rows])

    def products(self, vectors: Doubles) -> Doubles:
        """Return inner products of vectors that are zero at missing entries, (B, S, d), with all atoms."""
        if self.factors is not None:
            vectors = vectors * self.factors[:, None]
        n_rows, n_vectors, n_features = vectors.shape
        flat = vectors.reshape(-1, n_features) @ self.atoms  # one product is faster than one for each patch
        return np.asarray(flat.reshape(n_rows, n_vectors, -1))

    def seen(self, rows: Ints, atoms: Ints) -> Doubles:
        """Return some atoms, each as one patch sees it: (P, d)."""
        vectors: Doubles = self.atoms.T[atoms]
        return vectors if self.factors is None else vectors * self.factors[rows]


class Differences(ABC):
    """Utility differences of all additions and swaps, for the patches of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return f(Z + a) - f(Z), (B, n), and f(Z - b + a) - f(Z), (B, S, n), of patches with supports Z.

        They are 0 and minus infinity for the atoms of a support, and minus infinity for empty slots.
        """
        additions, swaps = self._of_supports(rows, supports)
        for part in (additions, swaps):
            self._problem.equalize_duplicates(part)
        swaps[supports < 0] = -np.inf
        at, slots = np.nonzero(supports >= 0)
        members = supports[at, slots]
        additions[at, members], swaps[at, :, members] = 0, -np.inf
        return additions, swaps

    @abstractmethod
    def _of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return the same, with anything for the atoms of a support, for copies and for empty slots."""


class SquaredDifferences(Differences):
    """Those of the squared utility: in closed form, or orthogonalized where that cancels."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._lengths = np.broadcast_to(problem.masked_lengths(), (len(problem), len(problem.ground_set)))

    def _of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        problem = self._problem
        candidates = Candidates(
            problem.ground_set.atoms,  # float64: differences of lengths lose digits
            None if problem.observed is None else problem.observed[rows],
            self._lengths[rows],
            problem.rounding[rows],
            problem.ground_set.equal_or_copied(supports),
        )
        fits, data = problem.fits(*supports.shape, sparse=False), problem.data.take(rows, axis=0)
        weights, inverse = fits.fit(data, candidates.factors, supports)
        columns, diagonal = problem.columns(rows, supports), np.einsum("bss->bs", inverse)
        strains = (diagonal * np.vecdot(columns, columns)).max(axis=1, initial=0)
        strained = np.union1d(fits.dependent, np.flatnonzero(strains > _MAX_STRAIN))
        inverse[strained] = np.eye(supports.shape[1])
        diagonal[supports < 0] = 1
        residuals = fits.residuals[:, : data.shape[1]]
        additions, swaps = _closed_form(columns, inverse, weights, residuals, candidates)
        if strained.size:
            additions[strained], swaps[strained] = _by_orthogonalization(
                columns[strained], data[strained].astype(np.float64), candidates.take(strained)
            )
        return additions, swaps


def _closed_form(
    columns: Doubles, inverse: Doubles, weights: Doubles, residuals: Doubles, candidates: Candidates
) -> tuple[Doubles, Doubles]:
    """Return the differences for supports whose atoms are far from dependent.

    With v_b the dual vector of atom b in Z (``<v_b, a_c>`` is 1 for b = c, else 0), removing b adds
    w_b v_b/|v_b|^2 to the residual and removes v_b/|v_b| from the span. So
    f(Z - b + a) = f(Z) - (w_b/|v_b|)^2/2 + <r_b, a>^2 / 2|a_b|^2, where r_b is the new residual and a_b the
    component of a outside the new span. Inner products are over the observed entries.
    """
    products = candidates.products(columns)
    correlations = candidates.products(residuals[:, None])[:, 0]
    along = inverse @ products  # <v_b, a>
    outside = candidates.lengths - np.einsum("bsn,bsn->bn", along, products)
    cancelled = outside < _MAX_CANCELLED * candidates.lengths
    cancelled &= ~candidates.known
    if cancelled.any():
        _recompute(outside, cancelled, lambda rows: orthonormal_rows(columns[rows]), candidates)
    additions = _explained(correlations, outside, candidates)
    scale = np.sqrt(np.einsum("bss->bs", inverse))[:, :, None]  # |v_b|
    along /= scale
    scaled = weights[:, :, None] / scale
    swaps = _explained(
        correlations[:, None] + scaled * along,
        np.maximum(outside, 0)[:, None] + np.square(along),
        candidates,
    )
    return additions, _less(swaps, np.square(scaled) / 2, candidates)


def _by_orthogonalization(columns: Doubles, data: Doubles, candidates: Candidates) -> tuple[Doubles, Doubles]:
    """Return the differences from a basis of every Z and Z - b, which takes longer and is always accurate."""
    n_slots = columns.shape[1]
    utility, additions = _gains_beside(columns, data, candidates)
    swaps = np.empty((len(columns), n_slots, candidates.lengths.shape[1]))
    for slot in range(n_slots):
        rest = np.delete(columns, slot, axis=1)
        without, gains = _gains_beside(rest, data, candidates)
        swaps[:, slot] = _less(gains, (utility - without)[:, None], candidates)
    return additions, swaps


def _gains_beside(columns: Doubles, data: Doubles, candidates: Candidates) -> tuple[Doubles, Doubles]:
    """Return f(Z), (B,), and f(Z + a) - f(Z), (B, n), for the columns of Z."""
    basis = orthonormal_rows(columns)
    residual = _orthogonalize(data, basis)
    outside = candidates.lengths - np.square(candidates.products(basis)).sum(axis=1)
    _recompute(outside, outside < _MAX_CANCELLED * candidates.lengths, lambda rows: basis[rows], candidates)
    correlations = candidates.products(residual[:, None])[:, 0]
    utility = np.square(np.matvec(basis, data)).sum(axis=1) / 2
    return utility, _explained(correlations, outside, candidates)


def _recompute(
    outside: Doubles, where: Bools, basis_of: Callable[[Ints], Doubles], candidates: Candidates
) -> None:
    """Replace squared lengths outside a span by those of the orthogonalized atoms."""
    rows, atoms = np.nonzero(where)
    patches, places = np.unique(rows, return_inverse=True)
    vectors = _orthogonalize(candidates.seen(rows, atoms), basis_of(patches)[places])
    outside[rows, atoms] = np.vecdot(vectors, vectors)


def _orthogonalize(vectors: Doubles, basis: Doubles) -> Doubles:
    """Return what of vectors (P, d) is orthogonal to orthonormal rows (P, S, d)."""
    for _ in range(2):  # the second time removes the rounding errors of the first
        vectors = vectors - np.vecmat(np.matvec(basis, vectors), basis)
    return vectors


def _explained(correlations: Doubles, lengths: Doubles, candidates: Candidates) -> Doubles:
    """Return ``correlations^2 / 2 lengths``, (B, n) or (B, S, n); zero for dependent atoms and rounding."""
    at_least, noise = candidates.lengths * _DEPENDENCE_TOLERANCE, candidates.rounding[:, None]
    if lengths.ndim == 3:
        at_least, noise = at_least[:, None], noise[:, None]
    squares = np.square(correlations)
    result = np.zeros_like(squares)
    np.divide(squares, 2 * lengths, out=result, where=(lengths > at_least) & (squares > noise))
    return result


def _less(swaps: Doubles, lost: Doubles, candidates: Candidates) -> Doubles:
    """Subtract what a removal loses, in place; differences that are rounding errors become 0."""
    swaps -= lost
    noise = candidates.rounding.reshape(-1, *[1] * (swaps.ndim - 1))
    # Both terms of the difference are rounded, and so is the residual.
    swaps *= np.abs(swaps) > _RELATIVE_ROUNDING * lost + np.sqrt(noise) * np.sqrt(np.maximum(lost, 0))
    return swaps
