"""Panes on a display with several dots per pixel, and what importing the widgets brings in."""

import json
import os
import subprocess
import sys

import pytest

SHARP = """
import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from inpaint_app.window.viewer.picture_pane import PicturePane
from inpaint_app.window.canvas.viewport import Viewport

application = QApplication([])
pixels = np.random.default_rng(0).integers(0, 256, (50, 60, 3), np.uint8)
pane = PicturePane(Viewport(), "Damaged")
pane.resize(301, 277)
pane.set_image(pixels)
pane.show()
application.processEvents()
canvas = pane.canvas
canvas.viewport.show_actual_size()
ratio = canvas.devicePixelRatioF()
image = canvas.grab().toImage()
left, top = (round(number) for number in canvas.viewport.origin(canvas.device_size()))
shown = [[QColor(image.pixel(left + x, top + y)).getRgb()[:3] for x in range(60)] for y in range(50)]
assert np.array_equal(shown, pixels), "a pixel of the picture is not a dot of the display"
position = QPointF((left + 10.5) / ratio, (top + 20.5) / ratio)
assert canvas.pixel_at(position) == (20, 10), canvas.pixel_at(position)
pane.close()
print(ratio)
"""


@pytest.mark.parametrize("factor", ["1", "1.5", "2"])
def test_at_actual_size_a_pixel_is_a_dot_of_the_display(factor):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": factor}
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHARP], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == float(factor)


WIDGETS = [
    "viewer.picture_pane",
    "viewer.split_pane",
    "widgets.slider_field",
    "panels.atom_gallery",
    "panels.gain_curve",
    "theme.theme",
    "theme.icons",
]


def test_widgets_load_no_scientific_library():
    imports = "; ".join(f"import inpaint_app.window.{name}" for name in WIDGETS)
    command = f"import json, sys; {imports}; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-P", "-c", command], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(output.stdout)}
    assert not loaded & {"scipy", "skimage", "dictsel_core", "matplotlib"}
