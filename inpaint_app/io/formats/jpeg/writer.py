"""Write JPEG."""

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from PIL import Image

from inpaint_app.io.formats.jpeg.header import COMMENT, PHOTOSHOP, XMP
from inpaint_app.io.formats.pillow.codec import save_by_pillow
from inpaint_app.io.formats.shared.metadata import PREFIX, join_resources
from inpaint_app.model.metadata import MetadataKind
from inpaint_app.model.picture import Picture

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
