"""Fields, buttons, labels and layouts of panels and dialogs, each made and described at once."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
)

from inpaint_app.window.theme.colors import colors_of

Part = QWidget | QLayout
Box = TypeVar("Box", bound=QBoxLayout)


def fill(
    box: Box,
    *parts: Part | tuple[Part, int] | int,
    margins: tuple[int, int, int, int] | None = (0, 0, 0, 0),
    spacing: int | None = None,
) -> Box:
    """Put parts into a row or a column, and return it.

    Parameters
    ----------
    box : QBoxLayout
        The row or the column.
    *parts : QWidget, QLayout, (QWidget or QLayout, int) or int
        What it holds, with a number for how much of the room it takes; a number alone is empty room.
    margins : (int, int, int, int) or None
        Left, top, right and bottom; None for those of the style, as around a dialog.
    spacing : int, optional
        Between two parts; by default that of the style.
    """
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for each in parts:
        part, stretch = each if isinstance(each, tuple) else (each, 0)
        if isinstance(part, QWidget):
            box.addWidget(part, stretch)
        elif isinstance(part, QLayout):
            box.addLayout(part, stretch)
        else:
            box.addStretch(part)
    return box


def strip(
    *parts: Part | tuple[Part, int] | int,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QWidget:
    """Return a widget that holds a row."""
    widget = QWidget()
    fill(QHBoxLayout(widget), *parts, margins=margins, spacing=spacing)
    return widget


def in_pairs(*parts: QWidget, spacing: int) -> QGridLayout:
    """Return widgets in two columns."""
    grid = QGridLayout()
    grid.setVerticalSpacing(spacing)
    for place, part in enumerate(parts):
        grid.addWidget(part, place // 2, place % 2)
    return grid


def labeled(text: str, field: QWidget) -> QHBoxLayout:
    """Return a row of a label and the field that it belongs to, which takes the room."""
    label = QLabel(text)
    label.setBuddy(field)
    return fill(QHBoxLayout(), label, (field, 1), spacing=8)


def aligned(*rows: QHBoxLayout) -> tuple[QHBoxLayout, ...]:
    """Return rows whose labels, which come first, are all as wide as the widest."""
    items = (row.itemAt(0) for row in rows)
    labels = [label for item in items if item is not None and (label := item.widget()) is not None]
    width = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setMinimumWidth(width)
    return rows


def form(rows: Mapping[str, QWidget]) -> QFormLayout:
    """Return fields below each other, with their labels before them; the fields take the room."""
    layout = QFormLayout()
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    for label, field in rows.items():
        layout.addRow(label, field)
    return layout


def button_box(dialog: QDialog, standard: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    """Return a button that ends a dialog, for others to join."""
    box = QDialogButtonBox(standard)
    box.accepted.connect(dialog.accept)
    box.rejected.connect(dialog.reject)
    return box


_WIDTH = 60


def tooltip(text: str) -> str:
    """Return a text wrapped into short lines; Qt would draw it as one."""
    return textwrap.fill(text, _WIDTH)


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


class Segments(QWidget):
    """Buttons for actions of which one is on."""

    def __init__(self, actions: Sequence[QAction]) -> None:
        super().__init__()
        buttons = [QToolButton() for _ in actions]
        for button, action in zip(buttons, actions, strict=True):
            button.setDefaultAction(action)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setMinimumWidth(84)
        fill(QHBoxLayout(self), *buttons, margins=(3, 3, 3, 3), spacing=2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame."""
        painter, colors = QPainter(self), colors_of(self.palette())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.rule, 1))
        painter.setBrush(self.palette().base())
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, 6, 6)


Kind = Literal["folder", "read", "write"]


class PathField(QWidget):
    """Asks for a path.

    Parameters
    ----------
    title : str
        What it is the path of.
    kind : str
        Whether it is a "folder", a file to "read" or one to "write".
    start : Path
        Folder in which the dialog opens.
    filters : str
        Kinds of files, as `QFileDialog` takes them.
    """

    changed = Signal()

    def __init__(self, title: str, *, kind: Kind, start: Path, filters: str = "") -> None:
        super().__init__()
        self.title, self._kind, self._start, self._filters = title, kind, start, filters
        self._line, self._browse = QLineEdit(), QPushButton("Browse …")
        name = title.replace("&", "")
        self._line.setAccessibleName(name)
        self._browse.setAccessibleName(f"Browse: {name}")
        self._browse.setAutoDefault(False)  # Enter in the line is for the dialog around
        fill(QHBoxLayout(self), (self._line, 1), self._browse)
        self._line.textChanged.connect(self.changed)
        self._browse.clicked.connect(self._browse_files)
        self.setFocusProxy(self._line)

    @property
    def path(self) -> Path | None:
        """What was chosen; None if nothing was."""
        text = self._line.text().strip()
        if not text:
            return None
        try:
            return Path(text).expanduser()
        except RuntimeError:  # ~ with the name of nobody
            return Path(text)

    def set_path(self, path: Path) -> None:
        """Show a path."""
        self._line.setText(str(path))

    def _browse_files(self) -> None:
        start = str(self.path or self._start)
        if self._kind == "folder":
            chosen = QFileDialog.getExistingDirectory(self, self.title, start)
        elif self._kind == "read":
            chosen, _ = QFileDialog.getOpenFileName(self, self.title, start, self._filters)
        else:
            chosen, _ = QFileDialog.getSaveFileName(
                self, self.title, start, self._filters, options=QFileDialog.Option.DontConfirmOverwrite
            )
        if chosen:
            self._line.setText(chosen)
