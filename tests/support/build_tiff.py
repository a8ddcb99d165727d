"""A slow, independent TIFF encoder: sample types, byte orders, tiles, planes, packings, predictors."""

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE, LZW, DEFLATE, PACKBITS = 1, 5, 8, 32773
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8, 16: 8}
LETTERS = {1: "B", 2: "B", 3: "H", 4: "I", 5: "I", 7: "B", 12: "d", 16: "Q"}


def tiff_bytes(
    samples: NDArray[Any],
    *,
    order: str = "<",
    compression: int = NONE,
    predictor: int = 1,
    tile: tuple[int, int] | None = None,
    strip_rows: int = 3,
    separate: bool = False,
    photometric: int | None = None,
    bits: int | None = None,
    big: bool = False,
    reversed_bits: bool = False,
    tags: dict[int, Any] | None = None,
) -> bytes:
    """Encode (H, W, samples); `tags` maps a tag to (type, values) or to None to leave it out."""
    height, width, n_samples = samples.shape
    bits = bits or samples.itemsize * 8
    tall, wide = tile or (strip_rows, width)
    planes = [samples[..., [i]] for i in range(n_samples)] if separate else [samples]
    blocks = [block for plane in planes for block in _blocks(plane, tall, wide, padded=tile is not None)]
    parts = [PACKERS[compression](_block_bytes(block, bits, order, predictor)) for block in blocks]
    if reversed_bits:
        parts = [bytes(int(f"{byte:08b}"[::-1], 2) for byte in part) for part in parts]
    start = 16 if big else 8
    offsets = [start + sum(map(len, parts[:i])) for i in range(len(parts))]
    fields: dict[int, Any] = {
        256: (4, [width]),
        257: (4, [height]),
        258: (3, [bits] * n_samples),
        259: (3, [compression]),
        262: (3, [photometric if photometric is not None else 2 if n_samples > 2 else 1]),
        (324 if tile else 273): (4, offsets),
        277: (3, [n_samples]),
        (325 if tile else 279): (4, [len(part) for part in parts]),
        284: (3, [2 if separate else 1]),
        317: (3, [predictor]),
        339: (3, [{"u": 1, "i": 2, "f": 3, "c": 6}[samples.dtype.kind]] * n_samples),
    }
    fields |= {322: (4, [wide]), 323: (4, [tall])} if tile else {278: (4, [strip_rows])}
    fields |= {266: (3, [2])} if reversed_bits else {}
    fields |= tags or {}
    body = b"".join(parts)
    body += bytes(len(body) % 2)
    kept = {tag: field for tag, field in fields.items() if field is not None}
    return header(order, start + len(body), big) + body + directory(kept, order, start + len(body), big=big)


def _blocks(plane: NDArray[Any], tall: int, wide: int, *, padded: bool) -> Iterator[NDArray[Any]]:
    for top in range(0, plane.shape[0], tall):
        for left in range(0, plane.shape[1], wide):
            block = plane[top : top + tall, left : left + wide]
            if padded:
                missing = ((0, tall - block.shape[0]), (0, wide - block.shape[1]), (0, 0))
                block = np.pad(block, missing, mode="edge")
            yield block


def header(order: str, offset: int, big: bool) -> bytes:
    mark = b"II" if order == "<" else b"MM"
    if big:
        return struct.pack(order + "2sHHHQ", mark, 43, 8, 0, offset)
    return struct.pack(order + "2sHI", mark, 42, offset)


def directory(
    fields: dict[int, tuple[int, Any]], order: str, position: int, *, big: bool = False, following: int = 0
) -> bytes:
    """Encode {tag: (type, values)} at a position, with its values behind it."""
    slot, entry = (8, 20) if big else (4, 12)
    table = struct.pack(order + ("Q" if big else "H"), len(fields))
    behind = position + len(table) + entry * len(fields) + slot
    values = b""
    for tag, (kind, items) in sorted(fields.items()):
        payload = struct.pack(f"{order}{len(items)}{LETTERS[kind]}", *items)
        count = len(payload) // SIZES[kind]
        table += struct.pack(order + ("HHQ" if big else "HHI"), tag, kind, count)
        if len(payload) <= slot:
            table += payload.ljust(slot, b"\0")
        else:
            table += struct.pack(order + ("Q" if big else "I"), behind + len(values))
            values += payload + bytes(len(payload) % 2)
    return table + struct.pack(order + ("Q" if big else "I"), following) + values


def _block_bytes(block: NDArray[Any], bits: int, order: str, predictor: int) -> bytes:
    if bits % 8:
        rows = ["".join(f"{int(value):0{bits}b}" for value in row.ravel()) for row in block]
        rows = [row + "0" * (-len(row) % 8) for row in rows]
        return b"".join(bytes(int(row[i : i + 8], 2) for i in range(0, len(row), 8)) for row in rows)
    size = block.itemsize
    if predictor == 3:
        swapped = np.ascontiguousarray(block, dtype=block.dtype.newbyteorder(">")).view(np.uint8)
        by_byte = swapped.reshape(block.shape[0], -1, size).swapaxes(1, 2).reshape(block.shape[0], -1)
        step = block.shape[2]
        differences = by_byte.copy()
        differences[:, step:] -= by_byte[:, :-step]
        return differences.tobytes()
    whole = np.ascontiguousarray(block).view(f"u{size}")
    if predictor == 2:
        differences = whole.copy()
        differences[:, 1:] -= whole[:, :-1]
        whole = differences
    return whole.astype(f"{order}u{size}").tobytes()


def packbits(data: bytes) -> bytes:
    """Runs of one byte where there are three or more, else literals of at most 100."""
    result, i = b"", 0
    while i < len(data):
        run = 1
        while run < 128 and i + run < len(data) and data[i + run] == data[i]:
            run += 1
        if run >= 3:
            result += bytes([257 - run, data[i]])
            i += run
        else:
            literal = data[i : i + min(100, run)]
            result += bytes([len(literal) - 1]) + literal
            i += len(literal)
    return result


def lzw(data: bytes) -> bytes:
    """TIFF's LZW: most significant bit first, codes grow one early."""
    table = {bytes([i]): i for i in range(256)}
    bits = [(256, 9)]
    width, following, word = 9, 258, b""
    for value in data:
        longer = word + bytes([value])
        if longer in table:
            word = longer
            continue
        bits.append((table[word], width))
        table[longer] = following
        following += 1
        if following >= 4094:
            bits.append((256, width))
            table = {bytes([i]): i for i in range(256)}
            width, following = 9, 258
        elif following > 2**width - 1:
            width += 1
        word = bytes([value])
    if word:
        bits.append((table[word], width))
        following += 1
        if following > 2**width - 1 and width < 12:
            width += 1
    bits.append((257, width))
    text = "".join(f"{code:0{size}b}" for code, size in bits)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))


PACKERS: dict[int, Callable[[bytes], bytes]] = {
    NONE: bytes,
    LZW: lzw,
    DEFLATE: zlib.compress,
    PACKBITS: packbits,
}
