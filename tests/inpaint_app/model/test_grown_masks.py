"""Marks that are slightly too small grow."""

import numpy as np
import pytest

from inpaint_app.model.missing import detect_missing, grown
from inpaint_app.model.picture import Picture


def square(side=20):
    mask = np.zeros((side, side), bool)
    mask[8:12, 8:12] = True
    return mask


@pytest.mark.parametrize("pixels", [0, 1, 2])
def test_a_mask_grows_by_so_many_pixels(pixels):
    expected = np.zeros((20, 20), bool)
    expected[8 - pixels : 12 + pixels, 8 - pixels : 12 + pixels] = True
    np.testing.assert_array_equal(grown(square(), pixels), expected)


def test_growth_stops_at_the_border_and_treats_channels_apart():
    mask = np.zeros((3, 4, 3), bool)
    mask[0, 0, 1] = True
    larger = grown(mask, 1)
    assert larger[:2, :2, 1].all()
    assert larger.sum() == 4


def test_by_default_compact_marks_grow_and_scattered_ones_do_not():
    assert grown(square(), None).sum() == 36
    scattered = np.random.default_rng(0).random((50, 50)) < 0.3
    assert grown(scattered, None) is scattered


def test_files_and_colors_grow_but_alpha_and_nan_do_not():
    plain = Picture(np.where(square(), 255, 10).astype(np.uint8))
    assert detect_missing(plain, mask=square(), grow=None).mask.sum() == 36
    assert detect_missing(plain, key="255", grow=None).mask.sum() == 36
    hard = np.where(square(), 0, 255).astype(np.uint8)
    assert detect_missing(Picture(plain.pixels, alpha=hard), grow=None).mask.sum() == 16
    holes = np.where(square(), np.nan, 0.5).astype(np.float32)
    assert detect_missing(Picture(holes), grow=None).mask.sum() == 16
