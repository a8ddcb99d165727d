"""Arrays as scientists have them: NaN, masked arrays, masks of numbers, channels, stacks, xarray."""

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from pictures import photograph, random_mask

from dictsel_core import (
    RestoreSettings,
    estimate_psnr,
    ground_set_from_array,
    iter_restore,
    psnr,
    restore,
    restore_region,
    standard_ground_set,
)
from dictsel_core.evaluation import iter_tune

FAST = replace(RestoreSettings(rounds=0), n_atoms=12, coding_sparsity=4)
SIZE = 24


@pytest.fixture(scope="module")
def image():
    return photograph(SIZE).astype(np.float32) / 255


@pytest.fixture(scope="module")
def mask():
    return random_mask((SIZE, SIZE), 0.5)


@pytest.fixture(scope="module")
def restored(image, mask):
    return restore(image, mask, FAST).image


def test_nan_and_masked_arrays_need_no_mask(image, mask, restored):
    hollow = np.where(mask, np.nan, image)
    np.testing.assert_array_equal(restore(hollow, settings=FAST).image, restored)
    masked = np.ma.masked_array(image, mask)
    np.testing.assert_array_equal(restore(masked, settings=FAST).image, restored)
    half = mask.copy()
    half[:, SIZE // 2 :] = False
    both = np.ma.masked_array(np.where(mask, np.nan, image), half)
    np.testing.assert_array_equal(restore(both, settings=FAST).image, restored)
    assert restore(image, settings=FAST).nothing_missing


def test_without_a_mask_integers_are_refused_and_with_one_nan_is(image, mask):
    with pytest.raises(TypeError, match="unless image is a masked array, or has NaN"):
        restore(photograph(SIZE))
    with pytest.raises(ValueError, match="NaN or infinity"):
        restore(np.where(mask, np.nan, image), np.zeros_like(mask))
    with pytest.raises(ValueError, match="NaN or infinity"):
        restore(np.where(mask, np.inf, image))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("value", [1, 255])
def test_masks_of_two_numbers_are_taken(image, mask, restored, value, dtype):
    np.testing.assert_array_equal(restore(image, mask.astype(dtype) * dtype(value), FAST).image, restored)


@pytest.mark.parametrize("value", [2, 255])
def test_masks_that_are_views_of_integers_are_taken(image, mask, restored, value):
    view = (mask * np.uint8(value)).view(bool)
    np.testing.assert_array_equal(restore(image, view, FAST).image, restored)
    masked = np.ma.masked_array(image, view)
    np.testing.assert_array_equal(restore(masked, settings=FAST).image, restored)


@pytest.mark.parametrize("values", [(0, 2), (0, 1, 255), (0, 128, 255), (-1, 0)])
def test_other_masks_are_refused(image, values):
    odd = np.resize(np.array(values), image.shape)
    with pytest.raises(ValueError, match="only 0 and 1, or only 0 and 255"):
        restore(image, odd)


@pytest.mark.parametrize(("n_channels", "axis"), [(2, -1), (4, -1), (4, 0), (2, 1)])
def test_no_channel_is_taken_for_alpha(image, mask, n_channels, axis):
    bands = np.stack([np.roll(image, c, axis=0) for c in range(n_channels)], axis=-1)
    expected = restore(bands, mask, FAST, channel_axis=-1)
    errors = np.abs(expected.image - bands)[mask].mean(axis=0)
    assert (errors < 0.15).all(), "the last band as well"
    other = restore(np.moveaxis(bands, -1, axis), mask, FAST, channel_axis=axis)
    np.testing.assert_array_equal(np.moveaxis(other.image, axis, -1), expected.image)
    with pytest.raises(ValueError, match="channel_axis=-1"):
        restore(bands, mask)


@pytest.mark.parametrize("is_shared", [True, False])
def test_hundreds_of_channels_are_restored_in_parts(is_shared):
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:12, :12]
    bands = np.stack([np.sin(0.3 * rows + 0.2 * columns + c / 20) for c in range(24)])
    missing = rng.random((12, 12) if is_shared else bands.shape) < 0.3
    run = iter_restore(np.where(missing, np.nan, bands), settings=FAST, channel_axis=0)
    steps = list(run)
    assert {step.n_images for step in steps} == {2 if is_shared else 6}
    assert run.result.image.shape == bands.shape
    assert np.abs(run.result.image - bands).max() < 0.3
    observed = ~np.broadcast_to(missing, bands.shape)
    np.testing.assert_array_equal(run.result.image[observed], bands[observed])


def test_a_stack_is_its_images_restored_with_one_dictionary(image, mask):
    volume = np.stack([image, 1 - image, image.T, image])
    hollow = np.where(mask, np.nan, volume)
    hollow[3] = image
    run = iter_restore(hollow, settings=FAST, axes=(1, 2))
    steps = list(run)
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert {step.number for step in steps} == {0, 1, 2}
    assert all(step.n_images == 3 for step in steps), "the last one is whole"
    result = run.result
    for plane in range(3):
        alone = restore(hollow[plane], None, FAST, dictionary=result.selection)
        np.testing.assert_array_equal(result.image[plane], alone.image)
    np.testing.assert_array_equal(result.image[3], image)
    assert result.patch_positions.shape == (len(result.selection.supports), 3)
    assert result.missing_fraction == pytest.approx(np.isnan(hollow).mean())
    partial = [step.image for step in steps if step.image is not None]
    assert np.isfinite(partial[0][0]).all() and np.isnan(partial[0][2]).any()


def test_any_axes_may_be_rows_and_columns(image, mask):
    volume = np.stack([image, 1 - image])
    expected = restore(volume, mask, FAST, axes=(1, 2)).image
    turned = restore(np.moveaxis(volume, 0, 2), mask, FAST, axes=(0, 1)).image
    np.testing.assert_array_equal(turned, np.moveaxis(expected, 0, 2))
    film = restore(volume[:, None, :, :, None], mask, FAST, channel_axis=4, axes=(2, 3)).image
    np.testing.assert_array_equal(film[:, 0, :, :, 0], expected)


def test_an_image_without_any_pixel_is_named():
    volume = np.zeros((3, 8, 8))
    volume[1] = np.nan
    with pytest.raises(ValueError, match=r"Every pixel of image\[1, :, :\] is missing"):
        iter_restore(volume, axes=(1, 2))
    assert restore(np.zeros((3, 8, 8)), axes=(1, 2)).nothing_missing


def test_stacks_are_tuned_and_estimated_too(image, mask):
    volume = np.where(mask, np.nan, np.stack([image, image, image]))
    assert 0 < next(iter_tune(volume, settings=FAST, axes=(1, 2))).fraction < 1
    one = estimate_psnr(volume[0], settings=FAST)
    assert estimate_psnr(volume, settings=FAST, axes=(1, 2)).psnr == pytest.approx(one.psnr, abs=2)
    volume[1:] = image
    whole = estimate_psnr(volume, settings=FAST, axes=(1, 2))
    assert whole.rmse == pytest.approx(one.rmse)
    assert whole.data_range == np.ptp(image), "of the whole stack"


def test_a_dictionary_may_be_given(image, mask, restored):
    first = restore(image, mask, FAST)
    again = restore(image, mask, FAST, dictionary=first.selection)
    assert again.selection is first.selection
    np.testing.assert_array_equal(again.image, restored)
    given = restore(image, mask, FAST, dictionary=3 * first.dictionary)
    assert given.selection is None and not given.nothing_missing
    assert given.settings.n_atoms == first.dictionary.shape[1] == len(given.usage) == len(given.origins)
    np.testing.assert_allclose(given.dictionary, first.dictionary)
    np.testing.assert_allclose(given.image, restored, atol=1e-4)
    cosines = standard_ground_set((8, 8), ("dct",))
    assert restore(image, mask, FAST, dictionary=cosines).selection.ground_set is cosines
    local = restore_region(image, mask, given, np.s_[4:8, 4:8])
    assert local.atoms is given.atoms


@pytest.mark.parametrize(
    ("dictionary", "error", "sentence"),
    [
        (np.ones((100, 3)), ValueError, "set patch_size=10"),
        (np.ones((63, 3)), ValueError, "square patches"),
        (np.zeros((64, 3)), ValueError, "nonzero"),
        (np.ones(64), ValueError, "dictionary must be two-dimensional"),
        (ground_set_from_array(np.eye(9)), ValueError, "set patch_size=3"),
    ],
)
def test_a_dictionary_that_does_not_fit_is_refused(image, mask, dictionary, error, sentence):
    with pytest.raises(error, match=sentence):
        iter_restore(image, mask, dictionary=dictionary)


def test_what_comes_as_xarray_goes_as_xarray(image, mask, restored):
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(
        np.where(mask, np.nan, image)[None],
        dims=("time", "lat", "lon"),
        coords={"time": [2018], "lat": np.linspace(40, 50, SIZE)},
        name="temperature",
        attrs={"units": "K"},
    )
    run = iter_restore(array, settings=FAST, axes=("lat", "lon"))
    result = run.finish().image
    assert isinstance(result, xarray.DataArray)
    xarray.testing.assert_identical(result.isnull().any(), xarray.zeros_like(result.isnull().any()))
    assert result.name == "temperature" and result.attrs == {"units": "K"}
    xarray.testing.assert_equal(result.coords.to_dataset(), array.coords.to_dataset())
    assert bool(np.isnan(array).any()), "the input stays as it was"
    hidden = xarray.DataArray(mask.T, dims=("lon", "lat"))
    flat = array[0].fillna(0)
    np.testing.assert_array_equal(restore(flat, hidden, FAST).image.values, restored)
    first = restore(flat, hidden, FAST)
    assert isinstance(restore_region(flat, hidden, first, np.s_[4:8, 4:8]).image, xarray.DataArray)
    assert "DataArray" not in repr(first) and len(repr(first)) < 100


def test_arrays_that_may_not_fit_into_memory_are_refused(image, mask):
    chunked = type("Array", (), {"__module__": "zarr.core.array", "shape": (8, 8)})()
    with pytest.raises(TypeError, match=r"np\.asarray\(image\)"):
        restore(chunked, mask)
    with pytest.raises(TypeError, match=r"np\.asarray\(mask\)"):
        restore(image, chunked)


def test_nothing_of_xarray_is_needed(image, mask, restored, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", types.ModuleType("xarray"))
    np.testing.assert_array_equal(restore(image, mask, FAST).image, restored)
    assert psnr(image, restored) > 15
