"""Read files, pictures among them, their format decided by their contents."""

import errno
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from weakref import WeakKeyDictionary

from inpaint_app.errors import (
    DamagedError,
    TooLargeError,
    UnsupportedError,
    UserError,
    printable_path,
    reading_error,
)
from inpaint_app.io.format import MAX_FILE_BYTES, Format
from inpaint_app.io.formats.shared.metadata import take_orientation, with_upright_xmp
from inpaint_app.io.paths import STDIN
from inpaint_app.io.registry import recognize
from inpaint_app.model.picture import Picture

#: How much of a file is looked at before the rest is read.
START_BYTES = 64
#: What was read already of standard input, but not yet returned.
_starts: WeakKeyDictionary[BinaryIO, bytes] = WeakKeyDictionary()


def read_whole_file(path: Path, *, limit: int, check: Callable[[bytes], None] | None = None) -> bytes:
    """Return the contents of a regular file, or of standard input (`paths.STDIN`), which can be read once.

    `check` is called with the first `START_BYTES` bytes; what it raises keeps the rest from being read.
    Raises `UserError` if it cannot be read, is larger than the limit, or is a folder, pipe or device (which
    may never end).
    """
    try:
        if path == STDIN:
            return _read_stdin(limit, check)
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{printable_path(path)} is not a regular file", "give a file on disk")
        if status.st_size > limit:
            raise _too_large(path, limit)
        with path.open("rb", buffering=0) as file:
            if check is not None:
                check(file.read(START_BYTES))
                file.seek(0)
            return file.readall()
    except (OSError, ValueError) as error:
        raise reading_error(error, path) from error


def peek_stdin() -> bytes:
    """Return the first bytes of standard input, which `read_whole_file` returns too; none of a terminal.

    A pipe may deliver them one by one, so that they are waited for, and kept.
    """
    if sys.stdin.isatty():
        return b""
    if sys.stdin.buffer not in _starts:
        _starts[sys.stdin.buffer] = sys.stdin.buffer.read(START_BYTES)
    return _starts[sys.stdin.buffer]


def _read_stdin(limit: int, check: Callable[[bytes], None] | None) -> bytes:
    if sys.stdin.isatty():
        raise UserError("Standard input is a terminal", "send a picture to it, or give the name of a file")
    start = peek_stdin()
    del _starts[sys.stdin.buffer]
    if check is not None:
        check(start)
    data = start + sys.stdin.buffer.read(limit + 1 - len(start))
    if len(data) > limit:
        raise _too_large(STDIN, limit)
    return data


def _too_large(path: Path, limit: int) -> TooLargeError:
    return TooLargeError(
        f"{printable_path(path)} is larger than {limit // 10**6:,} MB", "give a smaller file"
    )


_GZIP = b"\x1f\x8b"
# What people try, and what is not read: a sentence that names it says more than one that does not.
_OTHERS = {
    "a Photoshop document": re.compile(rb"8BPS"),
    "a GIMP document": re.compile(rb"gimp xcf"),
    "an OpenEXR file": re.compile(rb"v/1\x01"),
    "a PDF document": re.compile(rb"%PDF"),
    "an SVG drawing": re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<svg"),
    "an icon file": re.compile(rb"\0\0[\1\2]\0"),
    "a HDF5 or NetCDF file": re.compile(rb"\x89HDF\r\n|CDF[\1\2\5]"),
    "a raw file of a camera": re.compile(rb"FUJIFILMCCD-RAW|IIU\0|.{4}ftypcrx ", re.DOTALL),
    "a video": re.compile(rb".{4}ftyp(?:mp4|isom|qt  |M4V)|\x1aE\xdf\xa3|RIFF....AVI ", re.DOTALL),
}


def read_picture(path: str | Path) -> Picture:
    """Read a picture of any format of the `registry`, recognized by its first bytes, not by its name.

    8-bit, 16-bit and float32 values are kept exactly; other depths are converted with a notice. The EXIF
    orientation is applied. Of animations the first picture is read. A truncated file is refused rather than
    filled up, but for a JPEG file, whose lost part is transparent, and so counts as missing.

    Raises `UserError` if there is no readable picture of an accepted format; see `limits` for the sizes that
    are.
    """
    path = Path(path)
    data = read_whole_file(path, limit=MAX_FILE_BYTES, check=lambda start: _check_recognized(path, start))
    found = recognize(data)
    if found is None:  # it has changed meanwhile
        raise UserError(
            f"{printable_path(path)} is being written by another program", "wait until that has ended"
        )
    return _decode(path, data, found)


def _check_recognized(path: Path, start: bytes) -> None:
    name = printable_path(path)
    if not start:
        raise UserError(f"{name} is empty", "get a fresh copy of it")
    found = recognize(start)
    if found is None:
        if start.startswith(_GZIP):
            raise UserError(f"{name} is compressed with gzip", "unpack it with gunzip first")
        other = next((other for other, known in _OTHERS.items() if known.match(start)), None)
        if other is None:
            raise UserError(f"{name} is not an image this program reads", "convert it to PNG or TIFF")
        raise UserError(f"{name} is {other}, which this program cannot read", "convert it to PNG or TIFF")
    if found.plug_in is not None and not found.is_available:
        needed = found.plug_in
        problem = f"{name} is a {found.name} file, which cannot be read without {needed.package}"
        raise UserError(problem, needed.remedy)


def _decode(path: Path, data: bytes, found: Format) -> Picture:
    name = printable_path(path)
    try:
        return _apply_orientation(found.decode(data))
    except DamagedError as error:
        raise UserError(f"{name} is a damaged {found.name} file: {error}", "get a fresh copy") from error
    except UnsupportedError as error:
        raise type(error)(f"{name} cannot be used: {error.problem}", error.remedy) from error
    except MemoryError as error:
        raise UserError(f"{name} needs more memory than there is", "scale it down first") from error
    except Exception as error:  # decoders meet hostile bytes; the user gets a sentence in any case
        raise UserError(f"{name} is a damaged {found.name} file", "get a fresh copy of it") from error


def _apply_orientation(picture: Picture) -> Picture:
    """Apply the orientation, or drop an EXIF block that cannot be read."""
    if picture.metadata.exif is None:
        return picture
    try:
        exif, orientation = take_orientation(picture.metadata.exif)
    except DamagedError:
        return picture.with_metadata(exif=None).with_notices(
            "The EXIF information is damaged and was left out."
        )
    upright = picture.with_metadata(exif=exif).oriented(orientation)
    return upright if orientation == 1 else with_upright_xmp(upright)
