"""Where a preview is made, and how large it may be so that it appears soon; no Qt."""

import numpy as np

from inpaint_app.model.missing import Mask
from inpaint_app.model.rect import Rect

#: From the request to the first image; refinement follows.
_TARGET_SECONDS = 0.4
_MIN_SIDE, _MAX_SIDE = 48, 768
_FIRST_SIDE = 160
#: Sides that differ by less than this factor are not worth a preview of another size.
_TOLERANCE = 1.3
#: A preview is at least this part of what is visible across, so that it is seen in a large picture,
_MIN_SHARE = 12
#: but no larger than this on that account.
_MAX_SHARED_SIDE = 320

Pixel = tuple[int, int]


class PreviewSize:
    """The side of the square that a preview restores, learnt from how long earlier ones took."""

    def __init__(self) -> None:
        self.side = _FIRST_SIDE

    def learn(self, rect: Rect, seconds: float) -> None:
        """Make the next preview larger or smaller after this one took some seconds to appear."""
        side = (rect.height * rect.width * _TARGET_SECONDS / max(seconds, 1e-3)) ** 0.5
        side = min(max(side, _MIN_SIDE, self.side / 2), _MAX_SIDE, self.side * 2)
        if not 1 / _TOLERANCE < side / self.side < _TOLERANCE:
            self.side = round(side)


def preview_rect(mask: Mask, side: int, visible: Rect | None = None, focus: Pixel | None = None) -> Rect:
    """Return the part of a picture to preview; may be called in any thread.

    It lies around the focus if that is visible, such as where the user paints; otherwise in the middle of
    what is visible, or where pixels are missing nearest to it.

    Parameters
    ----------
    mask : ndarray of bool, (H, W) or (H, W, C)
        True = missing.
    side : int
        Of the square.
    visible : Rect, optional
        The part of the picture in view; all of it by default.
    focus : (int, int), optional
        Row and column.
    """
    visible = (visible or Rect(0, 0, *mask.shape[:2])).clipped(mask.shape)
    side = max(side, min(visible.width // _MIN_SHARE, _MAX_SHARED_SIDE))
    middle = visible.center
    if focus is not None and visible.contains(focus):
        return _square(focus, side, visible)
    around = _square(middle, side, visible)
    if around.is_empty or mask[around.slices].any():
        return around
    part = mask[visible.slices]
    rows, columns = np.nonzero(part.any(axis=2) if part.ndim == 3 else part)
    if not rows.size:
        return around
    rows, columns = rows + visible.row, columns + visible.column
    nearest = int(np.argmin((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2))
    return _square((int(rows[nearest]), int(columns[nearest])), side, visible)


def _square(center: Pixel, side: int, within: Rect) -> Rect:
    """Return a square around a pixel, moved and cut so that it lies within a rectangle."""
    height, width = min(within.height, side), min(within.width, side)
    row = min(max(center[0] - height // 2, within.row), within.row + within.height - height)
    column = min(max(center[1] - width // 2, within.column), within.column + within.width - width)
    return Rect(row, column, height, width)
