"""Convert printing colors to RGB."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageCms

from inpaint_app.io.formats.shared.bands import row_bands
from inpaint_app.model.picture import Array, full_scale

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
