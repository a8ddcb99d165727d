"""The sheet of keyboard shortcuts."""

from collections.abc import Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.widgets.layouts import button_box, fill

Section = tuple[str, list[tuple[str, str]]]
"""A title, and what there is with its keys."""

_BY_HAND = (
    ("Zoom at the pointer", "Wheel, + and −"),
    ("Move the picture", "Drag, Space + drag, middle button, arrow keys"),
    ("Fit the picture", "Double-click"),
    ("Show the damaged picture while held", "B"),
    ("Change a slider with the wheel", "Shift + wheel"),
    ("Reset a parameter", "Double-click on its name or slider"),
)


class ShortcutDialog(QDialog):
    """Lists all actions with their keys.

    Parameters
    ----------
    groups : iterable of (str, list of QAction)
        Titles and actions; those without a key are left out.
    """

    def __init__(self, groups: Iterable[tuple[str, list[QAction]]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        sections = [
            (title, [(_name(action), _keys(action)) for action in actions if action.shortcuts()])
            for title, actions in groups
        ]
        self._sections = [section for section in (*sections, ("Pictures", list(_BY_HAND))) if section[1]]
        columns = fill(QHBoxLayout(), *map(_sheet, _halves(self._sections)))
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        fill(QVBoxLayout(self), (columns, 1), buttons, margins=None)
        self.resize(self.sizeHint())

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is listed."""
        return [row for _, rows in self._sections for row in rows]


def _halves(sections: list[Section]) -> tuple[list[Section], list[Section]]:
    """Return sections in two columns that are about as long as each other."""
    lengths = [1 + len(rows) for _, rows in sections]
    middles = [sum(lengths[:place]) + lengths[place] / 2 for place in range(len(sections))]
    cut = sum(middle <= sum(lengths) / 2 for middle in middles)
    return sections[:cut], sections[cut:]


def _sheet(sections: list[Section]) -> QTreeWidget:
    """Return sections below each other, as large as they need."""
    sheet = QTreeWidget()
    sheet.setHeaderLabels(["What", "Keys"])
    sheet.setAccessibleName(f"Keyboard shortcuts: {', '.join(title for title, _ in sections)}")
    sheet.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    sheet.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
    sheet.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    sheet.header().setStretchLastSection(False)
    for title, rows in sections:
        group = QTreeWidgetItem([title])
        font = group.font(0)
        font.setBold(True)
        group.setFont(0, font)
        group.addChildren([QTreeWidgetItem(list(row)) for row in rows])
        sheet.addTopLevelItem(group)
    sheet.expandAll()
    return sheet


def _name(action: QAction) -> str:
    return action.text().replace("&", "").rstrip(" …")


def _keys(action: QAction) -> str:
    keys = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts()]
    return " or ".join(dict.fromkeys(keys))
