"""What each step of the selection gained, and what all steps have reached: a small plot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log10

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.ticks import format_number, log_ticks, ticks

_EMPTY = "The gain of each atom appears here once a picture has been restored."
_PAD = 8.0
_DOT, _SMALL_DOT = 3.5, 2.0
#: Values smaller by more decades lie on the lower border.
_MAX_DECADES = 6


@dataclass(frozen=True)
class _Panel:
    """A series with its name, and where it is drawn."""

    name: str
    values: tuple[float, ...]
    frame: QRectF
    is_logarithmic: bool

    def x(self, step: int) -> float:
        """Return where a step, from 0, is across."""
        return self.frame.left() + (step + 0.5) * self.frame.width() / len(self.values)

    def y(self, value: float) -> float:
        """Return where a value is; on the lower border if there is no place for it on the axis."""
        if self.is_logarithmic:
            low, high = _log_range(self.values)
            part = log10(max(value, low) / low) / log10(high / low)
        else:
            low, high = _range(self.values)
            part = max(value - low, 0.0) / (high - low)
        return self.frame.bottom() - part * self.frame.height()

    def ticks(self, most: int) -> list[float]:
        """Return the round numbers of its axis."""
        if self.is_logarithmic:
            return log_ticks(*_log_range(self.values), most=most)
        return ticks(*_range(self.values), most=most)


class GainCurve(QWidget):
    """Two panels with a common axis of steps: gain of each step as dots, objective as a line.

    Gains span orders of magnitude, so theirs is a logarithmic axis.

    The pointer shows the values of a step, a click chooses it.
    """

    step_clicked = Signal(int)
    """A step, from 0, was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self._gains: tuple[float, ...] = ()
        self._objectives: tuple[float, ...] = ()
        self._marked: int | None = None
        self._hovered: int | None = None
        self.setMouseTracking(True)
        self.setMinimumSize(180, 150)
        self._describe()

    def set_steps(self, gains: Sequence[float], objectives: Sequence[float]) -> None:
        """Show a selection: what each step gained, and what was reached after it."""
        self._gains = tuple(float(gain) for gain in gains)
        self._objectives = tuple(float(objective) for objective in objectives)
        self._marked = self._hovered = None
        self._describe()
        self.update()

    def set_marked(self, step: int | None) -> None:
        """Mark a step, from 0, such as that of the atom chosen elsewhere."""
        self._marked = step
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size at which it is easily read."""
        return QSize(320, 240)

    def describe(self, step: int) -> str:
        """Return the values of a step, from 0."""
        gain, objective = format_number(self._gains[step]), format_number(self._objectives[step])
        return f"Atom {step + 1}: gain {gain}, objective {objective}"

    def step_at(self, x: float) -> int | None:
        """Return the step, from 0, at a place across; None beside the plot."""
        if not self._gains:
            return None
        frame = self.panels()[0].frame
        step = int((x - frame.left()) / frame.width() * len(self._gains) // 1)
        return step if 0 <= step < len(self._gains) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the values of the step under the pointer."""
        self._hovered = self.step_at(event.position().x())
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a step."""
        step = self.step_at(event.position().x())
        if step is not None and event.button() == Qt.MouseButton.LeftButton:
            self.step_clicked.emit(step)

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the values."""
        self._hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw everything."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = colors_of(self.palette())
        if not self._gains:
            painter.setPen(colors.soft_text)
            area = self.rect().adjusted(16, 8, -16, -8)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, _EMPTY)
            return
        panels = self.panels()
        for panel, color in zip(panels, (colors.first, colors.second), strict=True):
            self._draw_axes(painter, panel)
            self._draw_series(painter, panel, color)
        self._draw_steps(painter, panels[1])

    def _describe(self) -> None:
        self.setAccessibleName("Gain of each step of the selection")
        last = len(self._gains) - 1
        self.setAccessibleDescription(
            f"{self.describe(0)}. {self.describe(last)}." if self._gains else _EMPTY
        )

    def panels(self) -> tuple[_Panel, _Panel]:
        """Return the plots of gains and of objectives as they are laid out now."""
        line = self.fontMetrics().height()
        # From above: twice a heading and a panel, the numbers of the steps, and their name.
        height = (self.height() - 4 * line - 2 * _PAD - 12) / 2
        upper = QRectF(0, line + 4, self.width() - _PAD, height)
        panels = (
            _Panel("Gain of each atom", self._gains, upper, is_logarithmic=True),
            _Panel(
                "Objective",
                self._objectives,
                upper.translated(0, height + _PAD + line + 4),
                is_logarithmic=False,
            ),
        )
        labels = [label for panel in panels for label, _ in self._labels(panel)]
        left = max(map(self.fontMetrics().horizontalAdvance, labels)) + _PAD + 4
        gain, objective = (replace(panel, frame=panel.frame.adjusted(left, 0, 0, 0)) for panel in panels)
        return gain, objective

    def _labels(self, panel: _Panel) -> list[tuple[str, float]]:
        """Return the round numbers of an axis that there is room for."""
        room = max(2, int(panel.frame.height() / (1.6 * self.fontMetrics().height())))
        values = panel.ticks(room)
        texts = [format_number(value) for value in values]
        if len(set(texts)) < len(texts):  # they differ in later digits
            texts = [f"{value:,.6g}" for value in values]
        return list(zip(texts, values, strict=True))

    def _draw_axes(self, painter: QPainter, panel: _Panel) -> None:
        colors = colors_of(self.palette())
        line = self.fontMetrics().height()
        frame = panel.frame
        painter.fillRect(frame, self.palette().color(QPalette.ColorRole.Base))
        for label, value in self._labels(panel):
            y = round(panel.y(value)) + 0.5
            painter.setPen(QPen(colors.rule, 1))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(colors.soft_text)
            place = QRectF(0, y - line / 2, frame.left() - 6, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(
            QPointF(frame.left(), frame.top() - 4 - self.fontMetrics().descent()), self._heading(panel)
        )

    def _heading(self, panel: _Panel) -> str:
        step = self._marked if self._hovered is None else self._hovered
        if step is None or step >= len(panel.values):
            return panel.name
        return f"{panel.name}: {format_number(panel.values[step])} at atom {step + 1}"

    def _draw_series(self, painter: QPainter, panel: _Panel, color: QColor) -> None:
        step = self._marked if self._hovered is None else self._hovered
        if step is not None and step < len(panel.values):
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText), 1, Qt.PenStyle.DashLine))
            x = panel.x(step)
            painter.drawLine(QPointF(x, panel.frame.top()), QPointF(x, panel.frame.bottom()))
        points = [QPointF(panel.x(place), panel.y(value)) for place, value in enumerate(panel.values)]
        if panel.is_logarithmic:  # bars would begin at an arbitrary number
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            for point in points:
                painter.drawEllipse(point, _SMALL_DOT, _SMALL_DOT)
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(color, 2))
            painter.drawPolyline(QPolygonF(points))
        if step is not None and step < len(points):
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Base), 1.5))
            painter.setBrush(color)
            painter.drawEllipse(points[step], _DOT, _DOT)

    def _draw_steps(self, painter: QPainter, panel: _Panel) -> None:
        """Draw the axis of steps, which both panels share."""
        line, n_steps = self.fontMetrics().height(), len(self._gains)
        painter.setPen(colors_of(self.palette()).soft_text)
        wide = self.fontMetrics().horizontalAdvance("0000")
        room = max(2, int(panel.frame.width() / (2 * wide)))
        for number in (1, *(int(tick) for tick in ticks(0, n_steps, most=room) if tick.is_integer())):
            if 1 <= number <= n_steps:
                area = QRectF(panel.x(number - 1) - wide, panel.frame.bottom() + 2, 2 * wide, line)
                painter.drawText(area, Qt.AlignmentFlag.AlignHCenter, str(number))
        area = QRectF(panel.frame.left(), panel.frame.bottom() + 2 + line, panel.frame.width(), line)
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter, "atoms selected")


def _log_range(values: tuple[float, ...]) -> tuple[float, float]:
    """Return the numbers at the lower and upper border of a panel with a logarithmic axis."""
    positive = [value for value in values if value > 0]
    high = 1.5 * max(positive, default=1.0)
    low = min(positive, default=high) / 1.5
    return min(max(low, high / 10**_MAX_DECADES), high / 10), high


def _range(values: tuple[float, ...]) -> tuple[float, float]:
    """Return the numbers at the lower and upper border of a panel: from 0 where that leaves much to see."""
    high = max(*values, 0.0) * 1.08 or 1.0
    low, span = min(values), max(values) - min(values)
    if low < high / 2 or not span:
        return 0.0, high
    return low - 0.08 * span, max(values) + 0.08 * span
