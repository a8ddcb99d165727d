"""What the samples of a TIFF page mean: gray or RGB pixels and alpha, in 8 bits, 16 bits or float32."""

from dataclasses import dataclass

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.bands import row_bands
from inpaint_app.files.formats.shared.cmyk import cmyk_to_rgb
from inpaint_app.files.formats.shared.ifd import Directory
from inpaint_app.files.formats.shared.scaling import stretch
from inpaint_app.files.formats.tiff.layout import (
    CMYK,
    JPEG,
    MIN_IS_BLACK,
    MIN_IS_WHITE,
    PALETTE,
    RGB,
    YCBCR,
    Layout,
)
from inpaint_app.files.formats.tiff.segments import decode_pieces
from inpaint_app.image.picture import Array, full_scale

_NAMES = {4: "a mask", 6: "YCbCr", 8: "CIE Lab", 9: "ICC Lab", 10: "ITU Lab", 32844: "LogL", 32845: "LogLuv"}
_STORED = {MIN_IS_WHITE: 1, MIN_IS_BLACK: 1, RGB: 3, PALETTE: 1, CMYK: 4}
_PREMULTIPLIED, _STRAIGHT = 1, 2
_EXACT = 2**24
"""Whole numbers up to this are exact in float32."""


@dataclass(frozen=True)
class Channels:
    """Which samples of a pixel are used.

    Attributes
    ----------
    n_stored : int
        How many of the first samples hold the colour: 1 (gray or a place in the palette), 3, or 4 inks.
    alpha : int or None
        1 if the last sample is an alpha that the colours are multiplied with, 2 if it is a plain one.
    notices : tuple of str
        What is left out or taken for something else.
    """

    n_stored: int
    alpha: int | None
    notices: tuple[str, ...]


def read_channels(layout: Layout) -> Channels:
    """Return which samples are used.

    Raises
    ------
    UnsupportedError
        If they are no gray or RGB picture.
    """
    n_stored, extra = _stored_channels(layout), layout.extra
    n_extra, notices = layout.samples - n_stored, []
    is_gray = layout.photometric in (MIN_IS_WHITE, MIN_IS_BLACK)
    if is_gray and n_extra >= 2 and not {_PREMULTIPLIED, _STRAIGHT} & set((extra or ())[:2]):
        notices.append("Three gray channels were read as red, green and blue.")
        n_stored, n_extra, extra = 3, n_extra - 2, None if extra is None else extra[2:]
    if not 0 <= n_extra <= 1:
        raise UnsupportedError(f"it has {layout.samples} channels", "save it as gray or RGB first")
    meaning = _STRAIGHT if extra is None else (*extra, 0)[0]
    if n_extra and meaning not in (_PREMULTIPLIED, _STRAIGHT):
        notices.append("An extra channel that is not marked as alpha was left out.")
        n_extra = 0
    return Channels(n_stored, meaning if n_extra else None, tuple(notices))


def _stored_channels(layout: Layout) -> int:
    """Return how many samples hold the colour."""
    if layout.photometric == CMYK and (layout.kind != "u" or layout.bits not in (8, 16)):
        raise UnsupportedError("it is CMYK of an unusual depth", "save it as RGB first")
    if (layout.photometric, layout.compression) == (YCBCR, JPEG):
        return 3
    if layout.photometric in _STORED:
        return _STORED[layout.photometric]
    name = _NAMES.get(layout.photometric, f"type {layout.photometric}")
    raise UnsupportedError(f"its colours ({name}) are not read here", "save it as gray or RGB first")


def read_samples(
    directory: Directory, layout: Layout, channels: Channels, icc: bytes | None
) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Return pixels, alpha, and notices about what was converted."""
    dtype, notices = _accepted_type(layout)
    is_converted = layout.photometric in (PALETTE, CMYK)
    table = _palette(directory, layout) if layout.photometric == PALETTE else None
    page = np.empty((layout.height, layout.width, channels.n_stored), layout.dtype if is_converted else dtype)
    alpha = None if channels.alpha is None else np.empty((layout.height, layout.width), dtype)
    for piece in decode_pieces(directory, layout):
        n_here = piece.samples.shape[2]
        last = min(piece.plane + n_here, channels.n_stored)
        if piece.plane < last:
            colors = piece.samples[..., : last - piece.plane]
            piece.put(colors if is_converted else _color(colors, layout), page[..., piece.plane : last])
        if alpha is not None and piece.plane + n_here == layout.samples:
            piece.put(_accept(piece.samples[..., -1:], layout), alpha[..., np.newaxis])
    if layout.photometric == CMYK:
        page, notice = cmyk_to_rgb(page, icc)
        notices = (notice,)
    elif table is not None:
        page, notices = _look_up(page[..., 0], table), ("The palette was converted to RGB.",)
    pixels = page[..., 0] if page.shape[2] == 1 else page
    if alpha is not None and channels.alpha == _PREMULTIPLIED:
        _unmultiply(pixels, alpha)
    return pixels, alpha, notices


def _accepted_type(layout: Layout) -> tuple[np.dtype[np.generic], tuple[str, ...]]:
    """Return the dtype that the picture will have, with a notice where that is not the file's own."""
    bits, kind = layout.bits, layout.kind
    if kind == "u" and bits <= 16:
        dtype = np.dtype(np.uint8 if bits <= 8 else np.uint16)
        if bits not in (8, 16):
            return dtype, (f"The {bits}-bit values were stretched to {8 * dtype.itemsize} bits.",)
        return dtype, ("16 bits per channel are kept.",) if bits == 16 else ()
    if kind in "ui":
        sign = "signed" if kind == "i" else "unsigned"
        notice = f"The {bits}-bit {sign} values are kept exactly, as float32."
        return np.dtype(np.float32), (notice,)
    return np.dtype(np.float32), ("The float64 values were rounded to float32.",) if bits == 64 else ()


def _accept(samples: Array, layout: Layout) -> Array:
    """Return samples as uint8, uint16 or float32."""
    if layout.kind == "u" and layout.bits <= 16:
        return stretch(samples, 2**layout.bits - 1)
    if layout.kind in "ui" and (int(samples.max()) > _EXACT or int(samples.min()) < -_EXACT):
        raise UnsupportedError(
            f"it has whole numbers beyond {_EXACT} that float32 cannot hold", "scale it to 16 bits first"
        )
    with np.errstate(over="ignore"):
        narrow = samples.astype(np.float32, copy=False)
    if layout.bits == 64 and bool((np.isinf(narrow) & np.isfinite(samples)).any()):
        raise UnsupportedError("it has numbers that float32 cannot hold", "scale it first")
    return narrow


def _color(samples: Array, layout: Layout) -> Array:
    """Return gray or RGB samples, bright where they are large."""
    values = _accept(samples, layout)
    if layout.photometric == MIN_IS_WHITE and values.dtype.kind == "u":
        return np.iinfo(values.dtype).max - values
    return values


def _palette(directory: Directory, layout: Layout) -> Array:
    """Return the colours of the palette, (n, 3), uint8."""
    colors = directory.integers(tags.COLOR_MAP)
    if layout.bits > 8 or layout.kind != "u" or len(colors) != 3 * 2**layout.bits:
        raise DamagedError("its palette is wrong")
    table = np.array(colors, dtype=np.uint16).reshape(3, -1).T
    shift = 8 if table.max() > 255 else 0  # some programs store 8-bit colours
    return (table >> shift).astype(np.uint8)


def _look_up(indices: Array, table: Array) -> Array:
    rgb = np.empty((*indices.shape, 3), np.uint8)
    for rows in row_bands(indices.shape[0], 3 * indices.shape[1]):
        rgb[rows] = table[indices[rows]]
    return rgb


def _unmultiply(pixels: Array, alpha: Array) -> None:
    """Divide colours by alpha, the file having them multiplied; values under alpha = 0 stay as stored."""
    top = full_scale(alpha.dtype)
    for rows in row_bands(alpha.shape[0], 8 * pixels[:1].size):
        partly = (alpha[rows] > 0) & (alpha[rows] < top)
        if not bool(partly.any()):
            continue
        factor = top / alpha[rows][partly].astype(np.float64)
        values = pixels[rows][partly] * (factor[:, np.newaxis] if pixels.ndim == 3 else factor)
        pixels[rows][partly] = np.minimum(np.rint(values), top) if pixels.dtype.kind == "u" else values
