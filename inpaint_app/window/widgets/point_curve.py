"""A curve through points, of which one can be clicked."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from inpaint_app.window.widgets.ticks import format_number, ticks

_LEFT, _BOTTOM, _TOP, _RIGHT = 56.0, 40.0, 24.0, 16.0
_DOT, _REACH = 4.0, 24.0
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_MIDDLE, _BESIDE = Qt.AlignmentFlag.AlignCenter, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_N_TICKS = 5


class PointCurve(QWidget):
    """Draws values of one quantity over another; the pointer shows a point, a click chooses it."""

    point_clicked = Signal(int)
    """The number of a point, from 0."""

    def __init__(self, across: str = "", up: str = "") -> None:
        super().__init__()
        self._points: tuple[tuple[float, float], ...] = ()
        self._across, self._up, self._empty = across, up, ""
        self._hovered: int | None = None
        self._marked: float | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(320, 200)

    def sizeHint(self) -> QSize:
        """Return a size at which it is easily read."""
        return QSize(520, 300)

    def set_points(
        self, points: Sequence[tuple[float, float]], across: str, up: str, marked: float | None, empty: str
    ) -> None:
        """Show points, in the order of their first number, and mark a place across."""
        self._points, self._across, self._up = tuple(points), across, up
        self._marked, self._empty = marked, empty
        if self._hovered is not None and self._hovered >= len(points):
            self._hovered = None
        best = max(points, key=lambda point: point[1], default=None)
        found = "" if best is None else f"; most at {across} = {best[0]:g}: {best[1]:.2f}"
        self.setAccessibleDescription(f"{len(points)} points{found}")
        self.update()

    def place(self, number: int) -> QPointF:
        """Return where a point is drawn."""
        x, y = self._points[number]
        return QPointF(self._x(x), self._y(y))

    def _x(self, value: float) -> float:
        low, high = self._range(0)
        return self._frame().left() + (value - low) / (high - low) * self._frame().width()

    def _y(self, value: float) -> float:
        low, high = self._range(1)
        return self._frame().bottom() - (value - low) / (high - low) * self._frame().height()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the nearest point."""
        self._hovered = self._nearest(event.position())
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the nearest point."""
        nearest = self._nearest(event.position())
        if nearest is not None and event.button() == Qt.MouseButton.LeftButton:
            self.point_clicked.emit(nearest)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point by arrows, and choose one by Return."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is not None and self._points:
            now = -1 if self._hovered is None else self._hovered
            self._hovered = min(max(now + step, 0), len(self._points) - 1)
            self.update()
        elif event.key() in _CHOOSING and self._hovered is not None:
            self.point_clicked.emit(self._hovered)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, curve and points."""
        painter, palette, frame = QPainter(self), self.palette(), self._frame()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text = palette.color(QPalette.ColorRole.WindowText)
        if not self._points:
            painter.setPen(text)
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._empty
            )
            return
        self._draw_axes(painter, frame)
        accent = palette.color(QPalette.ColorRole.Highlight)
        if self._marked is not None:
            x = self._x(self._marked)
            painter.setPen(QPen(text, 1, Qt.PenStyle.DashLine))
            if frame.left() <= x <= frame.right():
                painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        places = [self.place(number) for number in range(len(self._points))]
        painter.setPen(QPen(accent, 2))
        painter.drawPolyline(QPolygonF(places))
        for number, place in enumerate(places):
            size = 1.6 * _DOT if number == self._hovered else _DOT
            painter.setBrush(accent)
            painter.drawEllipse(place, size, size)
        if self._hovered is not None:
            painter.setPen(text)
            x, y = self._points[self._hovered]
            painter.drawText(
                QRectF(frame.left() + 6, 0, frame.width(), frame.height()),
                Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight,
                f"{self._across} = {x:g}: {y:.2f} dB",
            )

    def _draw_axes(self, painter: QPainter, frame: QRectF) -> None:
        palette, line = self.palette(), self.fontMetrics().height()
        text, faint = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Mid)
        for tick in ticks(*self._range(1), most=_N_TICKS):
            y = self._y(tick)
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(text)
            painter.drawText(QRectF(0, y - line / 2, _LEFT - 6, line), _BESIDE, f"{tick:g}")
        for tick in ticks(*self._range(0), most=_N_TICKS):
            place = QRectF(self._x(tick) - _LEFT / 2, frame.bottom() + 2, _LEFT, line)
            painter.drawText(place, _MIDDLE, format_number(tick))
        below = QRectF(frame.left(), frame.bottom() + 2 + line, frame.width(), line)
        painter.drawText(below, _MIDDLE, self._across)
        painter.drawText(QRectF(2, 0, frame.width(), line), Qt.AlignmentFlag.AlignLeft, self._up)

    def _frame(self) -> QRectF:
        return QRectF(_LEFT, _TOP, self.width() - _LEFT - _RIGHT, self.height() - _TOP - _BOTTOM)

    def _range(self, axis: int) -> tuple[float, float]:
        values = [point[axis] for point in self._points]
        low, high = min(values), max(values)
        room = 0.08 * (high - low) or (0.5 if axis else 1.0)
        return low - room, high + room

    def _nearest(self, place: QPointF) -> int | None:
        """Return the point whose place across is nearest; None if that is far."""
        distances = [abs(self.place(number).x() - place.x()) for number in range(len(self._points))]
        if not distances or min(distances) > max(_REACH, self._frame().width() / (2 * len(distances))):
            return None
        return distances.index(min(distances))
