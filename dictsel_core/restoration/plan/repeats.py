"""Images that were enlarged by repeating their pixels: how they are recognized, and restored as such."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Canvas, Plane
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import Read, reads_of, within
from dictsel_core.restoration.plan.stage import (
    Blocks,
    PlanesReader,
    PlanStage,
    StageStep,
    StageSteps,
    planes_spec,
)
from dictsel_core.restoration.result import Stage

#: Where adjacent pixels differ along an axis; None if nothing is repeated.
Changes = frozenset[int] | None
#: How often rows or columns are repeated, and where the first repetition begins.
Repeat = tuple[int, int]

NOT_REPEATED: Repeat = (1, 0)
#: Places where pixels differ from which on all of them are on a grid by a chance of less than 1 in 30,000.
_MIN_CHANGES = 16
#: Rows or columns that are compared at once: of most images the first ones tell enough.
_STEP = 64
#: Work in units of the coding of all pixels.
_WORK = 0.05


def changes_of(image: NDArray[Any], missing: Bools, inner: Region, start: int, axis: int) -> Changes:
    """Return where pixels of a block differ from the ones above them, or to their left.

    Parameters
    ----------
    image : (h, w, C) ndarray
        The block, and at least one pixel around it unless it is at the border of the image.
    missing : (h, w, c) ndarray of bool
        Missing pixels are not compared.
    inner : (slice, slice)
        The block itself.
    start : int
        Its first row or column in the image.
    axis : {0, 1}
        Whether rows or columns are compared.
    """
    if axis == 1:
        image, missing, inner = image.swapaxes(0, 1), missing.swapaxes(0, 1), inner[::-1]
    rows, columns = inner
    first = max(rows.start, 1)
    found: Changes = frozenset()
    for left in range(columns.start, columns.stop, _STEP):
        part = slice(left, min(left + _STEP, columns.stop))
        differ = image[first : rows.stop, part] != image[first - 1 : rows.stop - 1, part]
        differ = differ & ~(missing[first : rows.stop, part] | missing[first - 1 : rows.stop - 1, part])
        places = np.flatnonzero(differ.any(axis=(1, 2))) + first - rows.start + start
        found = joint_changes(found, frozenset(places.tolist()))
        if found is None:
            break
    return found


def joint_changes(first: Changes, second: Changes) -> Changes:
    """Return where adjacent pixels differ in either of two blocks."""
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


@dataclass(frozen=True, eq=False)
class RepeatStage(PlanStage):
    """Makes the pixels of an enlarged image equal that were one.

    A missing pixel takes the value of an observed one that was the same, or the mean of all of them.
    """

    source: PlanesReader

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader) -> "RepeatStage":
        """Return the stage of a plan for an enlarged image."""
        kind: Stage = "refine" if plan.n_rounds else "code"
        return cls(plan, "repeat", kind, _WORK, (planes_spec(plan, "repeat"),), ("repeat",), source)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        outer = self._outer(region)
        return self.source.reads(outer) + reads_of(outer, "image", "mask")

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        yield StageStep(0.0)
        outer = self._outer(region)
        planes, canvas = self.source.joined(blocks), self.plan.canvas(*self.source.rest(blocks))
        rows, columns = (_starts(part, repeat) for part, repeat in zip(outer, self.plan.repeats, strict=True))
        inner = within(region, outer)
        equal = [
            _equalized(planes[:, :, channel], canvas, channel, rows, columns)[inner]
            for channel in range(canvas.n_channels)
        ]
        return (np.stack(equal, axis=2),)

    def _outer(self, region: Region) -> Region:
        """Return a region with the rest of the repeated pixels at its border."""
        rows, columns = (
            slice(
                max(offset + (part.start - offset) // size * size, 0),
                min(offset - (offset - part.stop) // size * size, length),
            )
            for part, (size, offset), length in zip(
                region, self.plan.repeats, self.plan.spec.shape, strict=True
            )
        )
        return rows, columns


def _starts(part: slice, repeat: Repeat) -> Ints:
    """Return where pixels that were one begin in a part of an axis, which begins with some."""
    size, offset = repeat
    later = np.arange((offset - part.start) % size or size, part.stop - part.start, size)
    return np.concatenate([[0], later])


def _equalized(plane: Plane, canvas: Canvas, channel: int, rows: Ints, columns: Ints) -> Plane:
    """Return a plane (h, w) with equal values in the missing pixels of each cell, which begin where given."""
    missing = canvas.mask(channel)
    observed = np.where(missing, np.float32(-1), canvas.plane(channel))
    known = np.maximum.reduceat(np.maximum.reduceat(observed, rows, axis=0), columns, axis=1)
    total = np.add.reduceat(np.add.reduceat(plane.astype(np.float64), rows, axis=0), columns, axis=1)
    heights = np.diff(rows, append=plane.shape[0])
    widths = np.diff(columns, append=plane.shape[1])
    mean = (total / np.multiply.outer(heights, widths)).astype(np.float32)
    values = np.where(known < 0, mean, known).repeat(heights, axis=0).repeat(widths, axis=1)
    return np.where(missing, values, plane)
