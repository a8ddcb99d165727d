"""A key that is held: followed wherever the focus is, except where text is typed."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QListWidget, QVBoxLayout, QWidget

from inpaint_app.window.widgets.keys import HeldKey


@pytest.fixture
def window(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    layout = QVBoxLayout(made)
    for child in (QComboBox(), QListWidget(), QLineEdit()):
        layout.addWidget(child)
    made.held = []
    HeldKey(Qt.Key.Key_B, made).changed.connect(made.held.append)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=600_000)
    made.held.clear()
    return made


@pytest.mark.parametrize("kind", [QComboBox, QListWidget, QWidget])
def test_the_key_is_followed_wherever_the_focus_is(window, qtbot, kind) -> None:
    target = window.findChild(kind) if kind is not QWidget else window
    target.setFocus()
    qtbot.keyPress(target, Qt.Key.Key_B)
    qtbot.keyRelease(target, Qt.Key.Key_B)
    assert window.held == [True, False]


def test_text_is_typed(window, qtbot) -> None:
    line = window.findChild(QLineEdit)
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_B)
    assert (line.text(), window.held) == ("b", [])


def test_other_keys_and_modifiers_are_left_alone(window, qtbot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_A)
    qtbot.keyPress(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert window.held == []


def test_leaving_the_window_lets_the_key_go(window, qtbot) -> None:
    qtbot.keyPress(window, Qt.Key.Key_B)
    QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    assert window.held == [True, False]
