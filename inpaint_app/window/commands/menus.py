"""Menus and toolbar, laid out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from inpaint_app.window.action_table import (
    ALWAYS_LABELED,
    CONTEXT,
    LABELED,
    MENUS,
    TOOL_STRIP,
    TOOLBAR,
)
from inpaint_app.window.actions import Actions
from inpaint_app.window.document.view_state import WORKSPACES
from inpaint_app.window.theme.theme import Theme
from inpaint_app.window.widgets.fields import Segments


class Menus:
    """The menu bar and the toolbar of a window; `docks` show and hide its parts."""

    def __init__(self, window: QMainWindow, actions: Actions, sample: QMenu, docks: list[QAction]) -> None:
        self._window, self._actions = window, actions
        self.recent, theme = QMenu("Open Recen&t", window), QMenu("T&heme", window)
        self.themes = _exclusive(window, [_theme_action(window, theme) for theme in Theme])
        theme.addActions(self.themes.actions())
        tools, modes = list(actions.tools.values()), list(actions.modes.values())
        workspaces = [actions[name] for name in WORKSPACES]
        for alternatives in (tools, modes, workspaces):
            _exclusive(window, alternatives)
        self._special: dict[str, QMenu | QWidget | list[QAction]] = {
            "@recent": self.recent,
            "@sample": sample,
            "@theme": theme,
            "@docks": docks,
            "@tools": tools,
            "@modes": modes,
            "@workspaces": Segments(workspaces),
        }
        for title, sections in MENUS.items():
            self._fill(window.menuBar().addMenu(title), sections)
        self.context = QMenu(window)
        self._fill(self.context, CONTEXT)
        self.bar, strip = self._toolbar("Toolbar"), self._toolbar("Tools", Qt.ToolBarArea.LeftToolBarArea)
        self._fill(self.bar, TOOLBAR)
        self._fill(strip, TOOL_STRIP)
        self._label_buttons(all_of_them=True)
        self._full_width = 0

    def _fill(self, target: QMenu | QToolBar, sections: Sequence[Sequence[str]]) -> None:
        for place, section in enumerate(sections):
            if place:
                target.addSeparator()
            for name in section:
                special = self._special.get(name)
                if isinstance(special, list):
                    target.addActions(special)
                elif isinstance(special, QMenu):
                    target.addAction(special.menuAction())
                elif isinstance(target, QToolBar) and name == "@space":
                    target.addWidget(_space())
                elif isinstance(target, QToolBar) and special is not None:
                    target.addWidget(special)
                else:
                    target.addAction(self._actions[name])

    def fit_into(self, width: int) -> None:
        """Leave out the names of some buttons if the toolbar would be too wide."""
        self._full_width = self._full_width or self.bar.sizeHint().width()
        self._label_buttons(all_of_them=width >= self._full_width)

    def _label_buttons(self, *, all_of_them: bool) -> None:
        """Put their names beside buttons of the toolbar, or beside the most important ones."""
        for name in LABELED:
            button = self.bar.widgetForAction(self._actions[name])
            assert isinstance(button, QToolButton)
            is_labeled = all_of_them or name in ALWAYS_LABELED
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if is_labeled else style.ToolButtonIconOnly
            )

    def _toolbar(self, title: str, area: Qt.ToolBarArea = Qt.ToolBarArea.TopToolBarArea) -> QToolBar:
        bar = QToolBar(title, self._window)
        bar.setObjectName(title.lower())
        bar.setMovable(False)
        bar.setIconSize(QSize(20, 20))
        self._window.addToolBar(area, bar)
        return bar

    @property
    def sections(self) -> list[tuple[str, list[QAction]]]:
        """The menus with their actions, for the list of shortcuts."""
        menus = [(bar.text().replace("&", ""), bar.menu()) for bar in self._window.menuBar().actions()]
        return [(title, menu.actions()) for title, menu in menus if isinstance(menu, QMenu)]

    def show_recent(
        self, names: Mapping[Path, str], open_file: Callable[[Path], None], forget: Callable[[], None]
    ) -> None:
        """Fill the menu of recent files."""
        self.recent.clear()
        for path, name in names.items():
            self.recent.addAction(name.replace("&", "&&"), partial(open_file, path))
        self.recent.setEnabled(bool(names))
        if names:
            self.recent.addSeparator()
            self.recent.addAction("&Clear Recent Files", forget)


def _space() -> QWidget:
    """Return room between two parts of a toolbar."""
    space = QWidget()
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return space


def _exclusive(window: QMainWindow, actions: list[QAction]) -> QActionGroup:
    group = QActionGroup(window)
    for action in actions:
        group.addAction(action)
    return group


def _theme_action(window: QMainWindow, theme: Theme) -> QAction:
    action = QAction(f"&{theme.value.title()}", window)
    action.setCheckable(True)
    action.setData(theme)
    return action
