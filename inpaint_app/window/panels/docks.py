"""The panels around the pictures, which can be moved, hidden and made to float."""

import contextlib

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget

_RIGHT, _BOTTOM = Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
_SIDE_WIDTH, _HISTORY_HEIGHT = 330, 56


def add_docks(
    window: QMainWindow, settings: QWidget, dictionary: QWidget, history: QWidget
) -> list[QDockWidget]:
    """Put the panels where they are at first: two behind each other at the right, the history below."""
    docks = [
        _dock(window, "Settin&gs", settings, _RIGHT),
        _dock(window, "&Dictionary", dictionary, _RIGHT),
        _dock(window, "Histor&y", history, _BOTTOM),
    ]
    window.tabifyDockWidget(docks[0], docks[1])
    for dock in docks[:2]:  # their tabs name them
        dock.setTitleBarWidget(QWidget())
    window.setTabPosition(_RIGHT, QTabWidget.TabPosition.North)
    docks[0].raise_()
    for tabs in window.findChildren(QTabBar):
        tabs.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
    window.resizeDocks([docks[0]], [_SIDE_WIDTH], Qt.Orientation.Horizontal)
    window.resizeDocks([docks[2]], [_HISTORY_HEIGHT], Qt.Orientation.Vertical)
    return docks


def _dock(window: QMainWindow, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(title.replace("&", "").lower())
    dock.setWidget(widget)
    window.addDockWidget(area, dock)

    def follow(seen: bool) -> None:
        """Disable a dock behind another one's tab: it lies outside the window, and would take the focus."""
        with contextlib.suppress(RuntimeError):  # Qt has deleted them, when everything ends
            widget.setEnabled(seen or window.isMinimized())

    dock.visibilityChanged.connect(follow)
    return dock
