"""The eyedropper: a click makes all pixels of a color missing."""

import numpy as np
import pytest
from windows import settle

from inpaint_app.model.missing import color_at
from inpaint_app.model.picture import Picture
from inpaint_app.window.canvas.tools.areas import Eyedropper
from inpaint_app.window.canvas.tools.tool import Place


def test_all_pixels_like_the_one_clicked_are_missing(session, qtbot) -> None:
    pixels = np.full((40, 50, 3), 90, np.uint8)
    pixels[10:14, 5:40] = (250, 4, 8)
    pixels[20:24, 5:40] = (235, 20, 20)
    session.opening.open_picture(lambda: Picture(pixels), "marked")
    settle(session, qtbot)
    Eyedropper(session).press(Place(12.5, 20.5))
    settle(session, qtbot)
    assert session.document.mask[10:14, 5:40].all()
    assert session.document.mask[20:24, 5:40].all(), "compressed marks are nearly of the color"
    assert not session.document.mask[30:].any()
    Eyedropper(session).press(Place(-3, 5))
    assert session.state.activity is None


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_a_color_is_named_in_eight_bits(dtype, white) -> None:
    picture = Picture(np.full((2, 2), white, dtype))
    key, tolerance = color_at(picture, 0, 0)
    assert key == "#ffffff"
    assert 0 < tolerance <= 1 if dtype is np.float32 else tolerance >= 24
