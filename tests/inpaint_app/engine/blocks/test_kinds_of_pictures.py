"""Stacks, pages, transparency and depth: blocks write what is written in memory."""

import numpy as np
import pytest
import tifffile
import zarr

from inpaint_app.cli import main
from inpaint_app.errors import UserError
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.model.picture import Rect

OPTIONS = ["--preset", "fast", "--rounds", "0", "--atoms", "4", "--bases", "dct", "--threads", "1"]
SHAPE = (70, 90)
Y, X = np.mgrid[: SHAPE[0], : SHAPE[1]]
GRAY = (120 + 60 * np.sin(Y / 6) * np.cos(X / 8)).astype(np.uint8)
COLOR = np.stack([GRAY, GRAY[::-1], GRAY[:, ::-1]], axis=2)
RNG = np.random.default_rng(3)
MASK = RNG.random(SHAPE) < 0.3


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(name, values, **options):
    tifffile.imwrite(name, values, metadata=None, **options)


def _restore(*arguments) -> int:
    return main(["restore", *arguments, *OPTIONS])


def _written_both_ways(picture, *options):
    """What is written in memory, and in blocks."""
    assert _restore(picture, "-o", "memory.tif", "--no-estimate", *options) == 0
    assert _restore(picture, "-o", "blocks.tif", "--block", "64", *options) == 0
    memory, blocks = tifffile.TiffFile("memory.tif"), tifffile.TiffFile("blocks.tif")
    with memory, blocks:
        assert [page.extrasamples for page in blocks.pages] == [page.extrasamples for page in memory.pages]
        return memory.asarray(), blocks.asarray()


def test_pages_are_restored_each_by_itself() -> None:
    pages = np.stack([GRAY, GRAY, GRAY[::-1]])
    pages[0][MASK] = 0
    pages[2][MASK] = 0  # and nothing is missing in the second
    _write("pages.tif", pages, photometric="minisblack", tile=(32, 32))
    memory, blocks = _written_both_ways("pages.tif", "--key", "0", "--grow-mask", "0")
    np.testing.assert_array_equal(blocks, memory)
    np.testing.assert_array_equal(blocks[1], GRAY)


@pytest.mark.parametrize("keeps", [False, True], ids=["all restored", "some kept"])
def test_transparent_pixels_are_missing(keeps) -> None:
    alpha = np.full(SHAPE, 255, np.uint8)
    alpha[28:34, 50:80] = 90  # a soft rim
    alpha[30:32, 55:75] = 0
    if keeps:
        alpha[60:, :20] = 100  # partly transparent, and no rim
    _write("clear.tif", np.dstack([COLOR, alpha]), photometric="rgb", extrasamples=["unassalpha"])
    memory, blocks = _written_both_ways("clear.tif")
    assert blocks.shape == (*SHAPE, 4 if keeps else 3)
    np.testing.assert_array_equal(blocks, memory)
    memory, blocks = _written_both_ways("clear.tif", "--keep-soft-edges", "--overwrite")
    assert blocks.shape == (*SHAPE, 4)
    np.testing.assert_array_equal(blocks, memory)


def test_the_depth_is_changed_as_in_memory() -> None:
    _write("mask.tif", 255 * MASK.astype(np.uint8))
    _write("deep.tif", COLOR.astype(np.uint16) * 257, photometric="rgb")
    memory, blocks = _written_both_ways("deep.tif", "--mask", "mask.tif", "--depth", "8")
    assert blocks.dtype == np.uint8
    np.testing.assert_array_equal(blocks, memory)
    _write("float.tif", GRAY.astype(np.float32) / 255)
    memory, blocks = _written_both_ways("float.tif", "--mask", "mask.tif", "--depth", "16", "--overwrite")
    np.testing.assert_array_equal(blocks, memory)


def test_a_depth_that_does_not_fit_is_refused(capsys) -> None:
    np.save("mask.npy", MASK)
    np.save("large.npy", GRAY.astype(np.float32))
    np.save("signed.npy", GRAY.astype(np.int32))
    for name, problem in (("large", "between 0 and 1"), ("signed", "int32 cannot be reduced")):
        command = [f"{name}.npy", "-o", "whole.npy", "--mask", "mask.npy", "--block", "64", "--depth", "8"]
        assert _restore(*command) == 2
        assert problem in capsys.readouterr().err


def _save_stack(path, names, values) -> None:
    array = zarr.create_array(
        path, shape=values.shape, dtype=values.dtype, chunks=values.shape, dimension_names=names
    )
    array[...] = values


def _expected(gray):
    np.save("one.npy", np.where(MASK, 0, gray))
    np.save("mask.npy", MASK)
    assert _restore("one.npy", "-o", "two.npy", "--mask", "mask.npy", "--block", "64", "--overwrite") == 0
    return np.load("two.npy")


def test_every_plane_of_a_named_stack_is_restored(scheduler) -> None:
    planes = np.stack([GRAY, GRAY[::-1], GRAY[:, ::-1]])
    expected = np.stack([_expected(plane) for plane in planes])
    _save_stack("stack.zarr", ["time", "y", "x"], np.where(MASK, 0, planes))
    command = ["stack.zarr", "--mask", "mask.npy", "--block", "64"]
    assert _restore(*command, "-o", "whole.zarr", "--scheduler", scheduler) == 0
    whole = zarr.open_array("whole.zarr")
    assert whole.metadata.dimension_names == ("time", "y", "x")
    np.testing.assert_array_equal(whole[...], expected)
    for name, read in (("whole.tif", tifffile.imread), ("whole.npy", np.load)):
        assert _restore(*command, "-o", name) == 0
        np.testing.assert_array_equal(read(name), expected)


def test_times_and_depths_of_an_ome_image_are_planes() -> None:
    planes = np.stack([COLOR, COLOR[::-1]]).transpose(0, 3, 1, 2)[:, :, None]  # t, c, z, y, x
    group = zarr.open_group("cells.ome.zarr", mode="w")
    group.create_array("0", shape=planes.shape, dtype=planes.dtype, chunks=planes.shape)[...] = planes
    axes = [{"name": name} for name in "tczyx"]
    multiscale = {"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": []}]}
    group.attrs["ome"] = {"version": "0.5", "multiscales": [multiscale]}
    masks = np.stack([MASK, MASK[::-1]])
    _save_stack("masks.zarr", ["t", "y", "x"], masks)
    assert _restore("cells.ome.zarr", "-o", "whole.ome.zarr", "--mask", "masks.zarr", "--block", "64") == 0
    whole = zarr.open_group("whole.ome.zarr", mode="r")["0"]
    assert whole.shape == planes.shape
    for number in (0, 1):
        values, given = whole[number, :, 0], planes[number, :, 0]
        np.testing.assert_array_equal(values[:, ~masks[number]], given[:, ~masks[number]])
        assert not np.array_equal(values, given)


def test_a_plane_of_which_nothing_is_left_is_named(capsys) -> None:
    _save_stack("stack.zarr", ["z", "y", "x"], np.stack([GRAY, GRAY]))
    _save_stack("masks.zarr", ["z", "y", "x"], np.stack([MASK, np.ones(SHAPE, bool)]))
    assert _restore("stack.zarr", "-o", "whole.zarr", "--mask", "masks.zarr") == 2
    assert "Every pixel of plane 2 of 2" in capsys.readouterr().err
    _save_stack("three.zarr", ["z", "y", "x"], np.stack([MASK] * 3))
    assert _restore("stack.zarr", "-o", "whole.zarr", "--mask", "three.zarr") == 2
    assert "3 planes but the picture has 2" in capsys.readouterr().err


def test_metadata_that_would_be_lost_are_named(capsys) -> None:
    np.save("mask.npy", MASK)
    scale = (33550, "d", 3, (10.0, 10.0, 0.0), True)
    _write("scene.tif", GRAY, extratags=[scale])
    command = ["scene.tif", "-o", "whole.zarr", "--mask", "mask.npy", "--block", "64"]
    assert _restore(*command, "--strict") == 2
    assert "would be lost" in capsys.readouterr().err
    assert _restore(*command, "--write-recipe", "recipe.json") == 0
    assert "Not kept: " in capsys.readouterr().err
    assert main(["restore", "scene.tif", "-o", "whole.tif", "--recipe", "recipe.json", "--block", "64"]) == 0
    np.testing.assert_array_equal(tifffile.imread("whole.tif"), zarr.open_array("whole.zarr")[...])


def test_pages_that_differ_are_refused(tmp_path) -> None:
    with tifffile.TiffWriter("pages.tif") as writer:
        writer.write(GRAY, metadata=None)
        writer.write(GRAY[:9], metadata=None)
    with pytest.raises(UserError, match="differ in size"):
        open_store(tmp_path / "pages.tif")


def test_colors_multiplied_with_alpha_are_divided(tmp_path) -> None:
    values = np.dstack([COLOR // 2, np.full(SHAPE, 128, np.uint8)])
    _write("a.tif", values, photometric="rgb", extrasamples=["assocalpha"])
    store = open_store(tmp_path / "a.tif")
    rect = Rect(3, 5, 40, 50)
    np.testing.assert_array_equal(
        store.read(rect), np.rint(values[..., :3][rect.slices] * (255 / 128)).astype(np.uint8)
    )
    assert (store.read_alpha(rect) == 128).all()
