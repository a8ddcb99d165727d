"""Colors of a picture as the screen shows them; results keep their own."""

import io
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColorSpace, QImage

Bytes = npt.NDArray[np.uint8]


def screen_converter(
    icc: bytes | None, screen: bytes | None = None, *, is_color: bool
) -> Callable[[Bytes], Bytes]:
    """Return what converts rows of 8-bit values from a color profile to that of the screen.

    A profile that is None, or cannot be used, is taken for sRGB.

    Parameters
    ----------
    icc, screen : bytes or None
        The profiles of the values and of the screen.
    is_color : bool
        Whether the values are RGB (H, W, 3), or gray (H, W). Gray may become RGB.
    """
    if is_color:
        return _rgb_converter(icc, screen)
    if icc is None and screen is None:
        return _unchanged
    shades = _srgb_shades(icc)
    if screen is not None:
        shades = _rgb_converter(None, screen)(np.repeat(shades[None, :, None], 3, axis=2))[0]
    return lambda values: shades[values]


def _unchanged(values: Bytes) -> Bytes:
    return values


def _color_space(icc: bytes | None) -> QColorSpace:
    if icc is not None:
        space = QColorSpace.fromIccProfile(QByteArray(icc))
        if space.isValid() and space.colorModel() == QColorSpace.ColorModel.Rgb:
            return space
    return QColorSpace(QColorSpace.NamedColorSpace.SRgb)


def _rgb_converter(icc: bytes | None, screen: bytes | None) -> Callable[[Bytes], Bytes]:
    source, target = _color_space(icc), _color_space(screen)
    if source == target:
        return _unchanged
    transform = source.transformationToColorSpace(target)

    def convert(values: Bytes) -> Bytes:
        height, width = values.shape[:2]
        rows = np.zeros((height, width, 4), np.uint8)  # as 32-bit words, which need no padding
        rows[..., :3] = values
        image = QImage(rows.data, width, height, 4 * width, QImage.Format.Format_RGBX8888)
        image = image.colorTransformed(transform)
        converted = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
        return converted[:, : 4 * width].reshape(height, width, 4)[..., :3].copy()

    return convert


def _srgb_shades(icc: bytes | None) -> Bytes:
    """Return the 256 shades of a gray profile in sRGB."""
    shades = np.arange(256, dtype=np.uint8)
    if icc is None:
        return shades
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), "L", "RGB")
        converted = ImageCms.applyTransform(Image.fromarray(shades[None]), transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):  # damaged, or not for gray
        return shades
    return np.asarray(converted)[0, :, 1]
