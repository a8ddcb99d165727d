"""What the samples of a TIFF page mean: gray, RGB or bands, and alpha where the file declares one."""

from typing import NamedTuple

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.arrays.conversion import accepted_dtype, to_accepted
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.bands import row_bands
from inpaint_app.io.formats.shared.cmyk import cmyk_to_rgb
from inpaint_app.io.formats.shared.scaling import stretch
from inpaint_app.io.formats.tiff.layout import (
    CMYK,
    JPEG,
    MIN_IS_BLACK,
    MIN_IS_WHITE,
    PALETTE,
    RGB,
    YCBCR,
    Layout,
)
from inpaint_app.io.formats.tiff.segments import decode_pieces
from inpaint_app.model.picture import Array, full_scale

_NAMES = {4: "a mask", 6: "YCbCr", 8: "CIE Lab", 9: "ICC Lab", 10: "ITU Lab", 32844: "LogL", 32845: "LogLuv"}
_STORED = {MIN_IS_WHITE: 1, MIN_IS_BLACK: 1, RGB: 3, PALETTE: 1, CMYK: 4}
_PREMULTIPLIED, _STRAIGHT = 1, 2


class Channels(NamedTuple):
    """Which samples of a pixel are used, and notices about the others.

    `bands` hold the color (a place in the palette, 4 inks) or other bands; `alpha` is declared to be that,
    and the colors may be multiplied with it.
    """

    bands: tuple[int, ...]
    alpha: int | None
    is_premultiplied: bool
    notices: tuple[str, ...]


def read_channels(layout: Layout) -> Channels:
    """Return which samples are used; raises `UnsupportedError` if the colors are not known here."""
    n_stored, extra = _stored_channels(layout), layout.extra
    if n_stored > layout.samples:
        raise DamagedError(f"it has {layout.samples} channels where its colors need {n_stored}")
    others = range(n_stored, layout.samples)
    meanings = dict(zip(others, (*extra, *[0] * len(others)), strict=False))
    alpha = next((at for at in others if meanings[at] in (_PREMULTIPLIED, _STRAIGHT)), None)
    more, notices = tuple(at for at in others if at != alpha), []
    if more and layout.photometric in (PALETTE, CMYK):
        notices.append("Channels other than the colors were left out.")
        more = ()
    is_gray = layout.photometric in (MIN_IS_WHITE, MIN_IS_BLACK)
    if is_gray and n_stored + len(more) == 3:
        notices.append("Three gray channels were read as red, green and blue.")
    is_premultiplied = alpha is not None and meanings[alpha] == _PREMULTIPLIED
    return Channels((*range(n_stored), *more), alpha, is_premultiplied, tuple(notices))


def _stored_channels(layout: Layout) -> int:
    """Return how many samples hold the color."""
    if layout.photometric == CMYK and (layout.kind != "u" or layout.bits not in (8, 16)):
        raise UnsupportedError("it is CMYK of an unusual depth", "save it as RGB first")
    if (layout.photometric, layout.compression) == (YCBCR, JPEG):
        return 3
    if layout.photometric in _STORED:
        return _STORED[layout.photometric]
    name = _NAMES.get(layout.photometric, f"type {layout.photometric}")
    raise UnsupportedError(f"its colors ({name}) are not supported", "save it as gray or RGB first")


def read_samples(
    data: bytes, layout: Layout, channels: Channels, icc: bytes | None
) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Return pixels, alpha, and notices about what was converted."""
    dtype, notices = _accepted_type(layout)
    is_converted = layout.photometric in (PALETTE, CMYK)
    table = _palette(layout) if layout.photometric == PALETTE else None
    shape = (layout.height, layout.width)
    pixels = np.empty((*shape, len(channels.bands)), layout.dtype if is_converted else dtype)
    alpha = None if channels.alpha is None else np.empty(shape, dtype)
    for piece in decode_pieces(data, layout):
        n_here = piece.samples.shape[2]
        here = [(to, at) for to, at in enumerate(channels.bands) if piece.plane <= at < piece.plane + n_here]
        if here:
            first, last = here[0][0], here[-1][0] + 1
            bands = piece.samples[..., [at - piece.plane for _, at in here]]
            piece.put(bands if is_converted else _color(bands, layout), pixels[..., first:last])
        if alpha is not None and piece.plane <= (channels.alpha or 0) < piece.plane + n_here:
            at = (channels.alpha or 0) - piece.plane
            piece.put(_accept(piece.samples[..., at : at + 1], layout), alpha[..., np.newaxis])
    if layout.photometric == CMYK:
        pixels, notice = cmyk_to_rgb(pixels, icc)
        notices = (notice,)
    elif table is not None:
        pixels, notices = _look_up(pixels[..., 0], table), ("The palette was converted to RGB.",)
    pixels = pixels[..., 0] if pixels.shape[2] == 1 else pixels
    if alpha is not None and channels.is_premultiplied:
        unmultiply(pixels, alpha)
    return pixels, alpha, notices


def are_values_kept(layout: Layout) -> bool:
    """Return whether pixels have the values of the file, so that its "no data" means the same of them."""
    is_stretched = layout.kind == "u" and layout.bits < 16 and layout.bits != 8
    is_inverted = layout.kind == "u" and layout.photometric == MIN_IS_WHITE
    return not (is_stretched or is_inverted or layout.photometric in (PALETTE, CMYK))


def _accepted_type(layout: Layout) -> tuple[np.dtype[np.generic], tuple[str, ...]]:
    """Return the dtype that the picture will have, with a notice where that is not the file's own."""
    bits, kind = layout.bits, layout.kind
    if kind == "u" and bits <= 16:
        dtype = np.dtype(np.uint8 if bits <= 8 else np.uint16)
        if bits not in (8, 16):
            return dtype, (f"The {bits}-bit values were stretched to {8 * dtype.itemsize} bits.",)
        return dtype, ("The picture has 16 bits per channel.",) if bits == 16 else ()
    if bits == (16 if kind == "f" else 64):
        name = "float16 values" if kind == "f" else "64-bit integers"
        dtype = accepted_dtype(layout.dtype)
        return dtype, (f"The {name} are kept exactly, as {dtype.name}.",)
    return accepted_dtype(layout.dtype), ()


def _accept(samples: Array, layout: Layout) -> Array:
    """Return samples in the accepted dtype."""
    if layout.kind == "u" and layout.bits <= 16:
        return stretch(samples, 2**layout.bits - 1)
    return to_accepted(samples)


def _color(samples: Array, layout: Layout) -> Array:
    """Return gray or RGB samples, bright where they are large."""
    values = _accept(samples, layout)
    if layout.photometric == MIN_IS_WHITE and values.dtype.kind == "u":
        return np.iinfo(values.dtype).max - values
    return values


def _palette(layout: Layout) -> Array:
    """Return the colors of the palette, (n, 3), uint8."""
    tag = layout.page.tags.get(tags.COLOR_MAP)
    colors = np.ravel(() if tag is None else tag.value)
    if layout.bits > 8 or layout.kind != "u" or len(colors) != 3 * 2**layout.bits:
        raise DamagedError("its palette is wrong")
    table = colors.astype(np.uint16).reshape(3, -1).T
    shift = 8 if table.max() > 255 else 0  # some programs store 8-bit colors
    return (table >> shift).astype(np.uint8)


def _look_up(indices: Array, table: Array) -> Array:
    rgb = np.empty((*indices.shape, 3), np.uint8)
    for rows in row_bands(indices.shape[0], 3 * indices.shape[1]):
        rgb[rows] = table[indices[rows]]
    return rgb


def unmultiply(pixels: Array, alpha: Array) -> None:
    """Divide colors by alpha, the file having them multiplied; values under alpha = 0 stay as stored."""
    top = full_scale(alpha.dtype)
    for rows in row_bands(alpha.shape[0], 8 * pixels[:1].size):
        partly = (alpha[rows] > 0) & (alpha[rows] < top)
        if not bool(partly.any()):
            continue
        factor = top / alpha[rows][partly].astype(np.float64)
        values = pixels[rows][partly] * (factor[:, np.newaxis] if pixels.ndim == 3 else factor)
        pixels[rows][partly] = np.minimum(np.rint(values), top) if pixels.dtype.kind == "u" else values
