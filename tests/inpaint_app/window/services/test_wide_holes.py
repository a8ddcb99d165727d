"""A hint where a hole is too wide for the chosen fill."""

from dataclasses import replace

import pytest
from windows import FAST, opened, settle

from inpaint_app.model.picture import Rect


@pytest.fixture
def smooth(session, qtbot, files):
    """A session whose picture has a wide hole that would be filled smoothly."""
    opened(session, qtbot, files["whole"])
    session.set_settings(replace(FAST, fill="smooth"))
    session.masking.fill(Rect(20, 20, 20, 20))
    settle(session, qtbot)
    return session


def test_a_wide_hole_is_pointed_out_as_long_as_it_is_filled_smoothly(smooth, qtbot) -> None:
    assert smooth.offers[1].sentence
    smooth.set_settings(FAST)
    assert not smooth.offers[1].sentence, "auto fills it with texture"
    smooth.set_settings(replace(FAST, fill="smooth"))
    settle(smooth, qtbot)
    assert smooth.offers[1].sentence
    smooth.history.undo()
    smooth.masking.clear()
    settle(smooth, qtbot)
    assert not smooth.offers[1].sentence


def test_one_click_fills_it_with_texture(smooth, qtbot) -> None:
    smooth.offers[1].accept()
    settle(smooth, qtbot)
    assert smooth.state.runs.current.settings.fill == "texture"
    assert not smooth.offers[1].sentence


def test_a_hint_that_was_dismissed_comes_back_with_another_picture(smooth, qtbot, files) -> None:
    smooth.offers[1].dismiss()
    smooth.masking.fill(Rect(0, 0, 30, 30))
    settle(smooth, qtbot)
    assert not smooth.offers[1].sentence
    smooth.document.defaults = smooth.state.settings
    smooth.opening.open_file(files["damaged"])
    settle(smooth, qtbot)
    smooth.masking.fill(Rect(0, 0, 30, 30))
    settle(smooth, qtbot)
    assert smooth.offers[1].sentence
