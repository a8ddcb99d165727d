"""What can go wrong with the user's files: a problem, and what to do about it."""

import errno
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path


class Remedy(Enum):
    """What the user can do, where each front end has its own way; the values suit any of them."""

    REPLACE_FILE = "choose another name, or allow it to be replaced"
    REPLACE_SOURCES = "choose another folder, or allow them to be replaced"
    MARK_MISSING = "mark them in a mask or by a color, or make them transparent or NaN"
    INVERT_MASK = "paint missing pixels white in it, or invert it"
    MARK_LESS = "mark fewer pixels, or invert the mask"
    CHECK_INVERTED = "invert it, or confirm that it is meant so"
    CHECK_UNINVERTED = "do not invert it, or confirm that it is meant so"
    CHECK_PHOTOGRAPH = "give a picture that is white where pixels are missing, or confirm that it is meant so"
    ALLOW_TOLERANCE = "check the color, or allow a tolerance"
    REDUCE_DEPTH = "write TIFF, or PNG for 16 bits, or reduce the picture to 8 bits"
    GIVE_RECIPE = "give a recipe that this program wrote"
    RESTORE_ARRAY = "restore it with the command 'inpaint restore', which takes any number of pages and bands"
    ACCEPT_LOSS = "choose a format that holds them, or accept that they are lost"
    RESTORE_FOLDER = "give an image file inside it, or restore the whole folder"


class UserError(Exception):
    """Something is wrong with the user's input: a problem and a remedy, the two halves of a sentence."""

    def __init__(self, problem: str, remedy: str | Remedy) -> None:
        super().__init__(problem, remedy)
        self.problem, self.remedy = problem, remedy

    def sentence(self, remedies: Mapping[Remedy, str]) -> str:
        """Return problem and remedy as one sentence; `remedies` are those of a front end."""
        remedy = remedies[self.remedy] if isinstance(self.remedy, Remedy) else self.remedy
        return f"{self.problem}; {remedy}" + ("" if remedy.endswith("?") else ".")

    def __str__(self) -> str:
        """Return problem and remedy as one sentence."""
        return self.sentence({remedy: remedy.value for remedy in Remedy})


class IntactError(UserError):
    """Nothing is missing in a picture."""


class UnviewableError(UserError):
    """A screen cannot show all of a picture, which can be restored nevertheless."""


class DamagedError(Exception):
    """A decoder found contents that contradict the format; the message is a short clause."""


class UnsupportedError(UserError):
    """A decoder found contents that are valid but not handled; the problem does not name the file yet."""


class TooLargeError(UnsupportedError):
    """A picture is too large for memory; it may be possible to work on it in parts."""


def printable_path(path: str | os.PathLike[str]) -> str:
    """Return a path as text that prints on one line in any terminal.

    File names may hold line breaks, escape sequences or bytes that are not UTF-8. The standard streams are
    called so (see `io.paths`).
    """
    if os.fspath(path).startswith("/dev/std"):
        return "standard input" if os.fspath(path) == "/dev/stdin" else "standard output"
    text = os.fsencode(os.fspath(path)).decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def join_names(names: Sequence[str], conjunction: str = "and") -> str:
    """Return names as part of a sentence: "a, b and c"."""
    return f" {conjunction} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def clause(error: Exception) -> str:
    """Return the message of a library's exception as part of a sentence."""
    return str(error).strip().rstrip(".")


def reading_error(error: OSError | ValueError, path: Path) -> UserError:
    """Return the error for a file that could not be opened or read."""
    name = printable_path(path)
    code = error.errno if isinstance(error, OSError) else errno.EINVAL
    if code in (errno.ENOENT, errno.ENOTDIR):
        return UserError(f"{name} does not exist", "check the name and the folder")
    if code == errno.EISDIR:
        return UserError(f"{name} is a folder", "give an image file inside it")
    if code == errno.ENAMETOOLONG:
        return UserError(*_too_long(path))
    if code in (errno.EACCES, errno.EPERM):
        return UserError(f"You do not have permission to read {name}", "ask its owner for permission")
    return UserError(f"{name} could not be read ({_reason(error)})", "check the name and the disk")


def writing_error(error: OSError | ValueError, path: Path) -> UserError:
    """Return the error for a file that could not be written."""
    name, folder = printable_path(path), printable_path(path.parent)
    other = f"{name} could not be written ({_reason(error)})", "try another name or folder"
    full = f"{name} could not be written because the disk is full", "free some space first"
    no_folder = f"The folder {folder} does not exist", "create it or choose another"
    forbidden = f"You do not have permission to write in {folder}", "choose another folder"
    known: dict[int, tuple[str, str | Remedy]] = {
        **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), full),
        **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), no_folder),
        **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), forbidden),
        errno.EEXIST: (f"{name} already exists", Remedy.REPLACE_FILE),
        errno.EISDIR: (f"{name} is a folder", "give a file name"),
        errno.ENAMETOOLONG: _too_long(path),
        errno.EPIPE: (f"Nothing reads {name} any more", "check the command after the pipe"),
    }
    code = error.errno if isinstance(error, OSError) else None
    return UserError(*known.get(code or 0, other))


def _too_long(path: Path) -> tuple[str, str]:
    return f"The name {printable_path(path.name)[:40]}... is too long", "choose a shorter one"


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.lower() or type(error).__name__
