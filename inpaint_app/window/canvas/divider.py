"""A line between two pictures of the same thing, which can be moved."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from inpaint_app.window.canvas.layers import Geometry
from inpaint_app.window.canvas.part import CanvasPart
from inpaint_app.window.canvas.surface import Surface

_REACH = 10
_KNOB = 14
_KEY_STEP = 0.02
_FAINT = 0.4
_TAG = QColor(0, 0, 0, 150)


class Divider(CanvasPart):
    """Lets one picture be shown at the left of a line and a second one, `Content.after`, at the right.

    The line is dragged with the mouse, and moved by the left and right arrows, Home and End. While the
    right button is held, the first picture is shown alone. It steps aside when a tool is used, so that the
    result is seen wherever that is, until the pointer comes near the line.
    """

    uses_right_button = True

    def __init__(self, surface: Surface) -> None:
        super().__init__(surface)
        self._surface = surface
        self.place = 0.5  #: Where the line is, as a fraction of the width, 0 to 1.
        self._is_dragged = False
        self._is_over = False
        self._only_before = False
        self.is_aside = False  #: Whether the second picture is shown everywhere.

    def step_aside(self) -> None:
        """Show the second picture everywhere, until the line is wanted again."""
        self._set_aside(self._surface.content.after is not None)

    def _set_aside(self, is_aside: bool) -> None:
        if is_aside != self.is_aside:
            self.is_aside = is_aside
            self._surface.update()

    def move_to(self, place: float) -> None:
        """Move the line to a fraction of the width."""
        self._set_aside(False)
        place = min(max(place, 0.0), 1.0)
        if place != self.place:
            self.place = place
            self._surface.update()

    def sides(self, area: QRect) -> tuple[QRect, QRect]:
        """Return the parts of an area that show the first and the second picture."""
        if not self._shows_both:
            return area, QRect()
        if self.is_aside:
            return QRect(), area
        left = QRect(area.topLeft(), QPoint(self._line - 1, area.bottom()))
        right = QRect(QPoint(self._line, area.top()), area.bottomRight())
        return left.intersected(area), right.intersected(area)

    def draw(self, painter: QPainter, geometry: Geometry) -> None:
        """Draw the line, its knob and the names of the pictures."""
        names, ratio = self._surface.content.names, self._surface.devicePixelRatioF()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(ratio, ratio)
        if not (self.is_aside and self._shows_both):
            self._draw_name(painter, names[0], at_right=False)
        if self._shows_both:
            self._draw_name(painter, names[1], at_right=True)
            painter.setOpacity(_FAINT if self.is_aside else 1.0)
            self._draw_line(painter)
            painter.setOpacity(1.0)

    def press(self, event: QMouseEvent) -> bool:
        """Drag the line if it is near."""
        if event.button() == Qt.MouseButton.RightButton:
            self._show_only_before(True)
        elif event.button() == Qt.MouseButton.LeftButton and self._is_near(event.position()):
            self._is_dragged = True
        else:
            return False
        return True

    def move(self, event: QMouseEvent) -> None:
        """Move the line."""
        if self._is_dragged:
            self.move_to(event.position().x() / max(self._surface.width(), 1))
        elif event.buttons() == Qt.MouseButton.NoButton:
            self._is_over = self._is_near(event.position())
            if self._is_over:
                self._set_aside(False)
            self._surface.update_cursor()

    def release(self, event: QMouseEvent) -> bool:
        """Stop dragging."""
        if event.button() == Qt.MouseButton.RightButton:
            self._show_only_before(False)
        elif event.button() == Qt.MouseButton.LeftButton and self._is_dragged:
            self._is_dragged = False
        else:
            return False
        return True

    def double_click(self, event: QMouseEvent) -> bool:
        """Bring the line back to the middle; with the right button, press again."""
        if event.button() == Qt.MouseButton.RightButton:
            return self.press(event)
        if event.button() != Qt.MouseButton.LeftButton or not self._is_near(event.position()):
            return False
        self.move_to(0.5)
        return True

    def press_key(self, event: QKeyEvent) -> bool:
        """Move the line by keys."""
        places = {
            Qt.Key.Key_Left: self.place - _KEY_STEP,
            Qt.Key.Key_Right: self.place + _KEY_STEP,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: 1.0,
        }
        place = places.get(Qt.Key(event.key()))
        if place is not None:
            self.move_to(place)
        return place is not None

    def lose_focus(self, _event: QEvent) -> None:
        """Show both again: the release of the button may go elsewhere."""
        self._show_only_before(False)

    def hide(self, _event: QEvent) -> None:
        """Show both again: the next picture is another one."""
        self.is_aside = False

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """Arrows where the line can be dragged."""
        return Qt.CursorShape.SplitHCursor if self._is_over else None

    def _show_only_before(self, only: bool) -> None:
        self._only_before = only
        self._surface.update()

    @property
    def _shows_both(self) -> bool:
        return self._surface.content.after is not None and not self._only_before

    def _is_near(self, position: QPointF) -> bool:
        return self._shows_both and abs(position.x() - self.place * self._surface.width()) <= _REACH

    @property
    def _line(self) -> int:
        """The first screen pixel of the second picture."""
        return round(self.place * self._surface.device_size()[0])

    def _draw_line(self, painter: QPainter) -> None:
        x, height = self._line / self._surface.devicePixelRatioF(), self._surface.height()
        middle = QPointF(x, height / 2)
        for color, width in ((QColor(0, 0, 0, 120), 4), (QColor("white"), 2)):
            painter.setPen(QPen(color, width))
            painter.drawLine(QPointF(x, 0), QPointF(x, height))
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
        left = self._surface.width() - width - 10 if at_right else 10
        tag = QRectF(left, 10, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_TAG)
        painter.drawRoundedRect(tag, 4, 4)
        painter.setPen(QColor("white"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, name)
