"""Boxes that the wheel does not change."""

import pytest
from gestures import wheel
from PySide6.QtCore import Qt

from inpaint_app.window.widgets.no_wheel_boxes import NoWheelComboBox, NoWheelSpinBox


@pytest.mark.parametrize("focused", [False, True])
@pytest.mark.parametrize("kind", [NoWheelComboBox, NoWheelSpinBox])
def test_the_wheel_over_a_box_changes_nothing(qtbot, kind, focused) -> None:
    box = kind()
    qtbot.addWidget(box)
    if kind is NoWheelComboBox:
        box.addItems(["a", "b", "c"])
        box.setCurrentIndex(1)
    else:
        box.setValue(5)
    box.show()
    if focused:
        box.setFocus()
    before = box.currentText() if kind is NoWheelComboBox else box.text()
    for notches in (-1, 1, 1):
        assert not wheel(box, notches), "it is left to what scrolls"
    assert (box.currentText() if kind is NoWheelComboBox else box.text()) == before
    assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus, "the wheel must not take the keys either"
