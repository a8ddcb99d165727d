"""A picture that is painted on: strokes and rectangles as the user draws them."""

from __future__ import annotations

from enum import Enum
from math import ceil, floor

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from inpaint_app.image.rect import Rect
from inpaint_app.window.canvas.layers import Geometry
from inpaint_app.window.canvas.navigable_canvas import NavigableCanvas
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import Colors

_MIN_RING = 5.0


class Tool(Enum):
    """What the left button draws."""

    NONE = "none"
    BRUSH = "brush"
    ERASER = "eraser"
    RECTANGLE = "rectangle"


class PaintingCanvas(NavigableCanvas):
    """Tells what is drawn on a picture; it does not change the mask itself.

    Positions are picture coordinates (row, column): the pixel in row r and column c covers r to r + 1 and
    c to c + 1. They may lie beside the picture.

    Parameters
    ----------
    viewport : Viewport
        What is seen.
    parent : QWidget, optional
    """

    stroke_began = Signal(float, float)
    """The brush or the eraser was put down at a row and a column."""
    stroke_moved = Signal(float, float)
    """It was drawn in a straight line to a row and a column."""
    stroke_ended = Signal()
    """It was lifted."""
    stroke_canceled = Signal()
    """Escape was pressed: the stroke is to be forgotten."""
    rectangle_drawn = Signal(object)
    """A `Rect` within the picture was drawn."""

    def __init__(self, viewport: Viewport, parent: QWidget | None = None) -> None:
        super().__init__(viewport, parent)
        self._tool = Tool.NONE
        self._diameter = 1
        self._is_painting = False
        self._corner: QPointF | None = None
        self._pointer: QPointF | None = None

    @property
    def tool(self) -> Tool:
        """What the left button draws."""
        return self._tool

    def set_tool(self, tool: Tool) -> None:
        """Choose what the left button draws; a stroke in progress ends."""
        self._finish()
        self._tool = tool
        self.update_cursor()
        self.update()

    def set_brush_diameter(self, diameter: int) -> None:
        """Tell how wide brush and eraser are, in picture pixels."""
        self._diameter = diameter
        self.update()

    def idle_cursor(self) -> Qt.CursorShape:
        """Return a cross where something can be drawn."""
        return Qt.CursorShape.ArrowCursor if self._tool is Tool.NONE else Qt.CursorShape.CrossCursor

    def draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect, colors: Colors) -> None:
        """Draw the outline of the brush or the rectangle on top."""
        super().draw_marks(painter, geometry, area, colors)
        if self._corner is not None and self._pointer is not None:
            self._draw_twice(painter, geometry.rect(self._rectangle()), rounded=False)
        elif self._ring() is not None:
            self._draw_twice(painter, self._ring() or QRectF(), rounded=True)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to draw, or to move the picture."""
        draws = event.button() == Qt.MouseButton.LeftButton and self._tool is not Tool.NONE
        if not draws or self.space_held or not self.has_picture:
            super().mousePressEvent(event)
        elif self._tool is Tool.RECTANGLE:
            self._corner = event.position()
        else:
            self._is_painting = True
            x, y = self.place_at(event.position())
            self.stroke_began.emit(y, x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on drawing."""
        self._follow(event.position())
        if self._is_painting:
            x, y = self.place_at(event.position())
            self.stroke_moved.emit(y, x)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Finish what is drawn."""
        if event.button() == Qt.MouseButton.LeftButton and self._is_drawing():
            self._pointer = event.position()
            self._finish()
        else:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Draw a second time rather than fit the picture, where there is a tool."""
        if self._tool is Tool.NONE or self.space_held:
            super().mouseDoubleClickEvent(event)
        else:
            self.mousePressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep Escape from the shortcuts of the window while something is drawn."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self._is_drawing()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Give up what is being drawn on Escape."""
        if event.key() != Qt.Key.Key_Escape or not self._is_drawing():
            super().keyPressEvent(event)
            return
        if self._is_painting:
            self._is_painting = False
            self.stroke_canceled.emit()
        self._corner = None
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Take the outline of the brush away."""
        self._follow(None)
        super().leaveEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Finish what is drawn: the release of the button would not be seen."""
        self._finish()
        super().hideEvent(event)

    def _is_drawing(self) -> bool:
        return self._is_painting or self._corner is not None

    def _finish(self) -> None:
        if self._is_painting:
            self._is_painting = False
            self.stroke_ended.emit()
        if self._corner is not None:
            rect = self._rectangle()
            self._corner = None
            self.update()
            if not rect.is_empty:
                self.rectangle_drawn.emit(rect)

    def _rectangle(self) -> Rect:
        """Return the pixels between the corner and the pointer, also those touched."""
        assert self._corner is not None
        first, second = self.place_at(self._corner), self.place_at(self._pointer or self._corner)
        left, right = sorted((first[0], second[0]))
        top, bottom = sorted((first[1], second[1]))
        row, column = floor(top), floor(left)
        width, height = self.viewport.picture_size
        return Rect(row, column, ceil(bottom) - row, ceil(right) - column).clipped((int(height), int(width)))

    def _ring(self) -> QRectF | None:
        """Return the outline of the brush in screen pixels; None where there is none to draw."""
        diameter = self._diameter * self.viewport.zoom
        if self._pointer is None or self._tool not in (Tool.BRUSH, Tool.ERASER) or diameter < _MIN_RING:
            return None
        center = self._pointer * self.devicePixelRatioF()
        return QRectF(center.x() - diameter / 2, center.y() - diameter / 2, diameter, diameter)

    def _follow(self, pointer: QPointF | None) -> None:
        """Move the outline, drawing only what it uncovers and covers."""
        if self._corner is not None and pointer is not None:
            before = self._rectangle()
            self._pointer = pointer
            self.update_pixels(before.united(self._rectangle()))
            return
        for step in (self._pointer, pointer):
            self._pointer = step
            ring = self._ring()
            if ring is not None:
                self.update(self.logical(ring))

    def _draw_twice(self, painter: QPainter, outline: QRectF, *, rounded: bool) -> None:
        """Draw an outline in black and white, so that it is seen on every picture."""
        ratio = self.devicePixelRatioF()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, rounded)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((Qt.GlobalColor.black, 3 * ratio), (Qt.GlobalColor.white, ratio)):
            pen = QPen(color, width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            if rounded:
                painter.drawEllipse(outline)
            else:
                painter.drawRect(outline)
        painter.restore()
