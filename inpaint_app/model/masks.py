"""Masks: kept in little memory, and painted by hand, where every change can be taken back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaint_app.model.picture import Mask, Rect

_Place = npt.NDArray[np.float64]
_PIECE = 64
_BAND = 1 << 20


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


@dataclass(frozen=True, eq=False)
class MaskDelta:
    """What a change of a mask has flipped; flipping it again takes the change back."""

    rect: Rect  #: Nothing outside of it is flipped.
    flipped: npt.NDArray[np.uint8]  #: Which entries of the rectangle are, one bit each.

    def unpacked(self, depth: int) -> Mask:
        """Return the entries of the rectangle that are flipped, (H, W, depth)."""
        shape = self.rect.height, self.rect.width, depth
        return np.unpackbits(self.flipped, count=int(np.prod(shape))).view(np.bool_).reshape(shape)

    def joined(self, later: MaskDelta, depth: int) -> MaskDelta | None:
        """Return both changes as one, for a mask with so many entries per pixel; None if nothing is left."""
        rect = self.rect.united(later.rect)
        flipped = np.zeros((rect.height, rect.width, depth), np.bool_)
        for delta in (self, later):
            _flip(flipped[delta.rect.within(rect).slices], delta)
        return _packed(rect, flipped)


class EndedStroke(NamedTuple):
    """A stroke that was painted."""

    rect: Rect  #: Around all that it covers.
    delta: MaskDelta | None  #: What it flips of that, if anything.
    covered: Mask  #: Which pixels of the rectangle it covers, flipped or not.


@dataclass(eq=False)
class _Stroke:
    """A stroke that is being painted; it flips no entry twice."""

    diameter: int
    value: bool
    row: float
    column: float
    covered: Mask  #: (H, W), flipped or not. Like `flipped`, it takes memory only where it is painted.
    flipped: Mask  #: Of the shape of the mask.
    rect: Rect = field(default=Rect(0, 0, 0, 0))  #: Around all that is covered.

    @property
    def delta(self) -> MaskDelta | None:
        """What it flips, if anything."""
        return _packed(self.rect, self.flipped[self.rect.slices])


class MaskPainter:
    """A mask that is painted on.

    A method that changes the mask as one step returns what it flips, or None where it flips nothing; within
    a stroke, methods return the rectangle outside of which nothing changed, or None. Positions are picture
    coordinates: the pixel in row r and column c covers r to r + 1 and c to c + 1. In masks with channels a
    pixel is painted in all of them.

    Parameters
    ----------
    mask : ndarray of bool, (H, W) or (H, W, C)
        True = missing; copied.
    """

    def __init__(self, mask: Mask) -> None:
        self._mask = np.array(mask, np.bool_, order="C")
        self._stroke: _Stroke | None = None

    @property
    def mask(self) -> Mask:
        """The mask as it is now: a read-only view that later edits change."""
        view = self._mask.view()
        view.flags.writeable = False
        return view

    @property
    def depth(self) -> int:
        """How many entries a pixel has."""
        return int(self._mask[0, 0].size)

    @property
    def fraction(self) -> float:
        """Fraction of all entries that is missing, 0 to 1."""
        return np.count_nonzero(self._mask) / self._mask.size

    @property
    def is_painting(self) -> bool:
        """Whether a stroke has begun and not ended."""
        return self._stroke is not None

    def begin_stroke(self, row: float, column: float, *, diameter: int, missing: bool = True) -> Rect | None:
        """Put a round brush down with its center there; it paints missing pixels, or erases them."""
        assert self._stroke is None, "the last stroke has ended"
        covered, flipped = np.zeros(self._mask.shape[:2], np.bool_), np.zeros(self._mask.shape, np.bool_)
        self._stroke = _Stroke(max(diameter, 1), missing, row, column, covered, flipped)
        return self.extend_stroke(row, column)

    def extend_stroke(self, row: float, column: float, *, diameter: int | None = None) -> Rect | None:
        """Draw the brush in a straight line to another place; nothing if no stroke has begun.

        It may become wider or narrower there.
        """
        stroke = self._stroke
        if stroke is None:
            return None
        stroke.diameter = stroke.diameter if diameter is None else max(diameter, 1)
        start = np.array([_snapped(stroke.row, stroke.diameter), _snapped(stroke.column, stroke.diameter)])
        end = np.array([_snapped(row, stroke.diameter), _snapped(column, stroke.diameter)])
        stroke.row, stroke.column = row, column
        # Long lines are drawn in pieces, whose bounding boxes hold few pixels beside the line.
        n_pieces = int(np.abs(end - start).max() // max(_PIECE, stroke.diameter)) + 1
        places = [start + (end - start) * (piece / n_pieces) for piece in range(n_pieces + 1)]
        drawn = [self._draw(stroke, *ends) for ends in pairwise(places)]
        rects = [rect for rect in drawn if rect is not None]
        return reduce(Rect.united, rects) if rects else None

    def fill_stroke(self, rect: Rect, where: Mask) -> Rect | None:
        """Paint some pixels of a rectangle inside the picture, as part of the stroke."""
        return None if self._stroke is None else self._paint(self._stroke, rect, where)

    def end_stroke(self) -> EndedStroke | None:
        """Lift the brush; return what was painted, or None if that is nothing."""
        stroke, self._stroke = self._stroke, None
        if stroke is None or stroke.rect.is_empty:
            return None
        return EndedStroke(stroke.rect, stroke.delta, stroke.covered[stroke.rect.slices].copy())

    def cancel_stroke(self) -> Rect | None:
        """Lift the brush and leave the mask as it was before the stroke."""
        stroke, self._stroke = self._stroke, None
        delta = None if stroke is None else stroke.delta
        if delta is None:
            return None
        self.flip(delta)
        return delta.rect

    def fill(self, rect: Rect, *, missing: bool = True, where: Mask | None = None) -> MaskDelta | None:
        """Make the pixels of a rectangle missing, or observed; only some of them if `where` is given."""
        inside = rect.clipped(self._mask.shape)
        flipped = self._mask[inside.slices] != missing
        if where is not None:
            assert inside == rect, "it is cut to the picture"
            flipped &= where if flipped.ndim == 2 else where[..., None]
        delta = _packed(inside, flipped)
        if delta is not None:
            self._mask[inside.slices] ^= flipped
        return delta

    def invert(self) -> MaskDelta:
        """Make missing what is observed, and the other way round."""
        np.logical_not(self._mask, out=self._mask)
        return MaskDelta(self._whole(), np.full(-(-self._mask.size // 8), 255, np.uint8))

    def replace(self, mask: Mask | None) -> MaskDelta | None:
        """Take over another mask of the same shape, or make every pixel observed."""
        if mask is not None and mask.shape != self._mask.shape:
            raise ValueError(f"the mask must be {self._mask.shape}, not {mask.shape}")

        def flipped(rect: Rect) -> Mask:
            part = self._mask[rect.slices]
            return part if mask is None else part != mask[rect.slices]

        # In bands, which need no memory as large as the mask.
        rects = [_bounds_of(flipped(band), band) for band in _bands(self._whole(), self._mask)]
        changed = [rect for rect in rects if rect is not None]
        if not changed:
            return None
        rect = reduce(Rect.united, changed)
        bits = [np.packbits(flipped(band)) for band in _bands(rect, self._mask)]
        delta = MaskDelta(rect, np.concatenate(bits))
        self.flip(delta)
        return delta

    def flip(self, delta: MaskDelta) -> None:
        """Take a change back, or make it again."""
        _flip(self._mask[delta.rect.slices], delta)

    def _whole(self) -> Rect:
        return Rect(0, 0, *self._mask.shape[:2])

    def _draw(self, stroke: _Stroke, start: _Place, end: _Place) -> Rect | None:
        rect = _bounds(start, end, stroke.diameter / 2).clipped(self._mask.shape)
        if rect.is_empty:
            return None
        return self._paint(stroke, rect, _capsule(rect, start, end, stroke.diameter / 2))

    def _paint(self, stroke: _Stroke, rect: Rect, painted: Mask) -> Rect | None:
        part = self._mask[rect.slices]
        flipped = (painted[..., None] if part.ndim == 3 else painted) & (part != stroke.value)
        part ^= flipped
        stroke.covered[rect.slices] |= painted
        stroke.flipped[rect.slices] |= flipped
        stroke.rect = stroke.rect.united(rect)
        return _bounds_of(flipped, rect)


def _packed(rect: Rect, flipped: Mask) -> MaskDelta | None:
    """Return a change, cut down to the rows and columns where something is flipped; None if nothing is."""
    bounds = _bounds_of(flipped, rect)
    if bounds is None:
        return None
    return MaskDelta(bounds, np.packbits(flipped[bounds.within(rect).slices]))


def _bounds_of(flipped: Mask, rect: Rect) -> Rect | None:
    """Return the rows and columns of a rectangle where something is flipped; None if nothing is."""
    if not flipped.any():
        return None
    # Reducing rows first is many times faster than reducing the channels of each pixel.
    rows = np.flatnonzero(flipped.reshape(len(flipped), -1).any(axis=1))
    columns = np.flatnonzero(flipped.any(axis=0).reshape(flipped.shape[1], -1).any(axis=1))
    row, column = int(rows[0]), int(columns[0])
    return Rect(rect.row + row, rect.column + column, int(rows[-1]) - row + 1, int(columns[-1]) - column + 1)


def _bands(rect: Rect, mask: Mask) -> list[Rect]:
    """Return the bands of a rectangle: eight rows are whole bytes, and a band stays in the cache."""
    n_entries = rect.width * mask[0, 0].size
    n_rows = 8 * max(1, _BAND // (8 * n_entries))
    return [
        Rect(rect.row + top, rect.column, min(n_rows, rect.height - top), rect.width)
        for top in range(0, rect.height, n_rows)
    ]


def _flip(part: Mask, delta: MaskDelta) -> None:
    """Flip what a change flips in the part of a mask that it belongs to."""
    n_entries = part[:1].size
    for rect in _bands(Rect(0, 0, *part.shape[:2]), part):
        band = part[rect.slices]
        packed = delta.flipped[rect.row * n_entries // 8 :]
        band ^= np.unpackbits(packed, count=band.size).view(np.bool_).reshape(band.shape)


def _snapped(position: float, diameter: int) -> float:
    """Move a brush so that its shape is the same everywhere: odd ones onto a pixel, even ones between two."""
    return float(np.floor(position) + 0.5) if diameter % 2 else float(np.rint(position))


def _bounds(start: _Place, end: _Place, radius: float) -> Rect:
    top, left = (int(number) for number in np.floor(np.minimum(start, end) - radius))
    bottom, right = (int(number) for number in np.ceil(np.maximum(start, end) + radius))
    return Rect(top, left, bottom - top, right - left)


def _capsule(rect: Rect, start: _Place, end: _Place, radius: float) -> Mask:
    """Return which pixels of a rectangle have their center within a radius of a segment."""
    rows = (np.arange(rect.row, rect.row + rect.height)[:, None] + 0.5 - start[0]).astype(np.float32)
    columns = (np.arange(rect.column, rect.column + rect.width) + 0.5 - start[1]).astype(np.float32)
    along = (end - start).astype(np.float32)
    length = along @ along
    if length:
        place = np.clip((rows * along[0] + columns * along[1]) / length, 0, 1)
        rows, columns = rows - place * along[0], columns - place * along[1]
    within: Mask = rows**2 + columns**2 <= radius**2 + 1e-3
    return within
