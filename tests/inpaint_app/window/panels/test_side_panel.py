"""The panel beside the pictures: what Auto chose, and the main buttons."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton
from windows import FAST, find, opened, settle, texts

from inpaint_app.window.actions import Actions
from inpaint_app.window.document.state import TuningOutcome
from inpaint_app.window.panels.side_panel import SidePanel


@pytest.fixture
def owner(qapp):
    return QObject()


@pytest.fixture
def panel(session, qtbot, owner):
    made = SidePanel(session, Actions(owner))
    qtbot.addWidget(made)
    return made


def test_what_auto_chose_is_shown_until_something_else_is_chosen(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.document.apply(advice=TuningOutcome(FAST, "Auto chose k = 8.", FAST))
    assert "Auto chose k = 8." in texts(panel)
    session.set_settings(replace(FAST, n_atoms=2))
    assert "Auto chose" not in texts(panel)
    settle(session, qtbot)


def test_a_button_does_what_its_action_does(qtbot, session, owner) -> None:
    actions = Actions(owner)
    panel = SidePanel(session, actions)
    qtbot.addWidget(panel)
    button = find(panel, QPushButton, "Restore")
    actions.enable([])
    assert not button.isEnabled()
    actions.enable(["picture"])
    with qtbot.waitSignal(actions["restore"].triggered, timeout=600_000):
        button.click()
