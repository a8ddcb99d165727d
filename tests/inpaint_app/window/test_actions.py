"""Actions: enabled when they make sense, with keys of their own."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSpinBox, QWidget
from windows import find, opened, restored

from inpaint_app import window
from inpaint_app.window.action_table import SPECS
from inpaint_app.window.actions import Actions


@pytest.fixture
def owner(qapp):
    return QObject()


@pytest.fixture
def actions(owner):
    return Actions(owner)


def all_of(actions: Actions) -> list[QAction]:
    return [*(actions[name] for name in SPECS), *actions.tools.values(), *actions.modes.values()]


def test_no_two_actions_share_a_key(actions) -> None:
    keys = [key.toString() for action in all_of(actions) for key in action.shortcuts()]
    assert len(keys) == len(set(keys))


def test_sentences_take_their_keys_from_the_table() -> None:
    """A key that is written out in a sentence stays behind when the table changes."""
    key = re.compile(r"\b(?:Shift\+)?F\d+\b|\bCtrl\+(?!click)|\((?:[A-Z]|Esc|Del\w*)\)")
    folder = Path(inspect.getfile(window)).parent
    for path in set(folder.rglob("*.py")) - {folder / "action_table.py"}:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                assert not key.search(node.value), f"{path.name}: {node.value}"


def test_actions_are_enabled_when_their_needs_are_met(actions) -> None:
    def enabled(*met: str) -> set[str]:
        actions.enable(met)
        return {name for name in SPECS if actions[name].isEnabled()}

    nothing = enabled()
    assert {"open", "paste", "batch", "quit"} <= nothing
    assert not nothing & {"restore", "export", "invert", "show_mask", "fit"}
    assert not any(action.isEnabled() for action in actions.tools.values())
    picture = enabled("picture")
    assert {"restore", "save_mask", "larger"} <= picture - nothing
    assert all(action.isEnabled() for action in (*actions.tools.values(), *actions.modes.values()))
    assert {"export", "copy", "save_recipe"} <= enabled("picture", "result") - picture


def test_a_window_offers_what_makes_sense(window, qtbot, files) -> None:
    def enabled() -> set[str]:
        return {name for name in SPECS if window.actions_[name].isEnabled()}

    assert not enabled() & {"restore", "export", "undo", "cancel", "stop", "copy"}
    assert not find(window, QSpinBox, "Brush size").isEnabled()
    opened(window, qtbot, files["damaged"])
    assert "restore" in enabled()
    assert not enabled() & {"undo", "redo", "stop", "export", "cancel"}
    restored(window, qtbot, files["damaged"])
    window.session.masking.invert()
    assert {"undo", "export"} <= enabled()
    window.session.history.undo()
    assert "redo" in enabled()
    window.session.running.restore()
    assert {"stop", "cancel"} <= enabled()
    window.session.cancel()


def test_brush_size_by_keys(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    box, before = find(window, QSpinBox, "Brush size"), window.session.state.view.brush_diameter
    qtbot.keyClick(window, "]")
    assert box.value() == window.session.state.view.brush_diameter > before
    for _ in range(60):
        qtbot.keyClick(window, "[")
    assert box.value() == window.session.state.view.brush_diameter == 1
    box.setValue(40)
    assert window.session.state.view.brush_diameter == 40


def test_what_is_chosen_is_checked(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    for actions, name in ((window.actions_.modes, "error"), (window.actions_.tools, "eraser")):
        actions[name].trigger()
        assert [each for each, action in actions.items() if action.isChecked()] == [name]
    assert window.session.state.view.mode.name == "side", "the eraser needs the damaged picture"
    assert window.actions_.modes["side"].isChecked()
    assert window.actions_["show_mask"].isChecked()
    qtbot.keyClick(window, "M")
    assert not window.session.state.view.shows_mask


def test_no_line_under_the_pointer_is_long(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    tips = [each.toolTip() for each in (*window.findChildren(QWidget), *window.findChildren(QAction))]
    long = [line for tip in tips for line in tip.splitlines() if len(line) > 60]
    assert not long


def test_what_is_remembered_is_nothing_to_undo(make_window) -> None:
    first = make_window()
    first.session.set_automatic(True)
    first.close()
    second = make_window()
    assert second.session.state.is_automatic
    assert not second.actions_["undo"].isEnabled()
