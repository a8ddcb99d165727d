"""The pixels of a PNG file: unpacked, filters undone, and made gray or RGB, a band of rows at a time."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaint_app.errors import DamagedError
from inpaint_app.io.formats.shared.bands import row_bands
from inpaint_app.model.picture import Array

Bytes = npt.NDArray[np.uint8]

GRAY, RGB, PALETTE, GRAY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGB_ALPHA: 4}
# Bytes of a pixel -> Pillow mode and the raw modes to fetch. Filters work on bytes, so samples of fewer than
# 8 bits are fetched as the bytes they are packed in, and 16-bit gray as two channels. Pillow has no pictures
# of six and eight bytes per pixel: they need one pass for the high and one for the low bytes (";16L").
_MODES = {
    1: ("L", ("L",)),
    2: ("LA", ("LA",)),
    3: ("RGB", ("RGB",)),
    4: ("RGBA", ("RGBA",)),
    6: ("RGB", ("RGB;16B", "RGB;16L")),
    8: ("RGBA", ("RGBA;16B", "RGBA;16L")),
}
# First column, first row, column step, row step of the seven passes of an interlaced file.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Header:
    """What the header of the file says; `kind` is its color type."""

    width: int
    height: int
    depth: int
    kind: int
    interlaced: bool

    @property
    def bits(self) -> int:
        """Bits of a pixel."""
        return self.depth * CHANNELS[self.kind]

    @property
    def passes(self) -> Iterator[tuple[slice, slice, int, int]]:
        """Rows and columns of every pass, and how many there are: one pass unless interlaced."""
        for left, top, across, down in _PASSES if self.interlaced else ((0, 0, 1, 1),):
            n_rows, n_columns = -(-(self.height - top) // down), -(-(self.width - left) // across)
            if n_rows > 0 and n_columns > 0:
                yield slice(top, None, down), slice(left, None, across), n_rows, n_columns

    def row_bytes(self, n_columns: int) -> int:
        """Bytes of a row of a pass, without its filter."""
        return (n_columns * self.bits + 7) // 8

    @property
    def data_size(self) -> int:
        """Number of bytes of the unpacked image data, filter bytes included."""
        return sum(n_rows * (1 + self.row_bytes(n_columns)) for _, _, n_rows, n_columns in self.passes)


def read_pixels(
    header: Header, packed: bytes | bytearray, palette: bytes, transparent: bytes
) -> tuple[Array, Array | None]:
    """Return pixels and alpha, uint8 or uint16; fewer than 8 bits of gray are stretched to 8.

    `packed` are the contents of all IDAT chunks, the others those of PLTE and tRNS; empty where there is
    none. Raises `DamagedError` if the data are too short, too long, or contradict the header.
    """
    if header.data_size > 1100 * len(packed) + 1000:  # deflate reaches 1032 to 1
        raise DamagedError("it ends too early")
    shape, dtype = (header.height, header.width), np.uint16 if header.depth == 16 else np.uint8
    coloring = _Coloring(header, palette, transparent)
    pixels = np.empty((*shape, 3) if coloring.is_color else shape, dtype)
    alpha = np.empty(shape, dtype) if coloring.has_alpha else None
    stream = _Unpacked(packed)
    for rows, columns, n_rows, n_columns in header.passes:
        for band, values in _read_pass(header, stream, n_rows, n_columns):
            colors, opacity = coloring.split(values)
            pixels[rows, columns][band] = colors
            if alpha is not None:
                alpha[rows, columns][band] = opacity
    stream.finish()
    return pixels, alpha


class _Unpacked:
    """Unpacked data, read from front to end, so that their length and checksum are certain."""

    def __init__(self, packed: bytes | bytearray) -> None:
        self._packed, self._position = packed, 0
        self._stream = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """Return exactly so many bytes."""
        parts: list[bytes] = []
        while size:
            source = self._source()
            part = self._decompress(source, size)
            if not part and not source:
                raise DamagedError("it has too few or too many pixels")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def finish(self) -> None:
        """Refuse data behind what was read, or a wrong checksum."""
        while not self._stream.eof:
            source = self._source()
            if self._decompress(source, 1) or not source:
                raise DamagedError("it has too few or too many pixels")

    def _source(self) -> bytes | bytearray:
        """Return what to unpack next; in pieces, because what is not used up is copied every time."""
        if self._stream.unconsumed_tail:
            return self._stream.unconsumed_tail
        start, self._position = self._position, self._position + _PIECE_BYTES
        return self._packed[start : self._position]

    def _decompress(self, source: bytes | bytearray, size: int) -> bytes:
        try:
            return self._stream.decompress(source, size)
        except zlib.error as error:
            raise DamagedError("its pixels cannot be unpacked") from error


def _read_pass(
    header: Header, stream: _Unpacked, n_rows: int, n_columns: int
) -> Iterator[tuple[slice, Array]]:
    """Yield ranges of rows and their samples, (rows, columns, channels), uint8 or uint16."""
    row_bytes = header.row_bytes(n_columns)
    above = b""
    for band in row_bands(n_rows, max(row_bytes, 3 * n_columns)):  # packed bits are spread
        filtered = stream.read((band.stop - band.start) * (1 + row_bytes))
        rows = _unfilter(filtered, above, header.bits, row_bytes)
        above = rows[-1].tobytes()
        yield band, _samples(rows, header, n_columns)


def _unfilter(filtered: bytes, above: bytes, bits: int, row_bytes: int) -> Bytes:
    """Undo the filters of some rows; `above` is the row before them, empty for the first.

    Pillow does that while it unpacks, so the rows are handed over in a zlib stream without compression,
    behind the row above, which goes without a filter.
    """
    n_lead = 1 if above else 0
    stored = zlib.compress(b"\0" * n_lead + above + filtered, 0)
    pixel_bytes = max(1, bits // 8)
    mode, raw_modes = _MODES[pixel_bytes]
    size = row_bytes // pixel_bytes, n_lead + len(filtered) // (1 + row_bytes)
    try:
        images = [Image.frombytes(mode, size, stored, "zip", raw_mode, 0) for raw_mode in raw_modes]
    except ValueError as error:
        raise DamagedError("its pixels cannot be unpacked") from error
    planes = [np.asarray(image) for image in images]
    whole = planes[0] if len(planes) == 1 else np.stack(planes, axis=-1)
    return whole.reshape(size[1], row_bytes)[n_lead:]


def _samples(rows: Bytes, header: Header, n_columns: int) -> Array:
    """Return the samples in rows of bytes; those of fewer than 8 bits as they are stored."""
    shape = (rows.shape[0], n_columns, CHANNELS[header.kind])
    if header.depth == 16:
        return rows.view(">u2").astype(np.uint16).reshape(shape)
    if header.depth == 8:
        return rows.reshape(shape)
    shifts = np.arange(8 - header.depth, -1, -header.depth, dtype=np.uint8)
    spread = (rows[:, :, np.newaxis] >> shifts) & np.uint8(2**header.depth - 1)
    return spread.reshape(rows.shape[0], -1)[:, :n_columns].reshape(shape)


class _Coloring:
    """How samples become gray or RGB pixels with or without alpha."""

    def __init__(self, header: Header, palette: bytes, transparent: bytes) -> None:
        self._header = header
        self.is_color = header.kind in (RGB, PALETTE, RGB_ALPHA)
        self.has_alpha = bool(transparent) or header.kind in (GRAY_ALPHA, RGB_ALPHA)
        if header.kind == PALETTE:
            if not palette or len(palette) % 3 or len(palette) > 768 or len(transparent) > 256:
                raise DamagedError("its palette is wrong")
            self._colors = np.frombuffer(palette.ljust(768, b"\0"), np.uint8).reshape(256, 3)
            self._alphas = np.frombuffer(transparent.ljust(256, b"\xff"), np.uint8)
        elif transparent and header.kind in (GRAY, RGB):
            if len(transparent) != 2 * CHANNELS[header.kind]:
                raise DamagedError("its transparent color is wrong")
            self._key = np.frombuffer(transparent, ">u2") & (2**header.depth - 1)

    def split(self, values: Array) -> tuple[Array, Array | None]:
        """Return pixels and alpha of some rows."""
        kind, depth = self._header.kind, self._header.depth
        if kind == PALETTE:
            indices = values[..., 0]
            return self._colors[indices], self._alphas[indices] if self.has_alpha else None
        scale = np.uint8(255 // (2**depth - 1)) if depth < 8 else values.dtype.type(1)
        pixels = values[..., :3] if self.is_color else values[..., 0]
        if depth < 8:
            pixels = pixels * scale
        if kind in (GRAY_ALPHA, RGB_ALPHA):
            return pixels, values[..., -1]
        if not self.has_alpha:
            return pixels, None
        hidden = (values == self._key.astype(values.dtype)).all(axis=2)
        opaque = values.dtype.type(np.iinfo(values.dtype).max)
        return pixels, np.where(hidden, values.dtype.type(0), opaque)
