"""Wide holes: pixels too far from all observed ones to be restored from these."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import has_square
from dictsel_core._util.validation import Bools, as_bool_mask
from dictsel_core.restoration.settings import REACH


def has_wide_hole(mask: ArrayLike) -> bool:
    """Return whether pixels are so far from all observed ones that a smooth fill leaves them blurred.

    Such a hole is wider than 16 pixels, or than 8 at the border of the image, in all channels; or it is a
    spot wider than 10 pixels with little else missing around it. With the default settings, `restore` fills
    it with texture, except in images of floats, and in spots with smooth surroundings.

    Parameters
    ----------
    mask : array_like of bool, (H, W) or (H, W, C)
        True = missing.

    See Also
    --------
    RestoreSettings : Its `fill` is how wide holes are filled.
    """
    missing = as_bool_mask(mask)
    if missing.ndim not in (2, 3):
        raise ValueError(f"mask must be (H, W) or (H, W, C), but its shape is {missing.shape}.")
    return bool(wide_pixels(missing if missing.ndim == 3 else missing[:, :, None], REACH["auto"]).any())


def wide_pixels(missing: Bools, reach: int) -> Bools:
    """Return the pixels of a mask (H, W, c) in holes that are to be filled with texture: (H, W).

    They are farther than `reach` from all observed pixels, or near such ones, or in spots; see `wide_parts`.
    If `reach` is 0, there are none. Where a channel is observed, the others are estimated from it; a hole is
    where all are missing.
    """
    holes = np.asarray(missing.all(axis=2))
    if not reach or not has_square(holes, min(REACH.values())):
        return np.zeros_like(holes)
    from dictsel_core.completion import wide_parts  # noqa: PLC0415  (scipy is slow to import)

    return wide_parts(holes, reach)
