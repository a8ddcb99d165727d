"""Unpack the strips and tiles of a TIFF file, never further than to the size they must have.

tifffile brings no LZW of its own and unpacks deflate without a bound; rare compressions are left to it, and
so to imagecodecs where that is installed.
"""

import lzma
import zlib
from collections.abc import Callable

from inpaint_app.errors import DamagedError
from inpaint_app.io.formats.tiff.lzw import unpack_lzw

Unpacker = Callable[[bytes, int], bytes]
"""Called with packed bytes and the number of bytes that are wanted; may return fewer."""


def _inflate(packed: bytes, size: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise DamagedError("its pixels cannot be unpacked") from error


def _unpack_lzma(packed: bytes, size: int) -> bytes:
    try:
        return lzma.LZMADecompressor().decompress(packed, size)
    except (lzma.LZMAError, EOFError) as error:
        raise DamagedError("its pixels cannot be unpacked") from error


def _unpack_bits(packed: bytes, size: int) -> bytes:
    """Unpack PackBits: a count of literal bytes, or of repetitions of one byte."""
    unpacked, position = bytearray(), 0
    while len(unpacked) < size and position + 1 < len(packed):
        count = packed[position]
        if count < 128:
            unpacked += packed[position + 1 : position + 2 + count]
            position += 2 + count
        elif count > 128:
            unpacked += packed[position + 1 : position + 2] * (257 - count)
            position += 2
        else:
            position += 1
    return bytes(unpacked[:size])


#: By the number of the compression.
UNPACKERS: dict[int, Unpacker] = {
    1: lambda packed, size: packed[:size],
    5: unpack_lzw,
    8: _inflate,
    32946: _inflate,
    32773: _unpack_bits,
    34925: _unpack_lzma,
}


def unpack(packed: bytes, compression: int, size: int) -> bytes:
    """Return the bytes of a strip or tile; raises `DamagedError` if there are fewer than `size`."""
    unpacked = UNPACKERS[compression](packed, size)
    if len(unpacked) < size:
        raise DamagedError("parts of its pixels are missing")
    return unpacked
