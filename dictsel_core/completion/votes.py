"""The pixels of a hole, from the matches of all patches that cover them."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Ints
from dictsel_core.completion._kernels import add_votes
from dictsel_core.completion.field import PatchField
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale

Double = NDArray[np.float64]

#: The weight of a patch decreases by this factor with each pixel of its distance from the border of the hole.
_DEPTH_BASE = 1.4
#: Percentile of the distances at which the weight of a match is exp(-1).
_PERCENTILE = 90
#: Limits of the exponents, so that no weight is zero.
_MAX_DEPTH, _MAX_EXPONENT = 60, 30.0


def fill_by_votes(scale: Scale, field: PatchField) -> None:
    """Fill the hole of a scale with the weighted means of all matches at each pixel.

    Similar matches have more weight, and patches near the border, where more is known [1]_.

    References
    ----------
    .. [1] Y. Wexler, E. Shechtman and M. Irani, "Space-time completion of video", IEEE Transactions on
       Pattern Analysis and Machine Intelligence 29(3), 2007. :DOI:`10.1109/TPAMI.2007.60`
    """
    pixels = scale.planes.reshape(-1, scale.planes.shape[2])
    sums, totals = _votes(scale, field)
    hole = np.flatnonzero(scale.hole)
    pixels[hole] = sums[hole] / totals[hole]
    field.comparison.update()


def fill_by_best(scale: Scale, field: PatchField) -> None:
    """Fill the hole of a scale with the match of most weight at each pixel, which blurs nothing."""
    pixels = scale.planes.reshape(-1, scale.planes.shape[2])
    hole, best = np.flatnonzero(scale.hole), best_matches(scale, field)
    sources = hole + field.offsets()[best] @ np.array([scale.shape[1], 1])
    corrections = np.pad(field.corrections(), [(0, 0), (0, N_TEXTURE)])
    pixels[hole] = pixels[sources] + corrections[best]
    field.comparison.update()


def best_matches(scale: Scale, field: PatchField) -> Ints:
    """Return which match has the most weight at each pixel of the hole, as its number in the field: (N,)."""
    weights, size = _weights(scale, field)[:, 0], scale.hole.size
    targets = np.ravel_multi_index(np.divmod(field.targets, field.shape[1]), scale.shape)
    largest, best = np.full(size, -1.0), np.zeros(size, np.intp)
    for down in range(PATCH_SIZE):
        for across in range(PATCH_SIZE):
            places = targets + down * scale.shape[1] + across
            better = np.flatnonzero(weights > largest[places])
            largest[places[better]], best[places[better]] = weights[better], better
    return np.asarray(best[scale.hole.ravel()])


def _votes(scale: Scale, field: PatchField) -> tuple[Double, Double]:
    """Return the weighted sums of all matches at each pixel (H W, C + 2), and the weights (H W, 1)."""
    pixels = scale.planes.reshape(-1, scale.planes.shape[2])
    weights, corrections = _weights(scale, field), np.pad(field.corrections(), [(0, 0), (0, N_TEXTURE)])
    targets, matches = (
        np.ravel_multi_index(np.divmod(patches, field.shape[1]), scale.shape)
        for patches in (field.targets, field.matches)
    )
    sums, totals = np.zeros(pixels.shape), np.zeros((len(pixels), 1))
    add_votes(pixels, scale.shape[1], targets, matches, weights, corrections, sums, totals)
    return sums, totals


def _weights(scale: Scale, field: PatchField) -> Double:
    """Return the weight of each match: (N, 1)."""
    y, x = np.divmod(field.targets, field.shape[1])
    middle = PATCH_SIZE // 2
    depth = np.minimum(scale.depth[y + middle, x + middle], _MAX_DEPTH)
    weights = np.float32(_DEPTH_BASE) ** -depth.astype(np.float32)
    if np.isfinite(field.distances).all():
        usual = max(float(np.percentile(field.distances, _PERCENTILE)), 1e-8)
        weights *= np.exp(-np.minimum(field.distances / usual, _MAX_EXPONENT))
    return np.asarray(weights[:, None], np.float64)
