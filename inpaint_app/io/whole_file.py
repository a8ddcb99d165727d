"""Read a file into memory, or say in one sentence why not."""

import errno
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from weakref import WeakKeyDictionary

from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.io.paths import STDIN

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


def _too_large(path: Path, limit: int) -> UserError:
    return UserError(f"{printable_path(path)} is larger than {limit // 10**6:,} MB", "give a smaller file")
