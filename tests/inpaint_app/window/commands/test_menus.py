"""Menus and toolbar, and what registers itself there."""

from pathlib import Path

import pytest
from gestures import press
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QTabBar, QToolBar
from windows import at, find, opened, settle

from inpaint_app.window.action_table import MODE_SPECS, SPECS, TOOL_SPECS, ActionSpec
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.canvas.tools.tool import Place, Tool
from inpaint_app.window.dialogs.help_dialogs import ShortcutDialog
from inpaint_app.window.document.view_state import VIEW_MODES, ViewMode
from inpaint_app.window.preferences import Preferences


def menu(window, title: str) -> QMenu:
    return next(each.menu() for each in window.menuBar().actions() if each.text().replace("&", "") == title)


def menu_texts(window, title: str) -> list[str]:
    return [action.text().replace("&", "") for action in menu(window, title).actions()]


def shortcuts(window) -> dict[str, str]:
    """Return the sheet of shortcuts: names and keys."""
    window.actions_["shortcuts"].trigger()
    dialog = window.findChild(ShortcutDialog)
    rows = dict(dialog.rows)
    dialog.close()
    return rows


class Stamp(Tool):
    """Marks the pixel under the pointer."""

    name = "stamp"

    def press(self, place: Place) -> None:
        pixel = int(place.row), int(place.column)
        self.session.masking.begin_stroke(*pixel, diameter=1)
        self.session.masking.end_stroke()


def test_a_tool_is_added_by_a_line_in_two_tables(make_window, qtbot, files, monkeypatch) -> None:
    spec = ActionSpec("Sta&mp", ("Y",), "Mark one pixel.", "warning", checkable=True)
    monkeypatch.setitem(TOOLS, Stamp.name, Stamp)
    monkeypatch.setitem(TOOL_SPECS, Stamp.name, spec)
    window = make_window()
    assert "Stamp" in menu_texts(window, "Mask")
    button = find(window.findChild(QToolBar, "tools"), QAbstractButton, "Stamp")
    assert not button.icon().isNull()
    assert not button.isEnabled()
    opened(window, qtbot, files["whole"])
    qtbot.keyClick(window, "Y")
    assert button.isChecked()
    canvas = window.viewer.panes["damaged"].canvas
    press(canvas, at(canvas, 20.5, 30.5))
    assert window.session.document.mask.sum() > 0
    assert window.session.document.mask[20, 30]
    settle(window, qtbot)
    assert shortcuts(window)["Stamp"] == "Y"


def test_a_view_mode_is_added_by_a_line_in_two_tables(make_window, qtbot, files, monkeypatch) -> None:
    mode = ViewMode("both", ("original", "damaged"))
    spec = ActionSpec("&Both Originals", ("7",), "Original and damaged.", "copy", checkable=True)
    monkeypatch.setitem(VIEW_MODES, mode.name, mode)
    monkeypatch.setitem(MODE_SPECS, "view both", spec)
    window = make_window()
    assert "Both Originals" in menu_texts(window, "View")
    button = find(window.findChild(QToolBar, "toolbar"), QAbstractButton, "Both Originals")
    opened(window, qtbot, files["damaged"], reference=files["whole"])
    qtbot.keyClick(window, "7")
    settle(window, qtbot)
    assert button.isChecked()
    visible = {name for name, pane in window.viewer.panes.items() if pane.isVisible()}
    assert visible == {"original", "damaged"}
    assert all(window.viewer.panes[name].canvas.has_picture for name in visible)
    assert shortcuts(window)["Both Originals"] == "7"


def test_every_action_is_in_a_menu(window) -> None:
    in_menus = {action for each in window.menuBar().actions() for action in each.menu().actions()}
    wanted = {window.actions_[name] for name in SPECS}
    assert wanted <= in_menus
    assert {*window.actions_.tools.values(), *window.actions_.modes.values()} <= in_menus


def letters_of(texts) -> list[str]:
    keys = [QKeySequence.mnemonic(text).toString() for text in texts]
    return [key for key in keys if key]


def test_letters_are_unique_in_each_menu_and_in_the_window(window) -> None:
    menus = [action.menu() for action in window.menuBar().actions()]
    inner = [action.menu() for each in menus for action in each.actions() if action.menu()]
    for each in (*menus, *inner):
        letters = letters_of(action.text() for action in each.actions())
        assert len(letters) == len(set(letters)), each.title()
    for each in menus:
        entries = [action for action in each.actions() if not action.isSeparator()]
        assert len(letters_of(action.text() for action in entries)) == len(entries), each.title()
    texts = [action.text() for action in window.menuBar().actions()]
    texts += [label.text() for label in window.findChildren(QLabel) if label.buddy()]
    texts += [button.text() for button in window.findChildren(QAbstractButton)]
    texts += [bar.tabText(place) for bar in window.findChildren(QTabBar) for place in range(bar.count())]
    letters = letters_of(texts)
    assert len(letters) == len(set(letters)), sorted(letters)


def test_recent_files_are_remembered_and_opened(make_window, qtbot, files) -> None:
    first = make_window()
    for name in ("damaged", "whole"):
        opened(first, qtbot, files[name])
    first.close()
    second = make_window()
    entries = second.menus.recent.actions()
    assert [entry.text() for entry in entries[:2]] == ["whole.png", "damaged.png"]
    entries[1].trigger()
    settle(second, qtbot)
    assert second.session.state.source.path == files["damaged"]
    second.menus.recent.actions()[-1].trigger()
    assert [*Preferences().now.recent] == []
    assert not second.menus.recent.isEnabled()


def test_recent_files_are_told_apart_and_dropped_when_gone(window, qtbot, files, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "whole.png"
    copy.parent.mkdir()
    copy.write_bytes(files["whole"].read_bytes())
    for path in (files["whole"], copy, files["damaged"]):
        opened(window, qtbot, path)
    entries = window.menus.recent.actions()
    assert [entry.text() for entry in entries[:2]] == ["damaged.png", "copies/whole.png"]
    assert entries[2].text() == f"{tmp_path.name}/whole.png"
    copy.unlink()
    entries[1].trigger()
    settle(window, qtbot)
    assert "removed from the list" in window.banner.text
    assert window.session.state.source.path == files["damaged"]
    assert copy not in [*Preferences().now.recent]
    texts = [entry.text() for entry in window.menus.recent.actions()[:2]]
    assert texts == ["damaged.png", "whole.png"]


@pytest.mark.parametrize("dark", [False, True])
def test_the_chosen_theme_is_checked(window, theme, dark) -> None:
    action = next(each for each in window.menus.themes.actions() if "Dark" in each.text().replace("&", ""))
    if dark:
        action.trigger()
    assert action.isChecked() is dark


def test_the_right_button_opens_a_menu_unless_the_tool_uses_it(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    canvas, menu = window.viewer.panes["damaged"].canvas, window.menus.context

    def ask(reason: QContextMenuEvent.Reason) -> bool:
        place = canvas.rect().center()
        QApplication.sendEvent(canvas, QContextMenuEvent(reason, place, canvas.mapToGlobal(place)))
        is_open = menu.isVisible()
        menu.close()
        return is_open

    window.actions_.tools["pan"].trigger()
    assert ask(QContextMenuEvent.Reason.Mouse)
    window.actions_.tools["brush"].trigger()
    assert not ask(QContextMenuEvent.Reason.Mouse), "it erases"
    assert ask(QContextMenuEvent.Reason.Keyboard)


def test_a_narrow_window_leaves_out_names_rather_than_buttons(window) -> None:
    button = window.menus.bar.widgetForAction(window.actions_["open"])
    stop = window.menus.bar.widgetForAction(window.actions_["stop"])
    for width, has_name in ((1600, True), (1024, False), (1600, True)):
        window.resize(width, 700)
        beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        assert (button.toolButtonStyle() == beside) is has_name
        assert stop.toolButtonStyle() == beside
