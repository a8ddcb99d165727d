"""Pictures on disk that are read in parts."""

import io

import numpy as np
import pytest
import tifffile
import zarr
from build_tiff import DEFLATE, tiff_bytes

from inpaint_app.errors import UserError
from inpaint_app.io.chunked.opening import open_store, stamp_of
from inpaint_app.io.chunked.tiff import TILE, write_tiff
from inpaint_app.io.chunked.zarr_array import ZarrImage, create_array
from inpaint_app.model.picture import Metadata, Rect, Tag

RNG = np.random.default_rng(0)
GRAY = RNG.integers(0, 255, (70, 90), np.uint8)
RGB = RNG.integers(0, 60000, (70, 90, 3), np.uint16)
FLOATS = RNG.random((70, 90), np.float32)
PLACES = (Rect(0, 0, 70, 90), Rect(13, 47, 31, 43), Rect(69, 89, 1, 1))


def _npy(path, values):
    np.save(path.with_suffix(".npy"), values)
    return path.with_suffix(".npy")


def _zarr(path, values):
    array = zarr.create_array(
        path.with_suffix(".zarr"), shape=values.shape, dtype=values.dtype, chunks=values.shape
    )
    array[...] = values
    return path.with_suffix(".zarr")


def _ome(path, values):
    """The axes of a microscope: t, c, z, y, x."""
    stored = np.atleast_3d(values).transpose(2, 0, 1)[None, :, None]
    group = zarr.open_group(path.with_suffix(".ome.zarr"), mode="w")
    array = group.create_array("s0", shape=stored.shape, dtype=stored.dtype, chunks=stored.shape)
    array[...] = stored
    scale = [{"type": "scale", "scale": [1, 1, 2, 0.5, 0.5]}]
    multiscale = {
        "axes": [{"name": name} for name in "tczyx"],
        "datasets": [{"path": "s0", "coordinateTransformations": scale}],
    }
    group.attrs["ome"] = {"version": "0.5", "multiscales": [multiscale]}
    return path.with_suffix(".ome.zarr")


def _tiff(**options):
    def write(path, values):
        photometric = "rgb" if values.ndim == 3 else "minisblack"
        tifffile.imwrite(path.with_suffix(".tif"), values, photometric=photometric, metadata=None, **options)
        return path.with_suffix(".tif")

    return write


WRITERS = {
    "npy": _npy,
    "zarr": _zarr,
    "ome": _ome,
    "strips": _tiff(rowsperstrip=7),
    "big-endian": _tiff(rowsperstrip=16, byteorder=">"),
    "tiles": _tiff(tile=(32, 16), compression="zlib", bigtiff=True),
    "predictor": _tiff(tile=(16, 32), compression="lzw", predictor=True),
}


@pytest.mark.parametrize("values", [GRAY, RGB, FLOATS], ids=["gray", "rgb", "float"])
@pytest.mark.parametrize("writer", WRITERS)
def test_any_part_is_read_exactly(tmp_path, writer, values) -> None:
    _check_parts(WRITERS[writer](tmp_path / "a", values), values)


def test_planes_of_a_tiff_are_read_exactly(tmp_path) -> None:
    planes = RGB.transpose(2, 0, 1)
    tifffile.imwrite(tmp_path / "a.tif", planes, photometric="rgb", planarconfig="separate", tile=(32, 32))
    _check_parts(tmp_path / "a.tif", RGB)


def _check_parts(path, values) -> None:
    store = open_store(path)
    assert store.shape == values.shape
    assert store.dtype == values.dtype
    for rect in PLACES:
        np.testing.assert_array_equal(store.read(rect), values[rect.slices])


def test_a_tiff_that_is_to_be_turned_is_refused(tmp_path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", GRAY, extratags=[(274, 3, 1, 6, True)])
    with pytest.raises(UserError, match="upright"):
        open_store(tmp_path / "a.tif")


def test_a_tile_without_bytes_holds_no_data(tmp_path) -> None:
    path = tmp_path / "sparse.tif"
    no_data = (42113, "s", 0, "7", True)
    with tifffile.TiffWriter(path) as writer:
        tiles = iter([np.full((16, 16), 3, np.uint8), None])
        writer.write(tiles, shape=(16, 32), dtype=np.uint8, tile=(16, 16), metadata=None, extratags=[no_data])
    store = open_store(path)
    assert store.metadata().no_data == 7
    assert np.unique(store.read(Rect(0, 0, 16, 16))) == 3
    assert np.unique(store.read(Rect(0, 16, 16, 16))) == 7


@pytest.mark.parametrize("text", ["nan", "-9999", "300"])
def test_no_data_that_integers_cannot_hold_marks_nothing(tmp_path, text) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, GRAY, tile=(32, 32), metadata=None, extratags=[(42113, "s", 0, text, True)])
    np.testing.assert_array_equal(open_store(path).read(PLACES[0]), GRAY)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"nodata": -9999}, -9999),
        ({"_FillValue": 7}, 7),
        ({"_FillValue": "AAAAAICHw8A="}, -9999),  # as xarray packs a float
        ({"_FillValue": "none"}, None),
        ({"nodata": [1, 2]}, None),
    ],
)
def test_an_attribute_of_a_zarr_array_tells_the_value_for_no_data(tmp_path, attributes, expected) -> None:
    path = _zarr(tmp_path / "a", FLOATS)
    zarr.open_array(path).attrs.update(attributes)
    assert open_store(path).metadata().no_data == expected


def test_the_fill_value_of_an_array_of_xarray_means_no_data(tmp_path) -> None:
    path = tmp_path / "a.zarr"
    array = zarr.create_array(path, shape=(4, 5), dtype="f4", fill_value=-1, zarr_format=2)
    assert open_store(path).metadata().no_data is None
    array.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    assert open_store(path).metadata().no_data == -1


def test_the_stamp_changes_with_the_contents(tmp_path) -> None:
    path = _zarr(tmp_path / "a", GRAY)
    before = stamp_of(path)
    assert stamp_of(path) == before
    (path / "zarr.json").write_text((path / "zarr.json").read_text() + " ")
    assert stamp_of(path) != before


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda folder: _npy(folder / "a", np.zeros((2, 3, 4, 5))), "shape 2 x 3 x 4 x 5"),
        (lambda folder: _npy(folder / "a", np.zeros((4, 5), complex)), "complex128"),
        (lambda folder: folder / "none.npy", "does not exist"),
        (lambda folder: folder / "none.zarr", "does not exist"),
        (lambda folder: folder, "could not be opened as Zarr"),
        (lambda folder: _text(folder / "a.npy"), "not a NumPy file"),
        (lambda folder: _text(folder / "a.tif"), "damaged"),
        (lambda folder: _tiff_with(folder / "a.tif", {278: (4, [0])}), "a.tif is damaged"),
        (lambda folder: _tiff_with(folder / "a.tif", {256: None}), "a.tif is damaged"),
        (lambda folder: _start_of_tiff(folder / "a.tif", 9), "a.tif is damaged"),
        (lambda folder: _unbalanced_npy(folder / "a.npy"), "not a NumPy file, or is damaged"),
        (lambda folder: _text(folder / "a.png"), "cannot be read in parts"),
        (lambda folder: _group(folder / "a.zarr"), "Zarr group.*name the array inside"),
        (lambda folder: _dataset(folder / "a.zarr"), "Zarr group.*such as .*a.zarr/band"),
        (lambda folder: _large_chunk(folder / "a.zarr"), "chunks of 400 MB"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path, make, problem) -> None:
    with pytest.raises(UserError, match=problem):
        open_store(make(tmp_path))


@pytest.mark.parametrize("tags", [{296: (2, b"x")}, {273: (12, [8.0] * 2)}])
def test_a_damaged_directory_is_found_when_pixels_are_read(tmp_path, tags) -> None:
    store = open_store(_tiff_with(tmp_path / "a.tif", tags))
    with pytest.raises(UserError, match=r"a.tif is damaged"):
        store.read(Rect(0, 0, 4, 5))


def _tiff_with(path, tags):
    values = np.arange(20, dtype=np.uint8).reshape(4, 5, 1)
    path.write_bytes(tiff_bytes(values, compression=DEFLATE, tags=tags))
    return path


def _start_of_tiff(path, n_bytes):
    path.write_bytes(_tiff_with(path, {}).read_bytes()[:n_bytes])
    return path


def _unbalanced_npy(path):
    header = b"{'descr': '<u1', 'fortran_order': False, 'shape': (4, 5, }".ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(20))
    return path


def _text(path):
    path.write_text("no picture")
    return path


def _dataset(path):
    """A dataset of xarray: coordinates beside the picture."""
    group = zarr.open_group(path, mode="w")
    for name, shape in (("x", (5,)), ("band", (4, 5))):
        group.create_array(name, shape=shape, dtype="u1")
    return path


def _large_chunk(path):
    zarr.create_array(path, shape=(20000, 20000), dtype="u1", chunks=(20000, 20000))
    return path


def _group(path):
    zarr.open_group(path, mode="w")
    return path


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (2, 3, 1), (0, 1, 2)])
def test_what_is_written_is_read_again(tmp_path, axes) -> None:
    shape = [1] * (4 if axes == (2, 3, 1) else len(axes))
    for axis, size in zip(axes, (70, 90, 3), strict=False):
        shape[axis] = size
    create_array(tmp_path / "a.zarr", shape, "uint16", 64, axes=axes)
    image = ZarrImage(zarr.open_array(tmp_path / "a.zarr"), axes)
    values = RGB if len(axes) == 3 else RGB[..., 0]
    for rect in (Rect(0, 0, 64, 64), Rect(64, 64, 6, 26)):
        image.write(rect, values[rect.slices])
        np.testing.assert_array_equal(image.read(rect), values[rect.slices])


@pytest.mark.parametrize("values", [RGB, FLOATS], ids=["rgb", "float"])
def test_a_tiff_is_written_in_bands_with_its_tags(values) -> None:
    tall = np.concatenate([values] * 9)
    bands = (tall[row : row + TILE] for row in range(0, len(tall), TILE))
    file, scale = io.BytesIO(), Tag(33550, 12, np.array([1.0, 2.0, 0.0]).tobytes())
    write_tiff(file, tall.shape, tall.dtype, [(Metadata(tags=(scale,)), bands)])
    file.seek(0)
    with tifffile.TiffFile(file) as written:
        assert written.is_bigtiff
        assert written.pages.first.is_tiled
        np.testing.assert_array_equal(written.asarray(), tall)
        assert written.pages.first.tags[33550].value == (1.0, 2.0, 0.0)
