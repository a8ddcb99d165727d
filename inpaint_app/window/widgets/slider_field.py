"""A number with a name, a slider and a box to type into."""

from dataclasses import dataclass
from math import floor

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QMouseEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.layouts import fill, tooltip

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
        self._label, self._slider = _Label(quantity.label), _Slider()
        self._box, self._note = _Box(quantity), SecondaryLabel()
        self._describe()
        self._lay_out()
        self._set_ranges()
        self._show()
        self._box.valueChanged.connect(self._on_box)
        self._slider.valueChanged.connect(self._on_slider)
        self._label.double_clicked.connect(self.reset)
        self._slider.double_clicked.connect(self.reset)
        self._box.turned.connect(self._on_turned)
        self._slider.turned.connect(self._on_turned)

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
        self._note.setWordWrap(True)
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
            is_automatic = self._value is None
            self._slider.set_groove(self.palette().mid().color() if is_automatic else None)

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

    def _on_turned(self, notches: float) -> None:
        now = self._estimate if self._value is None else self._value
        steps = int(notches) or (1 if notches > 0 else -1)
        self._choose((self._minimum if now is None else now) + steps * self._quantity.step)


class _Label(QLabel):
    double_clicked = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.double_clicked.emit()


class _Slider(QSlider):
    double_clicked = Signal()
    turned = Signal(float)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.double_clicked.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        _turn(self.turned, event)

    def set_groove(self, color: QColor | None) -> None:
        """Fill the groove with a color; None for that of the palette."""
        palette = QPalette()
        if color is not None:
            for role in (QPalette.ColorRole.Accent, QPalette.ColorRole.Highlight):
                palette.setColor(role, color)
        self.setPalette(palette)


class _Box(QDoubleSpinBox):
    turned = Signal(float)

    def __init__(self, quantity: Quantity) -> None:
        super().__init__()
        self.setDecimals(quantity.decimals)
        self.setSingleStep(quantity.step)
        self.setSuffix(quantity.suffix)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setAccelerated(True)
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("auto (000)") + _BUTTONS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        _turn(self.turned, event)


def _turn(turned: SignalInstance, event: QWheelEvent) -> None:
    """Leave the wheel to the scroll area, unless Shift is held."""
    # With Shift held some systems report a turn sideways.
    delta = event.angleDelta().y() or event.angleDelta().x()
    if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and delta:
        turned.emit(delta / _NOTCH)
        event.accept()
    else:
        event.ignore()
