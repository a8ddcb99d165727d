"""Looking at files by their names: some cannot be looked at, and the system says so by exceptions.

A folder on the way that may not be entered, a name that is too long, or one with a zero byte in it make
`Path.exists` and its kin raise.
"""

import os
import stat
from pathlib import Path

from inpaint_app.errors import UserError, reading_error


def look_at(path: Path) -> os.stat_result | None:
    """Return the status of what a name leads to, None if that is nothing.

    Raises
    ------
    UserError
        If it cannot be looked at.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise reading_error(error, path) from error


def is_folder(path: Path) -> bool:
    """Return whether a name leads to a folder.

    Raises
    ------
    UserError
        If it cannot be looked at.
    """
    status = look_at(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def is_visible(path: Path) -> bool:
    """Return whether a name leads to something that can be looked at."""
    return _visible_mode(path) != 0


def is_visible_file(path: Path) -> bool:
    """Return whether a name leads to a regular file that can be looked at."""
    return stat.S_ISREG(_visible_mode(path))


def is_visible_folder(path: Path) -> bool:
    """Return whether a name leads to a folder that can be looked at."""
    return stat.S_ISDIR(_visible_mode(path))


def same_file(one: Path, other: Path) -> bool:
    """Return whether two names lead to the same file, as far as they can be looked at."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _visible_mode(path: Path) -> int:
    try:
        status = look_at(path)
    except UserError:
        return 0
    return 0 if status is None else status.st_mode
