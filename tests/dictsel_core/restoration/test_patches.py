import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core.restoration import coding
from dictsel_core.restoration.coding import MirroredPatches, median_of_patches, median_of_rows


def literal_medians(size, n_channels, table, wanted, thinning):
    """For each wanted pixel, the median over all patches of the mirrored image that cover it."""
    result = np.full((*wanted.shape, n_channels), np.nan)
    for y, x in np.argwhere(wanted):
        votes = []
        for i in range(size):
            for j in range(size):
                row, column = y + size - 1 - i, x + size - 1 - j
                used = {1: True, 2: (row + column) % 2 == 0, 4: row % 2 == column % 2 == 0}
                if used[thinning]:
                    votes.append(table[:, row, column, i * size + j])
        known = ~np.isnan(votes).all(axis=0)
        result[y, x, known] = np.nanmedian(np.array(votes)[:, known], axis=0)
    return result


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    size=st.integers(2, 4),
    n_channels=st.integers(1, 3),
    thinning=st.sampled_from([1, 2, 4]),
    threads=st.integers(1, 3),
    band=st.sampled_from([1, 40, 1 << 22]),
)
def test_medians_of_bands_are_those_of_the_definition(
    seed, height, width, size, n_channels, thinning, threads, band
):
    thinning = thinning if size % 2 == 0 else 1
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_channels, height + size - 1, width + size - 1, size * size))
    table = table.astype(np.float32)
    table[rng.random(table.shape[:3]) < 0.3] = np.nan  # patches with nothing to say
    wanted = rng.random((height, width)) < 0.6

    def rebuild(rows, columns, out, first):
        out[:, first : first + len(rows)] = table[:, rows, columns]

    before, coding._BAND_VALUES = coding._BAND_VALUES, band
    try:
        bands = list(median_of_patches(wanted, size, n_channels, rebuild, threads, thinning=thinning))
    finally:
        coding._BAND_VALUES = before
    assert [rows.start for rows, *_ in bands] == [0, *[rows.stop for rows, *_ in bands][:-1]]
    assert (np.concatenate([pixels for _, pixels, _ in bands]) == np.flatnonzero(wanted)).all()
    medians = np.full((height, width, n_channels), np.nan)
    medians[wanted] = np.concatenate([values for *_, values in bands])
    expected = literal_medians(size, n_channels, table, wanted, thinning)
    np.testing.assert_allclose(medians, expected, rtol=1e-6)


@pytest.mark.parametrize("height", [3, 16, 17, 23, 40])
def test_a_yielded_band_may_be_overwritten(height, monkeypatch):
    """Patches that are rebuilt later, mirrored ones included, do not cover it."""
    monkeypatch.setattr(coding, "_BAND_VALUES", 1)
    image, size = np.random.default_rng(0).random((height, 9)).astype(np.float32), 4
    wanted, everywhere = np.ones(image.shape, bool), MirroredPatches(image.shape, size)

    def medians(values):
        def rebuild(rows, columns, out, first):
            pixels = everywhere.pixels(rows, columns)
            out[0, first : first + len(rows)] = values.reshape(-1).take(pixels)

        yield from median_of_patches(wanted, size, 1, rebuild, 1)

    expected = np.concatenate([each for *_, each in medians(image.copy())])
    overwritten = image.copy()
    for _, pixels, values in medians(overwritten):
        overwritten.reshape(-1)[pixels] = values[:, 0]
    assert (overwritten.reshape(-1) == expected[:, 0]).all()


def test_patches_that_cover_no_wanted_pixel_are_not_rebuilt():
    asked = []
    wanted = np.zeros((20, 30), bool)
    wanted[10, 15] = True

    def rebuild(rows, columns, out, first):
        asked.extend(zip(rows.tolist(), columns.tolist(), strict=True))
        out[:, first : first + len(rows)] = 0

    list(median_of_patches(wanted, 4, 1, rebuild, 1))
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


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (9, 6)])
def test_mirrored_patches_are_those_of_a_padded_image(shape):
    size, image = 4, np.arange(np.prod(shape)).reshape(shape)
    padded = sliding_window_view(np.pad(image, size - 1, mode="symmetric"), (size, size))
    rows, columns = (each.ravel() for each in np.indices(padded.shape[:2]))
    pixels = MirroredPatches(shape, size).pixels(rows, columns)
    assert (pixels == padded.reshape(len(rows), -1)).all()
