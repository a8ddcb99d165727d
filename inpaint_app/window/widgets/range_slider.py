"""A slider with two handles, for the least and the greatest value that are shown."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

_HEIGHT, _HANDLE, _MARGIN = 22, 6.0, 8.0
_STEPS = 200


class RangeSlider(QWidget):
    """Asks for two numbers between bounds; only the user's actions emit `changed`."""

    changed = Signal(float, float)
    """The two numbers, the lesser first."""

    def __init__(self) -> None:
        super().__init__()
        self._bounds, self._values = (0.0, 1.0), [0.0, 1.0]
        self._held: int = 1  # the handle that was used last
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(56)

    def sizeHint(self) -> QSize:
        """Return a size that gives room to drag."""
        return QSize(180, _HEIGHT)

    def set_range(self, bounds: tuple[float, float], values: tuple[float, float]) -> None:
        """Show two numbers, and where they may be."""
        least, most = bounds
        self._bounds = (least, most if most > least else least + 1)
        self._values = [min(max(value, self._bounds[0]), self._bounds[1]) for value in values]
        self.update()

    @property
    def values(self) -> tuple[float, float]:
        """The two numbers."""
        return self._values[0], self._values[1]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the nearer handle."""
        value = self._value(event.position().x())
        distances = [abs(value - each) for each in self._values]
        is_above = value > self._values[0]
        self._held = int(is_above) if distances[0] == distances[1] else distances.index(min(distances))
        self._move(value)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the handle that is held."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move(self._value(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move a handle by arrows; Tab goes on, Up and Down choose the other one."""
        step = (self._bounds[1] - self._bounds[0]) / _STEPS
        moves = {Qt.Key.Key_Left: -step, Qt.Key.Key_Right: step}
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._held = 1 - self._held
            self.update()
        elif event.key() in moves:
            self._move(self._values[self._held] + moves[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the line, the part between the handles, and the handles."""
        painter, palette = QPainter(self), self.palette()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        low, high = (self._place(value) for value in self._values)
        ends = QPointF(_MARGIN, middle), QPointF(self.width() - _MARGIN, middle)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 4, c=Qt.PenCapStyle.RoundCap))
        painter.drawLine(*ends)
        group = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(QPen(palette.color(group, QPalette.ColorRole.Highlight), 4))
        painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        for number, x in enumerate((low, high)):
            is_focused = self.hasFocus() and number == self._held
            role = QPalette.ColorRole.Highlight if is_focused else QPalette.ColorRole.WindowText
            painter.setPen(QPen(palette.color(group, role), 2 if is_focused else 1))
            painter.setBrush(palette.color(QPalette.ColorRole.Button))
            painter.drawEllipse(QRectF(x - _HANDLE, middle - _HANDLE, 2 * _HANDLE, 2 * _HANDLE))

    def _place(self, value: float) -> float:
        least, most = self._bounds
        return _MARGIN + (value - least) / (most - least) * max(self.width() - 2 * _MARGIN, 1)

    def _value(self, x: float) -> float:
        part = min(max((x - _MARGIN) / max(self.width() - 2 * _MARGIN, 1), 0), 1)
        return self._bounds[0] + part * (self._bounds[1] - self._bounds[0])

    def _move(self, value: float) -> None:
        least, most = self._bounds
        low, high = (least, self._values[1]) if self._held == 0 else (self._values[0], most)
        self._values[self._held] = min(max(value, low), high)
        self.update()
        self.changed.emit(*self._values)
