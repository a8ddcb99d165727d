"""Write files atomically: a name has either the old contents or the new ones, never a part."""

import contextlib
import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from inpaint_app.errors import UserError, join_names, printable_path, writing_error
from inpaint_app.io.paths import is_stdout, stdout_path
from inpaint_app.system import copy_attributes, give_name, may_replace, mode_like

#: Ending of temporary files; one is left behind only if the process is killed outright.
SUFFIX = ".inpaint-part"


@dataclass(frozen=True)
class PendingFile:
    """A file to be written: its name, or `paths.stdout_path`, and what puts its contents into it."""

    path: Path
    write: Callable[[BinaryIO], object]


def write_files(
    outputs: Sequence[PendingFile],
    *,
    overwrite: bool = False,
    waits: bool = True,
    source: Path | None = None,
) -> tuple[str, ...]:
    """Write files that belong together, each atomically; returns notes on what replaced files have lost.

    The contents of all reach the disk under hidden names; then the files get their names, in the order given.
    So whatever can fail (a full disk, no permission, contents that cannot be encoded) fails before the first
    name is given, and the last name stands for the whole. On any exception, Ctrl-C included, the hidden files
    are removed. With `overwrite`, a symbolic link keeps pointing at the file that is replaced, and owner,
    permissions and extended attributes of that file stay as far as they can. Without it, a file that appears
    meanwhile is not replaced either.

    New files give nobody more rights than the `source` that they are made from.

    Unless it `waits` until the disk has them, they may not survive a power failure.

    Raises `UserError` if one cannot be written; then none is, or the sentence names those that are.
    """
    check_distinct(output.path for output in outputs)
    published: list[_Staged | _StagedStdout] = []
    try:
        with contextlib.ExitStack() as stack:
            staged: list[_Staged | _StagedStdout] = []
            for output in outputs:
                with _writing(output.path):
                    if is_stdout(output.path):
                        check_target(output.path, overwrite=overwrite)
                        staged.append(_StagedStdout(output.path))
                    else:
                        staged.append(stack.enter_context(_staged(output.path, source, overwrite=overwrite)))
            for output, file in zip(outputs, staged, strict=True):
                with _writing(output.path):
                    output.write(file.file)
                    file.finish(waits=waits)
            for file in staged:
                with _writing(file.path):
                    file.publish()
                published.append(file)
    except UserError as error:
        if not published:
            raise
        names = join_names([printable_path(file.path) for file in published])
        raise UserError(str(error).removesuffix("."), f"only {names} could be written") from error
    if waits:
        for folder in {file.target.parent for file in published if isinstance(file, _Staged)}:
            _sync_folder(folder)
    return tuple(note for file in published for note in file.notes)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn exceptions of the system into a `UserError`."""
    try:
        yield
    except OSError as error:
        raise writing_error(error, path) from error


@dataclass(frozen=True, eq=False)
class _Staged:
    """A file that is being written under a hidden name; `lost` is what it could not take over."""

    path: Path
    target: Path
    temporary: Path
    file: BinaryIO
    overwrite: bool
    lost: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about what was not kept, if anything."""
        return (
            (f"{printable_path(self.path)} was replaced without {join_names(self.lost)}.",)
            if self.lost
            else ()
        )

    def finish(self, *, waits: bool) -> None:
        """Let the contents reach the disk."""
        self.file.flush()
        if waits:
            os.fsync(self.file.fileno())
        self.file.close()

    def publish(self) -> None:
        """Give the file its name."""
        _publish(self.temporary, self.target, overwrite=self.overwrite)


class _StagedStdout:
    """What is to be written to standard output, held back until everything else has been written."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, io.BytesIO()

    def finish(self, *, waits: bool) -> None:
        """Do nothing: all that can fail is `publish`."""

    def publish(self) -> None:
        """Write it."""
        with self.file.getbuffer() as contents:
            sys.stdout.buffer.write(contents)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def _staged(path: Path, source: Path | None, *, overwrite: bool) -> Iterator[_Staged]:
    """Open a hidden file beside a name; at the end it is gone unless it was given the name."""
    target, status = check_target(path, overwrite=overwrite)
    temporary = target.parent / f".{secrets.token_hex(8)}{SUFFIX}"
    file = None
    try:
        # Nobody else may open a file whose permissions are yet to come.
        file = os.fdopen(_create(temporary, mode_like(source) if status is None else 0o600), "wb")
        new = file.fileno() if os.chmod in os.supports_fd else temporary
        lost = () if status is None else copy_attributes(target, status, new)
        yield _Staged(path, target, temporary, file, overwrite, lost)
    finally:
        with contextlib.suppress(OSError):  # closing tries again to write what could not be written
            if file is not None:
                file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_target(path: Path, *, overwrite: bool) -> tuple[Path, os.stat_result | None]:
    """Refuse a name that cannot be written, before any work is done for it.

    Returns the name, with `overwrite` that of the file that links lead to; and the status of the file that
    will be replaced, None if there is none.
    """
    if is_stdout(path):
        if sys.stdout.isatty():
            raise UserError("A terminal cannot show a picture", "send standard output to a file or a program")
        return path, None
    try:
        path.absolute()  # fails where the working directory was deleted
        target = path.resolve() if overwrite else path
        status = _status(target)
        folder = target.parent.stat()
        _check_kind(path, status, overwrite=overwrite)
        _check_folder(path, folder, status, may_write=os.access(target.parent, os.W_OK | os.X_OK))
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise writing_error(error if isinstance(error, OSError) else ValueError(str(error)), path) from error
    return target, status


def check_distinct(paths: Iterable[Path]) -> None:
    """Refuse names of which two are the same file, by another spelling or a link."""
    seen: dict[Path, Path] = {}
    for path in paths:
        try:
            other = seen.setdefault(stdout_path("") if is_stdout(path) else path.resolve(), path)
        except (OSError, ValueError, RuntimeError):
            continue  # it cannot be written, which is reported elsewhere
        if other is not path:
            raise UserError(
                f"{printable_path(other)} and {printable_path(path)} are the same file", "give two names"
            )


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.lstat()
    except FileNotFoundError:
        return None


def _check_kind(path: Path, status: os.stat_result | None, *, overwrite: bool) -> None:
    """Refuse what stands at a name unless it may be replaced."""
    if status is None:
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not overwrite:
        raise FileExistsError(errno.EEXIST, "exists")
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{printable_path(path)} is not a regular file", "give another name")


def _check_folder(
    path: Path, folder: os.stat_result, status: os.stat_result | None, *, may_write: bool
) -> None:
    """Refuse a folder in which a file could not be created, or not be replaced."""
    if not may_write:
        raise PermissionError(errno.EACCES, "no permission")
    if status is not None and not may_replace(status, folder):
        raise UserError(f"{printable_path(path)} belongs to somebody else", "choose another name or folder")


def _create(path: Path, mode: int) -> int:
    """Create a file that did not exist, with those of the permissions that the umask leaves."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)


def _publish(temporary: Path, target: Path, *, overwrite: bool) -> None:
    """Give the file its name; without `overwrite` never in place of another."""
    if overwrite:
        temporary.replace(target)
    elif not give_name(temporary, target):
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
