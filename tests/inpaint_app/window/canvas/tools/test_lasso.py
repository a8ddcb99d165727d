"""The lasso: what lies inside a line, and none of what lies outside."""

import numpy as np
import pytest
from windows import opened

from inpaint_app.window.canvas.tools.areas import Lasso
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def tool(session, qtbot, files):
    """A lasso on a whole picture of 72 x 96 pixels."""
    opened(session, qtbot, files["whole"])
    return Lasso(session)


def draw(tool: Lasso, *corners: tuple[float, float]) -> None:
    tool.press(Place(*corners[0]))
    for corner in corners[1:]:
        tool.move(Place(*corner))


def test_the_inside_is_marked_in_one_step_and_unmarked_by_the_right_button(tool) -> None:
    square = (10, 20), (10, 50), (30, 50), (30, 20)
    expected = np.zeros((72, 96), bool)
    expected[10:30, 20:50] = True
    draw(tool, *square)
    assert tool.outline(None) is not None
    tool.release()
    assert np.array_equal(tool.session.document.mask, expected)
    tool.is_reversed = True
    draw(tool, *square)
    tool.release()
    assert not tool.session.document.mask.any()
    tool.session.history.undo()
    assert np.array_equal(tool.session.document.mask, expected)


def test_what_reaches_beyond_the_picture_is_cut(tool) -> None:
    draw(tool, (-20, -20), (-20, 10), (5, 10), (5, -20))
    tool.release()
    assert tool.session.document.mask[:5, :10].all()
    assert np.count_nonzero(tool.session.document.mask) == 50


def test_a_cancelled_line_and_a_click_mark_nothing(tool) -> None:
    draw(tool, (10, 20), (10, 50), (30, 50))
    tool.cancel()
    draw(tool, (10.5, 20.5))
    tool.release()
    assert not tool.session.history.can_undo
