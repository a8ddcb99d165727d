"""Two pictures of the same thing, one on each side of a line that can be moved."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from inpaint_app.window.canvas.layers import Geometry, draw_pyramid
from inpaint_app.window.canvas.tool_canvas import ToolCanvas
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import Colors

_REACH = 10
_KNOB = 14
_KEY_STEP = 0.02
_TAG = QColor(0, 0, 0, 150)


class SplitCanvas(ToolCanvas):
    """Shows one picture at the left of a line and a second one, `Content.after`, at the right.

    The line is dragged with the mouse, and moved by the left and right arrows, Home and End. While the
    right button is held, the first picture is shown alone.
    """

    def __init__(self, viewport: Viewport) -> None:
        super().__init__(viewport)
        self.divider = 0.5  #: Where the line is, as a fraction of the width, 0 to 1.
        self._is_dragged = False
        self._is_over = False
        self._only_before = False

    def set_divider(self, place: float) -> None:
        """Move the line to a fraction of the width."""
        place = min(max(place, 0.0), 1.0)
        if place != self.divider:
            self.divider = place
            self.update()

    @property
    def uses_right_button(self) -> bool:
        """Whether the right button does something else than open a menu."""
        return True

    def draw_pictures(self, painter: QPainter, geometry: Geometry, area: QRect) -> None:
        """Draw each picture on its side."""
        if self.content.after is None or self._only_before:
            super().draw_pictures(painter, geometry, area)
            return
        right = QRect(QPoint(self._line(), area.top()), area.bottomRight())
        super().draw_pictures(painter, geometry, self._before_part(area))
        draw_pyramid(painter, self.content.after, geometry, right.intersected(area))

    def draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect, colors: Colors) -> None:
        """Draw missing pixels on the first picture; the line, its knob and the names on top."""
        part = self._before_part(area) if self._shows_both() else area
        super().draw_marks(painter, geometry, part, colors)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ratio = self.devicePixelRatioF()
        painter.scale(ratio, ratio)
        self._draw_name(painter, self.content.names[0], at_right=False)
        if self._shows_both():
            self._draw_name(painter, self.content.names[1], at_right=True)
            self._draw_line(painter)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Drag the line if it is near, otherwise the picture."""
        if event.button() == Qt.MouseButton.RightButton:
            self._show_only_before(True)
        elif event.button() == Qt.MouseButton.LeftButton and self._is_near(event.position()):
            self._is_dragged = True
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the line or the picture."""
        if self._is_dragged:
            self.set_divider(event.position().x() / max(self.width(), 1))
        elif event.buttons() == Qt.MouseButton.NoButton:
            self._is_over = self._is_near(event.position())
            self.update_cursor()
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop dragging."""
        if event.button() == Qt.MouseButton.RightButton:
            self._show_only_before(False)
        elif event.button() == Qt.MouseButton.LeftButton and self._is_dragged:
            self._is_dragged = False
        else:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Bring the line back to the middle, or fit the picture."""
        if event.button() == Qt.MouseButton.LeftButton and self._is_near(event.position()):
            self.set_divider(0.5)
        else:
            super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the line by keys."""
        places = {
            Qt.Key.Key_Left: self.divider - _KEY_STEP,
            Qt.Key.Key_Right: self.divider + _KEY_STEP,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: 1.0,
        }
        key = Qt.Key(event.key())
        if key in places:
            self.set_divider(places[key])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show both again: the release of the button may go elsewhere."""
        self._show_only_before(False)
        super().focusOutEvent(event)

    def idle_cursor(self) -> Qt.CursorShape:
        """Return arrows where the line can be dragged."""
        return Qt.CursorShape.SplitHCursor if self._is_over else super().idle_cursor()

    def _show_only_before(self, only: bool) -> None:
        self._only_before = only
        self.update()

    def _shows_both(self) -> bool:
        return self.content.after is not None and not self._only_before

    def _is_near(self, position: QPointF) -> bool:
        return self._shows_both() and abs(position.x() - self.divider * self.width()) <= _REACH

    def _before_part(self, area: QRect) -> QRect:
        """Return the part of an area at the left of the line."""
        return QRect(area.topLeft(), QPoint(self._line() - 1, area.bottom())).intersected(area)

    def _line(self) -> int:
        """Return the first screen pixel of the second picture."""
        return round(self.divider * self.device_size()[0])

    def _draw_line(self, painter: QPainter) -> None:
        x = self._line() / self.devicePixelRatioF()
        middle = QPointF(x, self.height() / 2)
        for color, width in ((QColor(0, 0, 0, 120), 4), (QColor("white"), 2)):
            painter.setPen(QPen(color, width))
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        painter.setPen(QPen(QColor(0, 0, 0, 120), 1))
        painter.setBrush(QColor("white"))
        painter.drawEllipse(middle, _KNOB, _KNOB)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(60, 60, 66))
        for side in (-1, 1):
            tip, base = QPointF(side * 10, 0), side * 4
            arrow = QPolygonF([middle + tip, middle + QPointF(base, -5), middle + QPointF(base, 5)])
            painter.drawPolygon(arrow)

    def _draw_name(self, painter: QPainter, name: str, *, at_right: bool) -> None:
        metrics = painter.fontMetrics()
        width, height = metrics.horizontalAdvance(name) + 16, metrics.height() + 6
        left = self.width() - width - 10 if at_right else 10
        tag = QRectF(left, 10, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_TAG)
        painter.drawRoundedRect(tag, 4, 4)
        painter.setPen(QColor("white"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, name)
