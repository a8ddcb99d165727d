"""Scales of an image with a hole."""

import numpy as np
import pytest

from dictsel_core.completion.field import fill_by_layers
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


def test_the_texture_of_a_hole_goes_on_from_both_sides():
    rng = np.random.default_rng(0)
    image = np.full((60, 80, 1), 0.5, np.float32)
    image[:, 40:] += rng.normal(0, 0.1, (60, 40, 1)).astype(np.float32)
    hole = np.zeros((60, 80), bool)
    hole[20:40, 25:55] = True
    scale = finest_scale(image, hole, hole)
    around = scale.texture_around[30].mean(axis=1)
    assert around[26] < 0.01
    assert around[54] == pytest.approx(scale.texture[30, 70].mean(), rel=0.5)
    assert (np.diff(around[25:55]) >= 0).all()


def test_a_coarser_scale_shows_the_hole_of_a_finer_one():
    rows, columns = np.mgrid[:321, :200]
    image = np.stack([rows / 321, columns / 200], axis=2).astype(np.float32)
    hole = np.zeros(image.shape[:2], bool)
    hole[130:170, 90:130] = True
    finest = finest_scale(image, hole, hole)
    scale = finest
    for _ in range(3):
        scale = scale.halved()
        shown = scale.seen_on(finest, scale.planes)
        np.testing.assert_allclose(shown, image[hole], atol=0.02)
