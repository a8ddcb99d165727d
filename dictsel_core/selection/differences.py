"""True utility differences of all additions and swaps, in closed form."""

import numpy as np

from dictsel_core._validation import Floats

#: An atom is dependent on a support if less than this part of its squared length lies outside.
_DEPENDENT = 1e-12
#: A swap that changes less than this part of what it takes away may be rounding error, and changes nothing.
_UNCERTAIN = 1e-8


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

    With v_b the dual vector of atom b in Z (``<v_b, a_c>`` is 1 for b = c, else 0), leaving b out returns its
    part w_b v_b/|v_b|^2 to the residual, and v_b/|v_b| leaves the span. So
    f(Z - b + a) = f(Z) - (w_b/|v_b|)^2/2 + <r_b, a>^2 / 2|a_b|^2, where r_b is the new residual and a_b the
    part of a outside the new span. Lengths outside a span are differences, so values are good to about
    six digits. Inner products are those of the observed entries.

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
        Of no meaning for atoms of the support, and for empty slots.
    """
    least, noise = lengths * _DEPENDENT, rounding[:, None]
    along = inverse @ products  # <v_b, a>
    outside = lengths - np.einsum("bsn,bsn->bn", along, products)
    additions = _explained(correlations, outside, least, noise)
    scale = np.sqrt(np.einsum("bss->bs", inverse))[:, :, None]  # |v_b|
    along /= scale
    weights = coefficients[:, :, None] / scale
    swaps = _explained(
        correlations[:, None] + weights * along,
        np.maximum(outside, 0)[:, None] + np.square(along),
        least[:, None],
        noise[:, None],
    )
    lost = np.square(weights) / 2
    swaps -= lost
    # Both parts of the difference are rounded, and so is the residual r that comes with w_b.
    swaps *= np.abs(swaps) > _UNCERTAIN * lost + np.sqrt(noise[:, None]) * np.sqrt(lost)
    return additions, swaps


def _explained(correlations: Floats, lengths: Floats, least: Floats, noise: Floats) -> Floats:
    """Return ``correlations^2 / 2 lengths``; zero for dependent atoms and rounding errors."""
    squares = np.square(correlations)
    result = np.zeros_like(squares)
    np.divide(squares, 2 * lengths, out=result, where=(lengths > least) & (squares > noise))
    return result
