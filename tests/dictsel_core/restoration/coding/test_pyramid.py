import numpy as np
import pytest

from dictsel_core.restoration.coding.pyramid import double, halve


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 8), (7, 3)])
def test_halving_takes_means_of_observed_pixels(shape):
    rng = np.random.default_rng(0)
    plane, missing = rng.random(shape).astype(np.float32), rng.random(shape) < 0.5
    plane[missing] = 0
    planes, half_missing = halve(np.dstack([plane, 1 - plane]) * ~missing[:, :, None], missing)
    half = planes[:, :, 0]
    assert half.shape == half_missing.shape == tuple(-(-length // 2) for length in shape)
    for row, column in np.ndindex(half.shape):
        block = np.s_[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        seen = plane[block][~missing[block]]
        assert half_missing[row, column] == (seen.size == 0)
        if seen.size:
            assert half[row, column] == pytest.approx(seen.mean(), rel=1e-6)
            assert planes[row, column, 1] == pytest.approx(1 - seen.mean(), rel=1e-5)


@pytest.mark.parametrize("shape", [(2, 2), (7, 10), (8, 9)])
def test_doubling_keeps_constants_and_ramps(shape):
    small = tuple(-(-length // 2) for length in shape)
    assert (double(np.full(small, 0.25, np.float32), shape) == 0.25).all()
    ramp = np.add.outer(np.arange(small[0]), np.arange(small[1])).astype(np.float32)
    large = double(ramp, shape)
    assert large.shape == shape
    np.testing.assert_allclose(np.diff(large[1:-1], axis=0), 0.5)
    np.testing.assert_allclose(np.diff(large[:, 1:-1], axis=1), 0.5)
