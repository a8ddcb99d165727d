"""Files that are read in parts while another program changes them, and arrays of any order."""

import os
import struct

import numpy as np
import pytest
import tifffile

from inpaint_app.errors import UserError
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.io.read import read_picture
from inpaint_app.model.picture import Rect

PIXELS = np.random.default_rng(0).integers(0, 255, (300, 200), np.uint8)


@pytest.mark.parametrize("name", ["a.npy", "strips.tif", "tiles.tif"])
def test_a_file_that_another_program_shortens_is_named(tmp_path, name) -> None:
    path = tmp_path / name
    if path.suffix == ".npy":
        np.save(path, PIXELS)
    else:
        tifffile.imwrite(path, PIXELS, tile=(64, 64) if name == "tiles.tif" else None)
    store = open_store(path)
    np.testing.assert_array_equal(store.read(Rect(0, 0, 9, 9)), PIXELS[:9, :9])
    os.truncate(path, 4096)
    with pytest.raises(UserError, match="was shortened by another program"):
        store.read(Rect(200, 0, 90, 200))


@pytest.mark.parametrize("dtype", ["u1", ">f4", "<u2"])
@pytest.mark.parametrize("shape", [(40, 30), (40, 30, 3), (40, 30, 1)])
@pytest.mark.parametrize("order", "CF")
def test_any_part_of_an_array_in_either_order_is_read(tmp_path, dtype, shape, order) -> None:
    values = np.random.default_rng(1).integers(0, 200, shape).astype(dtype, order=order)
    np.save(tmp_path / "a.npy", values)
    store = open_store(tmp_path / "a.npy")
    expected = values[..., 0] if shape[2:] == (1,) else values
    for rect in (Rect(0, 0, 40, 30), Rect(3, 7, 20, 11), Rect(39, 0, 1, 30), Rect(5, 5, 0, 4)):
        part = store.read(rect)
        np.testing.assert_array_equal(part, expected[rect.slices])
        assert part.dtype.isnative


def test_an_array_that_ends_too_early_is_refused(tmp_path) -> None:
    np.save(tmp_path / "a.npy", PIXELS)
    os.truncate(tmp_path / "a.npy", 5000)
    with pytest.raises(UserError, match="is truncated"):
        open_store(tmp_path / "a.npy")


@pytest.mark.parametrize("n_pages", [1, 3])
def test_pages_in_a_circle_are_refused_at_once(tmp_path, n_pages) -> None:
    """The last directory names the first one as the next."""
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as writer:
        for _ in range(n_pages):
            writer.write(PIXELS, metadata=None, contiguous=False)
    with tifffile.TiffFile(path) as file:
        first, last = file.pages.first.offset, file.pages[-1].offset
    data = bytearray(path.read_bytes())
    (count,) = struct.unpack_from("<H", data, last)
    struct.pack_into("<I", data, last + 2 + 12 * count, first)
    path.write_bytes(data)
    with pytest.raises(UserError, match="follow each other in a circle"):
        read_picture(path)
    with pytest.raises(UserError, match="is damaged"):
        open_store(path)
