"""What differs from system to system: folders, displays, signals, locks, names, owners, permissions.

Nothing else in the program asks what it runs on. Tests put other systems in place of the one they run on.
"""

import contextlib
import ctypes
import errno
import os
import signal
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO

_NO_DISPLAYS = ("offscreen", "minimal")
#: Flags with which a file is opened that may be hostile: no link is followed, no pipe waited for.
CAREFUL = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))
#: What asks a program to end: by name, since not every system has both.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def state_folder() -> Path | None:
    """Return the folder in which programs keep what is no preference, such as logs; None without a home."""
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Logs"
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:
        return None


def has_display() -> bool:
    """Return whether a window can appear."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if chosen.partition(":")[0] in _NO_DISPLAYS:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(chosen or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: Options of mallopt: the size from which on memory is the system's again as soon as it is freed, and the
#: number of heaps.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_ARRAY, _HEAPS = 4 << 20, 2


def give_memory_back() -> None:
    """Let the system have what is free, and large arrays as soon as they are freed from now on; glibc only.

    It would keep arrays of up to 32 MB, in one heap for each thread: a third of all memory after a photograph
    of 24 megapixels was repaired, and 100 MB of it in heaps that hold little each.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # another C library
            library = ctypes.CDLL(None)
            library.mallopt(_M_MMAP_THRESHOLD, _LARGE_ARRAY)
            library.mallopt(_M_ARENA_MAX, _HEAPS)
            library.malloc_trim(0)


def lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed; return whether no other process has locked it.

    Where a file system has no locks, nobody is kept out.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415  (on Windows alone)

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415  (everywhere else)

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # flock, msvcrt
        return False
    except OSError:
        pass
    return True


# What file systems without hard links (FAT, some network shares) answer.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def give_name(file: Path, name: Path) -> bool:
    """Give a file another name unless that is taken (FileExistsError); both are in one folder.

    Returns whether it was done: there are file systems that can only replace what has the name.
    """
    if sys.platform == "win32":
        file.rename(name)  # refuses an existing name there
        return True
    try:
        name.hardlink_to(file)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


# What systems and file systems answer that cannot exchange two names.
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux; RENAME_SWAP of macOS


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


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def may_replace(status: os.stat_result, folder: os.stat_result) -> bool:
    """Return whether a file may be replaced as far as its owner goes, in a folder like /tmp."""
    if not folder.st_mode & stat.S_ISVTX or not hasattr(os, "geteuid"):
        return True
    return os.geteuid() in (0, status.st_uid, folder.st_uid)


_ACL = "system.posix_acl_access"
_CAPABILITIES = "security.capability"
# Checksums that the kernel keeps of the contents and the attributes.
_CHECKSUMS = frozenset({"security.ima", "security.evm"})


def copy_attributes(old: Path, status: os.stat_result, new: int | Path) -> tuple[str, ...]:
    """Give a new file the owner, the permissions and the extended attributes of an old one with this status.

    What makes a program run as another user (set-user-ID, set-group-ID, capabilities) is dropped: the old
    contents were trusted with it, the new ones are not. Access control lists are extended attributes; where
    the system has none (macOS, Windows: none that Python reaches), only owner and permissions are copied.

    The new file has still another name; it is open, or given by its name where the system needs that. Returns
    what was not kept, such as "its owner".
    """
    lost = []
    mode = stat.S_IMODE(status.st_mode)
    keeps_group = _set_owner(new, group=status.st_gid)
    if not keeps_group:
        lost.append("its group")
        # Another group must not get the rights of the former one.
        mode = mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    if not _set_owner(new, user=status.st_uid):
        lost.append("its owner")
    for bit, name in ((stat.S_ISUID, "its set-user-ID bit"), (stat.S_ISGID, "its set-group-ID bit")):
        if mode & bit:
            lost.append(name)
    lost += _copy_extended(old, new, with_acl=keeps_group)
    try:
        os.chmod(new, mode & 0o777)  # noqa: PTH101  (an open file is not reached by a name that may change)
    except OSError:
        lost.append("its permissions")
    return tuple(lost)


def mode_like(source: Path | None) -> int:
    """Return the permissions of a new file that is made from another: nobody gets more than of that one.

    Its owner may read and write it in any case. Of a source that is unknown, or a pipe, those that files
    usually have before the umask is applied.
    """
    status = None
    with contextlib.suppress(OSError, ValueError):
        status = None if source is None else source.stat()
    if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return 0o666
    mode = stat.S_IMODE(status.st_mode) & 0o666 | 0o600
    if hasattr(os, "getegid") and status.st_gid != os.getegid():  # another group gets no rights of that one
        mode = mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    return mode


def restrict_folder(folder: Path, source: Path) -> None:
    """Take from a new folder the rights that a source does not give; reading it means entering it."""
    mode = mode_like(source)
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) & (mode | (mode & 0o444) >> 2))


def _set_owner(new: int | Path, *, user: int = -1, group: int = -1) -> bool:
    """Make a file belong to a user or a group; returns whether it does."""
    status = os.stat(new)  # noqa: PTH116
    if not hasattr(os, "chown") or (user in (-1, status.st_uid) and group in (-1, status.st_gid)):
        return True
    try:
        os.chown(new, user, group)
    except OSError:
        return False
    return True


def _copy_extended(old: Path, new: int | Path, *, with_acl: bool) -> list[str]:
    """Copy extended attributes where there are any; returns which were not kept."""
    if not hasattr(os, "listxattr"):
        return []
    before, lost = _extended_attributes(old), []
    there = _extended_attributes(new)
    if _ACL in there and _ACL not in before:  # a default of the folder, which the old file did not have
        with contextlib.suppress(OSError):
            os.removexattr(new, _ACL)
    for name, value in before.items():
        if name in _CHECKSUMS or there.get(name) == value:
            continue
        if name == _CAPABILITIES or (name == _ACL and not with_acl) or not _set_extended(new, name, value):
            known = {_ACL: "its access control list", _CAPABILITIES: "its capabilities"}
            lost.append(known.get(name, f"its extended attribute {name}"))
    return lost


def _extended_attributes(file: int | Path) -> dict[str, bytes | None]:
    """Return the extended attributes of a file; None for one that may not be read."""
    found: dict[str, bytes | None] = {}
    try:
        names = os.listxattr(file)
    except OSError:  # the file system has none
        return found
    for name in names:
        try:
            found[name] = os.getxattr(file, name)
        except OSError:
            found[name] = None
    return found


def _set_extended(file: int | Path, name: str, value: bytes | None) -> bool:
    if value is None:
        return False
    try:
        os.setxattr(file, name, value)
    except OSError:
        return False
    return True
