"""Write a picture to a file, its format decided by the name's ending."""

import errno
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from inpaint_app.errors import Remedy, UserError, printable_path, writing_error
from inpaint_app.files.atomic import atomic_file, check_target
from inpaint_app.files.formats.lossy_writer import encode_jpeg, encode_webp
from inpaint_app.files.formats.png.writer import encode_png
from inpaint_app.files.formats.shared.scaling import to_depth
from inpaint_app.files.formats.tiff.writer import encode_tiff
from inpaint_app.files.paths import is_one_of
from inpaint_app.image.picture import Picture

_FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".jfif": "JPEG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WebP",
}
_DEPTHS = {"PNG": (8, 16), "JPEG": (8,), "TIFF": (8, 16, 32), "WebP": (8,)}
_DTYPES = {8: np.uint8, 16: np.uint16, 32: np.float32}


def write_picture(
    picture: Picture,
    path: str | Path,
    *,
    overwrite: bool = False,
    quality: int = 95,
    depth: int | None = None,
    protect: Iterable[str | Path] = (),
) -> None:
    """Write PNG, JPEG, TIFF or WebP, chosen by the name's ending, atomically.

    Bit depth, alpha, EXIF, ICC profile and resolution are kept, or the picture is not written.

    Parameters
    ----------
    picture : Picture
        What to write.
    path : str or Path
        The file.
    overwrite : bool
        Whether an existing file may be replaced.
    quality : int
        1 to 100, for JPEG and WebP. WebP of quality 100 is without loss.
    depth : int, optional
        8 or 16: convert to that many bits per channel. Float values must lie between 0 and 1.
    protect : iterable of str or Path
        Source files, which are named as such where the path leads to one of them (by whatever spelling
        or link) and `overwrite` is not given.

    Raises
    ------
    UserError
        If it cannot be written as asked; then nothing has changed.
    """
    path = Path(path)
    name = check_output(path, overwrite=overwrite, quality=quality, protect=protect)
    picture = _with_depth(picture, name, depth)
    with atomic_file(path, overwrite=overwrite) as file:
        if name == "PNG":
            encode_png(picture, file)
        elif name == "TIFF":
            encode_tiff(picture, file)
        elif name == "JPEG":
            encode_jpeg(picture, file, quality)
        else:
            encode_webp(picture, file, quality)


def check_output(
    path: str | Path,
    *,
    overwrite: bool = False,
    quality: int = 95,
    depth: int | None = None,
    protect: Iterable[str | Path] = (),
    bits: int | None = None,
) -> str:
    """Refuse a file that `write_picture` would refuse, before there is a picture to write.

    Parameters
    ----------
    path, overwrite, quality, depth, protect
        As for `write_picture`.
    bits : int, optional
        Depth of the picture that will be written: 8, 16 or 32.

    Returns
    -------
    str
        The format that the name asks for.

    Raises
    ------
    UserError
        If the picture could not be written there.
    """
    path = Path(path)
    name = _format_of(path)
    if not 1 <= quality <= 100:
        raise UserError(f"The quality is {quality}", "give a number from 1 to 100")
    if not overwrite and is_one_of(path, map(Path, protect)):
        raise UserError(f"{printable_path(path)} is the source itself", Remedy.REPLACE_FILE)
    target, _ = check_target(path, overwrite=overwrite)
    if not os.access(target.parent, os.W_OK):
        raise writing_error(PermissionError(errno.EACCES, "no permission"), path)
    if bits is not None:
        _with_depth(Picture(np.zeros((1, 1), _DTYPES[bits])), name, depth)
    return name


def default_output(path: str | Path) -> Path:
    """Return where the restored picture of a file goes: `<stem>_restored.<ext>` beside it.

    Formats that are read but not written become PNG.
    """
    path = Path(path)
    ending = path.suffix if path.suffix.lower() in _FORMATS else ".png"
    return path.with_name(f"{path.stem}_restored{ending}")


def _format_of(path: Path) -> str:
    name = _FORMATS.get(path.suffix.lower())
    if name is None:
        raise UserError(
            f"{printable_path(path)} has no ending that tells a format", "use .png, .jpg, .tif or .webp"
        )
    return name


def _with_depth(picture: Picture, name: str, depth: int | None) -> Picture:
    """Return the picture with the depth asked for; refuse one that the format cannot keep."""
    if depth not in (None, 8, 16):
        raise UserError(f"The depth is {depth}", "give 8 or 16")
    if depth is not None and depth != picture.depth:
        alpha = None if picture.alpha is None else to_depth(picture.alpha, depth)
        picture = replace(picture, pixels=to_depth(picture.pixels, depth), alpha=alpha)
    if picture.depth not in _DEPTHS[name]:
        raise UserError(f"{name} cannot keep {picture.mode}", Remedy.REDUCE_DEPTH)
    return picture
