"""Parts of a picture: rectangles of whole pixels, and masks, which can be kept in little memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


class Rect(NamedTuple):
    """Pixels of `height` rows from `row` and `width` columns from `column`; may be empty."""

    row: int
    column: int
    height: int
    width: int

    @classmethod
    def from_slices(cls, rows: slice, columns: slice) -> Rect:
        """Return the rectangle of two slices."""
        return cls(rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start)

    @property
    def is_empty(self) -> bool:
        """Whether there is no pixel in it."""
        return self.height <= 0 or self.width <= 0

    @property
    def slices(self) -> tuple[slice, slice]:
        """Index of these pixels in an array (H, W, ...) that holds them all."""
        return slice(self.row, self.row + self.height), slice(self.column, self.column + self.width)

    @property
    def center(self) -> tuple[int, int]:
        """Row and column of the pixel in its middle."""
        return self.row + self.height // 2, self.column + self.width // 2

    def contains(self, pixel: tuple[int, int]) -> bool:
        """Return whether a pixel, given by row and column, lies in it."""
        row, column = pixel[0] - self.row, pixel[1] - self.column
        return 0 <= row < self.height and 0 <= column < self.width

    def united(self, other: Rect) -> Rect:
        """Return the smallest rectangle around both."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        row, column = min(self.row, other.row), min(self.column, other.column)
        bottom = max(self.row + self.height, other.row + other.height)
        right = max(self.column + self.width, other.column + other.width)
        return Rect(row, column, bottom - row, right - column)

    def clipped(self, shape: tuple[int, ...]) -> Rect:
        """Return the part of it within an array of this shape, which may be empty."""
        row, column = max(self.row, 0), max(self.column, 0)
        bottom = min(self.row + self.height, shape[0])
        right = min(self.column + self.width, shape[1])
        return Rect(row, column, max(bottom - row, 0), max(right - column, 0))

    def widened(self, pixels: int, shape: tuple[int, ...]) -> Rect:
        """Return it with so many more pixels on all sides, within an array of this shape."""
        row, column, height, width = self
        return Rect(row - pixels, column - pixels, height + 2 * pixels, width + 2 * pixels).clipped(shape)

    def within(self, outer: Rect) -> Rect:
        """Return it as a part of a larger rectangle, counted from the first pixel of that."""
        return Rect(self.row - outer.row, self.column - outer.column, self.height, self.width)


@dataclass(frozen=True)
class MaskOrigin:
    """What a mask consists of."""

    #: Whether anything of it is left that was found in the picture, a mask file or by a color.
    is_given: bool = True
    is_painted: bool = False  #: Whether it was painted on since.
    is_detected: bool = False  #: Whether damage was detected in the picture, and added.
    is_inverted: bool = False  #: Whether missing and observed pixels were swapped since.


@dataclass(frozen=True, eq=False)
class PackedMask:
    """A mask, one bit per entry."""

    bits: npt.NDArray[np.uint8]  #: Its entries, eight to a byte.
    shape: tuple[int, ...]  #: (H, W) or (H, W, C).
    fraction: float  #: Fraction of all entries that is missing, 0 to 1.
    origin: MaskOrigin = field(default_factory=MaskOrigin)  #: How it came about.

    @classmethod
    def pack(cls, mask: Mask, origin: MaskOrigin | None = None) -> PackedMask:
        """Return a mask packed."""
        fraction = np.count_nonzero(mask) / mask.size  # many times faster than the mean
        return cls(np.packbits(mask), mask.shape, fraction, origin or MaskOrigin())

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> PackedMask:
        """Return a mask of which nothing is missing."""
        return cls(np.zeros(-(-int(np.prod(shape)) // 8), np.uint8), shape, 0.0)

    def unpack(self) -> Mask:
        """Return the mask as an array of bool."""
        size = int(np.prod(self.shape))
        return np.unpackbits(self.bits, count=size).view(np.bool_).reshape(self.shape)

    def part(self, rect: Rect) -> Mask:
        """Return the entries within a rectangle, which must lie inside, as an array of bool."""
        per_row = int(np.prod(self.shape[1:]))
        first, end = rect.row * per_row, (rect.row + rect.height) * per_row
        bits = np.unpackbits(self.bits[first // 8 : -(-end // 8)])[first % 8 :][: end - first]
        rows = bits.view(np.bool_).reshape(rect.height, *self.shape[1:])
        return rows[:, rect.column : rect.column + rect.width]

    def same_pixels(self, other: PackedMask) -> bool:
        """Return whether another mask marks the same pixels."""
        if self is other:
            return True
        return self.shape == other.shape and np.array_equal(self.bits, other.bits)
