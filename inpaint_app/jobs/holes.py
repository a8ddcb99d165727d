"""Whether a mask has holes that are too wide for the chosen fill."""

import numpy as np

from dictsel_core import RestoreSettings
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array

#: How far patches see: pixels farther from all observed ones look blurred if they are filled smoothly.
_REACH = 8


def has_wide_hole(mask: Mask) -> bool:
    """Return whether pixels are too far from all observed ones to be restored from them.

    Such a hole is wider than 16 pixels, or than 8 at the border of the picture, in all channels.
    """
    holes = mask if mask.ndim == 2 else np.asarray(mask.all(axis=2))
    if not holes.any() or holes.all():
        return bool(holes.any())
    around = np.pad(holes, _REACH, constant_values=True)  # what lies beyond the border is not observed
    side = 2 * _REACH + 1
    return bool(_all_of(_all_of(around, side).T, side).any())


def _all_of(mask: Mask, length: int) -> Mask:
    """Return where all of the `length` entries from here on along the first axis are True."""
    n_known = 1
    while n_known < length:
        step = min(n_known, length - n_known)
        mask, n_known = mask[:-step] & mask[step:], n_known + step
    return mask


def fills_smoothly(settings: RestoreSettings, pixels: Array) -> bool:
    """Return whether holes of any width are filled smoothly, without texture."""
    return settings.fill == "smooth" or (settings.fill == "auto" and pixels.dtype.kind == "f")
