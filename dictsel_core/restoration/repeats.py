"""Images that were enlarged by repeating their pixels: how they are recognized, and restored as such."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.restoration.image import Image, Plane, Planes

#: Where adjacent pixels differ along an axis; None if nothing is repeated.
Changes = frozenset[int] | None
#: How often rows or columns are repeated, and where the first repetition begins.
Repeat = tuple[int, int]

NOT_REPEATED: Repeat = (1, 0)
#: Rows and columns of most images.
NOT_ENLARGED = NOT_REPEATED, NOT_REPEATED
#: Places where pixels differ from which on all of them are on a grid by a chance of less than 1 in 30,000.
_MIN_CHANGES = 16
#: Rows or columns that are compared at once: of most images the first ones tell enough.
_STEP = 64


def changes_of(image: NDArray[Any], missing: Bools, start: int, axis: int) -> Changes:
    """Return where pixels of a part of an image (h, w, C) differ from those above (axis 0) or left of them.

    Missing pixels are not compared. The part begins at row or column `start` of the image.
    """
    if axis == 1:
        image, missing = image.swapaxes(0, 1), missing.swapaxes(0, 1)
    found: Changes = frozenset()
    for left in range(0, image.shape[1], _STEP):
        pixels, hidden = image[:, left : left + _STEP], missing[:, left : left + _STEP]
        differ = (pixels[1:] != pixels[:-1]) & ~(hidden[1:] | hidden[:-1])
        places = np.flatnonzero(differ.any(axis=(1, 2))) + 1 + start
        found = joint_changes(found, frozenset(places.tolist()))
        if found is None:
            break
    return found


def joint_changes(first: Changes, second: Changes) -> Changes:
    """Return where adjacent pixels differ in either of two parts."""
    if first is None or second is None:
        return None
    if second <= first:  # as in most blocks below one another
        return first
    both = first | second
    return None if _grid(both) == 1 else both


def repeat_of(changes: Changes) -> Repeat:
    """Return how an image with these changes was enlarged along an axis."""
    if changes is None or len(changes) < _MIN_CHANGES:
        return NOT_REPEATED
    size = _grid(changes)
    return size, min(changes) % size


def _grid(places: Iterable[int]) -> int:
    """Return the largest distance of a regular grid with all these places; 0 for less than two."""
    first = min(places, default=0)
    return math.gcd(*(place - first for place in places))


def equalize(planes: Planes, image: Image, repeats: tuple[Repeat, Repeat], origin: tuple[int, int]) -> None:
    """Make the pixels of an enlarged image equal that were one, in place.

    A missing pixel takes the value of an observed one that was the same, or the mean of all of them. A tile
    begins at `origin`.
    """
    rows, columns = (
        _starts(slice(start, start + length), repeat)
        for start, length, repeat in zip(origin, image.shape, repeats, strict=True)
    )
    for channel in range(image.n_channels):
        planes[:, :, channel] = _equalized(planes[:, :, channel], image, channel, rows, columns)


def _starts(part: slice, repeat: Repeat) -> Ints:
    """Return where pixels that were one begin in a part of an axis."""
    size, offset = repeat
    later = np.arange((offset - part.start) % size or size, part.stop - part.start, size)
    return np.concatenate([[0], later])


def _equalized(plane: Plane, image: Image, channel: int, rows: Ints, columns: Ints) -> Plane:
    """Return a plane (h, w) with equal values in the missing pixels of each cell, which begin where given."""
    missing = image.mask(channel)
    observed = np.where(missing, np.float32(-1), image.plane(channel))
    known = np.maximum.reduceat(np.maximum.reduceat(observed, rows, axis=0), columns, axis=1)
    total = np.add.reduceat(np.add.reduceat(plane.astype(np.float64), rows, axis=0), columns, axis=1)
    heights = np.diff(rows, append=plane.shape[0])
    widths = np.diff(columns, append=plane.shape[1])
    mean = (total / np.multiply.outer(heights, widths)).astype(np.float32)
    cells = np.where(known < 0, mean, known)
    # `take`, unlike `repeat`, lets other threads run meanwhile.
    values = cells.take(np.arange(len(rows)).repeat(heights), axis=0)
    values = values.take(np.arange(len(columns)).repeat(widths), axis=1)
    return np.where(missing, values, plane)
