"""Samples of pictures: bands of rows, other depths, inks as RGB."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from PIL import Image, ImageCms

from inpaint_app.model.picture import Array, full_scale

#: Size of a band, about; at least one row.
BAND_BYTES = 4 * 1024**2


def row_bands(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Yield ranges of rows, each of about `BAND_BYTES`."""
    step = max(1, BAND_BYTES // max(row_bytes, 1))
    for top in range(0, n_rows, step):
        yield slice(top, min(top + step, n_rows))


def image_bands(image: Image.Image, mode: str | None = None) -> Iterator[tuple[slice, Array]]:
    """Yield rows of an image and their samples, (rows, W) or (rows, W, channels), perhaps in another mode."""
    width, height = image.size
    for rows in row_bands(height, 4 * width):
        band = image.crop((0, rows.start, width, rows.stop))
        yield rows, np.asarray(band if mode in (None, band.mode) else band.convert(mode))


def image_array(image: Image.Image) -> Array:
    """Return the samples of an image, (H, W) or (H, W, channels)."""
    whole: Array | None = None
    for rows, band in image_bands(image):
        if whole is None:
            whole = np.empty((image.height, *band.shape[1:]), band.dtype)
        whole[rows] = band
    assert whole is not None, "an image has rows"
    return whole


def pixels_and_alpha(image: Image.Image, mode: str) -> tuple[Array, Array | None]:
    """Return the pixels of an image after conversion to "L", "LA", "RGB" or "RGBA", and its alpha if any."""
    shape, n_bands = (image.height, image.width), {"L": 1, "LA": 1, "RGB": 3, "RGBA": 3}[mode]
    pixels = np.empty(shape if n_bands == 1 else (*shape, n_bands), np.uint8)
    alpha = np.empty(shape, np.uint8) if mode.endswith("A") else None
    for rows, band in image_bands(image, mode):
        if alpha is None:
            pixels[rows] = band
        else:
            pixels[rows], alpha[rows] = band[..., 0] if n_bands == 1 else band[..., :3], band[..., -1]
    return pixels, alpha


def stretch(values: Array, white: int, *, bits: int | None = None) -> Array:
    """Map integers 0..white to the full range of 8 or 16 bits (8 if white fits), rounding to nearest."""
    bits = bits or (8 if white <= 255 else 16)
    top, dtype = 2**bits - 1, np.dtype(f"u{bits // 8}")
    if white == top:
        return values.astype(dtype, copy=False)
    table = ((np.arange(white + 1, dtype=np.uint64) * top + white // 2) // white).astype(dtype)
    stretched: Array = table[values]
    return stretched


def to_depth(values: Array, bits: int) -> Array:
    """Return samples of a picture with 8 or 16 bits; float values must lie between 0 and 1."""
    if values.dtype.kind == "u":
        return stretch(values, int(np.iinfo(values.dtype).max), bits=bits)
    return np.rint(values * np.float32(2**bits - 1)).astype(f"u{bits // 8}")


_BY_PROFILE = "CMYK was converted to sRGB by the file's color profile."
_PLAINLY = "CMYK was converted to RGB without a color profile; colors may differ from print."


def cmyk_to_rgb(inks: Array, icc: bytes | None) -> tuple[Array, str]:
    """Return RGB for ink amounts, and a notice about the conversion.

    Inks are (H, W, 4), uint8 or uint16: cyan, magenta, yellow, black; the full scale is full ink. Their color
    profile is used for 8 bits.
    """
    convert, notice = _converter(inks.dtype, icc)
    rgb = np.empty((*inks.shape[:2], 3), inks.dtype)
    for rows in row_bands(inks.shape[0], inks[:1].nbytes):
        rgb[rows] = convert(inks[rows])
    return rgb, notice


def _converter(dtype: np.dtype[Any], icc: bytes | None) -> tuple[Callable[[Array], Array], str]:
    """Return what converts rows of inks, and the notice about it."""
    if icc is not None and dtype == np.uint8:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
            transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), "CMYK", "RGB")
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            return _convert_plainly, _PLAINLY  # a damaged profile, or one for other colors
        return lambda inks: _convert_by_profile(inks, transform), _BY_PROFILE
    return _convert_plainly, _PLAINLY


def _convert_by_profile(inks: Array, transform: ImageCms.ImageCmsTransform) -> Array:
    converted = ImageCms.applyTransform(Image.fromarray(inks, "CMYK"), transform)
    assert converted is not None, "it was not asked to work in place"
    return np.asarray(converted)


def _convert_plainly(inks: Array) -> Array:
    top = int(full_scale(inks.dtype))
    light = (top - inks[..., 3:]).astype(np.uint32)
    rgb: Array = ((top - inks[..., :3]) * light + top // 2) // top
    return rgb.astype(inks.dtype)
