"""The window by keyboard and screen reader: names, focus, the sheet of shortcuts."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QLabel,
    QLineEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)
from windows import find, opened, restored

from inpaint_app.window.action_table import SPECS
from inpaint_app.window.dialogs.shortcut_dialog import ShortcutDialog


def test_the_sheet_lists_every_key(window) -> None:
    window.actions_["shortcuts"].trigger()
    dialog = window.findChild(ShortcutDialog)
    listed = "\n".join(keys for _, keys in dialog.rows)
    for spec in SPECS.values():
        assert all(key in listed for key in spec.keys)
    assert {"Brush", "Split", "Undo"} <= {name for name, _ in dialog.rows}
    assert dialog.height() <= 640
    for sheet in dialog.findChildren(QAbstractItemView):
        assert not sheet.verticalScrollBar().isVisible(), "all keys are in sight"
    dialog.close()


def test_everything_that_takes_input_has_a_name(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    kinds = (QAbstractButton, QAbstractSpinBox, QAbstractSlider, QComboBox, QLineEdit, QAbstractItemView)
    nameless = []
    for kind in kinds:
        for widget in window.findChildren(kind):
            inner = widget.objectName().startswith("qt_") or isinstance(widget, QScrollBar)
            inner |= isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox | QAbstractItemView)
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (inner or widget.accessibleName() or text or widget.toolTip() or not widget.isVisible()):
                nameless.append(widget)
    assert nameless == []
    labeled = [label.buddy() for label in window.findChildren(QLabel)]
    # For a screen reader the name of a choice is what is chosen: its label tells what for.
    assert [box for box in window.findChildren(QComboBox) if box not in labeled] == []


def tab_stops(window, qtbot) -> list[QWidget]:
    """Return what gets the focus, in the order of the key Tab."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=600_000)
    stops: list[QWidget] = []
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        stops.append(QApplication.focusWidget())
    return stops


def test_the_focus_goes_to_what_is_in_sight_and_takes_keys(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    atoms = find(window, QAbstractItemView, "atoms")
    find(window, QComboBox, "Preset").setFocus()
    for name, is_seen in (("settings", False), ("dictionary", True)):
        find(window, QDockWidget, name).raise_()
        QApplication.processEvents()
        stops = tab_stops(window, qtbot)
        assert (atoms in stops) is is_seen
        assert not any(type(stop) is QScrollArea for stop in stops)
        assert any(isinstance(stop, QTabBar) for stop in stops), "the way to the other dock"


def test_a_window_put_away_keeps_its_focus(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    presets = find(window, QComboBox, "Preset")
    window.activateWindow()
    presets.setFocus()
    window.showMinimized()
    QApplication.processEvents()
    window.showNormal()
    QApplication.processEvents()
    assert window.focusWidget() is presets
