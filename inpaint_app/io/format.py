"""The definition of a file format: how it is recognized, read and written, what it can store, and limits."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import BinaryIO

from inpaint_app.errors import DamagedError, TooLargeError, UnsupportedError
from inpaint_app.model.picture import MetadataKind, Picture

#: Most pixels of a picture: the 200-megapixel cameras on the market (16320 x 12240) still fit.
MAX_PIXELS = 200_000_000

#: Most pixels of a side. Files are decoded in bands of rows, so this is what bounds the smallest band.
MAX_SIDE = 1_000_000

#: Pixels of a file of any length whose coding could hold a picture of one color in a few bytes.
_MAX_PIXELS_OF_ANY_FILE = 16_000_000

#: Most pixels per byte of a larger one. 24 million pixels with a single thin stroke take 8,100 at most
#: (lossless WebP; JPEG XL 4,100, AVIF 2,400, HEIC 1,200, JPEG 2000 550), photographs a few hundred.
_MAX_PIXELS_PER_BYTE = 10_000

#: Largest file that is read: MAX_PIXELS of float32 RGBA, uncompressed, are 3.2e9 bytes.
MAX_FILE_BYTES = 4 * 1024**3

#: Largest ICC profile after decompression; real ones stay below 4 MB.
MAX_PROFILE_BYTES = 16 * 1024**2

#: Largest EXIF block that is kept.
MAX_EXIF_BYTES = 4 * 1024**2

#: Most bytes of other metadata that are kept.
MAX_OTHER_BYTES = 16 * 1024**2


def check_size(width: int, height: int) -> None:
    """Refuse an empty or overlarge picture, from its header alone.

    Raises `DamagedError` if a side is not positive, `TooLargeError` if there are more than `MAX_PIXELS`
    pixels, or `MAX_SIDE` along a side.
    """
    if width < 1 or height < 1:
        raise DamagedError(f"its header says {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise TooLargeError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_PIXELS // 10**6} million",
            "crop it or scale it down first",
        )
    if max(width, height) > MAX_SIDE:
        raise TooLargeError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_SIDE:,} along a side",
            "cut it into parts first",
        )


def check_packed_size(width: int, height: int, n_bytes: int) -> None:
    """Refuse an empty or overlarge picture, and a large one in a file that is shorter than any photograph.

    For codings with no least length, as JPEG and Deflate have one: there a file of 250 bytes may say that it
    has 14,000 x 14,000 pixels, and decoders take gigabytes before they see that nothing follows.
    """
    check_size(width, height)
    if width * height > max(_MAX_PIXELS_OF_ANY_FILE, _MAX_PIXELS_PER_BYTE * n_bytes):
        raise UnsupportedError(
            f"it says it has {width} x {height} pixels, too many for a photograph of {n_bytes:,} bytes",
            "get a fresh copy, or convert it to PNG if all of it has one color",
        )


def check_total(n_pixels: int) -> None:
    """Refuse pages that have too many pixels together."""
    if n_pixels > MAX_PIXELS:
        raise TooLargeError(
            f"its pages have more than {MAX_PIXELS // 10**6} million pixels together", "split it first"
        )


Decoder = Callable[[bytes], Picture]
Encoder = Callable[[Picture, BinaryIO, int], None]
"""Called with a picture, a file and the quality, 1 to 100, that lossy formats have."""


USUAL_METADATA = frozenset({MetadataKind.EXIF, MetadataKind.ICC, MetadataKind.RESOLUTION})


@dataclass(frozen=True)
class PlugIn:
    """A package that a format needs and that is not always installed."""

    module: str  #: To import.
    package: str  #: To install with pip.

    @property
    def is_installed(self) -> bool:
        """Whether the module can be imported."""
        return find_spec(self.module) is not None

    @property
    def remedy(self) -> str:
        """What to do where it is not installed."""
        return f"install it with pip install {shlex.quote(self.package)}"


@dataclass(frozen=True)
class Format:
    """A file format. Each is defined in its own module and listed in `formats.FORMATS`."""

    name: str  #: As users know it.
    suffixes: tuple[str, ...]  #: Of its file names, lower case; the first is suggested.
    mime_types: tuple[str, ...]  #: For the desktop.
    signature: re.Pattern[bytes]  #: Matches the first bytes of its files.
    decode: Decoder  #: Bytes to `Picture`, of several the first; raises `DamagedError` or `UnsupportedError`.
    encode: Encoder | None = None  #: None where the format is read but not written.
    depths: tuple[int, ...] = (8,)  #: Bits per channel that it keeps: 8, 16, 32 (float).
    gray_depths: tuple[int, ...] = ()  #: Those that it keeps only in gray pictures without alpha.
    keeps_arrays: bool = False  #: Whether it keeps any number of pages and bands, and numbers of all kinds.
    has_equal_pages: bool = False  #: Whether all pages must have the same size and kind of numbers.
    metadata: frozenset[MetadataKind] = USUAL_METADATA  #: The metadata that it keeps.
    has_alpha: bool = True  #: Whether it keeps transparency.
    is_lossy: bool = False  #: Whether it has a quality, and so changes pixels.
    is_lossless_at_100: bool = False  #: Whether it changes none at the quality 100.
    max_colors: int | None = None  #: Most colors of a picture that is not gray; None where there is no limit.
    #: Longest side in pixels, and most bytes of metadata; None where only the limits of reading hold.
    max_side: int | None = None
    max_exif: int | None = None
    max_icc: int | None = None
    max_xmp: int | None = None
    plug_in: PlugIn | None = None  #: The package that it needs.

    @property
    def is_available(self) -> bool:
        """Whether what it needs is installed."""
        return self.plug_in is None or self.plug_in.is_installed

    @property
    def is_exact(self) -> bool:
        """Whether it can store pixels without any change, at the quality 100 if it has one."""
        return self.max_colors is None and (not self.is_lossy or self.is_lossless_at_100)

    def depths_of(self, *, is_plain_gray: bool) -> tuple[int, ...]:
        """Return the bits per channel that it keeps in gray pictures without alpha, or in others."""
        return (*self.depths, *self.gray_depths) if is_plain_gray else self.depths
