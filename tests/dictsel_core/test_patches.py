import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dictsel_core import patches
from dictsel_core.patches import all_patches, median_of_patches, median_of_rows, pad


def literal_medians(plane, size, rebuild, wanted, checkered):
    """For each wanted pixel, the median over all patches of the padded plane that cover it."""
    height, width = plane.shape
    result = np.full(plane.shape, np.nan)
    for y in range(height):
        for x in range(width):
            if not wanted[y, x]:
                continue
            votes = []
            for i in range(size):
                for j in range(size):
                    row, column = y + size - 1 - i, x + size - 1 - j
                    if checkered and (row + column) % 2:
                        continue
                    values = rebuild(np.array([row]), np.array([column]))
                    votes.append(values[0, i * size + j])
            if not np.isnan(votes).all():
                result[y, x] = np.nanmedian(votes)
    return result


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    size=st.integers(2, 4),
    checkered=st.booleans(),
    threads=st.integers(1, 3),
    band=st.sampled_from([1, 40, 1 << 22]),
)
def test_medians_of_bands_are_those_of_the_definition(seed, height, width, size, checkered, threads, band):
    checkered = checkered and size % 2 == 0
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(height + size - 1, width + size - 1, size * size)).astype(np.float32)
    table[rng.random(table.shape[:2]) < 0.3] = np.nan  # patches with nothing to say
    wanted = rng.random((height, width)) < 0.6

    def rebuild(rows, columns):
        return table[rows, columns]

    before, patches._BAND_VALUES = patches._BAND_VALUES, band
    try:
        bands = list(median_of_patches((height, width), size, rebuild, wanted, threads, checkered=checkered))
    finally:
        patches._BAND_VALUES = before
    assert [rows.start for rows, *_ in bands] == [0, *[rows.stop for rows, *_ in bands][:-1]]
    assert (np.concatenate([pixels for _, pixels, _ in bands]) == np.flatnonzero(wanted)).all()
    medians = np.full((height, width), np.nan)
    medians[wanted] = np.concatenate([values for *_, values in bands])
    np.testing.assert_allclose(medians, literal_medians(wanted, size, rebuild, wanted, checkered), rtol=1e-6)


def test_patches_that_cover_no_wanted_pixel_are_not_rebuilt():
    asked = []
    wanted = np.zeros((20, 30), bool)
    wanted[10, 15] = True

    def rebuild(rows, columns):
        asked.extend(zip(rows.tolist(), columns.tolist(), strict=True))
        return np.zeros((len(rows), 16), np.float32)

    list(median_of_patches((20, 30), 4, rebuild, wanted, 1))
    assert sorted(asked) == [(row, column) for row in range(10, 14) for column in range(15, 19)]


@pytest.mark.parametrize("n_votes", [1, 2, 5, 64])
def test_median_of_rows_ignores_nan(n_votes):
    rng = np.random.default_rng(0)
    votes = rng.normal(size=(50, n_votes)).astype(np.float32)
    np.testing.assert_allclose(median_of_rows(votes.copy()), np.median(votes, axis=1), rtol=1e-6)
    votes[rng.random(votes.shape) < 0.4] = np.nan
    votes[:, 0] = 1
    np.testing.assert_allclose(median_of_rows(votes.copy()), np.nanmedian(votes, axis=1), rtol=1e-6)
    assert np.isnan(median_of_rows(np.full((1, n_votes), np.nan, np.float32))).all()


def test_padding_covers_every_pixel_by_all_patches():
    plane = np.arange(6.0).reshape(2, 3)
    assert all_patches(pad(plane, 4), 4).shape == (2 + 3, 3 + 3, 4, 4)
