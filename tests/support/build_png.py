"""A slow, independent PNG encoder: every depth, color type, filter and interlacing."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png_bytes(
    samples: NDArray[np.unsignedinteger],
    depth: int,
    kind: int,
    *,
    interlaced: bool = False,
    extra: bytes = b"",
    after: bytes = b"",
    idat_size: int = 50,
) -> bytes:
    """Encode (H, W, channels) samples; `extra` are chunks before the pixels, `after` behind them."""
    height, width = samples.shape[:2]
    passes = PASSES if interlaced else ((0, 0, 1, 1),)
    data = b"".join(
        _filtered(samples[top::down, left::across], depth, kind) for left, top, across, down in passes
    )
    packed = zlib.compress(data)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    parts = [packed[start : start + idat_size] for start in range(0, len(packed), idat_size)]
    body = b"".join(chunk(b"IDAT", part) for part in parts)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + body + after + chunk(b"IEND", b"")


def _filtered(samples: NDArray[np.unsignedinteger], depth: int, kind: int) -> bytes:
    """Filter rows with the five filters in turn."""
    if 0 in samples.shape:
        return b""
    pixel_bytes = max(1, depth * CHANNELS[kind] // 8)
    above: list[int] = []
    result = b""
    for number, row in enumerate(samples):
        bits = "".join(f"{int(value):0{depth}b}" for value in row.ravel())
        bits += "0" * (-len(bits) % 8)
        line = [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]
        above = above or [0] * len(line)
        method = number % 5
        result += bytes([method]) + bytes(
            (line[i] - _predict(method, line, above, i, pixel_bytes)) % 256 for i in range(len(line))
        )
        above = line
    return result


def _predict(method: int, line: list[int], above: list[int], i: int, step: int) -> int:
    a = line[i - step] if i >= step else 0
    b = above[i]
    c = above[i - step] if i >= step else 0
    if method == 4:
        return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
    return (0, a, b, (a + b) // 2)[method]
