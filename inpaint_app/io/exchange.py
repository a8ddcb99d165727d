"""Put a folder in the place of another: its name always has one of the two, whole."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from inpaint_app.errors import UserError, printable_path

# What systems and file systems answer that cannot exchange two names.
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux; RENAME_SWAP of macOS


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


def exchange(one: Path, other: Path) -> bool:
    """Let two files or folders change their names in one step.

    Returns whether it was done: there are systems and file systems that cannot.
    """
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """Return the function of the C library that exchanges two names; None where there is none."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            swap = library.renamex_np
            swap.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
            return lambda one, other: int(swap(one, other, _EXCHANGE))
        rename = library.renameat2
    except (OSError, AttributeError, TypeError):
        return None
    rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return lambda one, other: int(rename(_HERE, one, _HERE, other, _EXCHANGE))
