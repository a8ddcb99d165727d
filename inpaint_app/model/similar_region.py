"""The connected pixels that look like one of them."""

import numpy as np

from inpaint_app.model.missing import Mask
from inpaint_app.model.picture import Picture, full_scale
from inpaint_app.model.rect import Rect


def similar_region(picture: Picture, row: int, column: int, tolerance: float) -> tuple[Rect, Mask]:
    """Return the pixels of nearly the color of one, connected with it: a rectangle, and which lie in it.

    No channel may differ by more than the tolerance, in levels of 255.
    """
    from skimage.segmentation import flood  # noqa: PLC0415  (slow to import)

    pixels = np.atleast_3d(picture.pixels)
    color, most = pixels[row, column].astype(float), tolerance / 255 * full_scale(pixels.dtype)
    near = ((pixels >= color - most) & (pixels <= color + most)).all(axis=2)
    near[row, column] = True  # even if it is not a number
    region = flood(near, (row, column), connectivity=1)
    rows, columns = (np.flatnonzero(region.any(axis=axis)) for axis in (1, 0))
    rect = Rect(int(rows[0]), int(columns[0]), int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1)
    return rect, region[rect.slices]
