"""Utility differences of all additions and swaps: in closed form, or orthogonalized where that cancels."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.selection.engine.fits import (
    WELL_CONDITIONED,
    SupportFit,
    fit_supports,
    orthonormal_rows,
)
from dictsel_core.selection.problem import Problem

Doubles = NDArray[np.float64]

#: An atom is dependent on a support if less than this fraction of its squared length lies outside of it.
_DEPENDENCE_TOLERANCE = 1e-16
#: Below this fraction, the squared length outside is no longer accurate as a difference of squared lengths.
_MAX_CANCELLED = 1e-5
#: Largest diagonal entry of an inverse Gram matrix of unit columns up to which the closed form is accurate.
_MAX_STRAIN = 1e4
#: A difference below this fraction of the utility that is removed may be rounding error, and counts as 0.
_RELATIVE_ROUNDING = 1e-8


class Candidates(NamedTuple):
    """All atoms as B patches see them.

    Attributes
    ----------
    atoms : (d, n) ndarray
    factors : (B, d) ndarray or None
        Of the entries: 0 where missing; None if all are 1.
    lengths : (B, n) ndarray
        Squared lengths of the atoms on observed entries.
    rounding : (B,) ndarray
        Squared correlations up to this are rounding error.
    known : (B, n) ndarray of bool
        Atoms that equal one of the support or, up to sign, an earlier one: nobody asks for their differences.
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


class SquaredDifferences:
    """Differences of the squared utility for the patches of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._lengths = np.broadcast_to(problem.masked_lengths(), (len(problem), len(problem.ground_set)))

    def of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return those of some patches from a fit of their supports; see `true_differences`."""
        problem = self._problem
        candidates = Candidates(
            problem.ground_set.atoms,  # float64: differences of lengths lose digits
            None if problem.observed is None else problem.observed[rows],
            self._lengths[rows],
            problem.rounding[rows],
            problem.ground_set.equal_or_copied(supports),
        )
        data = problem.data.take(rows, axis=0)
        fit = fit_supports(problem.columns(rows, supports), data)
        products = candidates.products(fit.columns)
        correlations = candidates.products(fit.residual[:, None])[:, 0]
        return true_differences(fit, data, candidates, products, correlations)


def true_differences(
    fit: SupportFit, data: Floats, candidates: Candidates, products: Doubles, correlations: Doubles
) -> tuple[Doubles, Doubles]:
    """Return f(Z + a) - f(Z) and f(Z - b + a) - f(Z) for all atoms a and all b in Z, of B patches.

    Parameters
    ----------
    fit : SupportFit
        Of the supports Z.
    data : (B, d) ndarray
        Zero at missing entries.
    candidates : Candidates
        The atoms a.
    products : (B, S, n) ndarray
        Inner products of the support with all atoms.
    correlations : (B, n) ndarray
        Inner products of the residual with all atoms.

    Returns
    -------
    additions : (B, n) ndarray
    swaps : (B, S, n) ndarray
        Meaningless for atoms that are `known`, and for empty slots.
    """
    inverse, strained = fit.inverse, fit.ill_conditioned
    strain = np.einsum("bss->bs", inverse) * np.vecdot(fit.columns, fit.columns)
    if strained.size or (strain > WELL_CONDITIONED).any():
        gram = fit.columns @ fit.columns.transpose(0, 2, 1)
        inverse = 2 * inverse - inverse @ gram @ inverse  # a Newton step removes the ridge
        strained = np.union1d(strained, np.flatnonzero((strain > _MAX_STRAIN).any(axis=1)))
        inverse[strained] = np.eye(inverse.shape[1])
    additions, swaps = _closed_form(fit, inverse, candidates, products, correlations)
    if strained.size:
        additions[strained], swaps[strained] = _by_orthogonalization(
            fit.columns[strained], data[strained].astype(np.float64), candidates.take(strained)
        )
    return additions, swaps


def _closed_form(
    fit: SupportFit, inverse: Doubles, candidates: Candidates, products: Doubles, correlations: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the differences for supports whose atoms are far from dependent.

    With v_b the dual vector of atom b in Z (``<v_b, a_c>`` is 1 for b = c, else 0), removing b adds
    w_b v_b/|v_b|^2 to the residual and removes v_b/|v_b| from the span. So
    f(Z - b + a) = f(Z) - (w_b/|v_b|)^2/2 + <r_b, a>^2 / 2|a_b|^2, where r_b is the new residual and a_b the
    component of a outside the new span. Inner products are over the observed entries.
    """
    along = inverse @ products  # <v_b, a>
    outside = candidates.lengths - np.einsum("bsn,bsn->bn", along, products)
    cancelled = outside < _MAX_CANCELLED * candidates.lengths
    cancelled &= ~candidates.known
    if cancelled.any():
        _recompute(outside, cancelled, lambda rows: orthonormal_rows(fit.columns[rows]), candidates)
    additions = _explained(correlations, outside, candidates)
    scale = np.sqrt(np.einsum("bss->bs", inverse))[:, :, None]  # |v_b|
    along /= scale
    weights = fit.coefficients[:, :, None] / scale
    swaps = _explained(
        correlations[:, None] + weights * along,
        np.maximum(outside, 0)[:, None] + np.square(along),
        candidates,
    )
    return additions, _less(swaps, np.square(weights) / 2, candidates)


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
