"""Read TIFF and BigTIFF: gray, RGB, palette and CMYK, any common sample type."""

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.cmyk import cmyk_to_rgb
from inpaint_app.files.formats.shared.exif import exif_of_tiff
from inpaint_app.files.formats.shared.ifd import Directory, read_directory, read_header
from inpaint_app.files.formats.shared.scaling import stretch
from inpaint_app.files.formats.tiff.layout import (
    CMYK,
    FAX,
    JPEG,
    MIN_IS_BLACK,
    MIN_IS_WHITE,
    PALETTE,
    RGB,
    YCBCR,
    Layout,
    read_layout,
)
from inpaint_app.files.formats.tiff.segments import decode_segments, decode_whole
from inpaint_app.files.limits import MAX_PROFILE_BYTES
from inpaint_app.image.picture import Array, Picture, full_scale

_NAMES = {4: "a mask", 6: "YCbCr", 8: "CIE Lab", 9: "ICC Lab", 10: "ITU Lab", 32844: "LogL", 32845: "LogLuv"}
_EXACT = 2**24
"""Whole numbers up to this are exact in float32."""


def decode_tiff(data: bytes) -> Picture:
    """Return the first page of a TIFF file.

    Integers of 8 and 16 bits and float32 stay as they are. Odd depths are stretched to 8 or 16 bits; signed
    and longer integers become float32 if that holds them exactly; float16 and float64 become float32.
    Min-is-white is inverted, palettes and CMYK become RGB. The value that GDAL notes as "no data" becomes
    NaN in float pictures and transparent in others.

    Raises
    ------
    DamagedError, UnsupportedError
        If the file is not whole, too large, or of a kind not read here.
    """
    header = read_header(data)
    directory = read_directory(data, header, header.first)
    layout = read_layout(directory)
    whole = layout.compression in (JPEG, *FAX)
    samples = decode_whole(directory, layout) if whole else decode_segments(data, layout)
    notices: list[str] = []
    icc = directory.raw(tags.ICC)[:MAX_PROFILE_BYTES] or None
    if layout.photometric == CMYK:
        samples, icc = _from_cmyk(samples, layout, icc, notices), None
    elif layout.photometric == PALETTE:
        samples = _from_palette(samples, layout, directory, notices)
    else:
        samples = _to_accepted(samples, layout, notices)
    pixels, alpha = _split(samples, layout, notices)
    pixels, alpha = _mark_no_data(pixels, alpha, directory.text(tags.NO_DATA), notices)
    if directory.next_offset:
        notices.append("The file has more than one page: the first was used.")
    return Picture(
        pixels,
        alpha,
        exif=exif_of_tiff(header, directory),
        icc=icc,
        dpi=_resolution(directory),
        source_format="TIFF",
        notices=tuple(notices),
    )


def _from_cmyk(samples: Array, layout: Layout, icc: bytes | None, notices: list[str]) -> Array:
    if layout.kind != "u" or layout.bits not in (8, 16) or layout.samples < 4:
        raise UnsupportedError("it is CMYK of an unusual depth", "save it as RGB first")
    rgb, notice = cmyk_to_rgb(np.ascontiguousarray(samples[..., :4]), icc)
    notices.append(notice)
    return np.concatenate((rgb, samples[..., 4:]), axis=2) if layout.samples > 4 else rgb


def _from_palette(samples: Array, layout: Layout, directory: Directory, notices: list[str]) -> Array:
    colors = directory.integers(tags.COLOR_MAP)
    if layout.bits > 8 or layout.kind != "u" or len(colors) != 3 * 2**layout.bits:
        raise DamagedError("its palette is wrong")
    table = np.array(colors, dtype=np.uint16).reshape(3, -1).T
    shift = 8 if table.max() > 255 else 0  # some programs store 8-bit colours
    notices.append("The palette was converted to RGB.")
    rgb = (table >> shift).astype(np.uint8)[samples[..., 0]]
    return np.concatenate((rgb, samples[..., 1:]), axis=2) if layout.samples > 1 else rgb


def _to_accepted(samples: Array, layout: Layout, notices: list[str]) -> Array:
    """Return the samples as uint8, uint16 or float32, with a notice where they changed."""
    if layout.kind == "u" and layout.bits <= 16:
        white = 2**layout.bits - 1
        if layout.photometric == MIN_IS_WHITE:
            samples = white - samples
        if layout.bits not in (8, 16):
            notices.append(f"The {layout.bits}-bit values were stretched to {8 if white < 255 else 16} bits.")
        elif layout.bits == 16:
            notices.append("16 bits per channel are kept.")
        return stretch(samples, white)
    if samples.dtype == np.float32:
        return samples
    if layout.kind in "ui":
        if int(samples.max()) > _EXACT or int(samples.min()) < -_EXACT:
            raise UnsupportedError(
                f"it has whole numbers beyond {_EXACT} that float32 cannot hold", "scale it to 16 bits first"
            )
        sign = "signed" if layout.kind == "i" else "unsigned"
        notices.append(f"The {layout.bits}-bit {sign} values are kept exactly, as float32.")
        return samples.astype(np.float32)
    with np.errstate(over="ignore"):
        narrow = samples.astype(np.float32)
    if layout.bits == 64:
        if bool((np.isinf(narrow) & np.isfinite(samples)).any()):
            raise UnsupportedError("it has numbers that float32 cannot hold", "scale it first")
        notices.append("The float64 values were rounded to float32.")
    return narrow


def _split(samples: Array, layout: Layout, notices: list[str]) -> tuple[Array, Array | None]:
    """Return pixels and alpha; other extra channels are left out."""
    n_color, extra = _color_channels(layout), layout.extra
    n_extra = samples.shape[2] - n_color
    if n_color == 1 and n_extra >= 2 and not {1, 2} & set((extra or ())[:2]):
        notices.append("Three gray channels were read as red, green and blue.")
        n_color, n_extra, extra = 3, n_extra - 2, None if extra is None else extra[2:]
    if n_extra < 0 or n_extra > 1:
        raise UnsupportedError(f"it has {samples.shape[2]} channels", "save it as gray or RGB first")
    pixels = np.ascontiguousarray(samples[..., 0] if n_color == 1 else samples[..., :3])
    if n_extra == 0:
        return pixels, None
    meaning = 2 if extra is None else (*extra, 0)[0]
    if meaning not in (1, 2):
        notices.append("An extra channel that is not marked as alpha was left out.")
        return pixels, None
    alpha = np.ascontiguousarray(samples[..., -1])
    return (_unmultiply(pixels, alpha) if meaning == 1 else pixels), alpha


def _color_channels(layout: Layout) -> int:
    """Return the number of channels that are colour: 1 or 3."""
    if layout.photometric in (MIN_IS_WHITE, MIN_IS_BLACK):
        return 1
    if layout.photometric in (RGB, PALETTE, CMYK) or (layout.photometric, layout.compression) == (
        YCBCR,
        JPEG,
    ):
        return 3
    name = _NAMES.get(layout.photometric, f"type {layout.photometric}")
    raise UnsupportedError(f"its colours ({name}) are not read here", "save it as gray or RGB first")


def _unmultiply(pixels: Array, alpha: Array) -> Array:
    """Divide colours by alpha, the file having them multiplied; values under alpha = 0 stay as stored."""
    top = full_scale(alpha.dtype)
    partly = (alpha > 0) & (alpha < top)
    if not bool(partly.any()):
        return pixels
    changed = pixels.copy()
    factor = top / alpha[partly].astype(np.float64)
    values = changed[partly] * (factor[:, np.newaxis] if pixels.ndim == 3 else factor)
    changed[partly] = np.minimum(np.rint(values), top) if pixels.dtype.kind == "u" else values
    return changed


def _mark_no_data(
    pixels: Array, alpha: Array | None, text: str, notices: list[str]
) -> tuple[Array, Array | None]:
    """Mark pixels that have the file's "no data" value as missing."""
    try:
        value = float(text)
    except ValueError:
        return pixels, alpha
    if pixels.dtype.kind == "f":
        marked: npt.NDArray[np.bool_] = pixels == np.float32(value)
        pixels = np.where(marked, np.float32(np.nan), pixels)
    else:
        marked = (pixels == value).all(axis=2) if pixels.ndim == 3 else pixels == value
        if alpha is not None or not bool(marked.any()):
            return pixels, alpha
        alpha = np.where(marked, pixels.dtype.type(0), pixels.dtype.type(full_scale(pixels.dtype)))
    if bool(marked.any()):
        notices.append(f'Pixels with the file\'s "no data" value {text} count as missing.')
    return pixels, alpha


def _resolution(directory: Directory) -> tuple[float, float] | None:
    factor = {2: 1.0, 3: 2.54}.get(directory.integer(tags.RESOLUTION_UNIT, 2))
    across, down = directory.rational(tags.X_RESOLUTION), directory.rational(tags.Y_RESOLUTION)
    return None if factor is None or not across or not down else (across * factor, down * factor)
