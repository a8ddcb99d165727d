"""The magic wand: connected pixels that look alike, and no others."""

import numpy as np
import pytest
from windows import settle

from inpaint_app.model.picture import Picture
from inpaint_app.window.canvas.tools.areas import Wand
from inpaint_app.window.canvas.tools.tool import Place


@pytest.mark.parametrize("channels", [(), (3,)])
def test_connected_pixels_of_a_color_are_marked_and_unmarked(session, qtbot, channels) -> None:
    pixels = np.full((40, 50, *channels), 90, np.uint8)
    pixels[5:15, 5:20] = 200
    pixels[8, 8] = 210
    pixels[25:35, 5:20] = 200
    session.opening.open_picture(lambda: Picture(pixels), "two squares")
    settle(session, qtbot)
    wand = Wand(session)
    wand.press(Place(10.5, 10.5))
    settle(session, qtbot)
    expected = np.zeros((40, 50), bool)
    expected[5:15, 5:20] = True
    assert np.array_equal(session.document.mask, expected)
    wand.is_reversed = True
    wand.press(Place(10.5, 10.5))
    settle(session, qtbot)
    assert not session.document.mask.any()
    session.history.undo()
    assert np.array_equal(session.document.mask, expected)
    wand.press(Place(-1, 3))
    settle(session, qtbot)
    assert session.complaints == []
