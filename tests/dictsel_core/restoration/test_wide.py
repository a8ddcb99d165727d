"""Which holes are wide, and which are completed by example."""

import numpy as np
import pytest
from scipy import ndimage
from tiles import restore_in_tiles

from dictsel_core import RestoreSettings, restore
from dictsel_core.completion import completion
from dictsel_core.restoration import has_wide_hole


@pytest.mark.parametrize(
    ("fill", "dtype", "is_completed"),
    [("auto", "uint8", True), ("auto", "f8", False), ("smooth", "uint8", False), ("texture", "f8", True)],
)
def test_floats_are_completed_only_on_request(fill, dtype, is_completed, monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 1)
    mask = hole(20, 20, 17)
    image = np.add.outer(np.arange(60), np.arange(80)).astype(dtype)
    restored = restore(image, mask, RestoreSettings(fill=fill, rounds=0))
    assert ("texture" in restored.seconds) == is_completed


def hole(row: int, column: int, height: int, width: int | None = None) -> np.ndarray:
    mask = np.zeros((60, 80), bool)
    mask[row : row + height, column : column + (width or height)] = True
    return mask


@pytest.mark.parametrize(("mask", "is_wide"), [(hole(20, 20, 16, 40), False), (hole(20, 20, 17, 40), True)])
def test_a_hole_is_wide_if_patches_at_its_border_do_not_see_its_middle(mask, is_wide) -> None:
    assert has_wide_hole(mask) is is_wide
    assert has_wide_hole(np.dstack([mask, mask])) is is_wide


def test_a_hole_is_seen_from_one_side_only_at_the_border_of_the_picture() -> None:
    band = np.zeros((60, 80), bool)
    band[:9] = True
    assert has_wide_hole(band)
    assert not has_wide_hole(band[1:])


@pytest.mark.parametrize(("size", "is_wide"), [(10, False), (11, True)])
def test_a_spot_that_stands_alone_is_wide_from_11_pixels(size, is_wide) -> None:
    assert has_wide_hole(hole(20, 20, size)) is is_wide


@pytest.mark.parametrize("side", [64, 128])
def test_spots_are_filled_where_there_is_texture_around_in_tiles_as_in_the_whole(side, monkeypatch) -> None:
    monkeypatch.setattr(completion, "_N_ITERATIONS", 1)
    image = np.full((192, 256), 120, np.uint8)
    image[:, 128:] += np.random.default_rng(0).integers(0, 60, (192, 128), np.uint8)
    mask = np.zeros(image.shape, bool)
    for column in (57, 185):
        mask[57:70, column : column + 13] = True
    smooth, whole = (restore(image, mask, RestoreSettings(fill=each)).image for each in ("smooth", "auto"))
    in_tiles, _ = restore_in_tiles(image, mask, RestoreSettings(), side)
    left, right = mask.copy(), mask.copy()
    left[:, 128:] = right[:, :128] = False
    for restored in (whole, in_tiles):
        assert np.abs(restored[left].astype(float) - smooth[left]).max() <= 1
        assert restored[right].std() > 2 * smooth[right].std()


def test_a_channel_that_is_observed_makes_it_no_hole() -> None:
    mask = hole(20, 20, 30)
    assert not has_wide_hole(np.dstack([mask, np.zeros_like(mask)]))


@pytest.mark.parametrize(("mask", "is_wide"), [(hole(0, 0, 0), False), (np.ones((9, 9), bool), True)])
def test_nothing_and_everything_missing(mask, is_wide) -> None:
    assert has_wide_hole(mask) is is_wide


@pytest.mark.parametrize(
    ("fill", "dtype", "is_smooth"),
    [
        ("smooth", np.uint8, True),
        ("auto", np.uint8, False),
        ("auto", np.float32, True),
        ("texture", np.float32, False),
    ],
)
def test_floats_are_filled_smoothly_unless_texture_is_chosen(fill, dtype, is_smooth) -> None:
    assert RestoreSettings(fill=fill).fills_texture(dtype) is not is_smooth


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_hole_is_one_whose_middle_is_far_from_all_that_is_observed(seed) -> None:
    observed = np.random.default_rng(seed).random((40, 50)) < 0.01
    distance = ndimage.distance_transform_cdt(~observed, metric="chessboard").max()
    assert has_wide_hole(~observed) == (distance > 8)


@pytest.mark.parametrize(
    ("mask", "problem"), [(None, "must be boolean"), (np.zeros(4, bool), "its shape is"), (1, "its shape is")]
)
def test_what_is_no_mask_is_refused(mask, problem) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        has_wide_hole(mask)
