"""The rectangle tool: all pixels that it touches, and none beside the picture."""

import numpy as np
import pytest
from windows import opened

from inpaint_app.window.canvas.tools.areas import Rectangle
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def tool(session, qtbot, files):
    """A rectangle on a whole picture of 72 x 96 pixels."""
    opened(session, qtbot, files["whole"])
    return Rectangle(session)


@pytest.mark.parametrize(
    ("first", "second", "rows", "columns"),
    [
        (Place(20.5, 30.5), Place(10.5, 50.5), slice(10, 21), slice(30, 51)),
        (Place(69.5, 92.5), Place(77, 101), slice(69, 72), slice(92, 96)),
        (Place(5.5, 5.5), Place(5.5, 5.5), slice(5, 6), slice(5, 6)),
    ],
)
def test_every_pixel_that_is_touched_is_marked(tool, first, second, rows, columns) -> None:
    expected = np.zeros((72, 96), bool)
    expected[rows, columns] = True
    tool.press(first)
    tool.move(second)
    tool.release()
    assert np.array_equal(tool.session.document.mask, expected)


def test_a_rectangle_beside_the_picture_is_no_edit(tool) -> None:
    tool.press(Place(-9, -9))
    tool.move(Place(-2, -2))
    tool.release()
    assert not tool.session.history.can_undo


def test_a_cancelled_rectangle_marks_nothing(tool) -> None:
    tool.press(Place(5, 5))
    tool.move(Place(20, 20))
    tool.cancel()
    assert not tool.is_active
    assert not tool.session.document.mask.any()


def test_the_outline_is_the_rectangle_while_it_is_drawn(tool) -> None:
    assert tool.outline(Place(3, 3)) is None
    tool.press(Place(10.5, 30.5))
    tool.move(Place(20.5, 50.5))
    bounds = tool.outline(Place(3, 3)).boundingRect()
    assert (bounds.left(), bounds.top(), bounds.width(), bounds.height()) == (30, 10, 21, 11)
