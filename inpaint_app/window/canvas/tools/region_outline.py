"""The outline of a region of pixels."""

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QPainterPath

#: Smaller regions have a frame around them, so that they are seen.
_SMALL = 12
_ROOM = 4


def region_outline(pixels: npt.NDArray[np.intp], width: int) -> QPainterPath:
    """Return the outline of pixels, given as indices into the flattened picture, as (column, row)."""
    rows, columns = np.divmod(pixels, width)
    top, left = int(rows.min()), int(columns.min())
    height, across = int(rows.max()) - top + 1, int(columns.max()) - left + 1
    path = QPainterPath()
    if max(height, across) < _SMALL:
        path.addRect(left - _ROOM, top - _ROOM, across + 2 * _ROOM, height + 2 * _ROOM)
        return path
    inside = np.zeros((height + 2, across + 2), np.bool_)
    inside[rows - top + 1, columns - left + 1] = True
    for x, begin, end in _runs(inside[:, 1:] != inside[:, :-1]):
        path.moveTo(left + x, top + begin - 1)
        path.lineTo(left + x, top + end - 1)
    for y, begin, end in _runs((inside[1:] != inside[:-1]).T):
        path.moveTo(left + begin - 1, top + y)
        path.lineTo(left + end - 1, top + y)
    return path


def _runs(edges: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return column, first row and row past the last of the vertical runs in an array."""
    padded = np.zeros((edges.shape[1], edges.shape[0] + 2), np.int8)
    padded[:, 1:-1] = edges.T
    change = np.diff(padded, axis=1)
    begins, ends = np.argwhere(change == 1), np.argwhere(change == -1)
    return [(int(x), int(a), int(b)) for (x, a), (_, b) in zip(begins, ends, strict=True)]
