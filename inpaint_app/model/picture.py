"""A picture in memory, as read from a file and as written to one, with what else the file tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


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


Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_PLAIN = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32))
_DTYPES = (*_PLAIN, *map(np.dtype, (np.uint32, np.int8, np.int16, np.int32, np.float64)))
_SWAPS_SIDES = frozenset({5, 6, 7, 8})


class Rect(NamedTuple):
    """Pixels of `height` rows from `row` and `width` columns from `column`; may be empty."""

    row: int
    column: int
    height: int
    width: int

    @classmethod
    def from_slices(cls, rows: slice, columns: slice) -> Rect:
        """Return the rectangle of two slices."""
        return cls(rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start)

    @property
    def is_empty(self) -> bool:
        """Whether there is no pixel in it."""
        return self.height <= 0 or self.width <= 0

    @property
    def slices(self) -> tuple[slice, slice]:
        """Index of these pixels in an array (H, W, ...) that holds them all."""
        return slice(self.row, self.row + self.height), slice(self.column, self.column + self.width)

    @property
    def center(self) -> tuple[int, int]:
        """Row and column of the pixel in its middle."""
        return self.row + self.height // 2, self.column + self.width // 2

    def contains(self, pixel: tuple[int, int]) -> bool:
        """Return whether a pixel, given by row and column, lies in it."""
        row, column = pixel[0] - self.row, pixel[1] - self.column
        return 0 <= row < self.height and 0 <= column < self.width

    def united(self, other: Rect) -> Rect:
        """Return the smallest rectangle around both."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        row, column = min(self.row, other.row), min(self.column, other.column)
        bottom = max(self.row + self.height, other.row + other.height)
        right = max(self.column + self.width, other.column + other.width)
        return Rect(row, column, bottom - row, right - column)

    def clipped(self, shape: tuple[int, ...]) -> Rect:
        """Return the part of it within an array of this shape, which may be empty."""
        row, column = max(self.row, 0), max(self.column, 0)
        bottom = min(self.row + self.height, shape[0])
        right = min(self.column + self.width, shape[1])
        return Rect(row, column, max(bottom - row, 0), max(right - column, 0))

    def widened(self, pixels: int, shape: tuple[int, ...]) -> Rect:
        """Return it with so many more pixels on all sides, within an array of this shape."""
        row, column, height, width = self
        return Rect(row - pixels, column - pixels, height + 2 * pixels, width + 2 * pixels).clipped(shape)

    def within(self, outer: Rect) -> Rect:
        """Return it as a part of a larger rectangle, counted from the first pixel of that."""
        return Rect(self.row - outer.row, self.column - outer.column, self.height, self.width)


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels with what belongs to them in the file.

    The arrays are made read-only. Color values under alpha = 0 are those of the file: nothing is
    premultiplied.
    """

    #: (H, W) or (H, W, C): gray or RGB values, or bands of any other number; integers of 8 to 32 bits, or
    #: floats. Values of uint8 and uint16 span 0 to `max_value`; others are the file's own.
    pixels: Array
    alpha: Array | None = None  #: (H, W), of the same dtype: opacity, 0 = transparent.
    metadata: Metadata = field(default_factory=Metadata)  #: What else its file tells.
    notices: tuple[str, ...] = ()  #: What reading changed or left out, for the user.
    #: The pages after the first one; they have no further pages themselves.
    more_pages: tuple[Picture, ...] = ()
    #: Whether alpha is a mask in the file: what is transparent is called missing there.
    alpha_is_mask: bool = False

    def __post_init__(self) -> None:
        """Check shapes and dtypes and make the arrays read-only."""
        shape, dtype = self.pixels.shape, self.pixels.dtype
        if dtype not in _DTYPES:
            raise ValueError(f"pixels must be integers of 8 to 32 bits or floats, not {dtype}")
        if len(shape) not in (2, 3) or shape[2:] == (1,) or 0 in shape:
            raise ValueError(f"pixels must be (H, W) or (H, W, C) with C > 1 and not empty, not {shape}")
        if self.alpha is not None and (self.alpha.shape != shape[:2] or self.alpha.dtype != dtype):
            raise ValueError("alpha must be (H, W) with the dtype of the pixels")
        object.__setattr__(self, "pixels", _read_only(self.pixels))
        if self.alpha is not None:
            object.__setattr__(self, "alpha", _read_only(self.alpha))

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.pixels.shape[1])

    @property
    def is_color(self) -> bool:
        """Whether the pixels have three channels."""
        return self.n_bands == 3

    @property
    def n_bands(self) -> int:
        """Number of channels, alpha aside."""
        return 1 if self.pixels.ndim == 2 else int(self.pixels.shape[2])

    @property
    def is_float(self) -> bool:
        """Whether the values are floating-point numbers."""
        return self.pixels.dtype.kind == "f"

    @property
    def is_plain(self) -> bool:
        """Whether it is one page, gray or RGB, of 8 or 16 bits or float32: what a screen can show."""
        return self.n_bands in (1, 3) and self.pixels.dtype in _PLAIN and not self.more_pages

    @property
    def pages(self) -> tuple[Picture, ...]:
        """All pages, this one first, none of them with further pages."""
        return (replace(self, more_pages=()), *self.more_pages) if self.more_pages else (self,)

    @property
    def depth(self) -> int:
        """Bits per channel."""
        return int(self.pixels.dtype.itemsize) * 8

    @property
    def max_value(self) -> float:
        """Value of white: 255, 65535, or 1.0 for float pictures."""
        return full_scale(self.pixels.dtype)

    @property
    def mode(self) -> str:
        """Layout as text, such as "8-bit color with transparency"."""
        has_alpha, pages = self.alpha is not None, len(self.more_pages) + 1
        mode = format_mode(self.pixels.dtype, n_bands=self.n_bands, has_alpha=has_alpha)
        return mode if pages == 1 else f"{pages} pages, the first {mode}"

    def with_pixels(self, pixels: Array, *, filled: npt.NDArray[np.bool_] | None = None) -> Picture:
        """Return the picture with new pixels and the same metadata.

        Where pixels were restored (`filled`), they become opaque; an alpha channel that is opaque everywhere
        is left out.
        """
        alpha = self.alpha
        if alpha is not None and filled is not None:
            anywhere = filled.any(axis=2) if filled.ndim == 3 else filled
            alpha = np.where(anywhere, alpha.dtype.type(self.max_value), alpha)
            alpha = None if bool((alpha >= self.max_value).all()) else alpha
        return replace(self, pixels=pixels, alpha=alpha)

    def with_notices(self, *notices: str) -> Picture:
        """Return the picture with more notices."""
        return replace(self, notices=self.notices + notices)

    def with_metadata(self, **changes: Any) -> Picture:
        """Return the picture with other metadata."""
        return replace(self, metadata=replace(self.metadata, **changes))

    def oriented(self, orientation: int) -> Picture:
        """Return the picture turned and mirrored as an EXIF orientation (1 to 8) asks."""
        if orientation == 1:
            return self
        alpha = None if self.alpha is None else _orient(self.alpha, orientation)
        dpi = self.metadata.dpi
        turned = replace(self, pixels=_orient(self.pixels, orientation), alpha=alpha)
        return turned.with_metadata(dpi=dpi[::-1]) if dpi and orientation in _SWAPS_SIDES else turned


def format_mode(dtype: npt.DTypeLike, *, n_bands: int, has_alpha: bool) -> str:
    """Return a layout as text, such as "8-bit color with transparency"."""
    resolved = np.dtype(dtype)
    kind = {"f": " float", "i": " signed"}.get(resolved.kind, "")
    colors = {1: "gray", 3: "color"}.get(n_bands, f"in {n_bands} bands")
    return f"{8 * resolved.itemsize}-bit{kind} {colors}{' with transparency' if has_alpha else ''}"


def picture_from_rgba(values: Array) -> Picture:
    """Return a picture from (H, W, 4) bytes; alpha is left out where everything is opaque.

    Gray pictures on the clipboard come as RGB; equal channels become one.
    """
    colors, alpha = np.ascontiguousarray(values[..., :3]), np.ascontiguousarray(values[..., 3])
    if bool((colors == colors[..., :1]).all()):
        colors = np.ascontiguousarray(colors[..., 0])
    return Picture(colors, alpha if bool((alpha < 255).any()) else None)


def full_scale(dtype: npt.DTypeLike) -> float:
    """Return the value of white for a dtype: its maximum for integers, 1.0 for floats."""
    resolved = np.dtype(dtype)
    return float(np.iinfo(resolved).max) if np.issubdtype(resolved, np.integer) else 1.0


def channel_axis(pixels: Array) -> int | None:
    """Return the axis of the channels for the library: the last one, if there are any."""
    return -1 if pixels.ndim == 3 else None


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _orient(array: Array, orientation: int) -> Array:
    """Apply an EXIF orientation: the tag says which edges the stored first row and column are."""
    if orientation in _SWAPS_SIDES:
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):  # the stored rows run upwards
        array = array[::-1]
    if orientation in (2, 3, 6, 7):  # the stored columns run leftwards
        array = array[:, ::-1]
    return np.ascontiguousarray(array)
