"""What a file that replaces another takes over from it: owner, permissions, extended attributes."""

import contextlib
import os
import stat
from pathlib import Path

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
