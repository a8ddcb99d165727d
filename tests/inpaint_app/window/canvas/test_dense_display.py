"""Canvases on a display with several dots per pixel."""

import os
import subprocess
import sys

import pytest

SHARP = """
import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from inpaint_app.window.canvas.layers import Content
from inpaint_app.window.canvas.image_pyramid import build_pyramid
from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.viewport import Viewport

application = QApplication([])
pixels = np.random.default_rng(0).integers(0, 256, (50, 60, 3), np.uint8)
canvas = Canvas(Viewport())
canvas.resize(301, 277)
canvas.set_content(Content(build_pyramid(pixels)))
canvas.show()
application.processEvents()
canvas.viewport.show_actual_size()
ratio = canvas.devicePixelRatioF()
image = canvas.grab().toImage()
left, top = (round(number) for number in canvas.viewport.origin(canvas.device_size()))
shown = [[QColor(image.pixel(left + x, top + y)).getRgb()[:3] for x in range(60)] for y in range(50)]
assert np.array_equal(shown, pixels), "a pixel of the picture is not a dot of the display"
position = QPointF((left + 10.5) / ratio, (top + 20.5) / ratio)
assert canvas.pixel_at(position) == (20, 10), canvas.pixel_at(position)
canvas.close()
print(ratio)
"""


@pytest.mark.parametrize("factor", ["1.5", "2"])
def test_at_actual_size_a_pixel_is_a_dot_of_the_display(factor):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": factor}
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHARP], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == float(factor)
