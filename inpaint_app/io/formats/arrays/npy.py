"""NPY: an array that NumPy has saved. Nothing is ever unpickled."""

import math
import re
from dataclasses import dataclass
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
_DTYPE = re.compile(rb"'descr'\s*:\s*'([<>=|]?[a-zA-Z]\d{0,4})'")
_ORDER = re.compile(rb"'fortran_order'\s*:\s*(True|False)")
_SHAPE = re.compile(rb"'shape'\s*:\s*\(([\d\s,L]{0,500})\)")


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
            raise DamagedError("it ends too early")
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

    The header is a Python dictionary as text; its three entries are looked for, and nothing is evaluated.
    Raises `DamagedError` or `UnsupportedError` if it is wrong.
    """
    if len(data) < 12 or not data.startswith(SIGNATURE) or data[6] not in (1, 2, 3):
        raise DamagedError("its header is wrong")
    start = 10 if data[6] == 1 else 12
    end = start + int.from_bytes(data[8:start], "little")
    if end > min(len(data), MAX_HEADER_BYTES):
        raise DamagedError("its header is wrong")
    text = data[start:end]
    found = [pattern.search(text) for pattern in (_DTYPE, _ORDER, _SHAPE)]
    if found[0] is None and b"'descr'" in text:
        raise UnsupportedError("it holds records", "give an array of whole numbers or floats")
    if any(each is None for each in found):
        raise DamagedError("its header is wrong")
    name, order, sizes = (each[1] for each in found if each is not None)
    try:
        dtype = np.dtype(name.decode())
        shape = tuple(int(part.strip(b" L")) for part in sizes.split(b",") if part.strip())
    except (TypeError, ValueError) as error:
        raise DamagedError("its header is wrong") from error
    return ArrayHeader(end, dtype, shape, order == b"True")


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
