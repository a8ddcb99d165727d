"""A mask in several sizes, so that large ones are drawn and edited quickly."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Mask, Rect

Bytes = npt.NDArray[np.uint8]

_SMALLEST = 256


class MaskPyramid:
    """How much of each screen-sized square of a mask is marked.

    Level 0 is the mask itself; level n has ceil(H / 2^n) x ceil(W / 2^n) entries, each the fraction of its
    2^n x 2^n pixels that are marked, as 0 to 255. May be made in any thread.

    Parameters
    ----------
    mask : ndarray of bool, (H, W) or (H, W, C)
        What is marked, in any channel.
    without : PackedMask, optional
        What of it is left out, of the same shape.
    """

    def __init__(self, mask: Mask, without: PackedMask | None = None) -> None:
        self._without = without
        height, width = mask.shape[:2]
        self._levels: list[Bytes] = [np.zeros((height, width), np.uint8)]
        while max(height, width) > _SMALLEST:
            height, width = -(-height // 2), -(-width // 2)
            self._levels.append(np.zeros((height, width), np.uint8))
        self.update(mask, Rect(0, 0, *mask.shape[:2]))

    @classmethod
    def of_rects(cls, rects: Sequence[Rect], shape: tuple[int, int]) -> "MaskPyramid":
        """Return the mask of all pixels inside some rectangles."""
        covered = np.zeros(shape, np.bool_)
        for row, column, height, width in rects:
            covered[max(row, 0) : max(row + height, 0), max(column, 0) : max(column + width, 0)] = True
        return cls(covered)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the mask."""
        return self._levels[0].shape[0], self._levels[0].shape[1]

    @property
    def is_dense(self) -> bool:
        """Whether more than half of the mask is marked, or nearly so."""
        return bool(self._levels[-1].mean() > 127)

    def level(self, number: int) -> Bytes:
        """Return one level."""
        return self._levels[number]

    def best(self, zoom: float) -> int:
        """Return the finest level with no more entries than screen pixels, or the coarsest there is."""
        number = 0
        while number + 1 < len(self._levels) and zoom * 2**number < 1:
            number += 1
        return number

    def update(self, mask: Mask, rect: Rect) -> None:
        """Update a part of the mask that has changed.

        Parameters
        ----------
        mask : ndarray of bool, (H, W) or (H, W, C)
            The whole mask as it is now.
        rect : Rect
            Nothing outside of it has changed.
        """
        rect = rect.clipped(mask.shape)
        if rect.is_empty:
            return
        part = mask[rect.slices]
        if self._without is not None:
            part = part & ~self._without.part(rect)
        marked = part.any(axis=2) if part.ndim == 3 else part
        np.multiply(marked, np.uint8(255), out=self._levels[0][rect.slices])
        for finer, coarser in zip(self._levels, self._levels[1:], strict=False):
            top, left = rect.row // 2, rect.column // 2
            bottom, right = (rect.row + rect.height + 1) // 2, (rect.column + rect.width + 1) // 2
            rect = Rect(top, left, bottom - top, right - left)
            coarser[rect.slices] = _halved(finer[2 * top : 2 * bottom, 2 * left : 2 * right])


def _halved(values: Bytes) -> Bytes:
    """Return means over 2 x 2 entries; the last row and column of odd sizes count twice."""
    height, width = values.shape
    if height % 2 or width % 2:
        values = np.pad(values, ((0, height % 2), (0, width % 2)), mode="edge")
    rows = _mean(values[0::2], values[1::2])
    return _mean(rows[:, 0::2], rows[:, 1::2])


def _mean(a: Bytes, b: Bytes) -> Bytes:
    """Return means rounded up, so that what is full stays full and a single pixel is not lost."""
    means: Bytes = (a | b) - ((a ^ b) >> 1)
    return means
