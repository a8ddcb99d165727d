"""The pixels of a hole, from the best match of all patches that cover them."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Ints
from dictsel_core.completion.field import PatchField
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale

Double = NDArray[np.float64]

#: The weight of a patch decreases by this factor with each pixel of its distance from the border of the hole.
_DEPTH_BASE = 1.4
#: Percentile of the distances at which the weight of a match is exp(-1).
_PERCENTILE = 90
#: Limits of the exponents, so that no weight is zero.
_MAX_DEPTH, _MAX_EXPONENT = 60, 30.0


def fill_by_best(scale: Scale, field: PatchField) -> None:
    """Fill the hole of a scale with the match of most weight at each pixel, which blurs nothing."""
    pixels = scale.planes.reshape(-1, scale.planes.shape[2])
    hole, best = np.flatnonzero(scale.hole), best_matches(scale, field)
    sources = hole + field.offsets()[best] @ np.array([scale.shape[1], 1])
    corrections = np.pad(field.corrections(), [(0, 0), (0, N_TEXTURE)])
    pixels[hole] = pixels[sources] + corrections[best]


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
