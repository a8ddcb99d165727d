"""The boxes of which JPEG 2000 and JPEG XL files consist."""

import struct
from collections.abc import Iterator

from inpaint_app.errors import DamagedError


def read_boxes(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, start and end of the contents of every box."""
    position, end = 0, len(data)
    while position + 8 <= end:
        length, name = struct.unpack_from(">I4s", data, position)
        start = position + 8
        if length == 1 and start + 8 <= end:
            (length,) = struct.unpack_from(">Q", data, start)
            start += 8
        stop = end if length == 0 else position + length
        if not start <= stop <= end:
            raise DamagedError("it ends too early")
        yield name, start, stop
        position = stop
