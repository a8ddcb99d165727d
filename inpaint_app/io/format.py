"""The definition of a file format: how it is recognized, read and written, and what it can store."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import BinaryIO

from inpaint_app.model.picture import MetadataKind, Picture

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
