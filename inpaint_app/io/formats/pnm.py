"""Read PBM, PGM and PPM, plain and raw, up to 16 bits (Pillow brings 16-bit PPM down to 8)."""

import re
from collections.abc import Iterator

import numpy as np

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import Format, check_size
from inpaint_app.io.formats.shared.pixels import stretch
from inpaint_app.model.picture import Array, Metadata, Picture

_SPACE = b" \t\n\v\f\r"
_NUMBER = re.compile(rb"(?:[ \t\n\v\f\r]|#[^\n\r]*[\n\r])*([0-9]{1,10})")
_COMMENT = re.compile(rb"#[^\n\r]*")
_LINE_END = re.compile(rb"[\n\r]")
_DIGITS = b"0123456789"
# The header is three numbers; programs add a line or two of comments. While a number is looked for, every
# blank before it takes a hundred bytes.
_MAX_HEADER_BYTES = 64 * 1024
_PIECE_BYTES = 1024**2


def decode_pnm(data: bytes) -> Picture:
    """Return the (first) picture in a PBM, PGM or PPM file.

    Values are stretched from the file's own white to 255, or to 65535 where that is above 255.
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
    return Picture(stretch(values, white), metadata=Metadata(source_format="PNM"), notices=tuple(notices))


def _read_numbers(data: bytes, n_numbers: int) -> tuple[tuple[int, ...], int]:
    position, numbers = 2, []
    limit = min(len(data), _MAX_HEADER_BYTES)
    for _ in range(n_numbers):
        found = _NUMBER.match(data, position, limit)
        if found is None or (found.end() == limit < len(data)):  # the number may go on
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
        raise DamagedError("it is truncated")
    values = np.frombuffer(data, dtype, count=shape[0] * row_items, offset=start)
    if bitmap:
        packed = values.view(np.uint8).reshape(shape[0], row_items)
        return np.unpackbits(packed, axis=1, count=shape[1]), end
    return values.reshape(shape), end


def _read_plain(data: bytes, start: int, shape: tuple[int, ...], *, bitmap: bool) -> Array:
    count, filled = int(np.prod(shape)), 0
    values = np.empty(count, np.uint16)
    for text in _pieces(data, start, cut_anywhere=bitmap):
        if text.translate(None, _SPACE + _DIGITS):
            raise DamagedError("it has something other than numbers")
        numbers = _parse(text, bitmap=bitmap)[: count - filled]
        values[filled : filled + numbers.size] = numbers
        filled += numbers.size
    if filled < count:
        raise DamagedError("it is truncated")
    return values.reshape(shape)


def _pieces(data: bytes, position: int, *, cut_anywhere: bool) -> Iterator[bytes]:
    """Yield the text from a position on without its comments, cut between numbers or anywhere."""
    while position < len(data):
        end = min(position + _PIECE_BYTES, len(data))
        comment = data.rfind(b"#", position, end)
        if comment >= 0 and _LINE_END.search(data, comment, end) is None:  # the comment goes on
            text = data[position:comment]
            line_end = _LINE_END.search(data, end)
            position = len(data) if line_end is None else line_end.start()
        else:
            whole = cut_anywhere or end == len(data)
            text = data[position:end] if whole else data[position:end].rstrip(_DIGITS)
            if not text:
                raise DamagedError("it has values above its own white")
            position += len(text)
        yield _COMMENT.sub(b" ", text)


def _parse(text: bytes, *, bitmap: bool) -> Array:
    if bitmap:  # the digits need no spaces between them
        return np.frombuffer(text.translate(None, _SPACE), np.uint8) - np.uint8(ord("0"))
    if text.isspace() or not text:
        return np.empty(0, np.uint16)
    # As floats, so that no number is too long.
    values = np.fromstring(text, dtype=np.float64, sep=" ")
    if values.max() > 65535:
        raise DamagedError("it has values above its own white")
    return values.astype(np.uint16)


FORMAT = Format(
    name="PNM",
    suffixes=(".pnm", ".pbm", ".pgm", ".ppm"),
    mime_types=(
        "image/x-portable-anymap",
        "image/x-portable-bitmap",
        "image/x-portable-graymap",
        "image/x-portable-pixmap",
    ),
    signature=re.compile(rb"P[1-6][\s#]"),
    decode=decode_pnm,
)
