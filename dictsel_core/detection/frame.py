"""The frame of a picture: margins, borders and worn edges, which are no damage."""

import numpy as np
from scipy import ndimage

from dictsel_core._support.validation import Bools

#: How deep a frame is, as a part of the shorter side and in pixels at least, and how long, in depths.
_DEPTH, _LEAST_DEPTH, _LENGTH = 0.02, 4, 6


def frame_of(mask: Bools) -> Bools:
    """Return where marks run along an edge of the picture: that is its frame."""
    frame = np.zeros_like(mask)
    depth = max(_LEAST_DEPTH, round(_DEPTH * min(mask.shape)))
    if min(mask.shape) < 3 * depth:
        return frame
    for turn in range(4):
        band = np.rot90(mask, turn)[:depth]
        along = ndimage.binary_closing(np.pad(band.any(axis=0), depth), iterations=depth // 2)[depth:-depth]
        labels, n_runs = ndimage.label(along)
        if n_runs:
            is_long = np.bincount(labels, minlength=n_runs + 1) >= _LENGTH * depth
            is_long[0] = False
            np.rot90(frame, turn)[:depth] |= is_long[labels]
    return frame
