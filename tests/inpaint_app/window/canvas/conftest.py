"""A canvas with a picture, for the tests of all canvases."""

import numpy as np
import pytest

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.image_pyramid import build_pyramid
from inpaint_app.window.canvas.layers import Content
from inpaint_app.window.canvas.viewport import Viewport


@pytest.fixture
def noise():
    """A picture of 60 x 90 pixels, in color."""
    return np.random.default_rng(0).integers(40, 216, (60, 90, 3), np.uint8)


@pytest.fixture
def make_canvas(qtbot, noise):
    def make(viewport: Viewport, width: int = 400, height: int = 300) -> Canvas:
        canvas = Canvas(viewport)
        qtbot.addWidget(canvas)
        canvas.resize(width, height)
        canvas.set_content(Content(build_pyramid(noise)))
        canvas.show()
        qtbot.waitExposed(canvas)
        return canvas

    return make


@pytest.fixture
def canvas(make_canvas):
    return make_canvas(Viewport())
