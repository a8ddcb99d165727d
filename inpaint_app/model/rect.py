"""Rectangles of whole pixels."""

from __future__ import annotations

from typing import NamedTuple


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
