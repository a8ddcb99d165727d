"""Wide holes of a restored image, filled anew."""

import numpy as np
import pytest

from dictsel_core.completion import completion, fill_holes, iter_fill_holes


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 2)
    monkeypatch.setattr(completion, "_N_MORE", 1)


@pytest.fixture
def halves():
    """Dark noise on the left, bright noise on the right, with a hole in the middle."""
    image = np.random.default_rng(0).integers(20, 80, (60, 120, 3)).astype(np.uint8)
    image[:, 60:] += 150
    mask = np.zeros((60, 120), bool)
    mask[18:42, 48:72] = True
    image[mask] = 120
    return image, mask


def test_pixels_are_copied_from_where_they_may_be_only(halves):
    image, mask = halves
    columns = np.arange(120)
    right = np.broadcast_to(columns >= 80, mask.shape)
    far_left = np.broadcast_to(columns < 30, mask.shape)
    bright, dark = (fill_holes(image, mask, fill_from=each)[mask].mean() for each in (right, far_left))
    assert bright > dark + 30  # their light is that of what is around, as far as pieces allow


def test_only_holes_change_and_the_input_does_not(halves):
    image, mask = halves
    before = image.copy()
    filled = fill_holes(image, mask)
    assert filled.dtype == np.uint8
    assert (image == before).all()
    assert (filled[~mask] == image[~mask]).all()
    assert (filled[mask] != image[mask]).any()


def test_another_seed_is_another_fill_and_the_same_seed_the_same(halves):
    first, again, other = (fill_holes(*halves, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_it_goes_step_by_step(halves):
    run = iter_fill_holes(*halves)
    fractions = list(run)
    assert fractions == sorted(fractions)
    assert (run.result == fill_holes(*halves)).all()


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_channels_first_and_other_types_are_filled_too(halves, dtype):
    image, mask = halves
    planes = np.moveaxis(image, 2, 0).astype(dtype)
    filled = fill_holes(planes, mask, channel_axis=0)
    assert filled.shape == planes.shape
    assert filled.dtype == dtype
    assert filled[:, mask].std() > 5
    assert filled.max() <= planes[:, ~mask].max()


def test_narrow_holes_and_images_without_any_stay(halves):
    image = halves[0]
    narrow = np.zeros(image.shape[:2], bool)
    assert (fill_holes(image, narrow) == image).all()
    narrow[20:30] = True
    assert (fill_holes(image, narrow) == image).all()


@pytest.mark.parametrize(
    ("fill_from", "message"),
    [(np.ones((3, 3), bool), "height and width"), (np.zeros((60, 120), bool), "too few observed pixels")],
)
def test_what_cannot_be_copied_from_is_refused(halves, fill_from, message):
    with pytest.raises(ValueError, match=message):
        fill_holes(*halves, fill_from=fill_from)


def test_an_image_that_is_not_restored_is_refused(halves):
    image, mask = halves
    with pytest.raises(ValueError, match="restore it first"):
        fill_holes(np.where(mask[..., None], np.nan, image / 255), mask)


def test_only_the_holes_of_a_region_are_filled(halves):
    image, mask = halves
    both = mask.copy()
    both[18:42, 97:118] = True  # apart, not filled together
    filled = fill_holes(image, both, region=(slice(0, 60), slice(80, 120)))
    assert (filled[mask] == image[mask]).all()
    other = both & ~mask
    assert (filled[other] == fill_holes(image, both)[other]).all()
    assert (filled[other] != image[other]).any()
