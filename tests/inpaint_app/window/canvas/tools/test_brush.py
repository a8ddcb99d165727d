"""Brush and eraser: strokes in the mask of a session."""

import numpy as np
import pytest
from windows import opened, watch

from inpaint_app.window.canvas.tools.brushes import Brush, Eraser
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def painted(session, qtbot, files):
    """A session on a picture of which half of the pixels are missing, with a brush of 9 pixels."""
    opened(session, qtbot, files["damaged"])
    session.document.set_view(session.state.view.with_brush(9))
    return session


@pytest.mark.parametrize(("tool", "marked"), [(Brush, True), (Eraser, False)])
def test_a_stroke_marks_what_is_under_it_in_one_step(painted, tool, marked) -> None:
    before = painted.document.mask.copy()
    made = tool(painted)
    made.press(Place(20.5, 20.5))
    made.move(Place(20.5, 60.5))
    assert made.is_active
    made.release()
    assert not made.is_active
    assert (painted.document.mask[17:24, 20:60] == marked).all()
    assert np.array_equal(painted.document.mask[40:], before[40:])
    painted.history.undo()
    assert np.array_equal(painted.document.mask, before)


def test_a_cancelled_stroke_leaves_no_trace(painted) -> None:
    before, edits = painted.document.mask.copy(), []
    watch(painted, "mask", edits.append)
    brush = Brush(painted)
    brush.press(Place(20, 20))
    brush.move(Place(60, 60))
    brush.cancel()
    assert np.array_equal(painted.document.mask, before)
    assert (edits, painted.history.can_undo) == ([], False)


def test_the_outline_is_as_wide_as_the_brush(painted) -> None:
    brush = Brush(painted)
    assert brush.outline(None) is None
    bounds = brush.outline(Place(30, 40)).boundingRect()
    assert (bounds.center().x(), bounds.center().y(), bounds.width()) == (40, 30, 9)


def test_the_right_button_erases(painted) -> None:
    brush = Brush(painted)
    brush.is_reversed = True
    brush.press(Place(20.5, 20.5))
    brush.release()
    assert not painted.document.mask[18:23, 18:23].any()


def test_shift_draws_a_straight_line_from_the_last_stroke(painted) -> None:
    brush = Brush(painted)
    brush.press(Place(20.5, 20.5))
    brush.release()
    brush.is_straight = True
    brush.press(Place(20.5, 60.5))
    brush.release()
    assert painted.document.mask[20, 20:61].all()
