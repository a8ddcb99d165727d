"""Scales of an image with a hole."""

import numpy as np

from dictsel_core.completion.onion import fill_by_layers
from dictsel_core.completion.scale import PATCH_SIZE, finest_scale


def scale_of(image, hole):
    return finest_scale(image[:, :, None].astype(np.float32), hole, hole)


def test_coarser_pixels_are_means_of_what_is_known():
    image = np.arange(16.0).reshape(4, 4)
    hole = np.zeros((4, 4), bool)
    hole[:2, :2] = hole[2, 2] = True
    coarser = scale_of(image, hole).halved()
    assert coarser.hole.tolist() == [[True, False], [False, False]]
    assert coarser.barred.tolist() == [[True, False], [False, True]]
    assert coarser.planes[0, 0, 0] == image[:2, :2].mean()
    assert coarser.planes[1, 1, 0] == np.float32(40 / 3)


def test_odd_sizes_have_coarser_scales():
    assert scale_of(np.ones((5, 7)), np.zeros((5, 7), bool)).halved().shape == (3, 4)


def test_texture_tells_rough_from_smooth_and_down_from_across():
    image = np.full((40, 80), 0.5)
    image[:, 40:] += 0.2 * (np.arange(40) % 2)  # changes across
    texture = scale_of(image, np.zeros(image.shape, bool)).planes[:, :, 1:]
    assert texture[20, 10].max() == 0
    assert texture[20, 60, 1] > 0.15
    assert texture[20, 60, 0] == 0


def test_layers_continue_stripes():
    image = np.tile((np.arange(60) % 6 < 3).astype(float), (40, 1))
    hole = np.zeros(image.shape, bool)
    hole[15 : 15 + PATCH_SIZE, 20 : 20 + PATCH_SIZE] = True
    scale = scale_of(np.where(hole, 0.5, image), hole)
    fill_by_layers(scale, 1)
    assert (scale.planes[:, :, 0] == image).all()
