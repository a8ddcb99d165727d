"""Read PNG at 1 to 16 bits per channel."""

import struct
import zlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaint_app.errors import DamagedError
from inpaint_app.files.limits import MAX_PROFILE_BYTES, check_size
from inpaint_app.image.picture import Array, Picture

SIGNATURE = b"\x89PNG\r\n\x1a\n"

_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGB_ALPHA = 0, 2, 3, 4, 6
_CHANNELS = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGB_ALPHA: 4}
# (bit depth, colour type) -> Pillow mode and the raw modes to fetch. 16-bit samples of one and two channels
# are fetched as two and four bytes; those of three and four need one pass for the high and one for the
# low bytes, because Pillow has no such pictures: ";16L" takes the second byte of each pair.
_LAYOUTS = {
    (1, _GRAY): ("1", ("1",)),
    (2, _GRAY): ("L", ("L;2",)),
    (4, _GRAY): ("L", ("L;4",)),
    (8, _GRAY): ("L", ("L",)),
    (16, _GRAY): ("LA", ("LA",)),
    (8, _RGB): ("RGB", ("RGB",)),
    (16, _RGB): ("RGB", ("RGB;16B", "RGB;16L")),
    (1, _PALETTE): ("P", ("P;1",)),
    (2, _PALETTE): ("P", ("P;2",)),
    (4, _PALETTE): ("P", ("P;4",)),
    (8, _PALETTE): ("P", ("P",)),
    (8, _GRAY_ALPHA): ("LA", ("LA",)),
    (16, _GRAY_ALPHA): ("RGBA", ("RGBA",)),
    (8, _RGB_ALPHA): ("RGBA", ("RGBA",)),
    (16, _RGB_ALPHA): ("RGBA", ("RGBA;16B", "RGBA;16L")),
}
# First column, first row, column step, row step of the seven passes of an interlaced file.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


@dataclass(frozen=True)
class _Header:
    width: int
    height: int
    depth: int
    kind: int
    interlaced: bool

    @property
    def data_size(self) -> int:
        """Number of bytes of the unpacked image data, filter bytes included."""
        bits = self.depth * _CHANNELS[self.kind]
        passes = _PASSES if self.interlaced else ((0, 0, 1, 1),)
        total = 0
        for left, top, across, down in passes:
            columns = -(-(self.width - left) // across)
            rows = -(-(self.height - top) // down)
            if columns > 0 and rows > 0:
                total += rows * (1 + (columns * bits + 7) // 8)
        return total


@dataclass
class _Chunks:
    """Chunks by name; the image data separately. Ancillary chunks with a wrong checksum are left out."""

    first: dict[bytes, bytes] = field(default_factory=dict)
    image: list[bytes] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def decode_png(data: bytes) -> Picture:
    """Return the picture in a PNG file, or the still picture of an animated one.

    Parameters
    ----------
    data : bytes
        The whole file.

    Raises
    ------
    DamagedError, UnsupportedError
        If the file is not whole, or too large.
    """
    chunks = _read_chunks(data)
    header = _read_header(chunks.first.get(b"IHDR", b""))
    values = _read_values(header, b"".join(chunks.image))
    pixels, alpha = _split(values, header, chunks.first)
    notices = chunks.notices
    if header.kind == _PALETTE:
        notices.append("The palette was converted to RGB.")
    elif header.depth < 8:
        notices.append(f"The {header.depth}-bit picture was read as 8-bit gray.")
    elif header.depth == 16:
        notices.append("16 bits per channel are kept.")
    frames = chunks.first.get(b"acTL", b"")
    if len(frames) == 8 and struct.unpack(">I", frames[:4])[0] > 1:
        notices.append("The file is an animation: its first picture was used.")
    return Picture(
        pixels,
        alpha,
        exif=chunks.first.get(b"eXIf"),
        icc=_profile(chunks.first.get(b"iCCP", b"")),
        dpi=_resolution(chunks.first.get(b"pHYs", b"")),
        source_format="PNG",
        notices=tuple(notices),
    )


def _read_chunks(data: bytes) -> _Chunks:
    chunks, position = _Chunks(), len(SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise DamagedError("it ends too early")
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if end + 4 > len(data):
            raise DamagedError("it ends too early")
        if zlib.crc32(memoryview(data)[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            if not name[0] & 32:  # upper-case first letter: needed for the pixels
                raise DamagedError("a checksum is wrong")
            chunks.notices.append("A damaged part of the file's extra information was left out.")
        elif name == b"IEND":
            return chunks
        elif name == b"IDAT":
            chunks.image.append(data[position + 8 : end])
        else:
            chunks.first.setdefault(name, data[position + 8 : end])
        position = end + 4


def _read_header(chunk: bytes) -> _Header:
    if len(chunk) != 13:
        raise DamagedError("its header is missing")
    width, height, depth, kind, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunk)
    if (depth, kind) not in _LAYOUTS or compression or filtering or interlace > 1:
        raise DamagedError("its header is wrong")
    check_size(width, height)
    return _Header(width, height, depth, kind, bool(interlace))


def _unpack(header: _Header, packed: bytes) -> bytes:
    """Return the rows with their filters, in a zlib stream without compression.

    The data are unpacked here, so that their length and checksum are certain, and handed on stored: Pillow
    undoes the row filters, but would fill up with black what a short stream leaves open.
    """
    expected = header.data_size
    if expected > 1100 * len(packed) + 1000:  # deflate reaches 1032 to 1
        raise DamagedError("it ends too early")
    stream = zlib.decompressobj()
    try:
        rows = stream.decompress(packed, expected + 1)
    except zlib.error as error:
        raise DamagedError("its pixels cannot be unpacked") from error
    if len(rows) != expected or not stream.eof:
        raise DamagedError("it has too few or too many pixels")
    return zlib.compress(rows, 0)


def _read_values(header: _Header, packed: bytes) -> Array:
    """Return samples, (H, W, channels), uint8 or uint16; fewer than 8 bits of gray stretched to 8."""
    stored = _unpack(header, packed)
    mode, raw_modes = _LAYOUTS[header.depth, header.kind]
    size, interlaced = (header.width, header.height), int(header.interlaced)
    planes = (Image.frombytes(mode, size, stored, "zip", raw_mode, interlaced) for raw_mode in raw_modes)
    first = np.asarray(next(planes))
    shape = (header.height, header.width, _CHANNELS[header.kind])
    if header.depth == 1 and header.kind == _GRAY:
        return first.astype(np.uint8).reshape(shape) * np.uint8(255)
    if len(raw_modes) == 2:
        wide = first.astype(np.uint16)
        wide <<= 8
        wide |= np.asarray(next(planes))
        return wide
    if header.depth == 16:
        return first.view(">u2").astype(np.uint16).reshape(shape)
    return first.reshape(shape)


def _split(values: Array, header: _Header, chunks: dict[bytes, bytes]) -> tuple[Array, Array | None]:
    """Return pixels and alpha, the latter from the channel or from the tRNS chunk."""
    transparent = chunks.get(b"tRNS", b"")
    if header.kind == _PALETTE:
        return _from_palette(values[..., 0], chunks.get(b"PLTE", b""), transparent)
    if header.kind in (_GRAY_ALPHA, _RGB_ALPHA):
        pixels = values[..., 0] if header.kind == _GRAY_ALPHA else values[..., :3]
        return np.ascontiguousarray(pixels), np.ascontiguousarray(values[..., -1])
    pixels = values[..., 0] if header.kind == _GRAY else values
    if not transparent:
        return pixels, None
    if len(transparent) != 2 * values.shape[2]:
        raise DamagedError("its transparent colour is wrong")
    key = np.frombuffer(transparent, ">u2") & (2**header.depth - 1)
    scale = 255 // (2**header.depth - 1) if header.depth < 8 else 1
    hidden = (values == (key * scale).astype(values.dtype)).all(axis=2)
    opaque = values.dtype.type(np.iinfo(values.dtype).max)
    return pixels, np.where(hidden, values.dtype.type(0), opaque)


def _from_palette(indices: npt.NDArray[np.uint8], colors: bytes, alphas: bytes) -> tuple[Array, Array | None]:
    if not colors or len(colors) % 3 or len(colors) > 768 or len(alphas) > 256:
        raise DamagedError("its palette is wrong")
    table = np.frombuffer(colors.ljust(768, b"\0"), np.uint8).reshape(256, 3)
    if not alphas:
        return table[indices], None
    return table[indices], np.frombuffer(alphas.ljust(256, b"\xff"), np.uint8)[indices]


def _profile(chunk: bytes) -> bytes | None:
    """Return the ICC profile of an iCCP chunk: a name, a zero, the method 0, packed data."""
    _, separator, rest = chunk.partition(b"\0")
    if not separator or not rest.startswith(b"\0"):
        return None
    stream = zlib.decompressobj()
    try:
        profile = stream.decompress(rest[1:], MAX_PROFILE_BYTES)
    except zlib.error:
        return None
    return profile if stream.eof and profile else None


def _resolution(chunk: bytes) -> tuple[float, float] | None:
    if len(chunk) != 9:
        return None
    across, down, unit = struct.unpack(">IIB", chunk)
    return (across * 0.0254, down * 0.0254) if unit == 1 and across and down else None
