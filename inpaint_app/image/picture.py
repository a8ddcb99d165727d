"""A picture in memory, as read from a file and as written to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_DTYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32))
_SWAPS_SIDES = frozenset({5, 6, 7, 8})


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels with what belongs to them in the file.

    The arrays are made read-only. Colour values under alpha = 0 are those of the file: nothing is
    premultiplied.

    Attributes
    ----------
    pixels : ndarray, (H, W) or (H, W, 3), uint8, uint16 or float32
        Gray or RGB values. Integer values span 0 to `max_value`; float values are the file's own.
    alpha : ndarray or None, (H, W), dtype of `pixels`
        Opacity, 0 = transparent.
    exif : bytes or None
        EXIF block, starting with its TIFF header. Its orientation is 1: it has been applied.
    icc : bytes or None
        ICC colour profile that describes `pixels`.
    dpi : (float, float) or None
        Horizontal and vertical resolution in pixels per inch.
    source_format : str
        "PNG", "JPEG", "TIFF", "BMP", "WebP", "PNM" or "" if it was not read from a file.
    notices : tuple of str
        What reading changed or left out, for the user.
    """

    pixels: Array
    alpha: Array | None = None
    exif: bytes | None = None
    icc: bytes | None = None
    dpi: tuple[float, float] | None = None
    source_format: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check shapes and dtypes and make the arrays read-only."""
        shape, dtype = self.pixels.shape, self.pixels.dtype
        if dtype not in _DTYPES:
            raise ValueError(f"pixels must be uint8, uint16 or float32, not {dtype}")
        if len(shape) not in (2, 3) or shape[2:] not in ((), (3,)) or 0 in shape:
            raise ValueError(f"pixels must be (H, W) or (H, W, 3) and not empty, not {shape}")
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
        return self.pixels.ndim == 3

    @property
    def depth(self) -> int:
        """Bits per channel: 8, 16 or 32 (float)."""
        return int(self.pixels.dtype.itemsize) * 8

    @property
    def max_value(self) -> float:
        """Value of white: 255, 65535, or 1.0 for float pictures."""
        return full_scale(self.pixels.dtype)

    @property
    def mode(self) -> str:
        """Layout as text, such as "8-bit colour with transparency"."""
        return format_mode(self.depth, is_color=self.is_color, has_alpha=self.alpha is not None)

    def with_pixels(self, pixels: Array, *, filled: npt.NDArray[np.bool_] | None = None) -> Picture:
        """Return the picture with new pixels.

        Parameters
        ----------
        pixels : ndarray, same height and width
            The new pixels.
        filled : ndarray of bool, (H, W) or (H, W, C), optional
            Where pixels were restored: they become opaque. An alpha channel that is opaque
            everywhere is left out.

        Returns
        -------
        Picture
            With the same metadata.
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

    def oriented(self, orientation: int) -> Picture:
        """Return the picture turned and mirrored as an EXIF orientation (1 to 8) asks."""
        if orientation == 1:
            return self
        alpha = None if self.alpha is None else _orient(self.alpha, orientation)
        dpi = self.dpi[::-1] if self.dpi is not None and orientation in _SWAPS_SIDES else self.dpi
        return replace(self, pixels=_orient(self.pixels, orientation), alpha=alpha, dpi=dpi)


def format_mode(depth: int, *, is_color: bool, has_alpha: bool) -> str:
    """Return a layout as text, such as "8-bit colour with transparency"."""
    bits = "32-bit float" if depth == 32 else f"{depth}-bit"
    return f"{bits} {'colour' if is_color else 'gray'}{' with transparency' if has_alpha else ''}"


def picture_from_rgba(values: Array) -> Picture:
    """Return a picture from (H, W, 4) bytes; alpha is left out where everything is opaque.

    Gray pictures on the clipboard come as RGB; equal channels become one.
    """
    colours, alpha = np.ascontiguousarray(values[..., :3]), np.ascontiguousarray(values[..., 3])
    if bool((colours == colours[..., :1]).all()):
        colours = np.ascontiguousarray(colours[..., 0])
    return Picture(colours, alpha if bool((alpha < 255).any()) else None)


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
