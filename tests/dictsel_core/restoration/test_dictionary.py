import numpy as np
import pytest

from dictsel_core import RestoreSettings, restore
from dictsel_core.restoration.image import as_image
from dictsel_core.restoration.plan import sample_patches

FAST = RestoreSettings(rounds=0, fill="smooth")


def test_patches_are_those_at_their_positions():
    rng = np.random.default_rng(0)
    image, mask = rng.random((24, 32, 3)), rng.random((24, 32)) < 0.3
    whole = as_image(image, mask[:, :, None])
    sample = sample_patches([((0, 0), whole)], 8, 2048, seed=0)
    assert len(sample.data) == 3 * 3 * 4
    for channel in range(3):
        plane = whole.plane(channel)
        for t in range(channel * 12, channel * 12 + 12):
            row, column = sample.positions[t]
            place = np.s_[row : row + 8, column : column + 8]
            np.testing.assert_array_equal(sample.data[t], plane[place].ravel())
            np.testing.assert_array_equal(sample.mask[t], mask[place].ravel())


def test_patches_with_few_observed_pixels_are_left_out_unless_there_are_no_others():
    image = np.random.default_rng(0).random((80, 80))
    half = np.zeros(image.shape, bool)
    half[:40] = True
    half[0, 0] = False  # one observed pixel in this half
    assert len(restore(image, half, FAST).patch_positions) == 50
    sparse = np.ones(image.shape, bool)
    sparse[::8, ::8] = False
    assert len(restore(image, sparse, FAST).patch_positions) == 100


@pytest.mark.parametrize("n_layers", [1, 3])
def test_patches_at_an_odd_border_are_mirrored(n_layers):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 60000, (13, 19, 3)).astype(np.uint16)
    mask = rng.random((13, 19, n_layers)) < 0.4
    whole = as_image(image, mask)
    sample = sample_patches([((0, 0), whole)], 8, 2048, seed=0)
    assert len(sample.data) == 3 * 2 * 3
    for channel in range(3):
        plane, missing = (
            np.pad(each, ((0, 3), (0, 5)), mode="symmetric")
            for each in (whole.plane(channel), whole.mask(channel))
        )
        for t in range(channel * 6, channel * 6 + 6):
            row, column = sample.positions[t]
            place = np.s_[row : row + 8, column : column + 8]
            np.testing.assert_array_equal(sample.data[t], plane[place].ravel())
            np.testing.assert_array_equal(sample.mask[t], missing[place].ravel())
