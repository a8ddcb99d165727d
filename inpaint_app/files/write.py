"""Write a picture to a file, its format decided by the name's ending."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.files.atomic import PendingFile, check_target, write_files
from inpaint_app.files.formats.lossy_writer import encode_jpeg, encode_webp
from inpaint_app.files.formats.png.writer import encode_png
from inpaint_app.files.formats.shared.capabilities import check_encodable, facts_of
from inpaint_app.files.formats.shared.scaling import to_depth
from inpaint_app.files.formats.tiff.writer import encode_tiff
from inpaint_app.files.paths import same_file
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


def write_picture(
    picture: Picture,
    path: str | Path,
    *,
    overwrite: bool = False,
    quality: int = 95,
    depth: int | None = None,
    protect: Iterable[str | Path] = (),
) -> tuple[str, ...]:
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

    Returns
    -------
    tuple of str
        Sentences about what could not be kept of a file that was replaced.

    Raises
    ------
    UserError
        If it cannot be written as asked; then nothing has changed.
    """
    path = Path(path)
    check_output(path, overwrite=overwrite, protect=protect)
    output = picture_output(picture, path, quality=quality, depth=depth)
    return write_files([output], overwrite=overwrite)


def picture_output(
    picture: Picture, path: Path, *, quality: int = 95, depth: int | None = None
) -> PendingFile:
    """Return what `write_picture` writes, to be written together with other files.

    Raises
    ------
    UserError
        If the format cannot keep the picture.
    """
    name = format_of(path)
    check_encodable(facts_of(picture), name, depth=depth, quality=quality)
    if depth is not None and depth != picture.depth:
        alpha = None if picture.alpha is None else to_depth(picture.alpha, depth)
        picture = replace(picture, pixels=to_depth(picture.pixels, depth), alpha=alpha)
    encoders: dict[str, Callable[[BinaryIO], None]] = {
        "PNG": lambda file: encode_png(picture, file),
        "TIFF": lambda file: encode_tiff(picture, file),
        "JPEG": lambda file: encode_jpeg(picture, file, quality),
        "WebP": lambda file: encode_webp(picture, file, quality),
    }
    return PendingFile(path, encoders[name])


def check_output(path: str | Path, *, overwrite: bool = False, protect: Iterable[str | Path] = ()) -> str:
    """Refuse a name that `write_picture` would refuse, before anything is read.

    Whether the picture can be kept is for `check_encodable` to say, as soon as it is read.

    Parameters
    ----------
    path, overwrite, protect
        As for `write_picture`.

    Returns
    -------
    str
        The format that the name asks for.

    Raises
    ------
    UserError
        If nothing could be written there.
    """
    path = Path(path)
    name = format_of(path)
    _refuse_source(path, protect, overwrite=overwrite)
    check_target(path, overwrite=overwrite)
    return name


def default_output(path: str | Path) -> Path:
    """Return where the restored picture of a file goes: `<stem>_restored.<ext>` beside it.

    Formats that are read but not written become PNG.
    """
    path = Path(path)
    ending = path.suffix if path.suffix.lower() in _FORMATS else ".png"
    return path.with_name(f"{path.stem}_restored{ending}")


def format_of(path: Path) -> str:
    """Return the format that the ending of a name asks for.

    Raises
    ------
    UserError
        If it asks for none that is written.
    """
    name = _FORMATS.get(path.suffix.lower())
    if name is None:
        raise UserError(
            f"{printable_path(path)} has no ending that tells a format", "use .png, .jpg, .tif or .webp"
        )
    return name


def _refuse_source(path: Path, sources: Iterable[str | Path], *, overwrite: bool) -> None:
    if not overwrite and any(same_file(path, Path(source)) for source in sources):
        raise UserError(
            f"{printable_path(path)} is the source itself",
            Remedy.REPLACE_FILE,
        )
