"""Open a picture on disk, by what it is."""

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.io.chunked import npy, tiff, zarr_array
from inpaint_app.io.chunked.store import Store
from inpaint_app.io.paths import is_folder

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)

SUFFIXES = (zarr_array.SUFFIX, *tiff.SUFFIXES, npy.SUFFIX)


def open_store(path: Path) -> Store:
    """Open a Zarr array, OME-Zarr image, TIFF or NumPy file.

    Raises `UserError` if it is none of them, or cannot be read in parts.
    """
    refuse_url(path)
    if is_folder(path):
        return zarr_array.ZarrStore(path)
    suffix = path.suffix.lower()
    if suffix == npy.SUFFIX:
        return npy.NpyStore(path)
    if suffix in tiff.SUFFIXES:
        return tiff.TiffStore(path)
    if not path.exists():
        raise reading_error(FileNotFoundError(2, ""), path)
    raise UserError(
        f"{printable_path(path)} cannot be read in parts", "give Zarr, OME-Zarr, TIFF or a NumPy file (.npy)"
    )


def refuse_url(path: Path) -> None:
    """Raise `UserError` if an address is given where a file is wanted; a `Path` has one slash of its two."""
    found = _URL.match(str(path))
    if found is not None and not path.exists():
        raise UserError(
            f"{found[1]}://{printable_path(found[2])} is not on a file system of this machine",
            "mount it, for example with rclone, or copy it first",
        )


@lru_cache(maxsize=8)
def cached_store(path: str, stamp: str) -> Store:
    """Return a store that stays open in this process; `stamp` tells its versions apart."""
    return open_store(Path(path))


def stamp_of(path: Path) -> str:
    """Return a short text that changes with the contents of a file or folder: its sizes and times.

    Raises `UserError` if it cannot be accessed.
    """
    digest = hashlib.sha256()
    try:
        for file in _files(path):
            status = file.stat()
            digest.update(f"{file.relative_to(path)} {status.st_size} {status.st_mtime_ns}\n".encode())
    except OSError as error:
        raise reading_error(error, path) from error
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    if not is_folder(path):
        return [path]
    return sorted(Path(folder, name) for folder, _, names in os.walk(path) for name in names)
