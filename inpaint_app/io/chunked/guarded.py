"""Read Zarr stores that strangers have made: regular files alone, no larger than their metadata permit."""

import errno
import math
import os
import stat
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from inpaint_app.errors import DamagedError, UserError, printable_path
from inpaint_app.io.extra import load_extra
from inpaint_app.system import CAREFUL

#: Compressors whose result can be limited.
COMPRESSORS = ("blosc", "bz2", "gzip", "lz4", "zlib", "zstd")
#: Other codecs, which leave the number of values as it is.
FILTERS = ("astype", "bitround", "delta", "fixedscaleoffset", "quantize", "shuffle")
_MAX_METADATA_BYTES = 64 * 1024**2
#: A chunk may be read as a whole, and so may the index of a shard.
_MAX_CHUNK_BYTES = 256 * 1024**2
_MAX_INDEX_BYTES = 64 * 1024**2
_INDEX_ENTRY_BYTES = 16
_PLAIN = ("bytes", "endian", "transpose", "crc32c")  # of Zarr v3: they change no size, or by a checksum
_SHARDING = "sharding_indexed"
#: How files are opened: without waiting for the other end of a pipe, and without following a link.
_FLAGS = os.O_RDONLY | CAREFUL

# Of Zarr, which has no types here.
Node = Any
Codec = Any


@dataclass(frozen=True)
class _Limits:
    """Most bytes that are read at once: of a file as a whole, and of a part of it."""

    whole: int = _MAX_METADATA_BYTES
    part: int = _MAX_METADATA_BYTES


def decompress(name: str, data: bytes, limit: int) -> bytes:
    """Return what one of the `COMPRESSORS` has compressed.

    Raises `DamagedError` if that is more than so many bytes, before it takes more memory than these.
    """
    import imagecodecs  # noqa: PLC0415  (slow to import)

    options = {"header": True} if name == "lz4" else {}  # as numcodecs writes it
    try:
        result = getattr(imagecodecs, f"{name}_decode")(data, out=limit + 1, **options)
    except (RuntimeError, ValueError) as error:
        raise DamagedError("a chunk cannot be unpacked, or is larger than its metadata say") from error
    if len(result) > limit:
        raise DamagedError("a chunk is larger than its metadata say")
    return bytes(result)


@dataclass(frozen=True)
class _LimitedCodec:
    """A compressor of Zarr v2 that returns no more than so many bytes."""

    codec_id: ClassVar[str] = "limited"
    codec: Codec
    limit: int

    def decode(self, data: Any, out: Any = None) -> bytes:  # noqa: ANN401  (bytes or an array of them)
        return decompress(self.codec.codec_id, bytes(data), self.limit)

    def encode(self, values: Any) -> Any:  # noqa: ANN401
        return self.codec.encode(values)

    def get_config(self) -> dict[str, Any]:
        return dict(self.codec.get_config())

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "_LimitedCodec":
        raise NotImplementedError  # a codec that is read from a store gets its limit from the size of chunks


def open_guarded(path: Path) -> Node:
    """Open a group or an array of Zarr, to be read; files of chunks are refused until `guarded` limits them.

    Raises `UserError` if a file of metadata is no regular file or too large, and whatever Zarr does if it
    is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about codecs that other programs may not read
        return load_extra("zarr").open(store=_store_class()(path, read_only=True), mode="r")


def guarded(path: Path, array: Node) -> Node:
    """Return an array that refuses chunks that are larger than its metadata permit.

    Raises `UserError` if its chunks are too large to be read as a whole, or are compressed in a way that
    cannot be limited, or that would run code.
    """
    metadata = array.metadata
    item, n_values = array.dtype.itemsize, math.prod(array.chunks)
    _check_size(path, n_values * item)
    outer = array.shards or array.chunks
    n_inner = math.prod(-(-side // max(chunk, 1)) for side, chunk in zip(outer, array.chunks, strict=True))
    n_index = _INDEX_ENTRY_BYTES * n_inner
    if n_index > _MAX_INDEX_BYTES:
        raise UserError(f"{printable_path(path)} has shards of {n_inner:,} chunks", "save it with fewer")
    if metadata.zarr_format == 2:
        metadata = _limited_v2(path, metadata, n_values * item)
    else:
        metadata = replace(metadata, codecs=tuple(_limited(path, metadata.codecs)))
    limits = _Limits(_encoded(math.prod(outer) * item) + n_index, _encoded(n_values * item) + n_index)
    store = _store_class()(array.store.root, read_only=True, limits=limits)
    place = load_extra("zarr.storage").StorePath(store, array.path)
    zarr = load_extra("zarr")
    return zarr.Array(zarr.AsyncArray(metadata, place))


def _check_size(path: Path, n_bytes: int) -> None:
    """Refuse chunks that a worker could not hold."""
    if n_bytes > _MAX_CHUNK_BYTES:
        raise UserError(
            f"{printable_path(path)} has chunks of {n_bytes / 1e6:.0f} MB, each of which is read as a whole",
            "save it with smaller chunks first",
        )


def _encoded(n_bytes: int) -> int:
    """Return how many bytes a compressor may make of so many, at most: of noise a few more."""
    return n_bytes + n_bytes // 4 + 2**16


def _limited_v2(path: Path, metadata: Any, n_bytes: int) -> Any:  # noqa: ANN401
    filters, compressor = metadata.filters or (), metadata.compressor
    for codec in (*filters, *((compressor,) if compressor else ())):
        if codec.codec_id not in FILTERS and (codec is not compressor or codec.codec_id not in COMPRESSORS):
            raise _unknown(path, codec.codec_id)
    if compressor is None or compressor.codec_id in FILTERS:
        return metadata
    limit = _encoded(n_bytes * (8 if filters else 1))  # filters may store values as up to eight bytes
    return replace(metadata, compressor=_LimitedCodec(compressor, limit))


def _limited(path: Path, codecs: Iterable[Codec], *, is_inner: bool = False) -> Iterable[Codec]:
    """Yield codecs of Zarr v3 of which those that decompress have a limit."""
    factor = 1
    for codec in codecs:
        name = str(codec.to_dict()["name"])
        plain_name = name.removeprefix("numcodecs.")
        if plain_name in FILTERS:
            factor = 8
            yield codec
        elif plain_name in COMPRESSORS:
            yield _codec_class()(codec, plain_name, factor)
        elif name == _SHARDING and not is_inner:
            yield replace(codec, codecs=tuple(_limited(path, codec.codecs, is_inner=True)))
        elif name in _PLAIN:
            yield codec
        else:
            raise _unknown(path, name)


def _unknown(path: Path, name: str) -> UserError:
    return UserError(
        f"{printable_path(path)} is stored with {name!r}, which this program does not read",
        "save it with Zstandard, gzip or Blosc",
    )


@cache
def _codec_class() -> Any:  # noqa: ANN401
    """Return the class of codecs that decompress no more than a chunk."""
    from asyncio import to_thread  # noqa: PLC0415  (slow to import, and Zarr does)

    base = load_extra("zarr.abc.codec").BytesBytesCodec

    @dataclass(frozen=True)
    class Limited(base):  # type: ignore[misc, valid-type]
        """A codec of Zarr v3, its name, and how much larger its values may be."""

        codec: Codec
        compressor: str
        factor: int
        is_fixed_size = False

        def to_dict(self) -> dict[str, Any]:
            return dict(self.codec.to_dict())

        def evolve_from_array_spec(self, array_spec: Any) -> "Limited":  # noqa: ANN401
            return self

        async def _decode_single(self, chunk: Any, spec: Any) -> Any:  # noqa: ANN401
            n_bytes = math.prod(spec.shape) * spec.dtype.to_native_dtype().itemsize * self.factor
            data = chunk.to_bytes()
            decoded = await to_thread(decompress, self.compressor, data, _encoded(n_bytes))
            return spec.prototype.buffer.from_bytes(decoded)

        async def _encode_single(self, _chunk: Any, _spec: Any) -> Any:  # noqa: ANN401
            raise NotImplementedError

        def compute_encoded_size(self, _n_bytes: int, _spec: Any) -> int:  # noqa: ANN401
            raise NotImplementedError

    return Limited


@cache
def _store_class() -> Any:  # noqa: ANN401
    """Return the class of stores in which nothing but regular files is read, and no link followed."""
    from asyncio import to_thread  # noqa: PLC0415  (slow to import, and Zarr does)

    zarr = load_extra("zarr.abc.store")

    class Guarded(load_extra("zarr.storage").LocalStore):  # type: ignore[misc]
        """A folder, and how much is read of its files."""

        def __init__(self, root: Path, *, read_only: bool = True, limits: _Limits | None = None) -> None:
            super().__init__(root, read_only=read_only)
            self._limits = limits or _Limits()

        def with_read_only(self, read_only: bool = True) -> "Guarded":
            return type(self)(self.root, read_only=read_only, limits=self._limits)

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:  # noqa: ANN401
            return await to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

        def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:  # noqa: ANN401
            prototype = prototype or load_extra("zarr.core.buffer").default_buffer_prototype()
            limit = self._limits.whole if byte_range is None else self._limits.part
            try:
                data = _read(self.root, key, lambda size: _range(zarr, byte_range, size), limit)
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                return None
            return prototype.buffer.from_bytes(data)

        async def get_partial_values(self, prototype: Any, key_ranges: Any) -> list[Any]:  # noqa: ANN401
            return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    return Guarded


def _range(zarr: Any, wanted: Any, size: int) -> tuple[int, int]:  # noqa: ANN401
    """Return where the wanted bytes of a file of this size begin and end."""
    if isinstance(wanted, zarr.RangeByteRequest):
        return min(wanted.start, size), min(wanted.end, size)
    if isinstance(wanted, zarr.SuffixByteRequest):
        return max(0, size - wanted.suffix), size
    return (min(wanted.offset, size) if isinstance(wanted, zarr.OffsetByteRequest) else 0), size


def _read(root: Path, key: str, place: Any, limit: int) -> bytes:  # noqa: ANN401
    """Return a part of a file inside a folder; raises `UserError` if it is no regular file, or too long."""
    path = root / key
    if path.resolve() != root.resolve() / key and os.path.lexists(path):
        raise _irregular(path)
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a socket
            raise _irregular(path) from error
        raise
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise _irregular(path)
        start, end = place(status.st_size)
        if end - start > limit:
            raise UserError(f"{printable_path(path)} is larger than its metadata permit", "get a fresh copy")
        file.seek(start)
        return file.read(max(0, end - start))


def _irregular(path: Path) -> UserError:
    return UserError(
        f"{printable_path(path)} is a link, or no regular file", "copy the store with its files, by cp -rL"
    )
