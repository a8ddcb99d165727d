"""Another fill of wide holes."""

from dataclasses import replace

import numpy as np
import pytest
from windows import FAST, settle

from inpaint_app.model.picture import Picture, Rect


@pytest.fixture
def restored(session, qtbot):
    """A session in which a hole of 24 x 24 pixels in noise was filled."""
    pixels = np.random.default_rng(0).integers(60, 190, (64, 80)).astype(np.uint8)
    session.set_settings(FAST)
    session.opening.open_picture(lambda: Picture(pixels), "noise")
    settle(session, qtbot)
    session.masking.fill(Rect(20, 24, 24, 24))
    session.running.restore()
    settle(session, qtbot)
    return session


def test_every_try_is_another_result_that_stays(restored, qtbot) -> None:
    first = restored.state.runs.current
    restored.filling.try_another()
    settle(restored, qtbot)
    second = restored.state.runs.current
    assert second.number != first.number
    assert second.settings.seed == first.settings.seed + 1
    assert (second.image != first.image).any()
    assert (second.image[~second.mask] == first.image[~first.mask]).all()
    numbers = [record.number for record in restored.state.runs.records]
    assert first.number in numbers and second.number in numbers


def test_a_try_can_be_undone(restored, qtbot) -> None:
    restored.filling.try_another()
    settle(restored, qtbot)
    restored.history.undo()
    assert restored.state.settings.seed == FAST.seed


def test_what_has_one_fill_only_is_said(restored, qtbot) -> None:
    sentences = []
    restored.document.problem.connect(sentences.append)
    number = restored.state.runs.current.number
    restored.masking.clear()
    restored.masking.fill(Rect(20, 24, 6, 24))
    restored.filling.try_another()
    settle(restored, qtbot)
    restored.set_settings(replace(restored.state.settings, fill="smooth"))
    restored.filling.try_another()
    settle(restored, qtbot)
    assert [sentence.split(",")[0] for sentence in sentences] == [
        "No hole is wider than 16 pixels",
        "Wide holes are filled smoothly",
    ]
    assert restored.state.runs.current.number == number


def test_without_a_picture_it_asks_for_one(session) -> None:
    sentences = []
    session.document.problem.connect(sentences.append)
    session.filling.try_another()
    assert len(sentences) == 1
