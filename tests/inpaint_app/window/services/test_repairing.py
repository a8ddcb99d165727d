"""Repairing a photograph, and undoing it."""

import numpy as np
import pytest
from windows import FAST, settle

from inpaint_app.model.picture import Picture, Rect


@pytest.fixture
def repaired(session, qtbot):
    """A session whose picture, with a bright line in row 40, was repaired."""
    pixels = np.random.default_rng(0).normal(110, 3, (96, 128))
    pixels[40, 10:80] += 90
    session.set_settings(FAST)
    session.opening.open_picture(lambda: Picture(pixels.astype(np.uint8)), "scratched")
    settle(session, qtbot)
    session.repair()
    settle(session, qtbot)
    return session


def test_one_undo_brings_back_the_state_before(repaired, qtbot) -> None:
    record = repaired.state.runs.current
    assert record is not None and repaired.document.mask[40, 20:70].all()
    repaired.history.undo()
    settle(repaired, qtbot)
    assert not repaired.document.mask.any()
    assert repaired.state.runs.current is None
    assert not repaired.history.can_undo
    repaired.history.redo()
    settle(repaired, qtbot)
    assert repaired.state.runs.current.number == record.number
    assert repaired.document.mask[40, 20:70].all()


def test_undo_goes_back_to_the_result_before_the_repair(session, qtbot, repaired) -> None:
    session.history.undo()
    session.masking.fill(Rect(70, 20, 4, 4))
    session.running.restore()
    settle(session, qtbot)
    first = session.state.runs.current.number
    session.repair()
    settle(session, qtbot)
    assert session.state.runs.current.number != first
    session.history.undo()
    settle(session, qtbot)
    assert session.state.runs.current.number == first
    assert session.document.mask.sum() == 16


def test_undo_leaves_a_result_that_was_chosen_since(repaired, qtbot) -> None:
    repaired.running.restore()
    settle(repaired, qtbot)
    later = repaired.state.runs.current.number
    repaired.history.undo()
    settle(repaired, qtbot)
    assert repaired.state.runs.current.number == later


def test_another_picture_forgets_repairs(repaired, qtbot) -> None:
    repaired.opening.open_sample()
    settle(repaired, qtbot)
    repaired.masking.fill(Rect(7, 2, 4, 4))
    repaired.history.undo()
    settle(repaired, qtbot)
    assert repaired.state.runs.current is None
