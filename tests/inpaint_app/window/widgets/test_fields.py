"""Boxes that the wheel does not change."""

import pytest
from gestures import wheel
from PySide6.QtCore import Qt

from inpaint_app.window.widgets.fields import ChoiceBox, choice, decimal, number


@pytest.mark.parametrize("focused", [False, True])
@pytest.mark.parametrize("kind", ["choice", "number", "decimal"])
def test_the_wheel_over_a_box_changes_nothing(qtbot, kind, focused) -> None:
    boxes = {"number": number("n", 0, 9), "decimal": decimal("d")}
    box = boxes.get(kind) or choice("c", {"a": 1, "b": 2, "c": 3}, 2)
    qtbot.addWidget(box)
    if kind in boxes:
        box.setValue(5)
    box.show()
    if focused:
        box.setFocus()
    before = box.currentText() if isinstance(box, ChoiceBox) else box.text()
    for notches in (-1, 1, 1):
        assert not wheel(box, notches), "it is left to what scrolls"
    assert (box.currentText() if isinstance(box, ChoiceBox) else box.text()) == before
    assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus, "the wheel must not take the keys either"
