"""A mask that is kept for later, in little memory, and what it consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from inpaint_app.model.missing import Mask
from inpaint_app.model.rect import Rect


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
