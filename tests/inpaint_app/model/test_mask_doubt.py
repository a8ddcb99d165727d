"""Masks that may not be meant as they are."""

import numpy as np
import pytest
import skimage.data

from inpaint_app.model.damage import random_mask, scratch_mask, text_mask
from inpaint_app.model.mask_doubt import MaskDoubt, doubt_about_mask, is_inverted, is_photograph
from inpaint_app.model.picture import Picture

PHOTOGRAPHS = {name: getattr(skimage.data, name)() for name in ("astronaut", "camera", "coffee", "chelsea")}


def rectangle(shape) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[20:90, 30:120] = True
    return mask


DAMAGE = {
    "scratches": scratch_mask,
    "text": lambda shape: text_mask(shape, "Sample"),
    "hole": rectangle,
}
SCATTERED = {f"{part} %": lambda shape, part=part: random_mask(shape, part / 100) for part in (50, 80, 95)}


@pytest.mark.parametrize("name", PHOTOGRAPHS)
@pytest.mark.parametrize("kind", DAMAGE)
def test_inverted_masks_are_recognized(name, kind) -> None:
    pixels = PHOTOGRAPHS[name]
    mask = DAMAGE[kind](pixels.shape[:2])
    for value in (None, 0, 255):
        damaged = pixels.copy()
        if value is not None:
            damaged[mask] = value
        assert is_inverted(Picture(damaged), ~mask)
        assert not is_inverted(Picture(damaged), mask)
        assert not is_inverted(Picture(damaged.astype(np.uint16) * 257), mask)


@pytest.mark.parametrize("name", PHOTOGRAPHS)
@pytest.mark.parametrize("kind", SCATTERED)
def test_scattered_pixels_are_no_reason_for_doubt(name, kind) -> None:
    pixels = PHOTOGRAPHS[name]
    assert not is_inverted(Picture(pixels), SCATTERED[kind](pixels.shape[:2]))


def test_a_large_hole_that_is_blank_is_no_reason_for_doubt() -> None:
    pixels, mask = PHOTOGRAPHS["camera"].copy(), np.ones((512, 512), bool)
    mask[100:400, 120:360] = False
    assert is_inverted(Picture(pixels), mask), "most of it is marked, and is no hole"
    pixels[mask] = 0
    assert not is_inverted(Picture(pixels), mask)
    assert is_inverted(Picture(pixels), ~mask), "what it leaves is blank"
    assert not is_inverted(Picture(np.where(mask, np.nan, pixels).astype(np.float32)), mask)


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs_are_no_masks(name) -> None:
    photograph = Picture(PHOTOGRAPHS[name])
    assert is_photograph(photograph)
    marked = np.zeros(PHOTOGRAPHS[name].shape[:2], bool)
    assert doubt_about_mask(photograph, photograph, marked) is MaskDoubt.PHOTOGRAPH


@pytest.mark.parametrize("kind", [*DAMAGE, *SCATTERED])
def test_masks_are_no_photographs(kind) -> None:
    mask = {**DAMAGE, **SCATTERED}[kind]((200, 240))
    gray = np.where(mask, np.uint8(255), np.uint8(0))
    for values in (gray, gray // 255, np.dstack([gray, gray // 4, gray]), gray.astype(np.float32)):
        assert not is_photograph(Picture(values))
    assert not is_photograph(Picture(np.zeros((9, 9), np.uint8)))
