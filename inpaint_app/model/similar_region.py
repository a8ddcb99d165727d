"""The connected pixels that look like one of them."""

import numpy as np

from inpaint_app.model.missing import KEY_TOLERANCE, Mask
from inpaint_app.model.picture import Picture, full_scale
from inpaint_app.model.rect import Rect


def similar_region(picture: Picture, row: int, column: int) -> tuple[Rect, Mask]:
    """Return the pixels of nearly the color of one, connected with it: a rectangle, and which lie in it.

    No channel may differ by more than `KEY_TOLERANCE` levels of 255.
    """
    from scipy import ndimage  # noqa: PLC0415  (slow to import)

    pixels = picture.pixels if picture.is_color else picture.pixels[..., None]
    tolerance = KEY_TOLERANCE / 255 * full_scale(pixels.dtype)
    near = np.ones(pixels.shape[:2], np.bool_)
    for channel in range(pixels.shape[2]):
        values = pixels[..., channel]
        value = float(values[row, column])
        near &= (values >= value - tolerance) & (values <= value + tolerance)
    near[row, column] = True  # even if it is not a number
    labels, _ = ndimage.label(near)
    found = ndimage.find_objects((labels == labels[row, column]).astype(np.int32))[0]
    return Rect.from_slices(*found), labels[found] == labels[row, column]
