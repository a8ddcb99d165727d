"""Holes of an image that are too wide to be restored from their border, and the parts they are filled in."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects, label, maximum_filter, minimum_filter

from dictsel_core._util.arrays import Region, grown, has_square, parts_of, within
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.completion.scale import PATCH_SIZE

#: Top, left, bottom and right of a rectangle.
Box = tuple[int, int, int, int]

#: Around the pixels that are far from everything observed, the hole is filled up to this much farther.
_MARGIN = 4
#: A spot has pixels farther than this from all observed ones, is at most so high and wide, and at most this
#: fraction of the pixels that far from its middle is missing besides.
_SPOT_REACH, _SPOT_LENGTH, _SPOT_MISSING = 5, 24, 0.03
#: Height and width of the cells in which holes are found. Holes that share patches are in neighboring cells.
CELL = 16
#: Larger holes are filled part by part, each of this height and width.
_MAX_LENGTH = 1024
#: Around a hole, this many pixels are searched for something to copy.
_MIN_CONTEXT, MAX_CONTEXT = 32, 128
#: Values of all patches around a hole; limits the context.
_MAX_VALUES = 1 << 24


def wide_parts(missing: Bools, reach: int) -> Bools:
    """Return the parts of a mask (H, W) in which pixels are farther than `reach` from all observed ones.

    Distances are the larger of those in rows and columns, so these parts are wider than 2 * reach pixels, or
    wider than `reach` at the border of the image. They contain all missing pixels of the squares of this
    width that are missing entirely, and a few around those; thin scratches that end in a hole are no part of
    it. Spots, holes wider than 10 pixels with little else missing around them, are returned too.
    """
    wide = _spots(missing)
    if not has_square(missing, reach):
        return wide
    part = grown(find_objects(missing.view(np.uint8))[0], reach, missing.shape)
    near = maximum_filter(far_from_observed(missing[part], reach), 2 * (reach + _MARGIN) + 1, mode="constant")
    wide[part] |= missing[part] & near.view(bool)
    return wide


def far_from_observed(missing: Bools, reach: int) -> NDArray[np.uint8]:
    """Return pixels farther than `reach` from all observed ones; those beyond the image are not observed."""
    filtered = minimum_filter(missing.view(np.uint8), 2 * reach + 1, mode="constant", cval=1)
    return np.asarray(filtered, np.uint8)


def _missing_blocks(missing: Bools, size: int) -> Bools:
    """Return which of the adjacent size x size blocks of a mask are missing entirely.

    A square of 2 * size - 1 pixels contains one of them, or what of it is in the image.
    """
    down = np.logical_and.reduceat(missing, np.arange(0, missing.shape[0], size), axis=0)
    return np.asarray(np.logical_and.reduceat(down, np.arange(0, missing.shape[1], size), axis=1))


def _spots(missing: Bools) -> Bools:
    """Return the spots of a mask: no strokes, no letters, and nothing among many dropped pixels."""
    size, far, spots = _SPOT_REACH + 1, 2 * _SPOT_LENGTH, np.zeros_like(missing)
    blocks, _ = label(_missing_blocks(missing, size), np.ones((3, 3)))
    for number, box in enumerate(find_objects(blocks), 1):
        if max(each.stop - each.start for each in box) * size > _SPOT_LENGTH:
            continue
        row = box[0].start * size
        column = (box[1].start + int(np.argmax(blocks[box][0] == number))) * size
        top, left = max(row - far, 0), max(column - far, 0)
        around = missing[top : row + far, left : column + far]
        if np.count_nonzero(around) > around.size // 2:
            continue
        holes, _ = label(around, np.ones((3, 3)))
        hole = holes == holes[row - top, column - left]
        places = np.nonzero(hole)
        lengths = [np.ptp(each) + 1 for each in places]
        if max(lengths) > _SPOT_LENGTH or not far_from_observed(hole, _SPOT_REACH).any():
            continue
        middle = [int(each.min() + each.max()) // 2 for each in places]
        near = tuple(slice(max(at - _SPOT_LENGTH, 0), at + _SPOT_LENGTH) for at in middle)
        if np.count_nonzero(around[near] & ~hole[near]) <= _SPOT_MISSING * (2 * _SPOT_LENGTH) ** 2:
            spots[top : row + far, left : column + far] |= hole
    return spots


def hole_cells(wide: Bools, top: int = 0, left: int = 0) -> Ints:
    """Return the cells of an image with pixels of wide holes: number down and across, box of these (N, 6).

    `wide` is a block of the image that begins at `top` and `left`, multiples of the size of a cell.
    """
    pixels = np.argwhere(wide) + np.array([top, left])
    cells, numbers = np.unique(pixels // CELL, axis=0, return_inverse=True)
    found = np.empty((len(cells), 6), np.intp)
    found[:, :2] = cells
    found[:, 2:4], found[:, 4:] = np.iinfo(np.intp).max, 0
    np.minimum.at(found[:, 2:4], numbers, pixels)
    np.maximum.at(found[:, 4:], numbers, pixels + 1)
    return found


def hole_boxes(cells: Ints, shape: tuple[int, int]) -> tuple[Box, ...]:
    """Return the boxes of all holes of an image, and of what shares patches with them, from top to bottom.

    Cells are those of `hole_cells`. Holes in neighboring ones are one, and so are those whose boxes overlap,
    so that a box holds all of a hole and nothing of another.
    """
    if not len(cells):
        return ()
    marked = np.zeros(cells[:, :2].max(axis=0) + 1, bool)
    marked[cells[:, 0], cells[:, 1]] = True
    numbers = _rectangles(marked)[cells[:, 0], cells[:, 1]] - 1
    boxes = np.empty((numbers.max() + 1, 4), np.intp)
    boxes[:, :2], boxes[:, 2:] = np.iinfo(np.intp).max, 0
    np.minimum.at(boxes[:, :2], numbers, cells[:, 2:4])
    np.maximum.at(boxes[:, 2:], numbers, cells[:, 4:])
    margin = PATCH_SIZE - 1
    boxes[:, :2] = np.maximum(boxes[:, :2] - margin, 0)
    boxes[:, 2:] = np.minimum(boxes[:, 2:] + margin, shape)
    return tuple(sorted((int(a), int(b), int(c), int(d)) for a, b, c, d in boxes))


def _rectangles(marked: Bools) -> Ints:
    """Return a number for each marked cell: that of the rectangle it is in, apart from all others."""
    n_before = -1
    while True:
        labels, n = label(marked, np.ones((3, 3)))
        if n == n_before:
            return np.asarray(labels)
        n_before = n
        for rectangle in find_objects(labels):
            marked[rectangle] = True


@dataclass(frozen=True)
class HolePart:
    """A hole, or a part of a large one."""

    box: Region  #: All pixels of holes in it are filled.
    region: Region  #: What is used for that.
    wave: int  #: Parts depend on those of earlier waves, and on none of their own.

    def overlaps(self, region: Region) -> bool:
        """Return whether the box overlaps a region."""
        return all(a.start < b.stop and b.start < a.stop for a, b in zip(self.box, region, strict=True))

    def hole(self, wide: Bools) -> Bools:
        """Return the pixels to fill, among those of all holes in the region."""
        mask, box = np.zeros_like(wide), within(self.box, self.region)
        mask[box] = wide[box]
        return mask

    def with_sources(self, sources: Bools) -> "HolePart":
        """Return the part with a region that holds all pixels (H, W) that may be copied."""
        boxes = find_objects(sources.astype(np.uint8)) or [self.region]
        rows, columns = (
            slice(min(a.start, b.start), max(a.stop, b.stop))
            for a, b in zip(self.region, boxes[0], strict=True)
        )
        return replace(self, region=(rows, columns))


def hole_parts(boxes: Iterable[Box], shape: tuple[int, int], n_channels: int) -> list[HolePart]:
    """Return the parts in which holes are filled."""
    parts = []
    for top, left, bottom, right in boxes:
        for rows, columns in parts_of((bottom - top, right - left), _MAX_LENGTH):
            box = slice(top + rows.start, top + rows.stop), slice(left + columns.start, left + columns.stop)
            wave = 2 * (rows.start // _MAX_LENGTH % 2) + columns.start // _MAX_LENGTH % 2
            parts.append(HolePart(box, _surrounded(box, shape, n_channels), wave))
    return parts


def _surrounded(box: Region, shape: tuple[int, ...], n_channels: int) -> Region:
    """Return a box with as much around it as the patches there may have values."""
    height, width = (each.stop - each.start for each in box)
    n_patches = _MAX_VALUES / (n_channels * PATCH_SIZE**2)
    # (height + 2 c) (width + 2 c) - height width = n_patches
    context = (np.hypot((height + width), 2 * np.sqrt(n_patches)) - (height + width)) / 4
    return grown(box, int(np.clip(context, _MIN_CONTEXT, MAX_CONTEXT)), shape)
