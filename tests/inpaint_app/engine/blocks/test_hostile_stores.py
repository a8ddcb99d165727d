"""Zarr stores that strangers have made: no file but those of the store, and no more memory than a chunk."""

import json
import os
import pickle
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr

from inpaint_app.engine.blocks.source import describe_source
from inpaint_app.errors import DamagedError, UserError
from inpaint_app.io.chunked.guarded import COMPRESSORS, decompress
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Rect

SIDE = 64
WHOLE = Rect(0, 0, SIDE, SIDE)
PIXELS = np.random.default_rng(0).integers(0, 50, (SIDE, SIDE), np.uint8)
BYTES = {"name": "bytes"}
V3 = {
    "gzip": {"name": "gzip", "configuration": {"level": 1}},
    "zstd": {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    "blosc": {
        "name": "blosc",
        "configuration": {
            "typesize": 1,
            "cname": "zstd",
            "clevel": 5,
            "shuffle": "noshuffle",
            "blocksize": 0,
        },
    },
    **{
        f"numcodecs.{name}": {"name": f"numcodecs.{name}", "configuration": {}}
        for name in ("zlib", "lz4", "bz2")
    },
}


def _store(path: Path, *codecs: dict, **changes: object) -> Path:
    """Write the metadata of an array of one chunk; returns the file of the chunk."""
    (path / "c" / "0").mkdir(parents=True)
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [SIDE, SIDE],
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [SIDE, SIDE]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [BYTES, *codecs],
        "attributes": {},
    }
    (path / "zarr.json").write_text(json.dumps(document | changes))
    return path / "c" / "0" / "0"


def _store_v2(path: Path, compressor: dict | None, filters: list | None = None) -> Path:
    path.mkdir()
    document = {
        "zarr_format": 2,
        "shape": [SIDE, SIDE],
        "chunks": [SIDE, SIDE],
        "dtype": "|u1",
        "compressor": compressor,
        "filters": filters,
        "fill_value": 0,
        "order": "C",
    }
    (path / ".zarray").write_text(json.dumps(document))
    return path / "0.0"


def _link(chunk: Path) -> None:
    chunk.symlink_to("/dev/zero")


def _link_elsewhere(chunk: Path) -> None:
    (chunk.parents[3] / "secret").write_bytes(bytes(SIDE * SIDE))
    chunk.symlink_to(chunk.parents[3] / "secret")


def _linked_folder(chunk: Path) -> None:
    other = chunk.parents[3] / "other"
    other.mkdir()
    (other / "0").write_bytes(bytes(SIDE * SIDE))
    chunk.parent.rmdir()
    chunk.parent.symlink_to(other)


def _socket(chunk: Path) -> None:
    here = Path.cwd()
    os.chdir(chunk.parent)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(chunk.name)
    os.chdir(here)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such files")
@pytest.mark.parametrize("make", [_link, _link_elsewhere, _linked_folder, os.mkfifo, _socket])
def test_nothing_but_regular_files_of_the_store_is_read(tmp_path, make) -> None:
    make(_store(tmp_path / "a.zarr"))
    with pytest.raises(UserError, match=r"c/0/0 is a link, or no regular file"):
        open_store(tmp_path / "a.zarr").read(WHOLE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such files")
def test_metadata_are_regular_files_too(tmp_path) -> None:
    chunk = _store(tmp_path / "a.zarr")
    metadata = chunk.parents[2] / "zarr.json"
    metadata.unlink()
    os.mkfifo(metadata)
    with pytest.raises(UserError, match=r"zarr\.json is a link, or no regular file"):
        open_store(tmp_path / "a.zarr")


def test_a_file_that_is_larger_than_a_chunk_is_refused(tmp_path) -> None:
    chunk = _store(tmp_path / "a.zarr")
    with chunk.open("wb") as file:
        file.truncate(2**40)  # which takes no space
    with pytest.raises(UserError, match="larger than its metadata permit"):
        open_store(tmp_path / "a.zarr").read(WHOLE)


@pytest.mark.parametrize("name", V3)
def test_a_chunk_of_version_3_is_read_and_a_bomb_refused(tmp_path, name) -> None:
    chunk, codec = _store(tmp_path / "a.zarr", V3[name]), _codec(name)
    chunk.write_bytes(bytes(codec.encode(PIXELS.ravel())))
    np.testing.assert_array_equal(open_store(tmp_path / "a.zarr").read(WHOLE), PIXELS)
    chunk.write_bytes(bytes(codec.encode(np.zeros(2**24, np.uint8))))
    _check_refused_early(tmp_path / "a.zarr")


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_chunk_of_version_2_is_read_and_a_bomb_refused(tmp_path, name) -> None:
    codec = _codec(name)
    chunk = _store_v2(tmp_path / "a.zarr", codec.get_config(), [{"id": "delta", "dtype": "|u1"}])
    delta = numcodecs.Delta("u1")
    chunk.write_bytes(bytes(codec.encode(delta.encode(PIXELS.ravel()))))
    np.testing.assert_array_equal(open_store(tmp_path / "a.zarr").read(WHOLE), PIXELS)
    chunk.write_bytes(bytes(codec.encode(np.zeros(2**24, np.uint8))))
    _check_refused_early(tmp_path / "a.zarr")


def _codec(name):
    name = name.removeprefix("numcodecs.")
    return numcodecs.Blosc("zstd", 9, 0) if name == "blosc" else numcodecs.get_codec({"id": name})


def _check_refused_early(path) -> None:
    with pytest.raises(UserError, match=r"is damaged|larger than its metadata") as caught:
        open_store(path).read(WHOLE)
    reason = caught.value.__cause__
    assert reason is None or isinstance(reason, DamagedError)


@pytest.mark.parametrize("bomb", ["gzip", "zstd", "blosc"])
def test_a_bomb_takes_no_memory(tmp_path, bomb) -> None:
    """Half a gigabyte of zeros, in a process whose peak is measured."""
    chunk = _store(tmp_path / "a.zarr", V3[bomb])
    chunk.write_bytes(bytes(_codec(bomb).encode(np.zeros(2**29, np.uint8)))[: 2**16])  # the limit of a file
    code = """
import resource
from pathlib import Path
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.model.picture import Rect
store = open_store(Path("a.zarr"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    store.read(Rect(0, 0, 64, 64))
except Exception as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    command = [sys.executable, "-P", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=120)
    sentence, growth = result.stdout.splitlines()
    assert "is damaged" in sentence
    assert int(growth) * (1 if sys.platform == "darwin" else 1024) < 100e6


def _zstd_blocks(n_blocks: int, size: int) -> bytes:
    """A frame of Zstandard that does not say its size, of blocks that repeat a byte."""
    headers = [
        struct.pack("<I", size << 3 | 1 << 1 | (n == n_blocks - 1))[:3] + b"\x07" for n in range(n_blocks)
    ]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(headers)


def test_frames_of_zstandard_that_do_not_say_their_size_are_read_within_limits() -> None:
    assert bytes(decompress("zstd", _zstd_blocks(1, 4096), 4096)) == b"\x07" * 4096
    with pytest.raises(DamagedError):
        decompress("zstd", _zstd_blocks(16_000, 2**17), 2**20)
    for wrong in (b"\x28\xb5\x2f\xfd", b"nonsense", _zstd_blocks(4, 9)[:-5]):
        with pytest.raises(DamagedError):
            decompress("zstd", wrong, 100)


def test_shards_are_read_and_bombs_in_them_refused(tmp_path) -> None:
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(SIDE, SIDE), dtype="u1", chunks=(16, 16), shards=(SIDE, SIDE)
    )
    array[...] = PIXELS
    np.testing.assert_array_equal(open_store(tmp_path / "a.zarr").read(WHOLE), PIXELS)
    np.testing.assert_array_equal(open_store(tmp_path / "a.zarr").read(Rect(3, 5, 7, 40)), PIXELS[3:10, 5:45])
    document = json.loads((tmp_path / "a.zarr" / "zarr.json").read_text())
    document["codecs"][0]["configuration"]["chunk_shape"] = [1, 1]
    document["chunk_grid"]["configuration"]["chunk_shape"] = [10**6, 10**6]
    (tmp_path / "a.zarr" / "zarr.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match=r"shards of 1,000,000,000,000 chunks"):
        open_store(tmp_path / "a.zarr")


class _Touch:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_store_is_run(tmp_path) -> None:
    chunk = _store_v2(tmp_path / "a.zarr", None, [{"id": "pickle"}])
    chunk.write_bytes(pickle.dumps(_Touch(tmp_path / "ran")))
    with pytest.raises(UserError, match=r"stored with 'pickle'|could not be opened"):
        open_store(tmp_path / "a.zarr").read(WHOLE)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("codec", ["numcodecs.zfpy", "numcodecs.pcodec", "vlen-utf8", "numcodecs.lzma"])
def test_codecs_without_limits_are_refused(tmp_path, codec) -> None:
    _store(tmp_path / "a.zarr", {"name": codec, "configuration": {}})
    with pytest.raises(UserError, match=r"is stored with|could not be opened"):
        open_store(tmp_path / "a.zarr")


AXES = [{"name": "y"}, {"name": "x"}]
ARRAY = {"path": "0"}


def _scaled(step: object) -> list:
    return [{"axes": AXES, "datasets": [ARRAY | {"coordinateTransformations": [step]}]}]


@pytest.mark.parametrize(
    "multiscales",
    [
        [{"axes": [1, 2], "datasets": [ARRAY]}],
        [{"axes": "yx", "datasets": [ARRAY]}],
        [{"axes": 5, "datasets": [ARRAY]}],
        [{"axes": AXES, "datasets": 5}],
        *([{"axes": AXES, "datasets": [{"path": path}]}] for path in ("", "../x", "..", "a/../b", None, [1])),
        _scaled(5),
        _scaled({"type": "scale", "scale": 5}),
        _scaled({"type": "scale", "scale": ["a", "b"]}),
        _scaled({"type": "translation", "translation": [1e999, 2]}),
        {"a": 1},
        5,
    ],
)
def test_wrong_metadata_of_ome_are_refused(tmp_path, multiscales) -> None:
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    group.create_array("0", shape=(SIDE, SIDE), dtype="u1")
    group.attrs["ome"] = {"version": "0.5", "multiscales": multiscales}
    with pytest.raises(UserError, match=r"not an array or a valid OME-Zarr image; name an array .*a\.zarr/0"):
        open_store(tmp_path / "a.zarr")


def test_an_ome_path_that_is_no_array_is_named(tmp_path) -> None:
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    group.create_group("0")
    for path in ("0", "none"):
        group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": AXES, "datasets": [{"path": path}]}]}
        with pytest.raises(UserError, match=f"has no array '{path}'"):
            open_store(tmp_path / "a.zarr")


@pytest.mark.parametrize("names", [5, ["t", "y", "x"], ["y"], {"y": 1}, "yx"])
def test_names_of_axes_that_do_not_fit_are_refused(tmp_path, names) -> None:
    _store(tmp_path / "a.zarr", attributes={"_ARRAY_DIMENSIONS": names})
    with pytest.raises(UserError, match="mend its attribute _ARRAY_DIMENSIONS"):
        open_store(tmp_path / "a.zarr")


@pytest.mark.parametrize(
    "changes",
    [
        {"attributes": [1]},
        {"shape": [-1, 64]},
        {"fill_value": "abc"},
        {"codecs": []},
        {"node_type": "x"},
        {"dimension_names": [1, 2]},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 0]}}},
    ],
)
def test_wrong_metadata_of_an_array_are_refused(tmp_path, changes) -> None:
    _store(tmp_path / "a.zarr", **changes)
    with pytest.raises(UserError):
        open_store(tmp_path / "a.zarr").read(WHOLE)


@pytest.mark.parametrize("shape", [(10**18, 64), (10**9, 4, 4)])
def test_more_blocks_than_can_be_kept_track_of_are_refused(tmp_path, shape) -> None:
    names = ["t", "y", "x"][-len(shape) :]
    zarr.create_array(
        tmp_path / "a.zarr", shape=shape, dtype="u1", chunks=(4,) * len(shape), dimension_names=names
    )
    with pytest.raises(UserError, match="blocks; choose larger blocks"):
        describe_source(tmp_path / "a.zarr", MaskSpec(), 64)
