"""Write a file so that its name shows either the old contents or the new ones, never a part."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from inpaint_app.errors import UserError, printable_path, writing_error

SUFFIX = ".inpaint-part"
"""Ending of temporary files; one is left behind only if the process is killed outright."""

# What file systems without hard links (FAT, some network shares) answer.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@contextlib.contextmanager
def atomic_file(path: Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Open a new file that gets its name when the block ends without an exception.

    The contents go to a hidden file in the same folder, reach the disk, and then take the name in one step.
    On any exception, Ctrl-C included, the hidden file is removed and the name is as before. With
    `overwrite`, a symbolic link keeps pointing at the file that is replaced, which keeps its permissions.

    Parameters
    ----------
    path : Path
        The name.
    overwrite : bool
        Whether an existing file may be replaced. If not, one that appears meanwhile is not either.

    Yields
    ------
    BinaryIO
        Open for writing.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    try:
        target, mode = check_target(path, overwrite=overwrite)
        temporary = target.parent / f".{secrets.token_hex(8)}{SUFFIX}"
        try:
            with os.fdopen(_create(temporary), "wb") as file:
                if mode is not None:
                    temporary.chmod(mode)
                yield file
                file.flush()
                os.fsync(file.fileno())
            _publish(temporary, target, overwrite=overwrite)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as error:
        raise writing_error(error, path) from error


def check_target(path: Path, *, overwrite: bool) -> tuple[Path, int | None]:
    """Refuse a name that cannot be written, before any work is done for it.

    Returns
    -------
    target : Path
        The name, with `overwrite` that of the file that links lead to.
    mode : int or None
        Permissions of the file that will be replaced, None if there is none.
    """
    try:
        target = path.resolve() if overwrite else path
        status = target.lstat()
    except FileNotFoundError as error:
        if not target.parent.is_dir():
            raise writing_error(error, path) from error
        return target, None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise writing_error(error if isinstance(error, OSError) else ValueError(str(error)), path) from error
    if stat.S_ISDIR(status.st_mode):
        raise writing_error(IsADirectoryError(errno.EISDIR, "is a folder"), path)
    if not overwrite:
        raise writing_error(FileExistsError(errno.EEXIST, "exists"), path)
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{printable_path(path)} is not a regular file", "give another name")
    return target, stat.S_IMODE(status.st_mode)


def _create(path: Path) -> int:
    """Create a file that did not exist, with the permissions that the umask gives."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def _publish(temporary: Path, target: Path, *, overwrite: bool) -> None:
    """Give the file its name; without `overwrite` never in place of another."""
    if overwrite:
        temporary.replace(target)
    elif os.name == "nt":
        temporary.rename(target)  # refuses an existing name there
    else:
        try:
            target.hardlink_to(temporary)  # refuses an existing name
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            check_target(target, overwrite=False)  # the best that such file systems allow
            temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself reach the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
