"""The panels around the pictures, which can be moved, hidden and made to float."""

import contextlib
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QToolBar, QWidget

_RIGHT, _BOTTOM = Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
_SIDE_WIDTH, _HISTORY_HEIGHT = 320, 56


class Docks(QObject):
    """The panels: at first two behind each other at the right, and the history below.

    Where one retouches, the first one is left; all panels and toolbars can be put away. Those that were open
    come back.
    """

    def __init__(self, window: QMainWindow, settings: QWidget, dictionary: QWidget, history: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._docks = [
            _dock(window, "Settin&gs", settings, _RIGHT),
            _dock(window, "&Dictionary", dictionary, _RIGHT),
            _dock(window, "Histor&y", history, _BOTTOM),
        ]
        self._reasons: set[str] = set()
        #: The layout before all were put away, and that for study while one retouches; None otherwise.
        self._open: QByteArray | None = None
        self._study: QByteArray | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        window, docks = self._window, self._docks
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

    @property
    def actions(self) -> list[QAction]:
        """What shows and hides each of them."""
        return [dock.toggleViewAction() for dock in self._docks]

    @property
    def layout(self) -> bytes:
        """Where panels and toolbars are for study, while none is put away."""
        return bytes((self._study or self._open or self._window.saveState()).data())

    def set_retouching(self, is_retouching: bool) -> None:
        """Leave what is for retouching, or bring back what is for study."""
        if is_retouching == (self._study is not None):
            return
        if self._open is not None:
            self._window.restoreState(self._open)
        self._study = self._swap(self._study, self._docks[1:])
        if self._open is not None:
            self._open = self._swap(None, self._all)

    def put_away(self, is_away: bool, reason: str) -> None:
        """Hide all panels and toolbars for a reason, or bring them back when there is none any more."""
        (self._reasons.add if is_away else self._reasons.discard)(reason)
        if bool(self._reasons) != (self._open is not None):
            self._open = self._swap(self._open, self._all)

    @property
    def _all(self) -> list[QWidget]:
        return [*self._docks, *self._window.findChildren(QToolBar)]

    def _swap(self, before: QByteArray | None, parts: Sequence[QWidget]) -> QByteArray | None:
        """Hide some parts and return the layout before, or bring back that one."""
        if before is not None:
            self._window.restoreState(before)
            return None
        before = self._window.saveState()
        for part in parts:
            part.hide()
        return before


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
