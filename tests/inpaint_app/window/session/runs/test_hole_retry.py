"""Another fill of wide holes."""

from dataclasses import replace

import numpy as np
import pytest
from windows import FAST, settle

from inpaint_app.model.picture import Picture
from inpaint_app.model.rect import Rect


@pytest.fixture
def restored(session, qtbot):
    """A session in which a hole of 24 x 24 pixels in noise was filled."""
    pixels = np.random.default_rng(0).integers(60, 190, (64, 80)).astype(np.uint8)
    session.set_settings(FAST)
    session.opener.open_picture(lambda: Picture(pixels), "noise")
    settle(session, qtbot)
    session.edit_mask(lambda mask: mask.fill(Rect(20, 24, 24, 24)))
    session.run_starter.restore()
    settle(session, qtbot)
    return session


def test_every_try_is_another_result_that_stays(restored, qtbot) -> None:
    first = restored.results.current
    restored.hole_retry.start()
    settle(restored, qtbot)
    second = restored.results.current
    assert second.number != first.number
    assert second.settings.seed == first.settings.seed + 1
    assert (second.image != first.image).any()
    assert (second.image[~second.mask] == first.image[~first.mask]).all()
    numbers = [record.number for record in restored.results.history.records]
    assert first.number in numbers and second.number in numbers


def test_a_try_can_be_undone(restored, qtbot) -> None:
    restored.hole_retry.start()
    settle(restored, qtbot)
    restored.undo_redo.undo()
    assert restored.settings.seed == FAST.seed


def test_what_has_one_fill_only_is_said(restored, qtbot) -> None:
    sentences = []
    restored.problem.connect(sentences.append)
    number = restored.results.current.number
    restored.edit_mask(lambda mask: mask.clear())
    restored.edit_mask(lambda mask: mask.fill(Rect(20, 24, 6, 24)))
    restored.hole_retry.start()
    settle(restored, qtbot)
    restored.set_settings(replace(restored.settings, fill="smooth"))
    restored.hole_retry.start()
    settle(restored, qtbot)
    assert [sentence.split(",")[0] for sentence in sentences] == [
        "No hole is wider than 16 pixels",
        "Wide holes are filled smoothly",
    ]
    assert restored.results.current.number == number


def test_without_a_picture_it_asks_for_one(session) -> None:
    sentences = []
    session.problem.connect(sentences.append)
    session.hole_retry.start()
    assert len(sentences) == 1
