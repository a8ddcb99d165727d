"""The color profile of the screen: that of the system, sRGB, or one from a file."""

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import ImageCms
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColorSpace, QGuiApplication

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
