"""The options of tools: shown for the tool that has them, and obeyed."""

import pytest
from gestures import drag
from PySide6.QtWidgets import QCheckBox, QPushButton, QSlider, QSpinBox, QToolBar
from windows import at, find, opened, settle, trigger


@pytest.fixture
def shown(window, qtbot, files):
    return opened(window, qtbot, files["whole"])


def names(window) -> set[str]:
    """Return the names of the fields that are shown, or would be if the window were wide enough."""
    bar = window.findChild(QToolBar, "tool_options")
    parts = [bar.widgetForAction(action) for action in bar.actions() if action.isVisible()]
    kinds = (QSpinBox, QSlider, QCheckBox, QPushButton)
    fields = [field for part in parts for kind in kinds for field in part.findChildren(kind)]
    return {field.accessibleName() or field.text() for field in fields}


def test_every_tool_shows_its_own_options(shown) -> None:
    healing = {"Brush size", "Brush hardness", "Brush opacity", "Opacity of the last stroke"}
    assert names(shown) == healing
    trigger(shown, "clone")
    assert names(shown) == {*healing, "Aligned strokes"}
    trigger(shown, "wand")
    assert names(shown) == {"Wand tolerance"}
    trigger(shown, "rectangle")
    assert names(shown) == set()


def test_the_fields_follow_keys_and_change_the_brush(shown) -> None:
    for name in ("softer", "softer", "larger"):
        trigger(shown, name)
    view = shown.session.state.view
    assert find(shown, QSpinBox, "Brush hardness").value() == view.hardness == 50
    assert find(shown, QSpinBox, "Brush size").value() == view.brush_diameter == 19
    find(shown, QSpinBox, "Brush opacity").setValue(40)
    assert shown.session.state.view.opacity == 40
    trigger(shown, "wand")
    find(shown, QSpinBox, "Wand tolerance").setValue(3)
    assert shown.session.state.view.tolerance == 3


def test_the_slider_fades_the_last_stroke(shown, qtbot) -> None:
    slider = find(shown, QSlider, "Opacity of the last stroke")
    assert not slider.isEnabled()
    canvas = shown.viewer.panes["result"].canvas
    drag(canvas, at(canvas, 20, 20), at(canvas, 20, 50))
    settle(shown, qtbot)
    assert slider.isEnabled()
    assert slider.value() == 100
    slider.setValue(0)
    settle(shown, qtbot)
    session = shown.session
    assert (session.state.runs.current.image == session.state.source.picture.pixels).all()
    trigger(shown, "undo")
    settle(shown, qtbot)
    assert not slider.isEnabled()


def test_a_chosen_source_is_forgotten_by_a_button(shown) -> None:
    button = find(shown, QPushButton, "Automatic source")
    assert button.text() not in names(shown)
    shown.session.healing.choose_source(20, 20)
    assert button.text() in names(shown)
    button.click()
    assert shown.session.state.copy_source is None
