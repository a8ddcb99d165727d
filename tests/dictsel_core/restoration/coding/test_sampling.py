import numpy as np
import pytest

from dictsel_core.restoration.canvas import as_canvas
from dictsel_core.restoration.coding.sampling import sample_patches


def test_patches_are_those_at_their_positions():
    rng = np.random.default_rng(0)
    image, mask = rng.random((24, 32, 3)), rng.random((24, 32)) < 0.3
    canvas = as_canvas(image, mask)
    sample = sample_patches(canvas, 8, seed=0)
    assert len(sample.data) == 3 * 3 * 4
    for channel in range(3):
        plane = canvas.plane(channel)
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
    assert len(sample_patches(as_canvas(image, half), 8, 0).data) == 50
    sparse = np.ones(image.shape, bool)
    sparse[::8, ::8] = False
    assert len(sample_patches(as_canvas(image, sparse), 8, 0).data) == 100


@pytest.mark.parametrize("n_layers", [1, 3])
def test_patches_at_an_odd_border_are_mirrored(n_layers):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 60000, (13, 19, 3)).astype(np.uint16)
    mask = rng.random((13, 19, n_layers)) < 0.4
    canvas = as_canvas(image, mask)
    sample = sample_patches(canvas, 8, seed=0)
    assert len(sample.data) == 3 * 2 * 3
    for channel in range(3):
        plane, missing = (
            np.pad(each, ((0, 3), (0, 5)), mode="symmetric")
            for each in (canvas.plane(channel), canvas.mask(channel))
        )
        for t in range(channel * 6, channel * 6 + 6):
            row, column = sample.positions[t]
            place = np.s_[row : row + 8, column : column + 8]
            np.testing.assert_array_equal(sample.data[t], plane[place].ravel())
            np.testing.assert_array_equal(sample.mask[t], missing[place].ravel())
