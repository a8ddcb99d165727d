"""The color profile of the screen, and colors of a picture as it shows them; results keep their own."""

import contextlib
import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColorSpace, QGuiApplication, QImage

from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.read import read_whole_file

#: Choices besides the path of a file.
SYSTEM, SRGB = "system", "srgb"
_MAX_BYTES = 16 * 2**20
_SECONDS = 2.0


def screen_profile(choice: str) -> bytes | None:
    """Return the profile that was chosen, or None for sRGB, which is assumed if the system knows of none.

    Raises `UserError` if a file cannot be read, or is not the profile of a screen.
    """
    if choice == SRGB:
        return None
    if choice == SYSTEM:
        icc = _system_profile()
        return icc if icc is not None and _is_for_screens(icc) else None
    icc = read_whole_file(Path(choice), limit=_MAX_BYTES)
    if not _is_for_screens(icc):
        raise UserError(
            f"{printable_path(Path(choice))} is not the color profile of a screen", "choose another"
        )
    return icc


def _is_for_screens(icc: bytes) -> bool:
    space = QColorSpace.fromIccProfile(QByteArray(icc))
    return space.isValidTarget() and space.colorModel() == QColorSpace.ColorModel.Rgb


def _system_profile() -> bytes | None:
    """Return the profile of the first screen, where pictures are not converted to it by the system itself."""
    if sys.platform == "win32":
        with contextlib.suppress(ImageCms.PyCMSError, OSError):
            profile = ImageCms.get_display_profile()
            return None if profile is None else profile.tobytes()
    xprop = shutil.which("xprop") if QGuiApplication.platformName() == "xcb" else None
    if xprop is None:
        return None
    command = [xprop, "-root", "-notype", "-len", str(_MAX_BYTES), "8c", "_ICC_PROFILE"]
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        answer = subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS)
        _, is_set, numbers = answer.stdout.partition(b"=")
        return bytes(int(number) for number in numbers.split(b",")) if is_set else None
    return None


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
