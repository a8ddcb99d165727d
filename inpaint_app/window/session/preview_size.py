"""How large a preview may be so that it appears soon; no Qt."""

from __future__ import annotations

from inpaint_app.image.rect import Rect

_TARGET_SECONDS = 0.4
"""From the request to the first image; refinement follows."""
_MIN_SIDE, _MAX_SIDE = 48, 768
_FIRST_SIDE = 160
_TOLERANCE = 1.3
"""Sides that differ by less than this factor are not worth a preview of another size."""


class PreviewSize:
    """The side of the square that a preview restores, learnt from how long earlier ones took."""

    def __init__(self) -> None:
        self.side = _FIRST_SIDE

    def choose(self, visible: Rect | None, shape: tuple[int, ...]) -> Rect:
        """Return a square in the middle of what is visible of a picture; None means all of it."""
        visible = (visible or Rect(0, 0, *shape[:2])).clipped(shape)
        height, width = min(visible.height, self.side), min(visible.width, self.side)
        above, left = (visible.height - height) // 2, (visible.width - width) // 2
        return Rect(visible.row + above, visible.column + left, height, width)

    def learn(self, rect: Rect, seconds: float) -> None:
        """Make the next preview larger or smaller after this one took some seconds to appear."""
        side = (rect.height * rect.width * _TARGET_SECONDS / max(seconds, 1e-3)) ** 0.5
        side = min(max(side, _MIN_SIDE, self.side / 2), _MAX_SIDE, self.side * 2)
        if not 1 / _TOLERANCE < side / self.side < _TOLERANCE:
            self.side = round(side)
