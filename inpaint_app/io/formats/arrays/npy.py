"""NPY: an array that NumPy has saved. Nothing is ever unpickled."""

import io
import math
import re
import warnings
from dataclasses import dataclass
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import Format
from inpaint_app.io.formats.arrays.conversion import (
    array_of_picture,
    check_array,
    has_channels,
    picture_of_array,
)
from inpaint_app.model.picture import Array, Picture

SIGNATURE = b"\x93NUMPY"
MAX_HEADER_BYTES = 10_000


def decode_npy(data: bytes) -> Picture:
    """Return the array in an NPY file as a picture; see `arrays.has_channels` for its axes."""
    header = read_header(data[:MAX_HEADER_BYTES])
    picture = picture_of_array(header.read(data), "NPY", channels=has_channels(header.shape))
    return picture.with_metadata(lost=("further arrays in the file",)) if header.end < len(data) else picture


@dataclass(frozen=True)
class ArrayHeader:
    """How an array is stored: where its values begin, their dtype, its shape, and the order of its axes."""

    start: int
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    is_fortran: bool

    @property
    def end(self) -> int:
        """Where the values end."""
        return self.start + math.prod(self.shape) * self.dtype.itemsize

    def read(self, data: bytes | bytearray) -> Array:
        """Return the array, a view of the data; they begin with the header."""
        if self.end > len(data):
            raise DamagedError("it is truncated")
        flat = np.frombuffer(data, self.dtype, count=math.prod(self.shape), offset=self.start)
        return flat.reshape(self.shape, order="F" if self.is_fortran else "C")


def read_header(data: bytes) -> ArrayHeader:
    """Return how an array is stored, from the first `MAX_HEADER_BYTES` bytes.

    Raises `DamagedError` or `UnsupportedError` if that is wrong, or if the array is no picture or too large.
    """
    header = parse_header(data)
    check_array(header.shape, header.dtype, channels=has_channels(header.shape))
    return header


def parse_header(data: bytes) -> ArrayHeader:
    """Return how an array of any size is stored, from the first `MAX_HEADER_BYTES` bytes.

    Raises `DamagedError` or `UnsupportedError` if that is wrong.
    """
    start = io.BytesIO(data[:MAX_HEADER_BYTES])
    readers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    try:
        version, _ = np.lib.format.read_magic(start)
        if version == 3:
            raise UnsupportedError("it holds records", "give an array of whole numbers or floats")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers that Python 2 wrote
            shape, is_fortran, dtype = readers[version](start, max_header_size=MAX_HEADER_BYTES)
    except (ValueError, KeyError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError) as error:
        raise DamagedError("its header is wrong") from error
    if any(side < 0 for side in shape):
        raise DamagedError("its header is wrong")
    return ArrayHeader(start.tell(), dtype, shape, is_fortran)


def encode_npy(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write all pages as one array."""
    values = np.ascontiguousarray(array_of_picture(picture))
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
    file.write(values.data)  # NumPy would not report why writing failed


FORMAT = Format(
    name="NPY",
    suffixes=(".npy",),
    mime_types=(),
    signature=re.compile(re.escape(SIGNATURE)),
    decode=decode_npy,
    encode=encode_npy,
    depths=(8, 16, 32),
    keeps_arrays=True,
    has_equal_pages=True,
    metadata=frozenset(),
    has_alpha=False,
)
