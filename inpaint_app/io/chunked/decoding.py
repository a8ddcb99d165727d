"""Decompress chunks whose size is known: one that says or turns out to be larger is refused."""

import bz2
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar

from inpaint_app.errors import DamagedError

#: Compressors of which the decompressed size is known before, or can be limited.
COMPRESSORS = ("blosc", "bz2", "gzip", "lz4", "zlib", "zstd")
#: Other codecs, which leave the number of values as it is.
FILTERS = ("astype", "bitround", "delta", "fixedscaleoffset", "quantize", "shuffle")

_ZSTD_MAGIC, _ZSTD_SKIPPED = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"
_ZSTD_REPEATED, _ZSTD_COMPRESSED, _ZSTD_BLOCK = 1, 2, 2**17
#: Beyond the limit, what blocks of Zstandard that do not say their size may hold together.
_ZSTD_SLACK = 2**24


@dataclass(frozen=True)
class LimitedCodec:
    """A codec of numcodecs that returns no more than so many bytes."""

    codec_id: ClassVar[str] = "limited"
    codec: Any
    limit: int

    def decode(self, data: Any, out: Any = None) -> Any:  # noqa: ANN401  (bytes or an array of them)
        """Return the decompressed bytes; raises `DamagedError` if they are too many."""
        return decompress(self.codec, bytes(data), self.limit)

    def encode(self, values: Any) -> Any:  # noqa: ANN401
        """Return the compressed bytes."""
        return self.codec.encode(values)

    def get_config(self) -> dict[str, Any]:
        """Return what a store notes of the codec."""
        return dict(self.codec.get_config())

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "LimitedCodec":
        """Not used: a codec that is read from a store gets its limit from the size of the chunks."""
        raise NotImplementedError


def decompress(codec: Any, data: bytes, limit: int) -> Any:  # noqa: ANN401
    """Return what a codec of numcodecs, one of `COMPRESSORS`, has compressed.

    Raises `DamagedError` if that is more than so many bytes, before it takes more memory than these.
    """
    result, name = None, codec.codec_id
    if name in ("gzip", "zlib", "bz2"):
        result = _read(name, data, limit + 1)
        n_bytes = len(result)
    elif name == "zstd":
        n_bytes = _zstd_size(data)
    else:
        n_bytes = int.from_bytes(data[4:8] if name == "blosc" else data[:4], "little")
    if n_bytes > limit:
        raise DamagedError("a chunk is larger than its metadata say")
    return codec.decode(data) if result is None else result


def _read(name: str, data: bytes, n_bytes: int) -> bytes:
    if name == "zlib":
        return zlib.decompressobj().decompress(data, n_bytes)
    opened: gzip.GzipFile | bz2.BZ2File
    opened = gzip.GzipFile(fileobj=io.BytesIO(data)) if name == "gzip" else bz2.BZ2File(io.BytesIO(data))
    with opened as file:
        return file.read(n_bytes)


def _zstd_size(data: bytes) -> int:
    """Return how many bytes the frames of Zstandard say they hold (RFC 8878, section 3.1).

    Of frames that do not say it, those that their blocks hold at most, less `_ZSTD_SLACK`.
    """
    position, declared, at_most = 0, 0, 0
    while position < len(data):
        if data[position] & 0xF0 == 0x50 and data[position + 1 : position + 4] == _ZSTD_SKIPPED:
            position += 8 + int.from_bytes(data[position + 4 : position + 8], "little")
            continue
        if data[position : position + 4] != _ZSTD_MAGIC or len(data) < position + 6:
            raise DamagedError("a chunk cannot be unpacked")
        flags = data[position + 4]
        is_single, n_size = flags >> 5 & 1, (flags >> 5 & 1, 2, 4, 8)[flags >> 6]
        start = position + 5 + (not is_single) + (0, 1, 2, 4)[flags & 3]
        declared += int.from_bytes(data[start : start + n_size], "little") + 256 * (n_size == 2)
        n_held, position = _zstd_blocks(data, start + n_size)
        at_most += 0 if n_size else n_held
        position += 4 * (flags >> 2 & 1)  # a checksum
    return declared + max(0, at_most - _ZSTD_SLACK)


def _zstd_blocks(data: bytes, position: int) -> tuple[int, int]:
    """Return how many bytes the blocks of a frame hold at most, and where they end."""
    n_held, is_last = 0, False
    while not is_last:
        if position + 3 > len(data):
            raise DamagedError("a chunk ends too early")
        header = int.from_bytes(data[position : position + 3], "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        n_held += _ZSTD_BLOCK if kind == _ZSTD_COMPRESSED else size
        position += 3 + (1 if kind == _ZSTD_REPEATED else size)
    return n_held, position
