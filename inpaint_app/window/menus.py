"""Menus and toolbar, laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar, QToolButton

from inpaint_app.window.actions import Actions
from inpaint_app.window.theme.theme import Theme
from inpaint_app.window.widgets.no_wheel_boxes import NoWheelSpinBox

_FILE = (
    ("open", "@recent", "@sample", "paste"),
    ("open_mask", "open_reference", "open_recipe", "damage"),
    ("export", "copy", "export_comparison", "export_dictionary", "save_mask", "save_recipe"),
    ("batch",),
    ("quit",),
)
_MASK = (
    ("undo", "redo"),
    ("look", "brush", "eraser", "rectangle"),
    ("smaller", "larger"),
    ("invert", "clear"),
)
_RESTORE = (("restore", "tune", "compare"), ("stop", "cancel"), ("automatic",))
_VIEW = (
    ("side", "split", "compared", "error"),
    ("show_mask",),
    ("fit", "actual", "zoom_in", "zoom_out"),
    ("@docks",),
    ("@theme", "full_screen"),
)
_HELP = (("shortcuts", "about"),)
_TOOLS = (
    ("open", "export"),
    ("look", "brush", "eraser", "rectangle", "@diameter", "undo", "redo"),
    ("restore", "tune", "compare", "stop"),
    ("side", "split", "compared", "error"),
    ("show_mask", "fit", "actual"),
)
_LABELLED = ("open", "export", "restore", "tune", "compare")
"""What has its name beside its icon."""


class Menus:
    """The menu bar and the toolbar of a window.

    Parameters
    ----------
    window : QMainWindow
        Where they go.
    actions : Actions
        What they hold.
    sample : QMenu
        The damages of the sample.
    docks : list of QAction
        Show and hide parts of the window.
    """

    def __init__(self, window: QMainWindow, actions: Actions, sample: QMenu, docks: list[QAction]) -> None:
        self._window, self._actions = window, actions
        self.recent, self.theme = QMenu("Open Recen&t", window), QMenu("&Theme", window)
        self.themes = _exclusive(window, [_theme_action(window, theme) for theme in Theme])
        for action in self.themes.actions():
            self.theme.addAction(action)
        self.diameter = NoWheelSpinBox()
        self.diameter.setRange(1, 500)
        self.diameter.setSuffix(" px")
        self.diameter.setToolTip("How wide brush and eraser are ([ and ]).")
        self.diameter.setAccessibleName("Brush size")
        self._special: dict[str, QMenu | list[QAction]] = {
            "@recent": self.recent,
            "@sample": sample,
            "@theme": self.theme,
            "@docks": docks,
        }
        self._fill(window.menuBar().addMenu("&File"), _FILE)
        self._fill(window.menuBar().addMenu("&Mask"), _MASK)
        self._fill(window.menuBar().addMenu("&Restore"), _RESTORE)
        self._fill(window.menuBar().addMenu("&View"), _VIEW)
        self._fill(window.menuBar().addMenu("&Help"), _HELP)
        self.tools = _exclusive(window, [actions[name] for name in ("look", "brush", "eraser", "rectangle")])
        self.views = _exclusive(window, [actions[name] for name in ("side", "split", "compared", "error")])
        self.bar = self._toolbar()

    def _fill(self, menu: QMenu, sections: tuple[tuple[str, ...], ...]) -> None:
        for place, section in enumerate(sections):
            if place:
                menu.addSeparator()
            for name in section:
                special = self._special.get(name)
                if isinstance(special, QMenu):
                    menu.addMenu(special)
                elif special is not None:
                    menu.addActions(special)
                else:
                    menu.addAction(self._actions[name])

    def _toolbar(self) -> QToolBar:
        bar = QToolBar("Toolbar", self._window)
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(20, 20))
        for place, section in enumerate(_TOOLS):
            if place:
                bar.addSeparator()
            for name in section:
                if name == "@diameter":
                    bar.addWidget(self.diameter)
                else:
                    bar.addAction(self._actions[name])
                if name in _LABELLED:
                    button = bar.widgetForAction(self._actions[name])
                    assert isinstance(button, QToolButton)
                    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._window.addToolBar(bar)
        return bar

    def show_recent(
        self, names: Sequence[tuple[str, Callable[[], None]]], forget: Callable[[], None]
    ) -> None:
        """Fill the menu of recent files."""
        self.recent.clear()
        for name, open_it in names:
            self.recent.addAction(name.replace("&", "&&"), open_it)
        self.recent.setEnabled(bool(names))
        if names:
            self.recent.addSeparator()
            self.recent.addAction("&Forget Recent Files", forget)


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
