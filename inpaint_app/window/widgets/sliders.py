"""Sliders: a number with a name and a box to type into, and a range between two handles."""

from dataclasses import dataclass
from math import floor

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLabel, QSizePolicy, QSlider, QVBoxLayout, QWidget

from inpaint_app.window.widgets.fields import fill, paragraph, tooltip, typed
from inpaint_app.window.widgets.labels import SecondaryLabel

_NOTCH = 120
_BUTTONS = 32


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number that the user chooses."""

    label: str  #: Its name; an ampersand marks the letter of its shortcut.
    #: Smallest and largest number that can be typed.
    minimum: float
    maximum: float
    default: float | None  #: What resetting gives; None: automatic.
    #: Where the slider begins and ends; None: at the minimum and the maximum.
    usual: tuple[float, float] | None = None
    step: float = 1  #: Distance between two places of the slider.
    decimals: int = 0  #: Digits after the point; with 0 the numbers are integers.
    suffix: str = ""  #: Words after the number, such as " px".
    tooltip: str = ""  #: A sentence: what the number does to the picture.
    #: Whether it may be left to the program; always so if the default is None.
    can_be_automatic: bool = False

    def __post_init__(self) -> None:
        """Let a default of None imply that it can be automatic."""
        object.__setattr__(self, "can_be_automatic", self.can_be_automatic or self.default is None)


class SliderField(QWidget):
    """Asks for a number: a label and a box above, a slider below.

    A double-click on the label or the slider goes back to the default. The wheel changes the number only
    while Shift is held; otherwise whatever is around the field scrolls. Only the user's actions emit
    `value_changed`, never the setters.
    """

    value_changed = Signal(object)
    """The new number (int without decimals, otherwise float), or None for automatic."""

    def __init__(self, quantity: Quantity) -> None:
        super().__init__()
        self._quantity = quantity
        self._minimum, self._maximum = quantity.minimum, quantity.maximum
        self._value = quantity.default
        self._estimate: float | None = None
        self._label, self._slider = QLabel(quantity.label), QSlider(Qt.Orientation.Horizontal)
        self._box, self._note = QDoubleSpinBox(), paragraph(made=SecondaryLabel)
        self._describe()
        self._lay_out()
        self._set_ranges()
        self._show()
        self._box.valueChanged.connect(self._on_box)
        self._slider.valueChanged.connect(self._on_slider)
        for widget in (self._label, self._slider, self._box):
            widget.installEventFilter(self)

    @property
    def value(self) -> float | None:
        """The number; None while it is automatic."""
        return self._value

    def set_value(self, value: float | None) -> None:
        """Show a number, or that it is automatic (None)."""
        self._value = None if value is None else self._rounded(value)
        self._show()

    def set_automatic(self, estimate: float | None = None) -> None:
        """Show that the number is automatic, and which one it is if that is known."""
        self._estimate = None if estimate is None else self._rounded(estimate)
        self.set_value(None)

    def set_bounds(self, minimum: float, maximum: float) -> None:
        """Change the smallest and the largest number; the value is clipped to them."""
        self._minimum, self._maximum = minimum, max(minimum, maximum)
        self._set_ranges()
        self.set_value(self._value)

    def set_note(self, text: str) -> None:
        """Write a few words below the slider, such as a total; an empty text removes them."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def reset(self) -> None:
        """Go back to the default, as if the user had chosen it."""
        self._choose(self._quantity.default)

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Reset by a double-click beside the box; leave the wheel to the scroll area without Shift."""
        if event.type() == QEvent.Type.MouseButtonDblClick and watched is not self._box:
            self.reset()
            return True
        if isinstance(event, QWheelEvent) and watched is not self._label:
            # With Shift held some systems report a turn sideways.
            delta = event.angleDelta().y() or event.angleDelta().x()
            event.setAccepted(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier and delta))
            if event.isAccepted():
                self._turn(delta / _NOTCH)
            return True
        return super().eventFilter(watched, event)

    def _describe(self) -> None:
        name, words = self._quantity.label.replace("&", ""), self._quantity.tooltip
        self._label.setBuddy(self._box)
        self._box.setAccessibleName(name)
        self._slider.setAccessibleName(f"{name}, slider")
        for widget in (self, self._label, self._box, self._slider):
            widget.setToolTip(tooltip(words))
        for field in (self._box, self._slider):
            field.setAccessibleDescription(words)

    def _lay_out(self) -> None:
        self._box.setDecimals(self._quantity.decimals)
        self._box.setSingleStep(self._quantity.step)
        self._box.setSuffix(self._quantity.suffix)
        self._box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._box.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._box.setAccelerated(True)
        self._box.setMinimumWidth(self.fontMetrics().horizontalAdvance("auto (000)") + _BUTTONS)
        typed((self._box,))
        self._note.hide()
        top = fill(QHBoxLayout(), (self._label, 1), self._box)
        fill(QVBoxLayout(self), top, self._slider, self._note, spacing=0)
        self.setTabOrder(self._slider, self._box)

    @property
    def _track(self) -> tuple[float, float]:
        """Where the slider begins and ends."""
        return self._quantity.usual or (self._minimum, self._maximum)

    def _set_ranges(self) -> None:
        with QSignalBlocker(self._box), QSignalBlocker(self._slider):
            # The place below the minimum stands for automatic.
            lowest = self._minimum - self._quantity.step if self._quantity.can_be_automatic else self._minimum
            self._box.setRange(lowest, self._maximum)
            start, end = self._track
            self._slider.setRange(0, round((end - start) / self._quantity.step))
            self._slider.setPageStep(max(1, self._slider.maximum() // 10))

    def _show(self) -> None:
        """Show the value in box and slider."""
        with QSignalBlocker(self._box), QSignalBlocker(self._slider):
            if self._quantity.can_be_automatic:
                known = "" if self._estimate is None else f" ({self._estimate:.{self._quantity.decimals}f})"
                self._box.setSpecialValueText(f"auto{known}")
            shown = self._estimate if self._value is None else self._value
            self._box.setValue(self._box.minimum() if self._value is None else self._value)
            place = 0 if shown is None else round((shown - self._track[0]) / self._quantity.step)
            self._slider.setValue(place)
            groove = QPalette()
            if self._value is None:
                for role in (QPalette.ColorRole.Accent, QPalette.ColorRole.Highlight):
                    groove.setColor(role, self.palette().mid().color())
            self._slider.setPalette(groove)

    def _rounded(self, value: float) -> float:
        value = min(max(value, self._minimum), self._maximum)
        return round(value, self._quantity.decimals) if self._quantity.decimals else floor(value + 0.5)

    def _choose(self, value: float | None) -> None:
        """Change the value as the user asks."""
        before = self._value
        self.set_value(value)
        if self._value != before:
            self.value_changed.emit(self._value)

    def _on_box(self, value: float) -> None:
        is_automatic = self._quantity.can_be_automatic and value < self._minimum
        self._choose(None if is_automatic else value)

    def _on_slider(self, place: int) -> None:
        self._choose(self._track[0] + place * self._quantity.step)

    def _turn(self, notches: float) -> None:
        now = self._estimate if self._value is None else self._value
        steps = int(notches) or (1 if notches > 0 else -1)
        self._choose((self._minimum if now is None else now) + steps * self._quantity.step)


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
