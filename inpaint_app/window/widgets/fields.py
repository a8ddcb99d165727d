"""Fields, buttons and labels of panels and dialogs, each made and described at once."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QPushButton, QSpinBox, QWidget

from inpaint_app.window.widgets.layouts import tooltip

Field = TypeVar("Field", bound=QWidget)


def described(field: Field, name: str, tip: str = "") -> Field:
    """Return a field with a name for screen readers, and what it is for."""
    field.setAccessibleName(name)
    field.setAccessibleDescription(tip)
    field.setToolTip(tooltip(tip))
    return field


class _NoWheel:  # Qt allows one base class of its own
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the scroll area."""
        event.ignore()


class ChoiceBox(_NoWheel, QComboBox):
    """A choice that the wheel does not change."""


class NumberBox(_NoWheel, QSpinBox):
    """A whole number that the wheel does not change."""


class DecimalBox(_NoWheel, QDoubleSpinBox):
    """A number with decimals that the wheel does not change."""


def choice(
    name: str, entries: Mapping[str, object] = MappingProxyType({}), chosen: object = None, tip: str = ""
) -> ChoiceBox:
    """Return a choice between things, given by the words for them."""
    box = described(ChoiceBox(), name, tip)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    for words, value in entries.items():
        box.addItem(words, value)
    if chosen in entries.values():
        box.setCurrentIndex([*entries.values()].index(chosen))
    return box


def number(
    name: str, minimum: int, maximum: int, tip: str = "", suffix: str = "", least: str = ""
) -> NumberBox:
    """Return a field for a whole number, with words after it, and perhaps for the least one."""
    box = described(NumberBox(), name, tip)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.setRange(minimum, maximum)
    box.setSuffix(suffix)
    box.setSpecialValueText(least)
    return box


def typed(boxes: Iterable[QSpinBox | QDoubleSpinBox]) -> None:
    """Let numbers count when they are typed to the end, not digit by digit."""
    for box in boxes:
        box.setKeyboardTracking(False)


def decimal(name: str, tip: str = "") -> DecimalBox:
    """Return a field for a number with decimals."""
    box = described(DecimalBox(), name, tip)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return box


def check(text: str, tip: str, name: str = "") -> QCheckBox:
    """Return a box to tick."""
    return described(QCheckBox(text), name, tip)


def button(text: str, tip: str, clicked: Callable[..., object]) -> QPushButton:
    """Return a button that does something."""
    made = described(QPushButton(text), "", tip)
    made.clicked.connect(clicked)
    return made


def buddy(text: str, field: QWidget) -> QLabel:
    """Return the label of a field, whose letter leads to it."""
    label = QLabel(text)
    label.setBuddy(field)
    return label


def paragraph(text: str = "", *, made: type[QLabel] = QLabel) -> QLabel:
    """Return a text of several lines."""
    label = made(text)
    label.setWordWrap(True)
    return label


def action_button(action: QAction, text: str = "", *, main: bool = False) -> QPushButton:
    """Return a button that does what an action does, and is enabled when it is.

    The letters belong to the menus: it has none. `main` is the one that counts most.
    """
    made = QPushButton(text or action.iconText())
    made.setAccessibleDescription(action.statusTip())
    if main:
        made.setProperty("main", True)
        font = made.font()
        font.setBold(True)
        made.setFont(font)
    made.clicked.connect(action.trigger)

    def follow() -> None:
        made.setEnabled(action.isEnabled())
        made.setToolTip(action.toolTip())  # the user may give it another key

    action.changed.connect(follow)
    follow()
    return made
