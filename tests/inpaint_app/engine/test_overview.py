"""Pictures larger than memory: reduced to be looked at, in full where one looks closely."""

import numpy as np
import pytest
import tifffile

from inpaint_app.engine import opening, overview
from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.engine.opening import open_source
from inpaint_app.engine.overview import open_overview, overview_picture, write_enlarged
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Rect


@pytest.fixture
def small_memory(monkeypatch) -> None:
    monkeypatch.setattr(opening, "MAX_PIXELS", 5_000)
    monkeypatch.setattr(overview, "MAX_VALUES", 2_000)
    monkeypatch.setattr(overview, "_BAND_VALUES", 3_000)


def written(path, values: np.ndarray):
    if path.suffix == ".npy":
        np.save(path, values)
    else:
        is_color = values.ndim == 3 and values.shape[2] == 3
        tifffile.imwrite(path, values, photometric="rgb" if is_color else "minisblack")
    return path


@pytest.mark.parametrize("suffix", [".tif", ".npy"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_it_is_the_mean_of_squares_of_pixels(tmp_path, small_memory, suffix, dtype) -> None:
    values = np.random.default_rng(0).integers(0, 200, (95, 123), np.uint8).astype(dtype)
    found = open_overview(written(tmp_path / f"large{suffix}", values))
    picture = overview_picture(found, JobControl())
    factor = found.factor
    assert factor == 3
    assert picture.pixels.shape == (32, 41)
    assert picture.pixels.dtype == dtype
    for row, column in ((0, 0), (10, 20), (31, 40)):
        square = values[row * factor : (row + 1) * factor, column * factor : (column + 1) * factor]
        assert abs(float(picture.pixels[row, column]) - square.mean()) <= 0.5


def test_a_pixel_is_missing_where_half_of_its_square_is(tmp_path, small_memory) -> None:
    values = np.ones((90, 90), np.float32)
    values[30:36, 30:36] = np.nan
    values[60:62, 60:63] = np.nan
    values[80, 80] = np.nan
    opened = open_source(written(tmp_path / "holes.npy", values), MaskSpec())
    assert opened.overview.factor == 3
    assert opened.missing.mask.sum() == 5
    assert np.nanmin(opened.picture.pixels) == 1


def test_small_files_are_read_as_they_are(tmp_path) -> None:
    opened = open_source(written(tmp_path / "small.npy", np.ones((20, 20), np.uint8)), MaskSpec())
    assert opened.overview is None


def test_a_part_is_read_in_full(tmp_path, small_memory) -> None:
    values = np.random.default_rng(0).integers(0, 200, (95, 123, 3), np.uint8)
    found = open_overview(written(tmp_path / "large.tif", values))
    assert np.array_equal(found.read(Rect(40, 50, 20, 30), 1).pixels, values[40:60, 50:80])


@pytest.mark.parametrize("n_planes", [1, 3])
def test_a_painted_mask_is_enlarged_to_the_picture(tmp_path, small_memory, n_planes) -> None:
    shape = (95, 123) if n_planes == 1 else (n_planes, 95, 123)
    found = open_overview(written(tmp_path / "large.tif", np.ones(shape, np.uint8)))
    small = np.zeros((32, 41), bool)
    small[10, 20] = small[31, 40] = True
    path = tmp_path / ("mask.npy" if n_planes == 1 else "mask.tif")
    write_enlarged(path, found, {n_planes - 1: PackedMask.pack(small)}, JobControl())
    store = open_store(path)
    assert store.n_planes == n_planes
    expected = np.repeat(np.repeat(small, 3, axis=0), 3, axis=1)[:95, :123]
    whole = Rect(0, 0, 95, 123)
    assert np.array_equal(store.read(whole, n_planes - 1) > 0, expected)
    assert n_planes == 1 or not store.read(whole, 0).any()


def test_reading_can_be_cancelled(tmp_path, small_memory) -> None:
    found = open_overview(written(tmp_path / "large.npy", np.ones((95, 123), np.uint8)))
    control = JobControl()
    control.cancel()
    with pytest.raises(CancelledError):
        overview_picture(found, control)
