"""Restore a picture in blocks: the same result as in memory, and runs that are continued."""

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile
import zarr
from PIL import Image

from dictsel_core import RestoreSettings, restore
from dictsel_core.completion import wide_parts
from dictsel_core.restoration import Mosaic
from inpaint_app.cli import main
from inpaint_app.engine.blocks.jobs import halved, parse_plan, restore_tile
from inpaint_app.engine.blocks.workspace import open_workspace
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.restore_file import FileOptions, FileRequest, SourceOpened, StoreOpened, restore_file
from inpaint_app.errors import NothingMissingError, UserError
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.io.chunked.zarr_array import ZarrImage
from inpaint_app.io.write import Output, default_output
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Rect

FAST = replace(RestoreSettings.preset("fast"), rounds=0, n_atoms=4, bases=("dct",), threads=1)
OPTIONS = ["--preset", "fast", "--rounds", "1", "--atoms", "4", "--bases", "dct", "--threads", "1"]
SHAPE = (130, 90)


def _picture(dtype=np.uint8):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    return (100 + 60 * np.sin(y / 6) * np.cos(x / 8) + 40 * (x + y > 150)).astype(dtype)


def _mask():
    mask = np.random.default_rng(2).random(SHAPE) < 0.4
    mask[60:68, 60:72] = True
    return mask


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A gray picture and its mask as Zarr arrays."""
    monkeypatch.chdir(tmp_path)
    return _fill(tmp_path)


def _fill(folder):
    _save(folder / "picture.zarr", np.where(_mask(), 0, _picture()))
    _save(folder / "mask.zarr", _mask())
    return folder


def _save(path, values):
    chunks = (64, 64, *values.shape[2:])
    array = zarr.create_array(path, shape=values.shape, dtype=values.dtype, chunks=chunks)
    array[...] = values


def _request(folder, *, output=None, overwrite=False, mask_spec=None, block=64, **changes) -> FileRequest:
    options = FileOptions(FAST, mask_spec or MaskSpec(mask=folder / "mask.zarr", grow=0))
    target = Output(output or folder / "whole.zarr", overwrite)
    return replace(FileRequest(folder / "picture.zarr", target, options, block=block), **changes)


def _values(path):
    store = open_store(path)
    return store.read(Rect(0, 0, *store.shape[:2]))


def _restored(request):
    restore_file(request, JobControl())
    return _values(request.output.path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The restored picture."""
    folder = _fill(tmp_path_factory.mktemp("expected"))
    values = _restored(_request(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["mask.zarr", "picture.zarr", "whole.zarr"]
    return values


def assert_alike(blocks, memory, mask=None):
    """Check that what is restored in blocks is what is restored in memory, but for a few grays."""
    difference = np.abs(blocks.astype(float) - memory)
    mask = _mask() if mask is None else mask
    assert not difference[~mask].any()
    assert difference[mask].mean() < 3


def test_the_command_writes_the_same_in_blocks_as_in_memory(folder, scheduler, capsys) -> None:
    tifffile.imwrite("picture.tif", _values(Path("picture.zarr")), metadata=None)
    tifffile.imwrite("mask.tif", 255 * _mask().astype(np.uint8), metadata=None)
    command = ["restore", "picture.tif", "--mask", "mask.tif", *OPTIONS]
    assert main([*command, "-o", "memory.tif", "--no-estimate"]) == 0
    assert main([*command, "-o", "blocks.tif", "--block", "64"]) == 0
    expected = tifffile.imread("blocks.tif")
    assert_alike(expected, tifffile.imread("memory.tif"))
    capsys.readouterr()
    assert main([*command, "-o", "blocks.zarr", "--block", "64", "--scheduler", scheduler, "--json"]) == 0
    output, notes = capsys.readouterr()
    document = json.loads(output)
    assert document["output"] == "blocks.zarr"
    assert document["psnr"] is None
    assert "90 x 130 pixels" in notes
    np.testing.assert_array_equal(_values(Path("blocks.zarr")), expected)


def test_what_is_too_large_for_memory_is_restored_in_blocks(folder, monkeypatch) -> None:
    """By the same call, whether the limit of pixels or the memory of the machine says so."""
    tifffile.imwrite("picture.tif", _values(Path("picture.zarr")), metadata=None)
    tifffile.imwrite("mask.tif", 255 * _mask().astype(np.uint8), metadata=None)
    options = FileOptions(FAST, MaskSpec(mask=folder / "mask.tif", grow=0), estimates=False)
    changes = {"inpaint_app.io.format.MAX_PIXELS": 1000, "inpaint_app.engine.restore_file.memory": lambda: 9}
    for name, change in changes.items():
        reports: list = []
        request = FileRequest(folder / "picture.tif", Output(folder / "whole.tif", overwrite=True), options)
        with monkeypatch.context() as patch:
            patch.setattr(name, change)
            restore_file(request, JobControl(reports.append))
        assert any(isinstance(each, StoreOpened) for each in reports)
        assert not any(isinstance(each, SourceOpened) for each in reports)


def test_a_mask_that_is_too_large_is_named_as_such(folder, monkeypatch) -> None:
    """Blocks help where the picture is too large, not where another file is."""
    tifffile.imwrite("picture.tif", _values(Path("picture.zarr")), metadata=None)
    Image.fromarray(np.zeros((400, 400), np.uint8)).save("large.png")
    options = FileOptions(FAST, MaskSpec(mask=folder / "large.png"), estimates=False)
    monkeypatch.setattr("inpaint_app.io.format.MAX_PIXELS", 90 * 130)
    with pytest.raises(UserError, match=r"large.png cannot be used: it says it has 400 x 400 pixels"):
        restore_file(FileRequest(folder / "picture.tif", Output(folder / "whole.tif"), options), JobControl())


def test_observed_pixels_are_kept(expected) -> None:
    np.testing.assert_array_equal(expected[~_mask()], _picture()[~_mask()])


class _Interrupted:
    """Lets some blocks be computed, and then stops as Ctrl-C does."""

    def __init__(self, monkeypatch, n_blocks):
        self.computed, self._left = [], n_blocks
        monkeypatch.setattr("inpaint_app.engine.blocks.restore.restore_tile", self._compute)

    def _compute(self, *block):
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        done = restore_tile(*block)
        self.computed += [(done.plane, done.stage, done.rect)] if done.seconds else []
        return done


@pytest.mark.parametrize("n_blocks", [1, 4])
def test_an_interrupted_run_is_continued(folder, expected, monkeypatch, n_blocks) -> None:
    with monkeypatch.context() as patch:
        first = _Interrupted(patch, n_blocks)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder, block=64), JobControl())
    part = folder / ".whole.zarr.inpaint-part"
    before = {
        path: path.stat().st_mtime_ns for path in part.rglob("*") if path.is_file() and "c" in path.parts
    }
    reports = []
    with monkeypatch.context() as patch:
        second = _Interrupted(patch, -1)
        patch.setattr("inpaint_app.engine.blocks.restore.Workspace.delete", lambda _workspace: None)
        restore_file(_request(folder, block=64), JobControl(reports.append))
    assert next(each for each in reports if isinstance(each, StoreOpened)).is_resumed
    assert not set(first.computed) & set(second.computed)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items() if path.exists())
    np.testing.assert_array_equal(_values(folder / "whole.zarr"), expected)


def test_a_stack_is_continued_in_every_plane(folder, expected, monkeypatch) -> None:
    gray = _values(folder / "picture.zarr")
    stack = zarr.create_array(
        folder / "stack.zarr",
        shape=(2, *SHAPE),
        dtype="u1",
        chunks=(1, 64, 64),
        dimension_names=["t", "y", "x"],
    )
    stack[...] = np.stack([gray, gray])
    request = _request(folder, path=folder / "stack.zarr")
    with monkeypatch.context() as patch:
        first = _Interrupted(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            restore_file(request, JobControl())
    with monkeypatch.context() as patch:
        second = _Interrupted(patch, -1)
        restore_file(request, JobControl())
    assert {plane for plane, _, _ in second.computed} == {0, 1}
    assert not set(first.computed) & set(second.computed)
    np.testing.assert_array_equal(zarr.open_array(folder / "whole.zarr")[...], np.stack([expected, expected]))


def test_a_full_disk_is_named_and_the_run_continued(folder, expected, monkeypatch) -> None:
    write, left = ZarrImage.write, [3]

    def fill_the_disk(image, rect, values):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(image, rect, values)

    with monkeypatch.context() as patch:
        patch.setattr(ZarrImage, "write", fill_the_disk)
        with pytest.raises(UserError, match="the disk is full"):
            restore_file(_request(folder, block=64), JobControl())
    np.testing.assert_array_equal(_restored(_request(folder, block=64)), expected)


def test_blocks_of_zeros_are_not_computed_again(folder, monkeypatch) -> None:
    values = _values(folder / "picture.zarr")
    _save(folder / "dark.zarr", np.where(np.arange(90) < 64, 0, values).astype(np.uint8))
    request = _request(folder, path=folder / "dark.zarr", block=64)
    with monkeypatch.context() as patch:
        patch.setattr("inpaint_app.engine.blocks.restore.Target.publish", _stop)
        with pytest.raises(KeyboardInterrupt):
            restore_file(request, JobControl())
    with monkeypatch.context() as patch:
        again = _Interrupted(patch, -1)
        restore_file(request, JobControl())
    assert again.computed == []


def _stop(*_arguments, **_options):
    raise KeyboardInterrupt


def test_a_run_that_was_killed_after_its_end_leaves_the_result_alone(folder, expected, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("inpaint_app.engine.blocks.workspace.Workspace.delete", _stop)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder), JobControl())
    np.testing.assert_array_equal(_values(folder / "whole.zarr"), expected)
    np.testing.assert_array_equal(_restored(_request(folder, overwrite=True)), expected)


def test_what_is_left_of_a_folder_without_a_plan_does_not_count(folder, expected, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("inpaint_app.engine.blocks.restore.Target.publish", _stop)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder, output=folder / "whole.tif"), JobControl())
    part = folder / ".whole.tif.inpaint-part"
    (part / "state.json").unlink()  # which goes first when the folder is deleted
    shutil.rmtree(part / "result" / "c")
    np.testing.assert_array_equal(_restored(_request(folder, output=folder / "whole.tif")), expected)


def test_files_of_processes_that_were_killed_are_not_in_the_result(folder, monkeypatch) -> None:
    write = ZarrImage.write

    def leave_a_trace(image, rect, values):
        write(image, rect, values)
        Path(image.array.store.root, "c", "0", "0.abc.partial").touch()

    monkeypatch.setattr(ZarrImage, "write", leave_a_trace)
    restore_file(_request(folder), JobControl())
    assert not list((folder / "whole.zarr").rglob("*.partial"))


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
def test_a_result_has_the_permissions_of_its_source(folder) -> None:
    (folder / "picture.zarr").chmod(0o700)
    for name, expected in (("whole.zarr", 0o700), ("whole.tif", 0o600)):
        restore_file(_request(folder, output=folder / name), JobControl())
        assert (folder / name).stat().st_mode & 0o777 == expected


def test_a_planted_link_in_place_of_the_work_folder_is_refused(folder) -> None:
    victim = folder / "victim"
    (victim / "arrays").mkdir(parents=True)
    (victim / "precious").write_text("letters")
    (folder / ".whole.zarr.inpaint-part").symlink_to(victim)
    with pytest.raises(UserError, match="is not a folder of this program"):
        restore_file(_request(folder), JobControl())
    assert sorted(path.name for path in victim.iterdir()) == ["arrays", "precious"]
    assert not (folder / "whole.zarr").exists()


def test_a_store_that_was_being_replaced_is_back_before_anything_else_is_said(
    folder, expected, monkeypatch
) -> None:
    restore_file(_request(folder), JobControl())
    with monkeypatch.context() as patch:
        patch.setattr("inpaint_app.io.work_folder.exchange", lambda _one, _other: False)
        rename = Path.rename

        def stop_between(path, target):
            if path.name == "finished":
                raise KeyboardInterrupt
            return rename(path, target)

        patch.setattr(Path, "rename", stop_between)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder, overwrite=True), JobControl())
    assert not (folder / "whole.zarr").exists()
    with pytest.raises(UserError, match="already exists"):
        restore_file(_request(folder), JobControl())
    np.testing.assert_array_equal(_values(folder / "whole.zarr"), expected)


def test_a_damaged_chunk_is_named(folder) -> None:
    (folder / "picture.zarr" / "c" / "0" / "0").write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"picture.zarr is damaged"):
        restore_file(_request(folder), JobControl())
    assert not (folder / ".whole.zarr.inpaint-part").exists()


@pytest.mark.parametrize("change", ["settings", "picture", "block"])
def test_another_request_does_not_continue_a_run(folder, monkeypatch, change) -> None:
    with monkeypatch.context() as patch:
        _Interrupted(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder), JobControl())
    other = _request(folder)
    if change == "settings":
        other = replace(other, options=replace(other.options, settings=replace(FAST, n_atoms=9)))
    elif change == "block":
        other = replace(other, block=192)
    else:
        zarr.open_array(folder / "picture.zarr")[0, 0] = 9
    with pytest.raises(UserError, match="begun with other settings"):
        restore_file(other, JobControl())


def test_a_plan_of_something_else_is_refused() -> None:
    with pytest.raises(UserError, match="not a plan"):
        parse_plan(b"{}", 1)


@pytest.mark.parametrize("change", ["digest", "no plan", "no state"])
def test_a_plan_that_was_changed_is_not_continued(folder, monkeypatch, change) -> None:
    with monkeypatch.context() as patch:
        _Interrupted(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            restore_file(_request(folder), JobControl())
    part = folder / ".whole.zarr.inpaint-part"
    state = part / "state.json"
    if change == "digest":
        state.write_text(json.dumps([json.loads(state.read_text())[0] | {"digest": "0"}]))
    elif change == "no plan":
        (part / "plan-0.npz").unlink()
    else:
        state.write_text("")
    with pytest.raises(UserError, match="was changed"):
        restore_file(_request(folder), JobControl())


def test_two_runs_do_not_write_one_result(folder, monkeypatch) -> None:
    def second(*_arguments, **_options):
        with pytest.raises(UserError, match="Another run"):
            restore_file(_request(folder), JobControl())
        raise KeyboardInterrupt

    monkeypatch.setattr("inpaint_app.engine.blocks.restore.restore_tile", second)
    with pytest.raises(KeyboardInterrupt):
        restore_file(_request(folder), JobControl())


def test_an_existing_result_is_replaced_with_leave_alone(folder, expected) -> None:
    _save(folder / "whole.zarr", np.zeros((4, 4)))
    with pytest.raises(UserError, match="already exists"):
        restore_file(_request(folder), JobControl())
    np.testing.assert_array_equal(_restored(_request(folder, overwrite=True)), expected)


@pytest.mark.parametrize(
    "name", ["picture.zarr", "picture.zarr/whole.zarr", "mask.zarr", "folder.zarr", "whole.png"]
)
def test_what_must_not_be_touched_is_refused(folder, name) -> None:
    (folder / "folder.zarr").mkdir()
    (folder / "folder.zarr" / "diary.txt").write_text("mine")
    with pytest.raises(UserError):
        restore_file(_request(folder, output=folder / name, overwrite=True), JobControl())
    assert (folder / "folder.zarr" / "diary.txt").read_text() == "mine"


def test_nothing_and_everything_missing_are_refused(folder) -> None:
    for name, values, kind in (("none", False, NothingMissingError), ("all", True, UserError)):
        _save(folder / f"{name}.zarr", np.full(SHAPE, values))
        spec = MaskSpec(mask=folder / f"{name}.zarr", grow=0)
        with pytest.raises(kind, match=r"marks no pixel|Every pixel is marked"):
            restore_file(_request(folder, mask_spec=spec), JobControl())
    assert not (folder / "whole.zarr").exists()


def test_an_ome_image_keeps_its_axes_and_gets_a_pyramid(folder, expected, monkeypatch) -> None:
    monkeypatch.setattr("inpaint_app.engine.blocks.target._SMALLEST_LEVEL", 64)
    group = zarr.open_group(folder / "picture.ome.zarr", mode="w")
    _save(folder / "picture.ome.zarr" / "s0", _values(folder / "picture.zarr")[None])
    axes = [
        {"name": "c", "type": "channel"},
        *({"name": name, "type": "space", "unit": "micrometer"} for name in "yx"),
    ]
    scale = [{"type": "scale", "scale": [1, 0.5, 0.25]}]
    multiscale = {
        "axes": axes,
        "datasets": [{"path": "s0", "coordinateTransformations": scale}],
        "name": "cells",
    }
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [multiscale],
        "omero": {"channels": [{"color": "00FF00"}]},
    }
    output = folder / "whole.ome.zarr"
    np.testing.assert_array_equal(
        _restored(_request(folder, path=folder / "picture.ome.zarr", output=output)), expected
    )
    written = zarr.open_group(output, mode="r")
    ome = written.attrs["ome"]
    assert ome["omero"] == {"channels": [{"color": "00FF00"}]}
    assert ome["multiscales"][0]["axes"] == axes
    datasets = ome["multiscales"][0]["datasets"]
    assert [each["path"] for each in datasets] == ["0", "1", "2"]
    assert datasets[2]["coordinateTransformations"] == [
        {"type": "scale", "scale": [1, 2, 1]},
        {"type": "translation", "translation": [0, 0.75, 0.375]},
    ]
    assert written["0"].shape == (1, *SHAPE)
    np.testing.assert_array_equal(written["1"][0], halved(expected))
    np.testing.assert_array_equal(written["2"][0], halved(halved(expected)))


def test_tags_and_attributes_are_kept(folder, expected) -> None:
    tag = (33550, "d", 3, (10.0, 10.0, 0.0), True)
    tifffile.imwrite(
        "scene.tif", _values(folder / "picture.zarr"), metadata=None, extratags=[tag], tile=(64, 64)
    )
    _restored(_request(folder, path=folder / "scene.tif", output=folder / "whole.tif"))
    with tifffile.TiffFile("whole.tif") as written:
        assert written.is_bigtiff
        assert written.pages.first.tags[33550].value == (10.0, 10.0, 0.0)
        np.testing.assert_array_equal(written.asarray(), expected)
    zarr.open_array(folder / "picture.zarr").attrs["crs"] = "EPSG:4326"
    _restored(_request(folder))
    assert zarr.open_array(folder / "whole.zarr").attrs["crs"] == "EPSG:4326"


def test_no_data_and_nan_are_missing(folder) -> None:
    pixels = _picture(np.float32)
    np.save("nan.npy", np.where(_mask(), np.nan, pixels).astype(np.float32))
    _save(folder / "nodata.zarr", np.where(_mask(), -1, pixels).astype(np.float32))
    zarr.open_array(folder / "nodata.zarr").attrs["nodata"] = -1
    request = _request(folder, mask_spec=MaskSpec(), path=folder / "nan.npy", output=folder / "whole.npy")
    first = _restored(request)
    second = _restored(replace(request, path=folder / "nodata.zarr", output=Output(folder / "other.npy")))
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)


def test_nothing_that_is_restored_is_no_data(folder) -> None:
    pixels = np.where(_picture() == 100, 101, _picture()).astype(np.uint8)
    _save(folder / "nodata.zarr", np.where(_mask(), 100, pixels).astype(np.uint8))
    request = _request(folder, path=folder / "nodata.zarr", block=64)
    restored = _restored(request)
    assert (restored == 100).any()
    zarr.open_array(folder / "nodata.zarr").attrs["nodata"] = 100
    noted = _restored(_request(folder, path=folder / "nodata.zarr", output=folder / "noted.zarr", block=64))
    np.testing.assert_array_equal(noted, np.where(restored == 100, 101, restored))


def test_the_default_name_keeps_the_kind() -> None:
    assert default_output(Path("a/b.zarr")) == Path("a/b_restored.zarr")
    assert default_output(Path("a/b.ome.zarr")) == Path("a/b_restored.ome.zarr")
    assert default_output(Path("b.tif")) == Path("b_restored.tif")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--reference", "picture.zarr"], "A reference is not for pictures"),
        (["--auto"], "Tuning is not"),
        (["--block", "100"], "multiple of 64"),
        (["--scheduler", "cloud"], "not a scheduler"),
        (["--detect", "dust"], "cannot be detected"),
    ],
)
def test_what_blocks_cannot_do_is_refused(folder, capsys, options, problem) -> None:
    command = ["restore", "picture.zarr", "-o", "whole.zarr", "--mask", "mask.zarr", "--preset", "fast"]
    assert main([*command, *options]) == 2
    assert problem in capsys.readouterr().err
    assert not (folder / "whole.zarr").exists()


def test_a_wide_hole_is_filled_once_whatever_the_blocks(folder, monkeypatch) -> None:
    mask, filled = _mask(), []
    mask[45:85, 45:80] = True
    _save(folder / "hole.zarr", mask)
    original = Mosaic.fill

    def fill(mosaic, pixels, missing, hole, *arguments):
        filled.append(hole)
        return original(mosaic, pixels, missing, hole, *arguments)

    monkeypatch.setattr(Mosaic, "fill", fill)
    request = _request(folder, mask_spec=MaskSpec(mask=folder / "hole.zarr", grow=0), block=64)
    in_blocks = _restored(request)
    assert len(filled) == 1
    whole = restore(_values(folder / "picture.zarr"), mask, FAST).image
    narrow = mask & ~wide_parts(mask, 8)
    assert np.abs(in_blocks.astype(float) - whole)[narrow].mean() < 3
    np.testing.assert_array_equal(in_blocks[~mask], whole[~mask])


@pytest.mark.parametrize("names", [("s3://b/a.zarr", "whole.zarr"), ("picture.zarr", "gs://b/whole.zarr")])
def test_an_address_is_no_file(folder, capsys, names) -> None:
    assert main(["restore", names[0], "-o", names[1], "--mask", "mask.zarr"]) == 2
    error = capsys.readouterr().err
    assert "://b/" in error
    assert "is not on a file system of this machine; mount it" in error


def test_a_fill_that_cannot_be_seen_is_named(folder) -> None:
    box = np.s_[10:20, 30:50]
    with open_workspace(folder / "whole.zarr", 64, "request") as workspace:
        with pytest.raises(UserError, match="cannot see what another one has written"):
            workspace.read_fill(box)
        workspace.write_fill((box, np.ones((10, 20, 1), np.uint8), np.ones((10, 20), bool)))
        assert workspace.read_fill(box)[1].sum() == 200
        written = next(workspace.folder.rglob("fills/**/*.npz"))
        for data in (b"", written.read_bytes()[:100]):
            written.write_bytes(data)
            with pytest.raises(UserError, match="was changed"):
                workspace.read_fill(box)
