"""JPEG: read, and write with full color resolution."""

import re

from inpaint_app.io.format import USUAL_METADATA, Format
from inpaint_app.io.formats.jpeg.reader import decode_jpeg
from inpaint_app.io.formats.jpeg.writer import MAX_XMP, encode_jpeg
from inpaint_app.model.metadata import MetadataKind

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
