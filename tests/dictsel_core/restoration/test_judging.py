"""How far the refinement of smooth pictures is trusted."""

import numpy as np
import pytest

from dictsel_core import psnr, restore
from dictsel_core.restoration.judging import blend_weight, is_smooth


def test_the_weight_is_that_of_least_squares_shrunk_where_it_is_uncertain():
    rng = np.random.default_rng(0)
    changes, noise = rng.normal(size=4000), rng.normal(size=4000)
    assert blend_weight(0.3 * changes + 0.1 * noise, changes) == pytest.approx(0.3, abs=0.01)
    assert blend_weight(-changes, changes) == 0
    assert blend_weight(2 * changes, changes) == 1
    signs = np.tile([1.0, -1.0], 30)
    assert blend_weight(9 * signs, np.ones(60)) == pytest.approx(0.5 * 1.35 / 1.6, abs=0.01), "hardly known"


def test_too_few_pixels_tell_nothing():
    assert blend_weight(np.ones(10), -np.ones(10)) == 1
    assert blend_weight(np.ones(100), np.zeros(100)) == 1


def test_texture_is_not_smooth():
    rows, columns = np.mgrid[:32, :32]
    waves = np.sin(0.1 * rows + 0.07 * columns)[:, :, None].astype(np.float32) / 2 + 0.5
    assert is_smooth(waves)
    assert not is_smooth(waves + 0.1 * np.random.default_rng(0).normal(size=waves.shape).astype(np.float32))


def test_the_default_is_not_below_fast_on_a_smooth_picture():
    rows, columns = np.mgrid[:96, :96]
    image = (127 + 60 * np.sin(rows / 9) * np.cos(columns / 7) + 50 * np.sin((rows + columns) / 23)).astype(
        np.uint8
    )
    mask = np.zeros(image.shape, bool)
    mask[7::16] = mask[:, 11::32] = True
    fast, default = (psnr(image, restore(image, mask, preset).image) for preset in ("fast", "balanced"))
    assert default > fast - 0.1
