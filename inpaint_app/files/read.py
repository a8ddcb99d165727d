"""Read a picture from a file, its format decided by its contents."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inpaint_app.errors import DamagedError, UnsupportedError, UserError, printable_path
from inpaint_app.files.formats import jpeg
from inpaint_app.files.formats.bmp import decode_bmp
from inpaint_app.files.formats.png import reader as png
from inpaint_app.files.formats.pnm import decode_pnm
from inpaint_app.files.formats.shared.exif import take_orientation
from inpaint_app.files.formats.tiff.reader import decode_tiff
from inpaint_app.files.formats.webp import decode_webp
from inpaint_app.files.limits import MAX_FILE_BYTES
from inpaint_app.files.whole_file import read_whole_file
from inpaint_app.image.picture import Picture

ACCEPTED = "PNG, JPEG, TIFF, BMP, WebP or PNM"

Decoder = Callable[[bytes], Picture]
# Only these formats: every further decoder is one more way in for a hostile file.
_DECODERS: dict[str, tuple[re.Pattern[bytes], Decoder]] = {
    "PNG": (re.compile(re.escape(png.SIGNATURE)), png.decode_png),
    "JPEG": (re.compile(re.escape(jpeg.SIGNATURE)), jpeg.decode_jpeg),
    "TIFF": (re.compile(rb"II[*+]\0|MM\0[*+]", re.DOTALL), decode_tiff),
    "BMP": (re.compile(rb"BM"), decode_bmp),
    "WebP": (re.compile(rb"RIFF....WEBP", re.DOTALL), decode_webp),
    "PNM": (re.compile(rb"P[1-6][\s#]"), decode_pnm),
}


def read_picture(path: str | Path) -> Picture:
    """Read PNG, JPEG, TIFF, BMP, WebP or PNM; the name's ending does not matter.

    8-bit, 16-bit and float32 values are kept exactly; other depths are converted with a notice. The EXIF
    orientation is applied. Of animations and files with several pages the first picture is read.

    Parameters
    ----------
    path : str or Path
        A regular file.

    Returns
    -------
    Picture
        Whole: a truncated file is refused rather than filled up.

    Raises
    ------
    UserError
        If there is no readable picture of an accepted format; see `limits` for the sizes that are.
    """
    path = Path(path)
    data = read_whole_file(path, limit=MAX_FILE_BYTES, check=lambda start: _refuse_strangers(path, start))
    name = _format_of(data)
    if name is None:  # it has changed meanwhile
        raise UserError(
            f"{printable_path(path)} is being written by another program", "wait until that has ended"
        )
    return _decode(path, data, name, _DECODERS[name][1])


def _format_of(start: bytes) -> str | None:
    """Return the format that the first bytes of a file tell; None if it is none of ours."""
    return next((name for name, (pattern, _) in _DECODERS.items() if pattern.match(start)), None)


def _refuse_strangers(path: Path, start: bytes) -> None:
    if not start:
        raise UserError(f"{printable_path(path)} is empty", "get a fresh copy of it")
    if _format_of(start) is None:
        raise UserError(
            f"{printable_path(path)} is not an image this program reads", f"convert it to one of {ACCEPTED}"
        )


def _decode(path: Path, data: bytes, name: str, decoder: Decoder) -> Picture:
    try:
        return _finish(decoder(data))
    except DamagedError as error:
        raise UserError(
            f"{printable_path(path)} is a damaged {name} file: {error}", "get a fresh copy"
        ) from error
    except UnsupportedError as error:
        raise UserError(f"{printable_path(path)} cannot be used: {error.problem}", error.remedy) from error
    except MemoryError as error:
        raise UserError(
            f"{printable_path(path)} needs more memory than there is", "scale it down first"
        ) from error
    except Exception as error:  # decoders meet hostile bytes; the user gets a sentence in any case
        raise UserError(
            f"{printable_path(path)} is a damaged {name} file", "get a fresh copy of it"
        ) from error


def _finish(picture: Picture) -> Picture:
    """Apply the orientation, or drop an EXIF block that cannot be read."""
    if picture.exif is None:
        return picture
    try:
        exif, orientation = take_orientation(picture.exif)
    except DamagedError:
        return replace(picture, exif=None).with_notices("The EXIF information is damaged and was left out.")
    return replace(picture, exif=exif).oriented(orientation)
