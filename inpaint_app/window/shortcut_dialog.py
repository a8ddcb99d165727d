"""The sheet of keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.button_box import button_box

_BY_HAND = (
    ("Zoom at the pointer", "Wheel, + and −"),
    ("Move the picture", "Drag, Space + drag, middle button, arrow keys"),
    ("Fit the picture", "Double-click"),
    ("Show the damaged picture while held", "B"),
    ("Change a slider by the wheel", "Shift + wheel"),
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
        self._rows: list[tuple[str, str]] = []
        self._sheet = QTreeWidget()
        self._sheet.setHeaderLabels(["What", "Keys"])
        self._sheet.setAccessibleName("Keyboard shortcuts")
        self._sheet.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self._sheet.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._sheet.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._sheet.header().setStretchLastSection(False)
        for title, actions in groups:
            self._add(title, [(_name(action), _keys(action)) for action in actions if action.shortcuts()])
        self._add("Pictures", list(_BY_HAND))
        self._sheet.expandAll()
        buttons = button_box(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self._sheet)
        layout.addWidget(buttons)
        self.resize(520, 620)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is listed."""
        return self._rows.copy()

    def _add(self, title: str, rows: list[tuple[str, str]]) -> None:
        if not rows:
            return
        self._rows += rows
        group = QTreeWidgetItem([title])
        font = group.font(0)
        font.setBold(True)
        group.setFont(0, font)
        group.addChildren([QTreeWidgetItem(list(row)) for row in rows])
        self._sheet.addTopLevelItem(group)


def _name(action: QAction) -> str:
    return action.text().replace("&", "").rstrip(" …")


def _keys(action: QAction) -> str:
    keys = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts()]
    return " or ".join(dict.fromkeys(keys))
