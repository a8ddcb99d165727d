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
    from scipy import ndimage  # noqa: PLC0415  (slow to import)

    holes = mask if mask.ndim == 2 else np.asarray(mask.all(axis=2))
    if not holes.any() or holes.all():
        return bool(holes.any())  # there is nothing to measure distances to
    return bool(ndimage.distance_transform_cdt(holes, metric="chessboard").max() > _REACH)


def fills_smoothly(settings: RestoreSettings, pixels: Array) -> bool:
    """Return whether holes of any width are filled smoothly, without texture."""
    return settings.fill == "smooth" or (settings.fill == "auto" and pixels.dtype.kind == "f")
