"""Arrays as pictures: what their axes are, and which numbers they hold."""

import math
from typing import Any

import numpy as np

from inpaint_app.errors import TooLargeError, UnsupportedError
from inpaint_app.io.format import MAX_FILE_BYTES, check_size, check_total
from inpaint_app.model.picture import Array, Metadata, Picture, StoredArray

_MAX_CHANNELS = 4096
_MAX_PAGES = 10_000
#: A last axis of at most this length always holds channels.
_SURE_CHANNELS = 4
_OTHERS = {"O": "Python objects", "V": "records", "c": "complex numbers", "S": "text", "U": "text"}


def has_channels(shape: tuple[int, ...]) -> bool:
    """Return whether the last axis of an array holds channels rather than columns.

    It does if it has at most four values, or fewer than each of the two axes before it.
    """
    return len(shape) > 2 and (shape[-1] <= _SURE_CHANNELS or shape[-1] < min(shape[-3:-1]))


def check_array(shape: tuple[int, ...], dtype: np.dtype[np.generic], *, channels: bool) -> None:
    """Refuse, from its header alone, an array that is no picture, with or without channels, or too large."""
    if dtype.kind not in "buif" or dtype.itemsize > 8:
        kind = _OTHERS.get(dtype.kind, f"values of the type {dtype}")
        raise UnsupportedError(f"it holds {kind}", "give an array of whole numbers or floats")
    if len(shape) < 2 + channels:
        axes = f"{len(shape)} axis" if len(shape) == 1 else f"{len(shape)} axes"
        raise UnsupportedError(f"it holds an array with {axes}", "give one with rows and columns")
    *stack, height, width = shape[:-1] if channels else shape
    check_size(width, height)
    n_pages, n_channels = math.prod(stack), shape[-1] if channels else 1
    if not 1 <= n_pages <= _MAX_PAGES or not 1 <= n_channels <= _MAX_CHANNELS:
        raise UnsupportedError(
            f"its array of shape {shape} has {n_pages:,} pages of {n_channels:,} channels",
            f"give one with 1 to {_MAX_PAGES:,} pages of 1 to {_MAX_CHANNELS:,} channels",
        )
    check_total(n_pages * height * width)
    if math.prod(shape) * accepted_dtype(dtype).itemsize > MAX_FILE_BYTES:
        raise TooLargeError("its pixels need more than 4 GB", "crop it or scale it down first")


def picture_of_array(values: Array, name: str, *, channels: bool, alpha: Array | None = None) -> Picture:
    """Return the pages of an array that `check_array` has let pass, read from a format of this name.

    All axes before rows, columns and perhaps channels count pages. Alpha is opacity from 0 to 1, in the shape
    of the values without the channels.
    """
    accepted = accepted_dtype(values.dtype)
    n_page_axes = 3 if channels else 2
    stack = values.reshape(-1, *values.shape[-n_page_axes:])
    if channels and stack.shape[-1] == 1:
        stack = stack[..., 0]
    opacity = None if alpha is None else alpha.reshape(-1, *stack.shape[1:3])
    pages = [
        _page(page, accepted, None if opacity is None else opacity[number])
        for number, page in enumerate(stack)
    ]
    first = pages[0]
    return Picture(
        first.pixels,
        first.alpha,
        Metadata(source_format=name, array=StoredArray(values.shape, values.dtype.newbyteorder("="))),
        notices=_notices(values, accepted, first, len(pages)),
        more_pages=tuple(pages[1:]),
    )


def _page(values: Array, dtype: np.dtype[np.generic], alpha: Array | None) -> Picture:
    pixels = np.ascontiguousarray(to_accepted(values))
    if values.dtype.kind == "b":
        pixels = pixels * np.uint8(255)
    white = np.iinfo(dtype).max if dtype.kind in "ui" else 1  # type: ignore[type-var]
    opacity: Array | None = None
    if alpha is not None and alpha.dtype == np.bool_:
        opacity = alpha.astype(dtype) * dtype.type(white)
    elif alpha is not None:
        opacity = (np.asarray(alpha, np.float64) * white).round(9).astype(dtype)
    return Picture(pixels, opacity)


def to_accepted(values: Array) -> Array:
    """Return values with the dtype that a picture has for them.

    Raises `UnsupportedError` if float64 cannot hold 64-bit integers exactly.
    """
    dtype = accepted_dtype(values.dtype)
    is_long = values.dtype.kind in "ui" and values.dtype.itemsize == 8
    if is_long and (int(values.max()) > 2**53 or int(values.min()) < -(2**53)):
        raise UnsupportedError(
            "it has whole numbers beyond 2^53 that float64 cannot hold", "scale it to 32 bits first"
        )
    return values.astype(dtype, copy=False)


def accepted_dtype(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return the dtype that a picture has for values of some dtype: 64-bit integers become float64."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind in "ui" and dtype.itemsize == 8:
        return np.dtype(np.float64)
    return np.dtype(np.float32) if dtype == np.float16 else dtype.newbyteorder("=")


def _notices(values: Array, accepted: np.dtype[np.generic], first: Picture, n_pages: int) -> tuple[str, ...]:
    notices = []
    if n_pages > 1 or first.n_bands not in (1, 3):
        parts = f"{first.width} x {first.height} pixels"
        bands = "" if first.n_bands == 1 else f" in {first.n_bands} bands"
        pages = "" if n_pages == 1 else f"{n_pages} pages of "
        notices.append(f"The array of shape {values.shape} was read as {pages}{parts}{bands}.")
    if values.dtype.kind == "b":
        notices.append("True and False were read as 255 and 0.")
    elif accepted != values.dtype.newbyteorder("="):
        notices.append(f"The {values.dtype.name} values are kept exactly, as {accepted.name}.")
    return tuple(notices)


def array_of_picture(picture: Picture) -> Array:
    """Return all pages as one array, with the shape and dtype of the file it was read from if possible."""
    pages = [page.pixels for page in picture.pages]
    whole = pages[0] if len(pages) == 1 else np.stack(pages)
    stored = picture.metadata.array
    if stored is None:
        return whole
    if math.prod(stored.shape) == whole.size:
        whole = whole.reshape(stored.shape)
    if whole.dtype == stored.dtype or accepted_dtype(stored.dtype) != whole.dtype:
        return whole
    if stored.dtype.kind == "b":
        return np.asarray(whole >= 128)
    limits: Any = np.finfo(stored.dtype) if stored.dtype.kind == "f" else np.iinfo(stored.dtype)
    rounded = whole if stored.dtype.kind == "f" else np.rint(whole)
    return np.clip(rounded, limits.min, limits.max).astype(stored.dtype)  # restored values may go beyond
