"""Puts the panels of a window where they were.

`QMainWindow.restoreState` is not used: it reads a string of bytes, and crashes on some that are damaged.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow

from inpaint_app.window.widgets.panel_place import PanelPlace

_Area = Qt.DockWidgetArea
_AREAS = {
    "left": _Area.LeftDockWidgetArea,
    "right": _Area.RightDockWidgetArea,
    "top": _Area.TopDockWidgetArea,
    "bottom": _Area.BottomDockWidgetArea,
}
_NAMES = {area: name for name, area in _AREAS.items()}


def places_of(window: QMainWindow, docks: Sequence[QDockWidget]) -> dict[str, PanelPlace]:
    """Return where the panels are, by their object names."""
    return {dock.objectName(): _place_of(window, dock) for dock in docks}


def _place_of(window: QMainWindow, dock: QDockWidget) -> PanelPlace:
    area = _NAMES.get(window.dockWidgetArea(dock), "right")
    rect = dock.geometry()
    return PanelPlace(
        area=area,
        size=max(1, rect.width() if area in ("left", "right") else rect.height()),
        is_hidden=dock.isHidden(),
        is_in_front=not dock.visibleRegion().isEmpty(),
        window=(rect.x(), rect.y(), rect.width(), rect.height()) if dock.isFloating() else None,
    )


def put_panels(window: QMainWindow, docks: Sequence[QDockWidget], places: Mapping[str, PanelPlace]) -> None:
    """Put panels where they were; those whose place is not known stay where they are."""
    known = [(dock, places[dock.objectName()]) for dock in docks if dock.objectName() in places]
    for dock, place in known:
        if window.dockWidgetArea(dock) != _AREAS[place.area]:
            window.addDockWidget(_AREAS[place.area], dock)
        if place.window is not None:
            _float(dock, QRect(*place.window))
        dock.setHidden(place.is_hidden)
    for dock, place in known:
        if place.is_in_front and not dock.isFloating():  # the size of others is what it once was
            across = Qt.Orientation.Horizontal if place.area in ("left", "right") else Qt.Orientation.Vertical
            window.resizeDocks([dock], [place.size], across)
            dock.raise_()


def _float(dock: QDockWidget, rect: QRect) -> None:
    """Let a panel float where it can be seen; otherwise it stays docked."""
    if QGuiApplication.screenAt(rect.center()) is not None:
        dock.setFloating(True)
        dock.setGeometry(rect)
