"""Arrays that are used again and again: new pages of memory cost more than the arithmetic on them."""

import math
import threading

import numpy as np
from numpy.typing import NDArray


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.by_name: dict[str, NDArray[np.float32]] = {}


_buffers = _Buffers()


def reused(name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an uninitialized array, which the next call with this name by the same thread overwrites."""
    n_values = math.prod(shape)
    buffer = _buffers.by_name.get(name)
    if buffer is None or buffer.size < n_values:
        buffer = _buffers.by_name[name] = np.empty(n_values, np.float32)
    return buffer[:n_values].reshape(shape)
