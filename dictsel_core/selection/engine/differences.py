"""Utility differences of all additions and swaps, in closed form."""

import numpy as np

from dictsel_core._support.least_squares import fit_supports
from dictsel_core._support.validation import Floats, Ints
from dictsel_core.selection.problem import Problem

#: An atom is dependent on a support if less than this fraction of its squared length lies outside of it.
_DEPENDENCE_TOLERANCE = 1e-12
#: A difference below this fraction of the utility that is removed may be rounding error, and counts as 0.
_RELATIVE_ROUNDING = 1e-8


class SquaredDifferences:
    """Differences of the squared utility for the patches of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._atoms = problem.ground_set.atoms  # float64: differences of lengths lose digits
        self._lengths = np.broadcast_to(problem.masked_lengths(), (len(problem), len(problem.ground_set)))

    def of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return those of some patches from a fit of their supports; see `true_differences`."""
        problem = self._problem
        fit = fit_supports(problem.columns(rows, supports), problem.data.take(rows, axis=0))
        return true_differences(
            inverse=fit.inverse,
            products=problem.apply_factors(rows, fit.columns) @ self._atoms,
            coefficients=fit.coefficients,
            correlations=problem.apply_factors(rows, fit.residual) @ self._atoms,
            lengths=self._lengths[rows],
            rounding=problem.rounding[rows],
        )


def true_differences(
    *,
    inverse: Floats,
    products: Floats,
    coefficients: Floats,
    correlations: Floats,
    lengths: Floats,
    rounding: Floats,
) -> tuple[Floats, Floats]:
    """Return f(Z + a) - f(Z) and f(Z - b + a) - f(Z) for all atoms a and all b in Z, of B patches.

    With v_b the dual vector of atom b in Z (``<v_b, a_c>`` is 1 for b = c, else 0), removing b adds
    w_b v_b/|v_b|^2 to the residual and removes v_b/|v_b| from the span. So
    f(Z - b + a) = f(Z) - (w_b/|v_b|)^2/2 + <r_b, a>^2 / 2|a_b|^2, where r_b is the new residual and a_b the
    component of a outside the new span. Lengths outside a span are differences, so values are accurate to
    about six digits. Inner products are over the observed entries.

    Parameters
    ----------
    inverse : (B, S, S) ndarray
        Inverse of the Gram matrix of the support.
    products : (B, S, n) ndarray
        Inner products of the support with all atoms.
    coefficients : (B, S) ndarray
        Least-squares weights.
    correlations : (B, n) ndarray
        Inner products of the residual with all atoms.
    lengths : (B, n) ndarray
        Squared lengths of all atoms.
    rounding : (B,) ndarray
        Squared correlations up to this are rounding error.

    Returns
    -------
    additions : (B, n) ndarray
    swaps : (B, S, n) ndarray
        Meaningless for atoms of the support, and for empty slots.
    """
    min_lengths, noise = lengths * _DEPENDENCE_TOLERANCE, rounding[:, None]
    along = inverse @ products  # <v_b, a>
    outside = lengths - np.einsum("bsn,bsn->bn", along, products)
    additions = _explained(correlations, outside, min_lengths, noise)
    scale = np.sqrt(np.einsum("bss->bs", inverse))[:, :, None]  # |v_b|
    along /= scale
    weights = coefficients[:, :, None] / scale
    swaps = _explained(
        correlations[:, None] + weights * along,
        np.maximum(outside, 0)[:, None] + np.square(along),
        min_lengths[:, None],
        noise[:, None],
    )
    lost = np.square(weights) / 2
    swaps -= lost
    # Both terms of the difference are rounded, and so is the residual.
    swaps *= np.abs(swaps) > _RELATIVE_ROUNDING * lost + np.sqrt(noise[:, None]) * np.sqrt(lost)
    return additions, swaps


def _explained(correlations: Floats, lengths: Floats, min_lengths: Floats, noise: Floats) -> Floats:
    """Return ``correlations^2 / 2 lengths``; zero for dependent atoms and rounding errors."""
    squares = np.square(correlations)
    result = np.zeros_like(squares)
    np.divide(squares, 2 * lengths, out=result, where=(lengths > min_lengths) & (squares > noise))
    return result
