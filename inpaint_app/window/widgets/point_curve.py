"""A curve through points, of which one can be clicked."""

from collections.abc import Callable, Sequence
from math import log10

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.ticks import format_number, log_ticks, ticks

_PAD, _REACH = 8.0, 24.0
#: Values smaller by more decades lie on the lower border of a logarithmic axis.
_MAX_DECADES = 6
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_MIDDLE, _BESIDE = Qt.AlignmentFlag.AlignCenter, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Point = tuple[float, float]


class PointCurve(QWidget):
    """Draws values of one quantity over another; the pointer or the arrows show a point, a click chooses it.

    Parameters
    ----------
    number : callable
        Returns a value as text.
    size : QSize
        At which it is easily read.
    is_logarithmic : bool
        Whether equal ratios of values are equally far apart.
    dot : float
        Radius of a point; 0 for a line alone.
    has_line : bool
        Whether the points are joined.
    """

    point_clicked = Signal(int)
    """The number of a point, from 0."""

    def __init__(
        self,
        number: Callable[[float], str] = format_number,
        size: QSize = QSize(520, 300),  # noqa: B008  (nobody changes it)
        *,
        is_logarithmic: bool = False,
        dot: float = 4.0,
        has_line: bool = True,
    ) -> None:
        super().__init__()
        self._number, self._size, self._is_logarithmic = number, size, is_logarithmic
        self._dot, self._has_line = dot, has_line
        self._points: tuple[Point, ...] = ()
        self._across = self._up = self._empty = ""
        self._hovered: int | None = None
        self._marked: float | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(size * 0.6)

    def sizeHint(self) -> QSize:
        """Return a size at which it is easily read."""
        return self._size

    def set_points(self, points: Sequence[Point], across: str, up: str, empty: str = "") -> None:
        """Show points, in the order of their first number, and what is across and up."""
        self._points, self._across, self._up, self._empty = tuple(points), across, up, empty
        if self._hovered is not None and self._hovered >= len(points):
            self._hovered = None
        best = max(points, key=lambda point: point[1], default=None)
        found = "" if best is None else f"; most at {self._describe(best)}"
        self.setAccessibleDescription(f"{len(points)} points{found}")
        self.update()

    def set_marked(self, marked: float | None) -> None:
        """Mark a place across; None for none."""
        self._marked = marked
        self.update()

    def place(self, number: int) -> QPointF:
        """Return where a point is drawn."""
        return self._places()[number]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the nearest point."""
        self._hover(self._nearest(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the nearest point."""
        nearest = self._nearest(event.position())
        if nearest is not None and event.button() == Qt.MouseButton.LeftButton:
            self.point_clicked.emit(nearest)

    def leaveEvent(self, event: QEvent) -> None:
        """Show no point any more."""
        self._hover(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show no point any more."""
        self._hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point by arrows, and choose one by Return."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is not None and self._points:
            now = -1 if self._hovered is None else self._hovered
            self._hover(min(max(now + step, 0), len(self._points) - 1))
        elif event.key() in _CHOOSING and self._hovered is not None:
            self.point_clicked.emit(self._hovered)
        else:
            super().keyPressEvent(event)

    def _hover(self, number: int | None) -> None:
        self._hovered = number
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, curve and points."""
        painter, colors, text = QPainter(self), colors_of(self.palette()), self.palette().windowText().color()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(text)
        if not self._points:
            painter.drawText(self.rect(), _MIDDLE | Qt.TextFlag.TextWordWrap, self._empty)
            return
        frame = self._frame()
        self._draw_axes(painter, frame)
        if self.hasFocus():
            painter.setPen(QPen(colors.focus, 2))
            painter.drawRect(frame)
        if self._marked is not None:
            x = frame.left() + self._part(0, self._marked) * frame.width()
            painter.setPen(QPen(text, 1, Qt.PenStyle.DashLine))
            if frame.left() <= x <= frame.right():
                painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        places = self._places()
        painter.setPen(QPen(colors.plot, 2))
        if self._has_line:
            painter.drawPolyline(QPolygonF(places))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.plot)
        for number, place in enumerate(places):
            size = 2 + 1.2 * self._dot if number == self._shown else self._dot
            if size:
                painter.drawEllipse(place, size, size)

    @property
    def _shown(self) -> int | None:
        """The point whose values are written: the one under the pointer, or that is marked."""
        marked = (number for number, point in enumerate(self._points) if point[0] == self._marked)
        return next(marked, None) if self._hovered is None else self._hovered

    def _describe(self, point: Point) -> str:
        return f"{self._across} = {point[0]:g}: {self._number(point[1])}"

    def _draw_axes(self, painter: QPainter, frame: QRectF) -> None:
        colors, line = colors_of(self.palette()), self.fontMetrics().height()
        painter.fillRect(frame, self.palette().base())
        for label, part in self._labels(1):
            y = round(frame.bottom() - part * frame.height()) + 0.5
            painter.setPen(QPen(colors.rule, 1))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(colors.soft_text)
            painter.drawText(QRectF(0, y - line / 2, frame.left() - 6, line), _BESIDE, label)
        for label, part in self._labels(0):
            area = QRectF(frame.left() + part * frame.width() - 40, frame.bottom() + 2, 80, line)
            painter.drawText(area, _MIDDLE, label)
        above = QRectF(frame.left(), 0, frame.width(), frame.top())
        painter.setPen(self.palette().windowText().color())
        painter.drawText(above, Qt.AlignmentFlag.AlignVCenter, self._up)
        if self._shown is not None:
            painter.drawText(above, _BESIDE, self._describe(self._points[self._shown]))

    def _labels(self, axis: int) -> list[tuple[str, float]]:
        """Return the round numbers of an axis, across or up, that there is room for, and where they are."""
        room = self.width() / 60 if axis == 0 else self.height() / (2.4 * self.fontMetrics().height()) - 1
        make = log_ticks if axis and self._is_logarithmic else ticks
        values = make(*self._range(axis), most=max(2, int(room)))
        if axis == 0 and all(float(point[0]).is_integer() for point in self._points):
            values = [value for value in values if value.is_integer()]
        texts = [format_number(value) for value in values]
        if len(set(texts)) < len(texts):  # they differ in later digits
            texts = [f"{value:,.6g}" for value in values]
        return [(text, self._part(axis, value)) for text, value in zip(texts, values, strict=True)]

    def _frame(self) -> QRectF:
        """Return where the points are: right of the numbers, below the name, and above the other numbers."""
        metrics = self.fontMetrics()
        left = max((metrics.horizontalAdvance(label) for label, _ in self._labels(1)), default=0) + 12
        line = metrics.height() + 4
        return QRectF(left, line, self.width() - left - _PAD, self.height() - 2 * line)

    def _places(self) -> list[QPointF]:
        frame = self._frame()
        return [
            QPointF(
                frame.left() + self._part(0, x) * frame.width(),
                frame.bottom() - self._part(1, y) * frame.height(),
            )
            for x, y in self._points
        ]

    def _part(self, axis: int, value: float) -> float:
        """Return where a value is on an axis, from 0 to 1; below the axis counts as its beginning."""
        low, high = self._range(axis)
        if axis and self._is_logarithmic:
            return log10(max(value, low) / low) / log10(high / low)
        return (value - low) / (high - low)

    def _range(self, axis: int) -> Point:
        """Return the numbers at both ends of an axis."""
        values = [point[axis] for point in self._points]
        if axis and self._is_logarithmic:
            positive = [value for value in values if value > 0]
            high = 1.5 * max(positive, default=1.0)
            low = min(positive, default=high) / 1.5
            return min(max(low, high / 10**_MAX_DECADES), high / 10), high
        low, high = min(values), max(values)
        room = 0.08 * (high - low) or (0.5 if axis else 1.0)
        return low - room, high + room

    def _nearest(self, pointer: QPointF) -> int | None:
        """Return the point whose place across is nearest; None if that is far."""
        distances = [abs(place.x() - pointer.x()) for place in self._places()] if self._points else []
        if not distances or min(distances) > max(_REACH, self._frame().width() / (2 * len(distances))):
            return None
        return distances.index(min(distances))
