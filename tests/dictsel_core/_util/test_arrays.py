import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictsel_core._util.arrays import chunk_rows, nonzero_2d, positive_part_sums, read_only


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 30), n_columns=st.integers(1, 5))
def test_positive_parts_are_summed_as_in_the_definition(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    gains, floors = rng.random((n_rows, n_columns)), rng.random(n_rows)
    expected = np.maximum(gains - floors[:, None], 0).sum(axis=0)
    np.testing.assert_allclose(positive_part_sums(gains, floors), expected, atol=1e-12)


def test_nothing_above_its_floor_is_exactly_zero():
    gains = np.random.default_rng(0).random((50, 4)).astype(np.float32)
    assert (positive_part_sums(gains, gains.max(axis=1)) == 0).all()


@pytest.mark.parametrize("row_bytes", [0, 1, 10**3, 10**9])
def test_a_chunk_has_at_least_one_row(row_bytes):
    assert chunk_rows(row_bytes) >= 1


def test_read_only_returns_the_array_itself():
    array = np.zeros(3)
    assert read_only(array) is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_nonzero_is_that_of_numpy(order):
    mask = np.asarray(np.random.default_rng(0).random((9, 13)) < 0.2, order=order)
    for ours, numpys in zip(nonzero_2d(mask), np.nonzero(mask), strict=True):
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_those_of_the_definition(dtype):
    rng = np.random.default_rng(2)
    gains = rng.random((3 * chunk_rows(256 * np.dtype(dtype).itemsize) + 5, 256)).astype(dtype)
    floors = rng.random(len(gains)) * 1.5
    expected = np.maximum(gains - floors.astype(dtype)[:, None], 0).sum(axis=0, dtype=np.float64)
    np.testing.assert_allclose(positive_part_sums(gains, floors), expected, rtol=1e-5)
