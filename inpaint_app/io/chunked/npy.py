"""NumPy files, read in parts."""

from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError, UserError, printable_path
from inpaint_app.io.chunked.store import FileBytes, Store, checked_dtype, checked_shape
from inpaint_app.io.formats.arrays.npy import MAX_HEADER_BYTES, ArrayHeader, parse_header
from inpaint_app.model.picture import Array, Rect

SUFFIX = ".npy"


class NpyStore(Store):
    """A picture in a .npy file."""

    def __init__(self, path: Path) -> None:
        self.path, self._data = path, FileBytes(path)
        header = self._header
        self.shape = checked_shape(path, header.shape)
        self.dtype = checked_dtype(path, header.dtype)

    @cached_property
    def _header(self) -> ArrayHeader:
        name = printable_path(self.path)
        try:
            header = parse_header(self._data[:MAX_HEADER_BYTES])
        except DamagedError as error:
            problem = f"{name} is not a NumPy file, or is damaged"
            raise UserError(problem, "write it with numpy.save") from error
        except UnsupportedError as error:
            raise UserError(f"{name} cannot be read: {error.problem}", error.remedy) from error
        if header.end > len(self._data):
            raise UserError(f"{name} is damaged: it is truncated", "get a fresh copy")
        return header

    def read(self, rect: Rect, plane: int = 0) -> Array:
        """Return the values of some pixels."""
        header, box = self._header, (*rect.slices, *(slice(None) for _ in self._header.shape[2:]))
        order = -1 if header.is_fortran else 1
        values = self._data.read_box(header.start, header.shape[::order], header.dtype, box[::order])
        values = np.ascontiguousarray(values.T if header.is_fortran else values, self.dtype)
        return values.reshape((*values.shape[:2], *self.shape[2:]))


def write_npy(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any], bands: Any) -> None:  # noqa: ANN401
    """Write a picture from bands of whole rows."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for band in bands:
        file.write(np.ascontiguousarray(band, dtype).data)
