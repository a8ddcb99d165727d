"""Metadata of a picture that formats store in their own ways."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np


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


class Tag(NamedTuple):
    """A field of a TIFF directory: its number, its type, and its bytes, low bytes first."""

    number: int
    kind: int
    payload: bytes


class StoredArray(NamedTuple):
    """The array of a file of arrays (NumPy, FITS), to be written like that again: its shape and dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Metadata:
    """What a file tells about a page of a picture, beside its pixels."""

    source_format: str = ""  #: The name of its format, such as "PNG"; "" if it was not read from a file.
    #: EXIF block, starting with its TIFF header. Its orientation is 1: it has been applied.
    exif: bytes | None = None
    icc: bytes | None = None  #: ICC color profile that describes the pixels.
    dpi: tuple[float, float] | None = None  #: Horizontal and vertical resolution in pixels per inch.
    no_data: float | None = None  #: The value that the file declares to mean "missing".
    tags: tuple[Tag, ...] = ()  #: Other fields of a TIFF file: its place on Earth, names of bands.
    blocks: tuple[MetadataBlock, ...] = ()  #: XMP, IPTC, comments, the header of a FITS file.
    #: The array that the file holds, if that is of another shape or dtype than the pages.
    array: StoredArray | None = None
    lost: tuple[str, ...] = ()  #: Contents of the file that are not kept, such as "Photoshop layers".
    #: Whether its file has the pixels without loss, though its format can also lose some of what they hold.
    is_lossless: bool = False

    def block(self, kind: MetadataKind) -> bytes | None:
        """Return the bytes of the first block of a kind; None if there is none."""
        return next((block.payload for block in self.blocks if block.kind is kind), None)
