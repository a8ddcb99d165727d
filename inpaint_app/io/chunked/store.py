"""A picture on disk that is read in parts, and the bytes of a file, read when they are asked for."""

import math
import os
import threading
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.model.picture import Array, Metadata, Rect


class FileBytes:
    """The bytes of a file as a sequence, of which slices are read from the disk.

    A memory map would do, but reading it ends the process if another program shortens the file meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        try:
            self._file = path.open("rb", buffering=0)
        except (OSError, ValueError) as error:
            raise reading_error(error, path) from error
        weakref.finalize(self, self._file.close)
        self._size = os.fstat(self._file.fileno()).st_size

    def __len__(self) -> int:
        """Return how many there were when it was opened."""
        return self._size

    def __getitem__(self, place: slice) -> bytes:
        """Return some bytes; raises `UserError` if they are not there any more."""
        start, stop, _ = place.indices(self._size)
        data = bytearray(max(0, stop - start))
        self.read_into(start, memoryview(data))
        return bytes(data)

    def read_into(self, start: int, target: memoryview) -> None:
        """Read as many bytes as the target has; raises `UserError` if they are not there any more."""
        n_bytes = 0
        try:
            with self._lock:
                self._file.seek(start)
                while n_new := self._file.readinto(target[n_bytes:]):  # the system may return less at a time
                    n_bytes += n_new
        except OSError as error:
            raise reading_error(error, self._path) from error
        if n_bytes != target.nbytes:
            raise UserError(
                f"{printable_path(self._path)} was shortened by another program", "restore it from a copy"
            )

    def read_box(
        self, start: int, shape: tuple[int, ...], dtype: np.dtype[Any], box: tuple[slice, ...]
    ) -> Array:
        """Return a part of an array whose values, in the order of C, begin at a place.

        Along axes for which the box has no slice, the part is whole.
        """
        sides = [range(*part.indices(side)) for part, side in zip(box, shape, strict=False)]
        sides += [range(side) for side in shape[len(box) :]]
        values = np.empty([len(side) for side in sides], dtype)
        if not values.size:
            return values
        axes = range(len(shape))
        strides = [math.prod(shape[axis + 1 :]) for axis in axes]
        n_outer = next(axis for axis in axes if values.shape[axis + 1 :] == shape[axis + 1 :])
        for index in np.ndindex(*values.shape[:n_outer]):  # of each, the values follow one another
            first = [side[at] for side, at in zip(sides, index, strict=False)]
            first += [side[0] for side in sides[n_outer:]]
            place = start + dtype.itemsize * sum(at * step for at, step in zip(first, strides, strict=True))
            self.read_into(place, values[index].reshape(-1).view(np.uint8).data)
        return values


DTYPES = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "float32", "float64")


class Store(ABC):
    """A picture on disk, of any size; or a stack of pictures of the same size, each of which is a plane."""

    path: Path  #: Of the file or folder.
    shape: tuple[int, ...]  #: (H, W), or (H, W, C) with C > 1, of a plane.
    dtype: np.dtype[Any]  #: Of the values, in the byte order of the machine.
    #: Names and lengths of the axes along which planes are stacked: none if there is a single plane.
    stack: tuple[tuple[str, int], ...] = ()
    has_alpha: bool = False  #: Whether there is an alpha channel, beside those in `shape`.

    @property
    def n_planes(self) -> int:
        """Number of pictures."""
        return math.prod(length for _, length in self.stack)

    @abstractmethod
    def read(self, rect: Rect, plane: int = 0) -> Array:
        """Return the values of some pixels, (h, w) or (h, w, C)."""

    def read_alpha(self, rect: Rect, plane: int = 0) -> Array | None:
        """Return the opacity of some pixels, (h, w); None if there is no such channel."""
        return None

    def metadata(self, plane: int = 0) -> Metadata:
        """Return what the file tells about a plane."""
        return Metadata()


def checked_shape(path: Path, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a picture, a single channel left out; raises `UserError` if it is no picture."""
    shape = shape[:2] if shape[2:] == (1,) else shape
    if len(shape) not in (2, 3) or 0 in shape:
        sides = " x ".join(map(str, shape)) or "no axes"
        raise UserError(
            f"{printable_path(path)} has the shape {sides}", "give rows, columns and perhaps channels"
        )
    return shape


def checked_dtype(path: Path, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in the byte order of the machine.

    Raises `UserError` if a picture cannot have such values.
    """
    native = dtype.newbyteorder("=")
    if native.name not in (*DTYPES, "bool"):
        raise UserError(
            f"{printable_path(path)} holds values of the type {dtype.name}", f"convert it to {DTYPES[-2]}"
        )
    return native
