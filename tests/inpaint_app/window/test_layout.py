"""The layout of the window: remembered, and harmless where what is remembered is damaged."""

import base64
import json

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QDockWidget
from windows import find, opened

from inpaint_app.window.theme.theme import Theme


def docks(window) -> list[QDockWidget]:
    return [find(window, QDockWidget, name) for name in ("settings", "dictionary", "history")]


@pytest.fixture
def make_studio(make_window, qtbot, files):
    """Make a window with a picture to study: without one there are no panels."""
    return lambda: opened(make_window(), qtbot, files["damaged"])


def test_theme_and_layout_are_remembered(make_studio, theme) -> None:
    first = make_studio()
    first.choices.set_theme(Theme.DARK)
    _, dictionary, history = docks(first)
    first.resize(first.width(), 700)
    first.resizeDocks([history], [211], Qt.Orientation.Vertical)
    dictionary.raise_()
    first.menus.bar.hide()
    QApplication.processEvents()
    first.close()
    theme.set_theme(Theme.LIGHT)
    second = make_studio()
    QApplication.processEvents()
    assert theme.theme is Theme.DARK
    settings, dictionary, history = docks(second)
    assert (second.height(), history.height()) == (700, 211)
    assert settings.visibleRegion().isEmpty()
    assert not dictionary.visibleRegion().isEmpty()
    assert second.menus.bar.isHidden()
    second.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, history)
    second.close()
    third = make_studio()
    assert third.dockWidgetArea(docks(third)[2]) == Qt.DockWidgetArea.LeftDockWidgetArea


def test_a_floating_panel_is_remembered_where_it_can_be_seen(make_studio) -> None:
    first = make_studio()
    docks(first)[2].setFloating(True)
    docks(first)[2].setGeometry(40, 50, 300, 200)
    first.close()
    second = make_studio()
    assert docks(second)[2].isFloating()
    assert docks(second)[2].isVisible()
    assert docks(second)[2].geometry() == QRect(40, 50, 300, 200)
    docks(second)[2].setGeometry(90_000, 90_000, 300, 200)
    second.close()
    third = make_studio()
    assert docks(third)[2].isVisible()
    assert third.screen().availableGeometry().intersects(docks(third)[2].frameGeometry())


def test_a_damaged_layout_does_no_harm(make_studio, own_preferences) -> None:
    make_studio().close()
    stored = json.loads(own_preferences.read_text())
    layout = bytearray(base64.b64decode(stored["layout"]))
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(layout), size=4):
        layout[place] ^= 1 + rng.integers(255)
    stored["layout"] = base64.b64encode(layout).decode()
    own_preferences.write_text(json.dumps(stored))
    window = make_studio()
    assert all(not dock.isFloating() and not dock.isHidden() for dock in docks(window))


def test_without_a_picture_there_are_no_panels(window, qtbot, files) -> None:
    assert all(not dock.isVisible() for dock in docks(window))
    assert not window.menus.bar.isVisible()
    opened(window, qtbot, files["damaged"])
    assert window.menus.bar.isVisible()
    window.session.document.discard()
    window.files.close_picture()
    assert not window.menus.bar.isVisible()


def test_a_damaged_geometry_does_no_harm(make_window, own_preferences) -> None:
    first = make_window()
    whole = bytes(first.saveGeometry().data())
    first.close()
    rng = np.random.default_rng(0)
    for _ in range(2):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=4):
            damaged[place] = rng.integers(256)
        own_preferences.write_text(json.dumps({"geometry": base64.b64encode(damaged).decode()}))
        window = make_window()
        screen = window.screen().availableGeometry()
        assert screen.intersects(window.frameGeometry())
        window.close()
