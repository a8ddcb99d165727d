"""Ask about files by their names, though some cannot be accessed.

`Path.exists` and the like raise if a folder on the way may not be entered, or if a name is too long or has a
zero byte in it.
"""

import os
import stat
from pathlib import Path

from inpaint_app.errors import UserError, reading_error

#: Stands for standard input, on every system.
STDIN = Path("/dev/stdin")


def status_of(path: Path) -> os.stat_result | None:
    """Return the status of the file or folder of a name, None if there is none.

    Raises `UserError` if it cannot be accessed, as `is_folder` does; the functions below return False then.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise reading_error(error, path) from error


def stdout_path(suffix: str) -> Path:
    """Return what stands for standard output, where a picture is written in the format of a suffix."""
    return Path(f"/dev/stdout{suffix}")


def is_stdout(path: Path) -> bool:
    """Return whether a path stands for standard output."""
    return path.stem == "stdout" and path.parent == STDIN.parent


def is_folder(path: Path) -> bool:
    """Return whether a name is that of a folder."""
    status = status_of(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def is_visible(path: Path) -> bool:
    """Return whether a name exists and can be accessed."""
    return _visible_mode(path) != 0


def is_visible_file(path: Path) -> bool:
    """Return whether a name is a regular file that can be accessed."""
    return stat.S_ISREG(_visible_mode(path))


def is_visible_folder(path: Path) -> bool:
    """Return whether a name is a folder that can be accessed."""
    return stat.S_ISDIR(_visible_mode(path))


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a Zarr array or group."""
    return any(is_visible_file(path / name) for name in ("zarr.json", ".zarray", ".zgroup"))


def same_file(one: Path, other: Path) -> bool:
    """Return whether two names are the same file; False if one cannot be accessed."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _visible_mode(path: Path) -> int:
    try:
        status = status_of(path)
    except UserError:
        return 0
    return 0 if status is None else status.st_mode
