"""The detail of a plane: what a coarser scale does not represent."""

import numpy as np

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Plane
from dictsel_core.restoration.coding.pyramid import double, halve

#: Squares are rounded to multiples of 1 / this, so that their sum does not depend on its order.
_SCALE = 1 << 36
#: As many squares as fit into an integer of 64 bits.
_CHUNK = 1 << 24


def detail_sum(plane: Plane, missing: Bools, inner: tuple[slice, slice] = (slice(None), slice(None))) -> int:
    """Return the sum of the squares of what the coarser scale of a plane does not represent, in some unit.

    Parameters
    ----------
    plane : (H, W) ndarray
    missing : (H, W) ndarray of bool
        Pixels that do not count.
    inner : (slice, slice), optional
        The only pixels that count. Around them, two others are needed.
    """
    half, _ = halve(np.where(missing, np.float32(0), plane)[:, :, None], missing)
    rest = (plane - double(half[:, :, 0], plane.shape))[inner][~missing[inner]]
    units = np.rint(np.square(rest, dtype=np.float64) * _SCALE).astype(np.int64)
    return sum(int(units[start : start + _CHUNK].sum()) for start in range(0, len(units), _CHUNK))
