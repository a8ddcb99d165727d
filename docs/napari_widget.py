"""Make ``docs/napari.png``: the plug-in in napari, with the Moon's dead lines filled.

Needs the extra ``[napari]`` and a screen, which may be virtual: ``xvfb-run -a python docs/napari_widget.py``.
"""

from pathlib import Path

import napari
import numpy as np
import skimage.data
from qtpy.QtWidgets import QApplication


def main() -> None:
    """Fill a layer, and take a screenshot."""
    moon = skimage.data.moon()[128:384, 128:384].astype(float)
    rng = np.random.default_rng(3)
    moon[rng.choice(256, 16, replace=False)] = np.nan
    moon[:, rng.choice(256, 8, replace=False)] = np.nan
    viewer = napari.Viewer(show=False, title="napari")
    layer = viewer.add_image(moon, name="moon")
    _, widget = viewer.window.add_plugin_dock_widget("dictsel", "Fill missing pixels")
    widget.start()
    while widget.is_running:
        QApplication.processEvents()
    viewer.canvas.grid.enabled = True
    viewer.layers.selection.active = layer
    viewer.window.resize(1200, 720)
    viewer.window.show()
    viewer.reset_view()
    QApplication.processEvents()
    viewer.screenshot(str(Path(__file__).with_name("napari.png")), canvas_only=False, flash=False)
    viewer.close()


if __name__ == "__main__":
    main()
