"""Long work in steps, so that it can be followed and abandoned: generators of the fraction that is done."""

from collections.abc import Callable, Generator
from typing import TypeVar

import numpy as np
from scipy import ndimage

from dictsel_core._util.parallel import part_of_work
from dictsel_core.detection.plane import Single

Result = TypeVar("Result")
Work = Generator[float, None, Result]
part = part_of_work

#: Pixels of a band of rows: few, so that what a filter needs stays in the cache.
_BAND_PIXELS = 1 << 17


def filter_in_bands(function: Callable[[Single], Single], plane: Single, margin: int) -> Work[Single]:
    """Apply a filter that reaches no further than `margin` rows, to bands of rows one after the other."""
    height, width = plane.shape
    step = max(8 * margin, _BAND_PIXELS // width, 1)
    filtered = np.empty_like(plane)
    for top in range(0, height, step):
        above = min(margin, top)
        band = function(plane[top - above : top + step + margin])
        filtered[top : top + step] = band[above : above + step]
        yield min(1.0, (top + step) / height)
    return filtered


def open_in_bands(plane: Single, size: int) -> Work[Single]:
    """Return the gray opening with a square of odd `size`."""
    return filter_in_bands(lambda band: ndimage.grey_opening(band, size=(size, size)), plane, size)
