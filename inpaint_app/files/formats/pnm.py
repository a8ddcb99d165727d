"""Read PBM, PGM and PPM, plain and raw, up to 16 bits (Pillow brings 16-bit PPM down to 8)."""

import re

import numpy as np

from inpaint_app.errors import DamagedError
from inpaint_app.files.formats.shared.scaling import stretch
from inpaint_app.files.limits import check_size
from inpaint_app.image.picture import Array, Picture

_SPACE = b" \t\n\v\f\r"
_NUMBER = re.compile(rb"(?:[ \t\n\v\f\r]|#[^\n\r]*[\n\r])*([0-9]{1,10})")
_COMMENT = re.compile(rb"#[^\n\r]*")


def decode_pnm(data: bytes) -> Picture:
    """Return the (first) picture in a PBM, PGM or PPM file.

    Values are stretched from the file's own white to 255, or to 65535 where that is above 255.

    Raises
    ------
    DamagedError, UnsupportedError
        If the file is not whole, or too large.
    """
    kind = data[1] - ord("0")
    bitmap, plain = kind in (1, 4), kind < 4
    n_numbers = 2 if bitmap else 3
    numbers, position = _read_numbers(data, n_numbers)
    width, height, white = (*numbers, 1)[:3]
    check_size(width, height)
    if not 1 <= white <= 65535:
        raise DamagedError(f"its header says that white is {white}")
    shape = (height, width, 3) if kind in (3, 6) else (height, width)
    notices: list[str] = []
    if plain:
        values = _read_plain(data, position, shape, bitmap=bitmap)
    else:
        values, position = _read_raw(data, position + 1, shape, white=white, bitmap=bitmap)
        if data[position : position + 2] in (b"P4", b"P5", b"P6"):
            notices.append("The file holds more than one picture: the first was used.")
    if values.max() > white:
        raise DamagedError("it has values above its own white")
    if bitmap:
        values = 1 - values  # 1 is black
    if white not in (255, 65535):
        notices.append(f"Values 0 to {white} were stretched to 0 to {255 if white < 255 else 65535}.")
    return Picture(stretch(values, white), source_format="PNM", notices=tuple(notices))


def _read_numbers(data: bytes, n_numbers: int) -> tuple[tuple[int, ...], int]:
    position, numbers = 2, []
    for _ in range(n_numbers):
        found = _NUMBER.match(data, position)
        if found is None:
            raise DamagedError("its header is wrong")
        numbers.append(int(found[1]))
        position = found.end()
    return tuple(numbers), position


def _read_raw(
    data: bytes, start: int, shape: tuple[int, ...], *, white: int, bitmap: bool
) -> tuple[Array, int]:
    """Return the values and where they end."""
    row_items = -(-shape[1] // 8) if bitmap else int(np.prod(shape[1:]))
    dtype = np.dtype(np.uint8 if white < 256 else ">u2")
    end = start + shape[0] * row_items * dtype.itemsize
    if end > len(data):
        raise DamagedError("it ends too early")
    values = np.frombuffer(data[start:end], dtype)
    if bitmap:
        packed = values.view(np.uint8).reshape(shape[0], row_items)
        return np.unpackbits(packed, axis=1, count=shape[1]), end
    return values.reshape(shape), end


def _read_plain(data: bytes, start: int, shape: tuple[int, ...], *, bitmap: bool) -> Array:
    text = _COMMENT.sub(b" ", data[start:])
    if text.translate(None, _SPACE + b"0123456789"):
        raise DamagedError("it has something other than numbers")
    count = int(np.prod(shape))
    if bitmap:  # the digits need no spaces between them
        digits = np.frombuffer(text.translate(None, _SPACE)[:count], np.uint8)
        values: Array = digits - np.uint8(ord("0"))
    else:  # as floats, so that no number is too long
        values = np.fromstring(text, dtype=np.float64, sep=" ")[:count]
        values = np.minimum(values, 65536).astype(np.uint32)
    if values.size < count:
        raise DamagedError("it ends too early")
    return values.reshape(shape)
