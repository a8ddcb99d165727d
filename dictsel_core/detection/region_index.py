"""Which regions lie at a place, found fast enough to follow the pointer."""

from collections.abc import Sequence

import numpy as np

from dictsel_core._support.validation import Ints
from dictsel_core.detection.regions import Regions


class RegionIndex:
    """The pixels of all regions of a picture, in the order of the picture.

    Parameters
    ----------
    shape : (int, int)
        Of the picture.
    parts : sequence of Regions
        Regions are numbered through all of them.
    """

    def __init__(self, shape: tuple[int, int], parts: Sequence[Regions]) -> None:
        self._shape = shape
        starts = np.cumsum([0, *(len(part) for part in parts)])
        pixels = np.concatenate([np.zeros(0, np.intp), *(part.pixels for part in parts)])
        numbers = [part.numbers() + start for part, start in zip(parts, starts, strict=False)]
        order = np.argsort(pixels, kind="stable")
        self._pixels = pixels[order]
        self._numbers = np.concatenate([np.zeros(0, np.intp), *numbers])[order]

    def near(self, row: int, column: int, radius: int) -> Ints:
        """Return the regions within a radius of a pixel, the nearest first; none twice."""
        height, width = self._shape
        rows = np.arange(max(0, row - radius), min(height, row + radius + 1))
        first, last = max(0, column - radius), min(width - 1, column + radius)
        if not len(rows) or first > last:
            return np.zeros(0, np.intp)
        begin = np.searchsorted(self._pixels, rows * width + first)
        end = np.searchsorted(self._pixels, rows * width + last, side="right")
        entries = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)])
        y, x = np.divmod(self._pixels[entries], width)
        away = np.hypot(y - row, x - column)
        order = np.argsort(away, kind="stable")
        numbers = self._numbers[entries][order][away[order] <= radius]
        firsts = np.sort(np.unique(numbers, return_index=True)[1])
        return np.asarray(numbers[firsts])
