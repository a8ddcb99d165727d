"""Convert printing colours to RGB."""

import io

import numpy as np
from PIL import Image, ImageCms

from inpaint_app.image.picture import Array, full_scale

_BY_PROFILE = "CMYK was converted to sRGB by the file's colour profile."
_PLAINLY = "CMYK was converted to RGB without a colour profile; colours may differ from print."


def cmyk_to_rgb(inks: Array, icc: bytes | None) -> tuple[Array, str]:
    """Return RGB for ink amounts, and a notice that says how.

    Parameters
    ----------
    inks : ndarray, (H, W, 4), uint8 or uint16
        Cyan, magenta, yellow, black; the full scale is full ink.
    icc : bytes or None
        The colour profile of the inks. It is used for 8-bit inks.
    """
    if icc is not None and inks.dtype == np.uint8:
        converted = _convert_by_profile(inks, icc)
        if converted is not None:
            return converted, _BY_PROFILE
    top = int(full_scale(inks.dtype))
    rgb = np.empty((*inks.shape[:2], 3), inks.dtype)
    light = (top - inks[..., 3]).astype(np.uint32)
    for channel in range(3):
        rgb[..., channel] = ((top - inks[..., channel]) * light + top // 2) // top
    return rgb, _PLAINLY


def _convert_by_profile(inks: Array, icc: bytes) -> Array | None:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        image = Image.fromarray(inks, "CMYK")
        converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None  # a damaged profile, or one for other colours
    return None if converted is None else np.asarray(converted)
