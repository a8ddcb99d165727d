"""A picture on disk that is read in parts."""

import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.errors import UserError, printable_path
from inpaint_app.model.areas import Rect
from inpaint_app.model.picture import Array, Metadata

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
