"""Repairing a photograph, and undoing it."""

import numpy as np
import pytest
from windows import FAST, settle

from inpaint_app.model.picture import Picture
from inpaint_app.model.rect import Rect


@pytest.fixture
def repaired(session, qtbot):
    """A session whose picture, with a bright line in row 40, was repaired."""
    pixels = np.random.default_rng(0).normal(110, 3, (96, 128))
    pixels[40, 10:80] += 90
    session.set_settings(FAST)
    session.opener.open_picture(lambda: Picture(pixels.astype(np.uint8)), "scratched")
    settle(session, qtbot)
    session.repairer.repair()
    settle(session, qtbot)
    return session


def test_one_undo_brings_back_the_state_before(repaired, qtbot) -> None:
    record = repaired.results.current
    assert record is not None and repaired.mask.mask[40, 20:70].all()
    repaired.undo_redo.undo()
    settle(repaired, qtbot)
    assert not repaired.mask.mask.any()
    assert repaired.results.current is None
    assert not repaired.undo_redo.stack.can_undo
    repaired.undo_redo.redo()
    settle(repaired, qtbot)
    assert repaired.results.current.number == record.number
    assert repaired.mask.mask[40, 20:70].all()


def test_undo_goes_back_to_the_result_before_the_repair(session, qtbot, repaired) -> None:
    session.undo_redo.undo()
    session.edit_mask(lambda mask: mask.fill(Rect(70, 20, 4, 4)))
    session.run_starter.restore()
    settle(session, qtbot)
    first = session.results.current.number
    session.repairer.repair()
    settle(session, qtbot)
    assert session.results.current.number != first
    session.undo_redo.undo()
    settle(session, qtbot)
    assert session.results.current.number == first
    assert session.mask.mask.sum() == 16


def test_undo_leaves_a_result_that_was_chosen_since(repaired, qtbot) -> None:
    repaired.run_starter.restore()
    settle(repaired, qtbot)
    later = repaired.results.current.number
    repaired.undo_redo.undo()
    settle(repaired, qtbot)
    assert repaired.results.current.number == later


def test_another_picture_forgets_repairs(repaired, qtbot) -> None:
    repaired.opener.open_sample()
    settle(repaired, qtbot)
    repaired.edit_mask(lambda mask: mask.fill(Rect(7, 2, 4, 4)))
    repaired.undo_redo.undo()
    settle(repaired, qtbot)
    assert repaired.results.current is None
