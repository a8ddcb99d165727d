"""Masks that make test cases."""

import numpy as np
import pytest
from cli_files import scene

from inpaint_app.errors import UserError
from inpaint_app.model.damage import damaged, mask_picture, random_mask, scratch_mask, text_mask
from inpaint_app.model.missing import detect_missing

SHAPE = (96, 128)
MAKERS = {
    "random": lambda seed: random_mask(SHAPE, 0.8, seed),
    "scratches": lambda seed: scratch_mask(SHAPE, seed),
    "text": lambda seed: text_mask(SHAPE, "SAMPLE", seed),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_seed_decides_the_mask(maker) -> None:
    mask = maker(3)
    assert mask.shape == SHAPE
    assert mask.dtype == np.bool_
    np.testing.assert_array_equal(mask, maker(3))
    assert (mask != maker(4)).any()


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.8, 0.999])
def test_random_part_is_met_to_the_pixel(fraction) -> None:
    mask = random_mask((50, 60), fraction)
    assert np.count_nonzero(mask) == round(fraction * 3000)


def test_random_mask_leaves_one_pixel_of_each_kind() -> None:
    assert np.count_nonzero(random_mask((1, 3), 0.01)) == 1
    assert np.count_nonzero(random_mask((1, 3), 0.99)) == 2


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan")])
def test_impossible_parts_are_refused(fraction) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        random_mask(SHAPE, fraction)


@pytest.mark.parametrize("shape", [(64, 64), (300, 200), (700, 900)])
def test_scratches_are_thin_and_few(shape) -> None:
    for seed in range(3):
        assert 0.005 < scratch_mask(shape, seed).mean() < 0.15


@pytest.mark.parametrize("shape", [(64, 64), (300, 200), (700, 900)])
def test_text_covers_the_picture_but_leaves_most_of_it(shape) -> None:
    mask = text_mask(shape, "SAMPLE")
    assert 0.04 < mask.mean() < 0.4
    quarters = [part for half in np.array_split(mask, 2) for part in np.array_split(half, 2, axis=1)]
    assert all(quarter.any() for quarter in quarters)


@pytest.mark.parametrize(("text", "sentence"), [(" \n", "empty"), ("x" * 500, "at most")])
def test_text_without_use_is_refused(text, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        text_mask(SHAPE, text)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("color", [True, False])
def test_nothing_of_the_original_is_left_where_pixels_are_missing(dtype, color) -> None:
    original = scene(dtype, color=color)
    before = original.pixels.copy()
    mask = random_mask(original.pixels.shape[:2], 0.5)
    broken = damaged(original, mask)
    assert not broken.pixels[mask].any()
    np.testing.assert_array_equal(broken.pixels[~mask], before[~mask])
    np.testing.assert_array_equal(detect_missing(broken).mask, mask)
    np.testing.assert_array_equal(original.pixels, before)


def test_mask_as_picture_marks_the_same_pixels() -> None:
    original = scene()
    mask = random_mask(original.pixels.shape[:2], 0.3)
    np.testing.assert_array_equal(detect_missing(original, mask=mask_picture(mask)).mask, mask)
