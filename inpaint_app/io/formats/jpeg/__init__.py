"""JPEG: read, and write with full color resolution."""

import contextlib
import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import USUAL_METADATA, Format, check_size
from inpaint_app.io.formats.jpeg.scans import (
    COMMENT,
    PHOTOSHOP,
    XMP,
    Bools,
    Header,
    check_length,
    filled,
    find_lost,
    lost_from,
    read_header,
    read_scans,
    units_of_fill,
)
from inpaint_app.io.formats.pillow.codec import save_by_pillow
from inpaint_app.io.formats.shared.metadata import PREFIX, join_resources, resource_blocks
from inpaint_app.io.formats.shared.pixels import cmyk_to_rgb, image_array
from inpaint_app.model.picture import Array, Metadata, MetadataKind, Picture
from inpaint_app.text import format_percent

_SEQUENTIAL = (0xC0, 0xC1)
_MODES = {1: ("L", "L"), 3: ("RGB", "RGB"), 4: ("CMYK", "CMYK;I")}  # Adobe stores inks inverted; all follow


def decode_jpeg(data: bytes) -> Picture:
    """Return the (first) picture in a JPEG file; the lost part of one that ends too early is transparent."""
    header = read_header(data)
    check_size(*header.size)
    if header.precision != 8:
        raise UnsupportedError(f"it is a {header.precision}-bit JPEG", "convert it to PNG or TIFF first")
    if header.channels not in _MODES:
        raise UnsupportedError(f"it has {header.channels} channels", "convert it to RGB first")
    pixels, lost, is_coarse = _decode(data, header)
    icc, notices = header.icc, list[str]()
    if header.has_long_exif:
        notices.append("The EXIF information is longer than any camera writes and was left out.")
    if header.channels == 4:
        pixels, notice = cmyk_to_rgb(pixels, icc)
        icc, notices = None, [notice]
    if header.several:
        notices.append("The file holds more than one picture (such as a depth map): the first was used.")
        header.lost.append("further pictures in the file")
    alpha = None
    if lost is not None:
        alpha = np.where(lost, np.uint8(0), np.uint8(255))
        part = format_percent(float(lost.mean()))
        notices.append(f"The file is truncated: the lost part ({part}) is marked as missing.")
    if is_coarse:
        notices.append("The file is truncated: the finest detail of the picture is lost.")
    return Picture(
        pixels,
        alpha,
        Metadata(
            exif=None if header.has_long_exif else bytes(header.exif) or None,
            icc=icc,
            dpi=header.dpi,
            source_format="JPEG",
            blocks=(*header.blocks, *resource_blocks(bytes(header.resources))),
            lost=tuple(dict.fromkeys(header.lost)),
        ),
        notices=tuple(notices),
    )


def _decode(data: bytes, header: Header) -> tuple[Array, Bools | None, bool]:
    """Return the pixels, which of them are lost, and whether the others have lost fine detail."""
    scans = read_scans(data, header)
    check_length(scans, header)
    if header.frame not in _SEQUENTIAL or len(scans) > 1:
        pixels = _unpack(filled(data, scans, b""), header)
        return (pixels, *find_lost(data, header, pixels, lambda changed: _unpack(changed, header)))
    # At an end marker, libjpeg fills up with gray what is missing before it. Without one it asks for more
    # data, which is refused; the zeros are what it reads ahead when all is there.
    if scans[0].end < len(data):
        with contextlib.suppress(DamagedError):
            return _unpack(data[: scans[0].end] + bytes(8), header), None, False
    pixels = _unpack(filled(data, scans, b""), header)
    held = np.flatnonzero(~units_of_fill(pixels, header.mcu))
    return pixels, lost_from(int(held[-1]) if held.size else 0, pixels.shape[:2], header.mcu), False


def _unpack(data: bytes, header: Header) -> Array:
    mode, raw_mode = _MODES[header.channels]
    try:
        return image_array(Image.frombytes(mode, header.size, data, "jpeg", raw_mode, ""))
    except ValueError as error:
        raise DamagedError("it is truncated or its pixels cannot be unpacked") from error


_MAX_SEGMENT_BYTES = 65_533
MAX_XMP = _MAX_SEGMENT_BYTES - len(XMP)


def encode_jpeg(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an opaque 8-bit picture as JPEG, with full color resolution."""
    options: dict[str, Any] = {"quality": quality, "subsampling": 0}
    if picture.metadata.exif is not None:
        options["exif"] = PREFIX + picture.metadata.exif
    if picture.metadata.dpi is not None:
        options["dpi"] = tuple(min(max(round(value), 1), 65535) for value in picture.metadata.dpi)
    options["extra"] = b"".join(_other_segments(picture))
    save_by_pillow(Image.fromarray(picture.pixels), "JPEG", picture, file, options)


def _other_segments(picture: Picture) -> Iterator[bytes]:
    """Yield the segments for XMP, Photoshop's resources with IPTC, and comments."""
    packet = picture.metadata.block(MetadataKind.XMP)
    if packet is not None and len(packet) <= MAX_XMP:
        yield _segment(0xE1, XMP + packet)
    resources = join_resources(
        picture.metadata.block(MetadataKind.PHOTOSHOP), picture.metadata.block(MetadataKind.IPTC)
    )
    step = _MAX_SEGMENT_BYTES - len(PHOTOSHOP)
    for start in range(0, len(resources), step):
        yield _segment(0xED, PHOTOSHOP + resources[start : start + step])
    for block in picture.metadata.blocks:
        if block.kind is MetadataKind.COMMENT:
            for start in range(0, len(block.payload), _MAX_SEGMENT_BYTES):
                yield _segment(COMMENT, block.payload[start : start + _MAX_SEGMENT_BYTES])


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, 2 + len(content)) + content


# Metadata lie in segments of 64 KB: EXIF in one, a profile in at most 255.
FORMAT = Format(
    name="JPEG",
    suffixes=(".jpg", ".jpeg", ".jpe", ".jfif"),
    mime_types=("image/jpeg",),
    signature=re.compile(rb"\xff\xd8\xff"),
    decode=decode_jpeg,
    encode=encode_jpeg,
    metadata=USUAL_METADATA
    | {MetadataKind.XMP, MetadataKind.IPTC, MetadataKind.PHOTOSHOP, MetadataKind.COMMENT},
    has_alpha=False,
    is_lossy=True,
    max_side=65_500,
    max_exif=65_527,
    max_icc=255 * 65_519,
    max_xmp=MAX_XMP,
)
