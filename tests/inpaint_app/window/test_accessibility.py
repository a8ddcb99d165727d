"""The window by keyboard and screen reader: names, focus, the sheet of shortcuts."""

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
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
from windows import find, opened, restored, settle, trigger

from inpaint_app.window.action_table import SPECS
from inpaint_app.window.canvas.image_pyramid import as_uint32
from inpaint_app.window.dialogs.help_dialogs import ShortcutDialog
from inpaint_app.window.theme.theme import Theme


def test_the_sheet_lists_every_key(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "invert")
    assert window.actions_["undo"].text() != "&Undo", "the menu names what is undone, the sheet does not"
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


@pytest.mark.parametrize("name", ["", "whole"])
def test_the_focus_passes_over_panels_that_are_put_away(window, qtbot, files, name) -> None:
    if name:
        window.files.open_file(files[name])
        settle(window, qtbot)
    stops = tab_stops(window, qtbot)
    assert len(set(stops)) >= (8 if name else 4)
    assert [stop for stop in stops if isinstance(stop, QTabBar) and stop.visibleRegion().isEmpty()] == []


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


def shown_contrast(widget: QWidget) -> float:
    """Return how far the words of a widget stand out, as they are drawn."""
    image = widget.window().grab(QRect(widget.mapTo(widget.window(), QPoint()), widget.size())).toImage()
    pixels = as_uint32(image.convertToFormat(image.Format.Format_RGB32))
    colors, counts = np.unique(pixels & 0xFFFFFF, return_counts=True)
    ground = QColor.fromRgb(int(colors[counts.argmax()]))
    return max(contrast(QColor.fromRgb(int(color)), ground) for color in colors)


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast of two colors as WCAG has it, 1 to 21."""

    def luminance(color: QColor) -> float:
        parts = (color.redF(), color.greenF(), color.blueF())
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def words_in_sight(window) -> list[QWidget]:
    """Return the widgets with words that can be read now."""
    found = [
        *window.findChildren(QLabel),
        *window.findChildren(QAbstractButton),
        *window.findChildren(QComboBox),
    ]
    return [
        widget
        for widget in found
        if widget.isEnabled()
        and not widget.visibleRegion().isEmpty()
        and (widget.currentText() if isinstance(widget, QComboBox) else widget.text())
    ]


@pytest.mark.parametrize("chosen", [Theme.LIGHT, Theme.DARK])
@pytest.mark.parametrize("name", ["", "whole", "damaged"])
def test_all_words_can_be_read_in_both_themes(window, qtbot, files, chosen, name) -> None:
    window.choices.set_theme(chosen)
    if name:
        window.files.open_file(files[name])
        settle(window, qtbot)
        window.session.document.problem.emit("Something went wrong; do something about it.")
    QApplication.processEvents()
    words = words_in_sight(window)
    assert len(words) >= (10 if name else 5)
    faint = {widget.text() if hasattr(widget, "text") else widget: shown_contrast(widget) for widget in words}
    assert {text: value for text, value in faint.items() if value < 4.5} == {}


@pytest.mark.parametrize("name", ["whole", "damaged"])
def test_the_focus_goes_through_a_panel_from_top_to_bottom(window, qtbot, files, name) -> None:
    window.files.open_file(files[name])
    settle(window, qtbot)
    stops = [stop for stop in tab_stops(window, qtbot) if window.side.isAncestorOf(stop)]
    assert len(stops) > 6
    round_ = stops[: stops.index(stops[0], 1)] if stops[0] in stops[1:] else stops
    tops = [stop.mapTo(window, QPoint(0, stop.height() // 2)).y() for stop in round_]
    start = tops.index(min(tops))
    in_order = tops[start:] + tops[:start]
    assert all(after >= before - 12 for before, after in pairwise(in_order)), in_order


def test_every_action_names_itself_and_its_key(window) -> None:
    for action in (*(window.actions_[name] for name in SPECS), *window.actions_.tools.values()):
        name = action.text().replace("&", "").rstrip(" …")
        assert action.toolTip().startswith(name)
        for key in action.shortcuts()[:1]:
            assert f"({key.toString()})" in action.toolTip()
