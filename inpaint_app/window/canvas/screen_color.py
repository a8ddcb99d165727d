"""Colors of a picture as the screen shows them; results keep their own."""

import io
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColorSpace, QImage

Bytes = npt.NDArray[np.uint8]


def screen_converter(icc: bytes | None, *, is_color: bool) -> Callable[[Bytes], Bytes]:
    """Return what converts rows of 8-bit values from a color profile to that of the screen.

    Qt does not report the profile of the screen; sRGB is assumed. Values stay as they are without a profile,
    or with one that cannot be used.

    Parameters
    ----------
    icc : bytes or None
    is_color : bool
        Whether the values are RGB (H, W, 3), or gray (H, W).
    """
    if icc is None:
        return _unchanged
    return _rgb_converter(icc) if is_color else _gray_converter(icc)


def _unchanged(values: Bytes) -> Bytes:
    return values


def _rgb_converter(icc: bytes) -> Callable[[Bytes], Bytes]:
    space, screen = QColorSpace.fromIccProfile(QByteArray(icc)), QColorSpace(QColorSpace.NamedColorSpace.SRgb)
    if not space.isValid() or space.colorModel() != QColorSpace.ColorModel.Rgb or space == screen:
        return _unchanged
    transform = space.transformationToColorSpace(screen)

    def convert(values: Bytes) -> Bytes:
        height, width = values.shape[:2]
        rows = np.zeros((height, width, 4), np.uint8)  # as 32-bit words, which need no padding
        rows[..., :3] = values
        image = QImage(rows.data, width, height, 4 * width, QImage.Format.Format_RGBX8888)
        image = image.colorTransformed(transform)
        converted = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
        return converted[:, : 4 * width].reshape(height, width, 4)[..., :3].copy()

    return convert


def _gray_converter(icc: bytes) -> Callable[[Bytes], Bytes]:
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), "L", "RGB")
        shades = ImageCms.applyTransform(Image.fromarray(np.arange(256, dtype=np.uint8)[None]), transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):  # damaged, or not for gray
        return _unchanged
    table = np.asarray(shades)[0, :, 1]
    return lambda values: table[values]
