"""The line that says what is in progress."""

import pytest
from PySide6.QtWidgets import QProgressBar, QPushButton
from windows import find, texts

from inpaint_app.engine.control import Progress
from inpaint_app.window.background.work import Activity
from inpaint_app.window.panels.status_bar import ProgressStrip


@pytest.fixture
def strip(actions, qtbot):
    made = ProgressStrip(actions)
    qtbot.addWidget(made)
    return made


def test_it_is_there_while_something_is_in_progress(strip) -> None:
    assert strip.isHidden()
    strip.show_activity(Activity("restore", Progress("coding patches", 0.25, 4.0)))
    assert not strip.isHidden()
    bar = find(strip, QProgressBar, "Progress")
    assert bar.value() / bar.maximum() == 0.25
    assert "Coding patches   4 s left" in texts(strip)
    strip.show_activity(None)
    assert strip.isHidden()


@pytest.mark.parametrize(("kind", "can_stop"), [("restore", True), ("tune", False), ("open", False)])
def test_only_what_leaves_a_result_can_be_stopped(strip, kind, can_stop) -> None:
    strip.show_activity(Activity(kind, Progress("starting")))
    assert find(strip, QPushButton, "Stop").isVisible() is can_stop
    assert find(strip, QProgressBar, "Progress").maximum() == 0, "how far it is is not known"


def test_the_buttons_ask(strip, actions, qtbot) -> None:
    strip.show_activity(Activity("restore", Progress("starting", 0.0)))
    actions.enable(["run", "work"])
    with qtbot.waitSignals([actions["stop"].triggered, actions["cancel"].triggered], timeout=600_000):
        find(strip, QPushButton, "Stop").click()
        find(strip, QPushButton, "Cancel").click()
