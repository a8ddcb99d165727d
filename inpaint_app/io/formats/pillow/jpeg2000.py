"""JPEG 2000: read, and write losslessly."""

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from PIL.ImageFile import ImageFile
from PIL.Jpeg2KImagePlugin import Jpeg2KImageFile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import Format, check_packed_size
from inpaint_app.io.formats.pillow.codec import load_pixels, open_image, save_by_pillow, to_image
from inpaint_app.io.formats.shared.pixels import image_array
from inpaint_app.model.picture import Array, Metadata, MetadataBlock, MetadataKind, Picture

_CODESTREAM, _TILE = b"\xff\x4f\xff\x51", 0xFF90
_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
#: Boxes that describe the picture, such as its place on Earth.
_KEPT = frozenset({b"xml ", b"uuid", b"uinf", b"asoc"})
_TARGETS = {"P": "RGB", "PA": "RGBA", "CMYK": "RGB"}
#: What Pillow calls any two or four channels.
_WITH_ALPHA = ("LA", "RGBA")
_CONVERSIONS = {
    **dict.fromkeys(("P", "PA"), ("The palette was converted to RGB.",)),
    "CMYK": ("CMYK was converted to RGB without a color profile; colors may differ from print.",),
}
_MAX_BOX_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class _Codestream:
    """What the coded picture says of itself: its size, and precision and sign of each component."""

    size: tuple[int, int]
    bits: tuple[int, ...]
    is_signed: bool


def decode_jpeg2000(data: bytes) -> Picture:
    """Return the picture in a JPEG 2000 file with its own values; alpha only where the file declares it."""
    boxes = [] if data.startswith(_CODESTREAM) else list(read_boxes(data))
    coded = _read_codestream(data, boxes)
    header = next((data[start:end] for name, start, end in boxes if name == b"jp2h"), b"")
    header_boxes = {name: header[start:end] for name, start, end in read_boxes(header)}
    image = open_image(Jpeg2KImageFile, data)
    if image.size != coded.size:
        raise DamagedError("its header is wrong")
    pixels, alpha, notices = _load(image, data, max(coded.bits)), None, _notices(image.mode, max(coded.bits))
    if image.mode == "PA" or (image.mode in _WITH_ALPHA and _declares_alpha(header_boxes.get(b"cdef", b""))):
        pixels, alpha = pixels[..., 0] if image.mode == "LA" else pixels[..., :3], pixels[..., -1]
    elif image.mode in _WITH_ALPHA:
        notices = (*notices, f"No channel is declared to be alpha: all {len(coded.bits)} are bands.")
    has_profile = header_boxes.get(b"colr", b"")[:1] in (b"\x02", b"\x03")
    return Picture(
        pixels,
        alpha,
        Metadata(
            dpi=image.info.get("dpi"),
            source_format="JPEG 2000",
            blocks=_blocks(data, boxes),
            lost=(MetadataKind.ICC,) if has_profile else (),
        ),
        notices=notices,
    )


def _load(image: ImageFile, data: bytes, bits: int) -> Array:
    """Return all channels, alpha among them."""
    if bits > 8:
        return _load_gray16(image, bits) if image.mode == "I;16" else _decode_by_imagecodecs(data)
    colors, opacity = load_pixels(image, _TARGETS.get(image.mode))
    return colors if opacity is None else np.dstack((colors, opacity))


def _notices(mode: str, bits: int) -> tuple[str, ...]:
    if bits <= 8:
        return _CONVERSIONS.get(mode, ())
    if bits == 16:
        return ("The picture has 16 bits per channel.",)
    return (f"The {bits}-bit values are kept, in 16 bits.",)


def _load_gray16(image: ImageFile, bits: int) -> Array:
    try:
        image.load()
    except (OSError, ValueError) as error:
        raise DamagedError("it is truncated or its pixels cannot be unpacked") from error
    values = image_array(image).astype(np.uint16, copy=False)
    return values >> np.uint16(16 - bits)  # Pillow shifts them to the left


def _decode_by_imagecodecs(data: bytes) -> Array:
    """Return colors of more than 8 bits, which Pillow reduces to 8, and white to black."""
    import imagecodecs  # noqa: PLC0415  (slow to import)

    try:
        return np.asarray(imagecodecs.jpeg2k_decode(data))
    except (RuntimeError, ValueError) as error:
        raise DamagedError("its pixels cannot be unpacked") from error


def _read_codestream(data: bytes, boxes: list[tuple[bytes, int, int]]) -> _Codestream:
    """Return what the coded picture says, which may be something else than the header of the file."""
    start = next((start for name, start, _ in boxes if name == b"jp2c"), 0)
    if data[start : start + 4] != _CODESTREAM or len(data) < start + 42:
        raise DamagedError("it holds no pixels")
    x1, y1, x0, y0 = struct.unpack_from(">4I", data, start + 8)
    (n_components,) = struct.unpack_from(">H", data, start + 40)
    size, parts = (x1 - x0, y1 - y0), data[start + 42 : start + 42 + 3 * n_components]
    check_packed_size(*size, len(data))
    _check_tiles(data, start)
    if not n_components or len(parts) < 3 * n_components:
        raise DamagedError("its header is wrong")
    if n_components > 4:
        raise UnsupportedError(f"it has {n_components} channels", "convert it to TIFF first")
    coded = _Codestream(
        size, tuple(1 + (part & 127) for part in parts[::3]), any(part & 128 for part in parts[::3])
    )
    if coded.is_signed or max(coded.bits) > 16:
        kind = "signed numbers" if coded.is_signed else f"{max(coded.bits)} bits per channel"
        raise UnsupportedError(f"it holds {kind}, which are not supported", "convert it to TIFF first")
    return coded


def _check_tiles(data: bytes, start: int) -> None:
    """Refuse a coded picture without some of its tiles, which would be black."""
    x1, y1, _, _, tile_width, tile_height, tile_x, tile_y = struct.unpack_from(">8I", data, start + 8)
    if not tile_width or not tile_height:
        raise DamagedError("its header is wrong")
    n_tiles = -(-(x1 - tile_x) // tile_width) * -(-(y1 - tile_y) // tile_height)
    found: set[int] = set()
    position = start + 2
    while position + 12 <= len(data):  # first the segments of the header, then the tiles
        marker, length = struct.unpack_from(">HH", data, position)
        if marker != _TILE and found:
            break
        if marker == _TILE:
            number, size = struct.unpack_from(">HI", data, position + 4)
            found.add(number)
            length = (size or len(data) - position) - 2
        if length < 2:
            break
        position += 2 + length
    if position > len(data) or len(found) < n_tiles:
        raise DamagedError("parts of its pixels are missing")


def _declares_alpha(definition: bytes) -> bool:
    """Return whether a box of channel definitions has one for opacity."""
    return any(definition[at + 2 : at + 4] in (b"\0\1", b"\0\2") for at in range(2, len(definition), 6))


def _blocks(data: bytes, boxes: list[tuple[bytes, int, int]]) -> tuple[MetadataBlock, ...]:
    blocks, others = [], b""
    for name, start, end in boxes:
        if name == b"uuid" and data[start : start + 16] == _XMP:
            blocks.append(MetadataBlock(MetadataKind.XMP, data[start + 16 : end]))
        elif name in _KEPT and len(others) + end - start < _MAX_BOX_BYTES:
            others += _box(name, data[start:end])
    return (*blocks, MetadataBlock(MetadataKind.JP2_BOXES, others)) if others else tuple(blocks)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


def encode_jpeg2000(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write a picture as lossless JPEG 2000: 8 bits, or 16 bits of gray."""
    packed = io.BytesIO()
    # Coding colors together compresses better, and is lossless too.
    options = {"irreversible": False, "mct": int(picture.is_color)}
    save_by_pillow(to_image(picture), "JPEG2000", picture, packed, options)
    file.write(packed.getbuffer())
    packet = picture.metadata.block(MetadataKind.XMP)
    if packet is not None:
        file.write(_box(b"uuid", _XMP + packet))
    file.write(picture.metadata.block(MetadataKind.JP2_BOXES) or b"")


FORMAT = Format(
    name="JPEG 2000",
    suffixes=(".jp2", ".j2k", ".jpx"),
    mime_types=("image/jp2", "image/jpx"),
    signature=re.compile(rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51"),
    decode=decode_jpeg2000,
    encode=encode_jpeg2000,
    gray_depths=(16,),
    metadata=frozenset({MetadataKind.XMP, MetadataKind.JP2_BOXES}),
)


def read_boxes(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, start and end of the contents of every box."""
    position, end = 0, len(data)
    while position + 8 <= end:
        length, name = struct.unpack_from(">I4s", data, position)
        start = position + 8
        if length == 1 and start + 8 <= end:
            (length,) = struct.unpack_from(">Q", data, start)
            start += 8
        stop = end if length == 0 else position + length
        if not start <= stop <= end:
            raise DamagedError("it is truncated")
        yield name, start, stop
        position = stop
