"""Questions about paths that may not be looked at: names too long, folders one may not enter."""

import errno
import stat
from collections.abc import Iterable
from pathlib import Path

from inpaint_app.errors import reading_error

_ABSENT = (errno.ENOENT, errno.ENOTDIR)


def exists(path: Path) -> bool:
    """Return whether there is something at a path, a dangling link included.

    Raises
    ------
    UserError
        If that cannot be found out.
    """
    return _mode(path, follow_links=False) is not None


def is_folder(path: Path) -> bool:
    """Return whether a path leads to a folder.

    Raises
    ------
    UserError
        If that cannot be found out.
    """
    mode = _mode(path, follow_links=True)
    return mode is not None and stat.S_ISDIR(mode)


def is_one_of(path: Path, others: Iterable[Path]) -> bool:
    """Return whether a path leads to the same file as one of some others, by whatever spelling or link."""

    def same(other: Path) -> bool:
        try:
            return path.samefile(other)
        except (OSError, ValueError):  # one of them does not exist
            return False

    return any(same(other) for other in others)


def _mode(path: Path, *, follow_links: bool) -> int | None:
    try:
        return path.stat(follow_symlinks=follow_links).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _ABSENT:
            return None
        raise reading_error(error, path) from error
