"""Paint a mask by hand, with undo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from inpaint_app.model.mask_origin import MaskOrigin
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.rect import Rect

#: How much memory the steps that can be undone may take by default.
HISTORY_BYTES = 64 * 2**20

_Place = npt.NDArray[np.float64]
_PIECE = 64
_BAND = 1 << 20


@dataclass(frozen=True, eq=False)
class _Step:
    """Which entries of a rectangle were flipped, one bit each."""

    rect: Rect
    flipped: npt.NDArray[np.uint8]
    state: int = 0
    """Number of the state of the mask that it leads to."""


@dataclass(eq=False)
class _Stroke:
    """A stroke that is being painted; it flips no entry twice."""

    diameter: int
    value: bool
    row: float
    column: float
    segments: list[_Step]
    painted: Rect | None = None
    """Around all that it covers, flipped or not."""


class MaskHistory:
    """A mask that is painted on, and the steps that lead back and forth.

    Every method that changes the mask returns the rectangle outside of which nothing changed, or None
    where nothing changed at all. Positions are picture coordinates: the pixel in row r and column c
    covers r to r + 1 and c to c + 1. In masks with channels a pixel is painted in all of them.

    Parameters
    ----------
    mask : ndarray of bool, (H, W) or (H, W, C)
        True = missing; copied. It is known from elsewhere, not painted.
    max_bytes : int
        Memory for steps; the oldest are forgotten first. The last step is always kept.
    """

    def __init__(self, mask: Mask, *, max_bytes: int = HISTORY_BYTES) -> None:
        self._mask = np.array(mask, np.bool_, order="C")
        self._max_bytes = max_bytes
        self._done: list[_Step] = []
        self._undone: list[_Step] = []
        self._stroke: _Stroke | None = None
        #: Numbers of states: before the first step that is kept, the last one made, those that were saved.
        self._first, self._newest = 0, 0
        self._saved = {0}
        self._origins = {0: MaskOrigin()}
        #: Number of the state that was proposed last.
        self._detected = -1
        #: The last snapshot, and the number of its state.
        self._snapshot: tuple[int, PackedMask] | None = None

    @property
    def mask(self) -> Mask:
        """The mask as it is now: a read-only view that later edits change."""
        view = self._mask.view()
        view.flags.writeable = False
        return view

    def snapshot(self) -> PackedMask:
        """Return the mask as it is now, which later edits do not change; the same object until the next edit.

        It is packed, because new memory for all entries of a large mask takes longer than a frame.
        """
        if self.is_painting:
            return PackedMask.pack(self._mask, self.origin)
        if self._snapshot is None or self._snapshot[0] != self.state:
            self._snapshot = self.state, PackedMask.pack(self._mask, self.origin)
        return self._snapshot[1]

    @property
    def is_painting(self) -> bool:
        """Whether a stroke has begun and not ended."""
        return self._stroke is not None

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._undone)

    @property
    def origin(self) -> MaskOrigin:
        """How the mask as it is now came about."""
        return self._origins[self.state]

    @property
    def is_saved(self) -> bool:
        """Whether the mask as it is now was given as a whole, or noted as saved."""
        return self.state in self._saved

    def mark_saved(self) -> None:
        """Remember that the mask as it is now is safe elsewhere."""
        self._saved.add(self.state)

    @property
    def state(self) -> int:
        """Number of the mask as it is now; undo and redo come back to the same number."""
        return self._done[-1].state if self._done else self._first

    @property
    def states(self) -> frozenset[int]:
        """Numbers of the mask as it is now and as undo can make it."""
        return frozenset((self._first, *(step.state for step in self._done)))

    def begin_stroke(self, row: float, column: float, *, diameter: int, missing: bool = True) -> Rect | None:
        """Put a round brush down with its center there; it paints missing pixels, or erases them."""
        self.end_stroke()
        self._stroke = _Stroke(max(diameter, 1), missing, row, column, [])
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

    def end_stroke(self) -> Rect | None:
        """Lift the brush: the stroke becomes one step."""
        stroke, self._stroke = self._stroke, None
        if stroke is None or not stroke.segments:
            return None
        return self._keep_stroke(stroke, _around(stroke.segments))

    def end_covering_stroke(self) -> Rect | None:
        """Lift the brush: the stroke becomes one step, even if it flipped nothing; return all it covers."""
        stroke, self._stroke = self._stroke, None
        if stroke is None or stroke.painted is None:
            return None
        return self._keep_stroke(stroke, stroke.painted)

    def _keep_stroke(self, stroke: _Stroke, rect: Rect) -> Rect:
        flipped = np.zeros_like(self._mask[rect.slices])
        for step in stroke.segments:
            _flip(flipped[step.rect.within(rect).slices], step)
        self._keep(_Step(rect, np.packbits(flipped)), replace(self.origin, is_painted=True))
        return rect

    def cancel_stroke(self) -> Rect | None:
        """Lift the brush and leave the mask as it was before the stroke."""
        stroke, self._stroke = self._stroke, None
        if stroke is None or not stroke.segments:
            return None
        for step in stroke.segments:
            _flip(self._mask[step.rect.slices], step)
        return _around(stroke.segments)

    def fill(self, rect: Rect, *, missing: bool = True, where: Mask | None = None) -> Rect | None:
        """Make the pixels of a rectangle missing, or observed; only some of them if `where` is given."""
        self.end_stroke()
        inside = rect.clipped(self._mask.shape)
        flipped = self._mask[inside.slices] != missing
        if where is not None:
            assert inside == rect, "it is cut to the picture"
            flipped &= where if flipped.ndim == 2 else where[..., None]
        return self._apply(inside, flipped, replace(self.origin, is_painted=True))

    def clear(self) -> Rect | None:
        """Make every pixel observed."""
        self.end_stroke()
        return self._become(None, MaskOrigin(is_given=False))

    def invert(self) -> Rect | None:
        """Make missing what is observed, and the other way round."""
        self.end_stroke()
        np.logical_not(self._mask, out=self._mask)
        everything = np.full(-(-self._mask.size // 8), 255, np.uint8)
        self._keep(
            _Step(self._whole(), everything), replace(self.origin, is_inverted=not self.origin.is_inverted)
        )
        return self._whole()

    def replace(self, mask: Mask, origin: MaskOrigin | None = None) -> Rect | None:
        """Take over another mask of the same shape, as one step.

        Without an origin it is known from elsewhere, and need not be saved.
        """
        if mask.shape != self._mask.shape:
            raise ValueError(f"the mask must be {self._mask.shape}, not {mask.shape}")
        self.end_stroke()
        new_origin = origin or MaskOrigin()
        rect = self._become(mask, new_origin)
        self._origins[self.state] = new_origin
        if new_origin == MaskOrigin():
            self._saved.add(self.state)
        return rect

    def mark_detected(self, mask: Mask) -> Rect | None:
        """Take over a mask with detected damage, as one step together with the last such mask.

        Nothing is kept in between, unless the mask was painted on since.
        """
        self.end_stroke()
        before = self._done.pop() if self._done and self.state == self._detected else None
        if before is not None:
            _flip(self._mask[before.rect.slices], before)
        rect = self._become(mask, replace(self.origin, is_detected=True))
        if rect is not None:
            self._detected = self.state
        if before is None or rect is None:
            return rect if before is None else before.rect
        return rect.united(before.rect)

    def undo(self) -> Rect | None:
        """Undo the last step."""
        self.end_stroke()
        return self._move(self._done, self._undone)

    def redo(self) -> Rect | None:
        """Redo the last undone step."""
        self.end_stroke()
        return self._move(self._undone, self._done)

    def _whole(self) -> Rect:
        return Rect(0, 0, *self._mask.shape[:2])

    def _draw(self, stroke: _Stroke, start: _Place, end: _Place) -> Rect | None:
        rect = _bounds(start, end, stroke.diameter / 2).clipped(self._mask.shape)
        if rect.is_empty:
            return None
        return self._paint(stroke, rect, _capsule(rect, start, end, stroke.diameter / 2))

    def _paint(self, stroke: _Stroke, rect: Rect, painted: Mask) -> Rect | None:
        stroke.painted = rect if stroke.painted is None else stroke.painted.united(rect)
        part = self._mask[rect.slices]
        flipped = (painted[..., None] if part.ndim == 3 else painted) & (part != stroke.value)
        step = _packed(rect, flipped)
        if step is None:
            return None
        part ^= flipped
        stroke.segments.append(step)
        return step.rect

    def _become(self, target: Mask | None, origin: MaskOrigin) -> Rect | None:
        """Take over another mask, or an empty one; in bands, which need no memory as large as the mask."""

        def flipped(rect: Rect) -> Mask:
            part = self._mask[rect.slices]
            return part if target is None else part != target[rect.slices]

        rects = [_bounds_of(flipped(band), band) for band in _bands(self._whole(), self._mask)]
        changed = [rect for rect in rects if rect is not None]
        if not changed:
            return None
        rect = reduce(Rect.united, changed)
        bands = _bands(rect, self._mask)
        step = _Step(rect, np.concatenate([np.packbits(flipped(band)) for band in bands]))
        _flip(self._mask[rect.slices], step)
        self._keep(step, origin)
        return rect

    def _apply(self, rect: Rect, flipped: Mask, origin: MaskOrigin) -> Rect | None:
        step = _packed(rect, flipped)
        if step is None:
            return None
        self._mask[rect.slices] ^= flipped
        self._keep(step, origin)
        return step.rect

    def _keep(self, step: _Step, origin: MaskOrigin) -> None:
        self._newest += 1
        self._origins[self._newest] = origin
        self._done.append(replace(step, state=self._newest))
        self._undone.clear()
        while len(self._done) > 1 and sum(step.flipped.nbytes for step in self._done) > self._max_bytes:
            self._first = self._done.pop(0).state

    def _move(self, source: list[_Step], target: list[_Step]) -> Rect | None:
        if not source:
            return None
        step = source.pop()
        _flip(self._mask[step.rect.slices], step)
        target.append(step)
        return step.rect


def _packed(rect: Rect, flipped: Mask) -> _Step | None:
    """Return a step, cut down to the rows and columns where something is flipped; None if nothing is."""
    bounds = _bounds_of(flipped, rect)
    if bounds is None:
        return None
    return _Step(bounds, np.packbits(flipped[bounds.within(rect).slices]))


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


def _flip(part: Mask, step: _Step) -> None:
    """Flip what a step flips in the part of a mask that it belongs to."""
    n_entries = part[:1].size
    for rect in _bands(Rect(0, 0, *part.shape[:2]), part):
        band = part[rect.slices]
        packed = step.flipped[rect.row * n_entries // 8 :]
        band ^= np.unpackbits(packed, count=band.size).view(np.bool_).reshape(band.shape)


def _around(steps: list[_Step]) -> Rect:
    return reduce(Rect.united, (step.rect for step in steps))


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
