"""The base class of tools, the tool that does nothing, and lines as the pixels inside them."""

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath

from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.canvas.layers import edges

if TYPE_CHECKING:  # widgets load no numerical library
    from inpaint_app.window.session import Session


class Place(NamedTuple):
    """A position in a picture, perhaps beside it: pixel (r, c) covers r to r + 1 and c to c + 1."""

    row: float
    column: float


class Tool:
    """Turns what the mouse does on a picture into changes of the session.

    A tool is a file with one class that names itself by the class attributes and overrides the methods it
    needs, and a line in `registry`. One instance belongs to one canvas.
    """

    name: ClassVar[str]  #: That of its action.
    cursor: ClassVar[Qt.CursorShape] = Qt.CursorShape.CrossCursor  #: The pointer over the picture.
    #: The panes it works on; elsewhere the left button moves the picture.
    panes: ClassVar[tuple[str, ...]] = ("damaged",)
    is_smooth: ClassVar[bool] = True  #: Whether its outline is drawn antialiased.
    uses_right_button: ClassVar[bool] = False  #: Whether the right button does the opposite.
    picks_source: ClassVar[bool] = False  #: Whether Alt+click, or Ctrl+click, chooses where it copies from.
    #: Whether every press adds to what has begun, until a double-click or Return finishes it.
    joins_clicks: ClassVar[bool] = False

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.is_active = False  #: Whether something has begun that `release` ends and Escape cancels.
        #: Whether it was pressed with the right button, or with Shift; set before `press`.
        self.is_reversed = self.is_straight = False
        self.reach = 4  #: How far the pointer may miss a thing, in pixels of the picture.
        self.pressure = 1.0  #: How hard a pen is pressed, 0 to 1; 1 for a mouse.

    def press(self, place: Place) -> None:
        """Begin where the button was pressed."""

    def pick_source(self, place: Place) -> None:
        """Copy from a place."""

    def move(self, place: Place) -> None:
        """Follow the pointer; called only while the tool is active."""

    def release(self) -> None:
        """End: the button was released, or the picture was hidden, or another tool was chosen."""

    def finish(self) -> None:
        """End a tool that joins clicks."""

    def cancel(self) -> None:
        """Undo what has begun."""
        self.is_active = False

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return what to draw on the picture, as (column, row) coordinates.

        Parameters
        ----------
        pointer : Place or None
            Where the pointer is; None if it is not over the canvas.
        """
        return None


class Pan(Tool):
    """Leaves the left button to the canvas, which moves the picture wherever no tool works."""

    name = "pan"
    panes = ()


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
