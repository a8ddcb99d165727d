"""A form in which actions are given other keys."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.widgets.fields import buddy, button, described, paragraph
from inpaint_app.window.widgets.keys import key_names
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.layouts import fill

Groups = Iterable[tuple[str, list[QAction]]]
"""Titles and actions; those without a name of their own are left out."""


class KeyForm(QWidget):
    """Lists actions with their keys, of which the chosen one can be changed."""

    key_chosen = Signal(QAction, str)
    """An action, and its new key; empty for none."""
    reset_wanted = Signal()
    """All actions are to have the keys that they had at first."""

    def __init__(self, groups: Groups) -> None:
        super().__init__()
        self._list = described(QTreeWidget(), "Actions and their keys")
        self._list.setHeaderLabels(["What", "Key"])
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setStretchLastSection(False)
        self._list.setMinimumHeight(280)
        self._edit, self._words = described(QKeySequenceEdit(), "New key"), paragraph(made=SecondaryLabel)
        self._edit.setMaximumSequenceLength(1)
        self._edit.setClearButtonEnabled(True)
        reset = button("&Reset all keys", "", self.reset_wanted.emit)
        row = fill(QHBoxLayout(), buddy("&Key", self._edit), (self._edit, 1), reset, spacing=8)
        fill(QVBoxLayout(self), (self._list, 1), row, self._words, margins=(12, 12, 12, 12), spacing=8)
        self._actions: list[tuple[QTreeWidgetItem, QAction]] = []
        self._fill(groups)
        self._list.currentItemChanged.connect(self._show)
        self._edit.editingFinished.connect(self._choose)
        self._show()

    def _fill(self, groups: Groups) -> None:
        for title, actions in groups:
            named = [action for action in actions if action.objectName()]
            if named:
                group = QTreeWidgetItem(self._list, [title])
                group.setFlags(Qt.ItemFlag.ItemIsEnabled)
                self._actions += [(QTreeWidgetItem(group, [action.iconText()]), action) for action in named]
        self.refresh()
        self._list.expandAll()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        for item, action in self._actions:
            item.setText(1, ", ".join(key_names(action)))

    @property
    def _chosen(self) -> QAction | None:
        current = self._list.currentItem()
        return next((action for item, action in self._actions if item is current), None)

    def _show(self) -> None:
        action = self._chosen
        self._edit.setEnabled(action is not None)
        self._edit.setKeySequence(QKeySequence() if action is None else action.shortcut())
        self._words.setText("Choose an action, then press its new key." if action is None else "")

    def _choose(self) -> None:
        action, wanted = self._chosen, self._edit.keySequence()
        if action is None or wanted == action.shortcut():
            return
        others = (each for _, each in self._actions if each is not action and wanted in each.shortcuts())
        taken = None if wanted.isEmpty() else next(others, None)
        if taken is not None:
            self._words.setText(f"{taken.iconText()} has this key; give it another one first.")
            self._edit.setKeySequence(action.shortcut())
            return
        self.key_chosen.emit(action, wanted.toString(QKeySequence.SequenceFormat.PortableText))
        self._words.setText("")
        self.refresh()
