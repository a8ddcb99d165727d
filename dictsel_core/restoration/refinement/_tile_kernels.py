"""Regions of tiles, compiled, the same bits: which references have missing pixels, and channels as layers.

Indices are unsigned, and planes one-dimensional, row by row: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core._support.vectors import WIDTH, load, splat, store, where_larger

Single = NDArray[np.float32]
Index = np.uintp

_0, _1, _3, _8 = (Index(number) for number in (0, 1, 3, WIDTH))


@Kernel
def find_incomplete(missing: Bools, corner: tuple[int, int], rows: Ints, columns: Ints, size: int) -> Bools:
    """Return which patches of a part of a mask (H, W, c) have missing pixels: (b, b').

    Their rows (b,) and columns (b',) count from the corner of the part.
    """
    found = np.empty((len(rows), len(columns)), np.bool_)
    n_layers = Index(missing.shape[2])
    left, width = Index(corner[1]) * n_layers, Index(columns[-1] + size) * n_layers
    hidden, flat = np.empty(width, np.uint8), missing.reshape(len(missing), -1)
    for i in range(len(rows)):
        top = Index(corner[0] + rows[i])
        hidden[:] = 0
        for row in range(top, top + Index(size)):
            for at in range(width):
                hidden[at] |= flat[row, left + at]
        for j in range(len(columns)):
            count = 0
            for at in range(Index(columns[j]) * n_layers, Index(columns[j] + size) * n_layers):
                count += hidden[at]
            found[i, j] = count > 0
    return found


@Kernel
def split_channels(
    planes: Single, corner: tuple[int, int], layers: Single, gray: Single
) -> tuple[np.float32, np.float32]:
    """Set the channels (C, h, w) of a part of planes (H, W, C), less a center, and the mean of the channels.

    The part begins at a corner. Returns its least and its largest value, which have the center between them.
    """
    n_channels, width = Index(layers.shape[0]), Index(layers.shape[2])
    flat, pitch = planes.reshape(-1), Index(planes.shape[1]) * n_channels
    start = Index(corner[0]) * pitch + Index(corner[1]) * n_channels
    low, high = _value_range(flat, start, pitch, Index(layers.shape[1]), width * n_channels)
    center = (low + high) / np.float32(2)
    for i in range(Index(layers.shape[1])):
        at = start + i * pitch
        for channel in range(n_channels):
            layer, first = layers[channel, i], at + channel
            if n_channels == _3:  # a constant: several pixels are read at once
                for j in range(width):
                    layer[j] = flat[first + j * _3] - center
            else:
                for j in range(width):
                    layer[j] = flat[first + j * n_channels] - center
        mean, layer = gray[i], layers[_0, i]
        for j in range(width):
            mean[j] = layer[j]
        for channel in range(_1, n_channels):
            layer = layers[channel, i]
            for j in range(width):
                mean[j] += layer[j]
        for j in range(width):
            mean[j] /= np.float32(n_channels)
    return low, high


@Kernel
def _value_range(
    flat: Single, start: np.uintp, pitch: np.uintp, height: np.uintp, width: np.uintp
) -> tuple[np.float32, np.float32]:
    """Return the least and the largest value of a part of rows."""
    low = high = splat(flat[start])
    least = largest = flat[start]
    for i in range(height):
        at = start + i * pitch
        stop = at + width
        while at + _8 <= stop:
            values = load(flat, at)
            low, high = where_larger(low, values, values, low), where_larger(values, high, values, high)
            at += _8
        while at < stop:
            least, largest = min(least, flat[at]), max(largest, flat[at])
            at += _1
    ends = np.empty(2 * WIDTH, np.float32)
    store(ends, _0, low)
    store(ends, _8, high)
    return min(least, ends[:WIDTH].min()), max(largest, ends[WIDTH:].max())
