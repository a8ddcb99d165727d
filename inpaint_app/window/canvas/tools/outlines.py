"""From lines to the pixels inside them, and back."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath

from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.canvas.layers import edges


def pixels_inside(path: QPainterPath, shape: tuple[int, int]) -> "tuple[Rect, Mask]":
    """Return a rectangle around a path, within a picture, and which pixels of it have their center inside."""
    bounds = path.boundingRect().toAlignedRect()
    rect = Rect(bounds.top(), bounds.left(), bounds.height(), bounds.width()).clipped(shape)
    if rect.is_empty:
        return rect, np.zeros((0, 0), np.bool_)
    image = QImage(rect.width, rect.height, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.translate(-rect.column, -rect.row)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.white)
    path = QPainterPath(path)
    path.setFillRule(Qt.FillRule.WindingFill)
    painter.drawPath(path)
    painter.end()
    values = np.frombuffer(image.constBits(), np.uint8).reshape(rect.height, image.bytesPerLine())
    inside: Mask = values[:, : rect.width] > 0
    return rect, inside


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
    for x, begin, end in edges(inside.T):
        path.moveTo(left + x - 1, top + begin - 1)
        path.lineTo(left + x - 1, top + end - 1)
    for y, begin, end in edges(inside):
        path.moveTo(left + begin - 1, top + y - 1)
        path.lineTo(left + end - 1, top + y - 1)
    return path
