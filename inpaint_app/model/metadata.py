"""Metadata of a picture that formats store in their own ways."""

from enum import StrEnum
from typing import NamedTuple


class MetadataKind(StrEnum):
    """A kind of metadata; the values name it in a sentence about what is lost.

    `SRGB` says what holds without it too, so no sentence ever names it.
    """

    EXIF = "EXIF information"
    ICC = "the color profile"
    RESOLUTION = "the resolution"
    XMP = "XMP"
    IPTC = "IPTC"
    PHOTOSHOP = "Photoshop information"
    COMMENT = "comments"
    PNG_TEXT = "PNG text"
    PNG_COLOR = "the gamma of its colors"
    SRGB = "the mark of sRGB"
    TIFF_TAGS = "TIFF tags"
    FITS_HEADER = "the FITS header"
    JP2_BOXES = "JPEG 2000 boxes"


class MetadataBlock(NamedTuple):
    """A piece of metadata: what it is, and its bytes.

    | kind | bytes |
    |---|---|
    | XMP | a packet: XML text in UTF-8 |
    | IPTC | its records |
    | PHOTOSHOP | image resources, each beginning with "8BIM" |
    | COMMENT | text of an encoding that nobody knows |
    | PNG_TEXT, PNG_COLOR, SRGB | name and contents of a chunk of a PNG file |
    | FITS_HEADER | three of them: what stands before the header, the header, what follows the pixels |
    | JP2_BOXES | boxes, one after the other |
    """

    kind: MetadataKind
    payload: bytes
