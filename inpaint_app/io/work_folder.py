"""Folders for work in progress: made by this program alone, cleared of nothing else, put in place at once."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from inpaint_app.errors import UserError, printable_path
from inpaint_app.system import exchange, is_own

_MARKER = "made-by-inpaint"


def claim_folder(folder: Path) -> None:
    """Make a folder that nobody else may enter, or continue with one that was made so.

    Raises `UserError` if a link, a file, or a folder of another user or program has that name.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        with contextlib.closing(_Entry(folder)) as entry:
            entry.check()
    with contextlib.suppress(FileExistsError):
        os.close(os.open(folder / _MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def is_claimed(folder: Path) -> bool:
    """Return whether a folder was made by `claim_folder`, for the same user."""
    try:
        with contextlib.closing(_Entry(folder)) as entry:
            entry.check()
    except (OSError, UserError):
        return False
    return True


def clear_folder(folder: Path, patterns: tuple[str, ...]) -> None:
    """Remove files and folders of these names from a folder that was claimed; links are not followed."""
    with contextlib.closing(_Entry(folder)) as entry:
        entry.check()
        for name in entry.names():
            if any(fnmatch(name, pattern) for pattern in patterns):
                entry.remove(name)


def remove_folder(folder: Path, patterns: tuple[str, ...]) -> None:
    """Remove a folder that was claimed, with files and folders of these names; not if it holds others."""
    with contextlib.suppress(OSError, UserError):
        clear_folder(folder, patterns)
        with contextlib.closing(_Entry(folder)) as entry:
            if list(entry.names()) == [_MARKER]:  # which goes last: a killed run is to be continued
                entry.remove(_MARKER)
                folder.rmdir()


class _Entry:
    """A folder as it was found: where the system can, what a name leads to later does not matter."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._handle = folder, None
        if stat.S_ISDIR(folder.lstat().st_mode) and os.stat in os.supports_dir_fd:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            with contextlib.suppress(PermissionError):  # which is that of another user
                self._handle = os.open(folder, flags)

    def close(self) -> None:
        """Let the folder go."""
        if self._handle is not None:
            os.close(self._handle)

    def check(self) -> None:
        """Refuse a folder that was not made by `claim_folder` for this user; an empty one may have been."""
        status = self._folder.lstat() if self._handle is None else os.fstat(self._handle)
        name = printable_path(self._folder)
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{name} is not a folder of this program", "remove it, or choose another output")
        if not is_own(status):
            raise UserError(f"{name} belongs to somebody else", "choose another output")
        names = list(self.names())
        if names and (_MARKER not in names or not _is_own_file(self._status(_MARKER))):
            raise UserError(
                f"{name} was not made by this version of the program",
                "move it to another place, or choose another output",
            )

    def names(self) -> Iterator[str]:
        """Yield what it holds."""
        yield from os.listdir(self._folder if self._handle is None else self._handle)  # noqa: PTH208

    def remove(self, name: str) -> None:
        """Remove a file, a link or a folder."""
        if stat.S_ISDIR(self._status(name).st_mode):
            shutil.rmtree(self._at(name), dir_fd=self._handle)
        else:
            os.unlink(self._at(name), dir_fd=self._handle)

    def _status(self, name: str) -> os.stat_result:
        return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)

    def _at(self, name: str) -> str:
        return str(self._folder / name) if self._handle is None else name


def _is_own_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and is_own(status)


def put_in_place(new: Path, target: Path, aside: Path) -> None:
    """Give a folder a name, which another may have: that one is called `new` or `aside` afterwards.

    All three are on one file system. Where the system can exchange two names, this is one step. Where not, a
    process that is killed may leave the old folder as `aside`, and `recover` gives it its name back.
    """
    if not os.path.lexists(target):
        new.rename(target)
    elif not exchange(new, target):
        target.rename(aside)
        try:
            new.rename(target)
        except OSError:
            aside.rename(target)
            raise


def recover(new: Path, target: Path, aside: Path) -> None:
    """Undo what `put_in_place` had begun when it was killed: the old folder gets its name back.

    Raises `UserError` if something else has that name by now.
    """
    if not os.path.lexists(aside):
        return
    if not os.path.lexists(target):
        aside.rename(target)
    elif os.path.lexists(new):  # so it was not `new` that got the name
        before, now = printable_path(aside), printable_path(target)
        raise UserError(f"{before} is what {now} was before a run was killed", "move one of the two away")
