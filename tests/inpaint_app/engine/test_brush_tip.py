"""The tip of a brush: full in its core, nothing at its rim."""

import numpy as np
import pytest

from inpaint_app.engine.painted import BrushTip, blended
from inpaint_app.model.picture import Rect

RECT = Rect(20, 30, 41, 41)


def disk(diameter: int = 41) -> np.ndarray:
    rows, columns = np.mgrid[:diameter, :diameter] - diameter // 2
    return rows**2 + columns**2 <= (diameter / 2) ** 2


def test_a_hard_brush_paints_in_full_wherever_it_paints() -> None:
    assert np.array_equal(BrushTip(41).weights(disk(), RECT, (100, 100)), disk().astype(np.float32))


@pytest.mark.parametrize("hardness", [0.0, 0.5])
def test_a_soft_brush_falls_from_its_core_to_its_rim(hardness) -> None:
    weights = BrushTip(41, hardness).weights(disk(), RECT, (100, 100))
    middle = weights[20]
    assert middle[20] > 0.99
    assert (np.diff(middle[20:]) <= 1e-6).all()
    assert middle[40] < 0.05
    assert not weights[~disk()].any()
    core = int(20 * hardness) - 1
    assert (middle[20 : 20 + max(core, 1)] > 0.97).all()


def test_the_border_of_the_picture_is_no_rim() -> None:
    half = disk()[20:]
    weights = BrushTip(41, 0.0).weights(half, Rect(0, 30, 21, 41), (100, 100))
    assert np.allclose(weights, BrushTip(41, 0.0).weights(disk(), RECT, (100, 100))[20:], atol=0.02)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_what_is_blended_keeps_its_type_and_rounds(dtype) -> None:
    below, above = np.array([[0, 10]], dtype), np.array([[3, 20]], dtype)
    mixed = blended(below, above, 0.5)
    assert mixed.dtype == dtype
    assert np.array_equal(mixed, np.array([[1.5, 15]], dtype) if dtype is np.float32 else [[2, 15]])


def test_what_lies_below_pixels_seen_in_full_need_be_no_number() -> None:
    below = np.array([[np.nan, np.inf, 0.0]], np.float32)
    mixed = blended(below, np.ones_like(below), np.array([[1.0, 1.0, 0.5]], np.float32))
    assert np.array_equal(mixed, [[1.0, 1.0, 0.5]])
