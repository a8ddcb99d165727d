"""The layout of the window: remembered, and harmless where what is remembered is damaged."""

import base64
import json

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication


def test_the_layout_is_remembered(make_window) -> None:
    first = make_window()
    _, dictionary, history = first._docks
    first.resize(first.width(), 700)
    first.resizeDocks([history], [211], Qt.Orientation.Vertical)
    dictionary.raise_()
    first.menus.bar.hide()
    QApplication.processEvents()
    first.close()
    second = make_window()
    QApplication.processEvents()
    settings, dictionary, history = second._docks
    assert (second.height(), history.height()) == (700, 211)
    assert settings.visibleRegion().isEmpty()
    assert not dictionary.visibleRegion().isEmpty()
    assert second.menus.bar.isHidden()
    second.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, history)
    second.close()
    third = make_window()
    assert third.dockWidgetArea(third._docks[2]) == Qt.DockWidgetArea.LeftDockWidgetArea


def test_a_floating_panel_is_remembered_where_it_can_be_seen(make_window, qtbot, own_preferences) -> None:
    first = make_window()
    first._docks[2].setFloating(True)
    first._docks[2].setGeometry(40, 50, 300, 200)
    first.close()
    second = make_window()
    assert second._docks[2].isFloating()
    assert second._docks[2].isVisible()
    assert second._docks[2].geometry() == QRect(40, 50, 300, 200)
    second.close()
    stored = json.loads(own_preferences.read_text())
    stored["panels"]["history"]["window"] = [90_000, 90_000, 300, 200]
    own_preferences.write_text(json.dumps(stored))
    third = make_window()
    assert not third._docks[2].isFloating()
    assert third._docks[2].isVisible()


def test_a_damaged_geometry_does_no_harm(make_window, own_preferences) -> None:
    first = make_window()
    whole = bytes(first.saveGeometry().data())
    first.close()
    rng = np.random.default_rng(0)
    for _ in range(5):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=4):
            damaged[place] = rng.integers(256)
        own_preferences.write_text(json.dumps({"geometry": base64.b64encode(damaged).decode()}))
        window = make_window()
        screen = window.screen().availableGeometry()
        assert screen.intersects(window.frameGeometry())
        window.close()
