"""NumPy files, read through a memory map."""

from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib.format import open_memmap

from inpaint_app.cluster.stores.store import Store, checked_dtype, checked_shape, plain_properties
from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect

SUFFIX = ".npy"


class NpyStore(Store):
    """A picture in a .npy file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shape = checked_shape(path, self._values.shape)
        self.dtype = checked_dtype(path, self._values.dtype)

    @cached_property
    def _values(self) -> Array:
        try:
            return open_memmap(self.path, mode="r")
        except OSError as error:
            raise reading_error(error, self.path) from error
        except ValueError as error:
            raise UserError(
                f"{printable_path(self.path)} is not a NumPy file, or is damaged", "write it with numpy.save"
            ) from error

    def read(self, rect: Rect, plane: int = 0) -> Array:
        """Return the values of some pixels."""
        values = np.array(self._values[rect.slices], self.dtype)
        return values.reshape((*values.shape[:2], *self.shape[2:]))

    def properties(self, plane: int = 0) -> Picture:
        """Return what the file tells about the picture: nothing."""
        return plain_properties(self.shape, self.dtype)


def write_npy(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any], bands: Any) -> None:  # noqa: ANN401
    """Write a picture from bands of whole rows."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for band in bands:
        file.write(np.ascontiguousarray(band, dtype).data)
