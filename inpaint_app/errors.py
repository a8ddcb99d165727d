"""What can go wrong with the user's files, each as one sentence."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path


class UserError(Exception):
    """One sentence that says what is wrong with the user's input and what to do about it."""


class DamagedError(Exception):
    """A decoder found contents that contradict the format; the message is a short clause."""


class UnsupportedError(Exception):
    """A decoder found contents that are valid but not handled; the message is "<what>; <what to do>"."""


def printable_path(path: str | os.PathLike[str]) -> str:
    """Return a path as text that prints on one line in any terminal.

    File names may hold line breaks, escape sequences or bytes that are not UTF-8.
    """
    text = os.fsencode(os.fspath(path)).decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def clause(error: Exception) -> str:
    """Return the message of a library's exception as part of a sentence."""
    return str(error).strip().rstrip(".")


def reading_error(error: OSError | ValueError, path: Path) -> UserError:
    """Return the sentence for a file that could not be opened or read."""
    name = printable_path(path)
    code = error.errno if isinstance(error, OSError) else errno.EINVAL
    if code in (errno.ENOENT, errno.ENOTDIR):
        return UserError(f"{name} does not exist; check the name and the folder.")
    if code == errno.EISDIR:
        return UserError(f"{name} is a folder; give an image file inside it.")
    if code == errno.ENAMETOOLONG:
        return UserError(_name_too_long(path))
    if code in (errno.EACCES, errno.EPERM):
        return UserError(f"{name} may not be read by you; ask its owner for permission or copy it.")
    return UserError(f"{name} could not be read ({_reason(error)}); check the name and the disk.")


def writing_error(error: OSError | ValueError, path: Path) -> UserError:
    """Return the sentence for a file that could not be written."""
    code = error.errno if isinstance(error, OSError) else errno.EINVAL
    sentence = _WRITING_SENTENCES.get(code or 0)
    if sentence is not None:
        return UserError(sentence(path))
    return UserError(
        f"{printable_path(path)} could not be written ({_reason(error)}); try another name or folder."
    )


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.lower() or type(error).__name__


def _disk_full(path: Path) -> str:
    return f"{printable_path(path)} could not be written because the disk is full; free some space first."


def _no_folder(path: Path) -> str:
    return f"The folder {printable_path(path.parent)} does not exist; create it or choose another."


def _no_permission(path: Path) -> str:
    return f"You may not write in the folder {printable_path(path.parent)}; choose another folder."


def _file_exists(path: Path) -> str:
    return (
        f"{printable_path(path)} exists already; choose another name or allow it to be "
        "replaced (--overwrite)."
    )


def _is_folder(path: Path) -> str:
    return f"{printable_path(path)} is a folder; give a file name."


def _name_too_long(path: Path) -> str:
    return f"The name {printable_path(path.name)[:40]}... is too long; choose a shorter one."


_WRITING_SENTENCES: dict[int, Callable[[Path], str]] = {
    errno.ENOSPC: _disk_full,
    errno.EDQUOT: _disk_full,
    errno.EFBIG: _disk_full,
    errno.ENOENT: _no_folder,
    errno.ENOTDIR: _no_folder,
    errno.EACCES: _no_permission,
    errno.EPERM: _no_permission,
    errno.EROFS: _no_permission,
    errno.EEXIST: _file_exists,
    errno.EISDIR: _is_folder,
    errno.ENAMETOOLONG: _name_too_long,
}
