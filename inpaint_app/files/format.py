"""The definition of a file format: how it is recognised, read and written, and what it can store."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from inpaint_app.image.picture import Picture

Decoder = Callable[[bytes], Picture]
Encoder = Callable[[Picture, BinaryIO, int], None]
"""Called with a picture, a file and the quality, 1 to 100, that lossy formats have."""


@dataclass(frozen=True)
class Format:
    """A file format. Each is defined in its own module and listed in `formats.FORMATS`.

    Attributes
    ----------
    name : str
        As users know it.
    suffixes : tuple of str
        Of its file names, lower case; the first is suggested.
    mime_types : tuple of str
        For the desktop.
    signature : Pattern
        Matches the first bytes of its files.
    decode : callable
        Bytes to `Picture`, of several the first; raises `DamagedError` or `UnsupportedError`.
    encode : callable or None
        None where the format is read but not written.
    depths : tuple of int
        Bits per channel that it keeps: 8, 16, 32 (float).
    keeps_arrays : bool
        Whether it keeps any number of pages and bands, and numbers of all kinds.
    keeps_tags : bool
        Whether it keeps the tags of a TIFF file.
    has_alpha : bool
        Whether it keeps transparency.
    is_lossy : bool
        Whether it has a quality, and so changes pixels.
    max_side, max_exif, max_icc : int or None
        Longest side in pixels, and bytes of metadata; None where only the limits of reading hold.
    """

    name: str
    suffixes: tuple[str, ...]
    mime_types: tuple[str, ...]
    signature: re.Pattern[bytes]
    decode: Decoder
    encode: Encoder | None = None
    depths: tuple[int, ...] = (8,)
    keeps_arrays: bool = False
    keeps_tags: bool = False
    has_alpha: bool = True
    is_lossy: bool = False
    max_side: int | None = None
    max_exif: int | None = None
    max_icc: int | None = None
