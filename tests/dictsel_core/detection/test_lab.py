"""Colors, against scikit-image."""

import numpy as np
from skimage.color import rgb2lab

from dictsel_core.detection.stamps import lab_from_rgb


def test_colors_are_those_of_cielab():
    rgb = np.random.default_rng(0).random((20, 30, 3), np.float32)
    rgb[0, :3] = [[0, 0, 0], [1, 1, 1], [0.01, 0.02, 0.03]]
    lab = np.stack(lab_from_rgb(rgb), axis=-1)
    assert lab.dtype == np.float32
    np.testing.assert_allclose(lab, rgb2lab(rgb), atol=1e-3)
