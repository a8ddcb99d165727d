"""Regions of tiles: references with missing pixels, and channels as layers."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Ints

Single = NDArray[np.float32]
Index = np.uintp


@Kernel
def find_incomplete(missing: Bools, corner: tuple[int, int], rows: Ints, columns: Ints, size: int) -> Bools:
    """Return which patches of a part of a mask (H, W, c) have missing pixels: (b, b').

    Their rows (b,) and columns (b',) count from the corner of the part.
    """
    found = np.zeros((len(rows), len(columns)), np.bool_)
    n_layers, side = Index(missing.shape[2]), Index(size)
    pitch, flat = Index(missing.shape[1]) * n_layers, missing.reshape(-1)
    for i in range(len(rows)):
        for j in range(len(columns)):
            start = Index(corner[0] + rows[i]) * pitch + Index(corner[1] + columns[j]) * n_layers
            for row in range(side):
                count = np.uint8(0)
                for at in range(start + row * pitch, start + row * pitch + side * n_layers):
                    count |= flat[at]
                if count:
                    found[i, j] = True
                    break
    return found


@Kernel
def split_channels(
    planes: Single, corner: tuple[int, int], center: np.float32, layers: Single, gray: Single
) -> None:
    """Set the channels (C, h, w) of a part of planes (H, W, C), less a center, and their mean."""
    n_channels, height, width = layers.shape
    flat, pitch = planes.reshape(-1), Index(planes.shape[1] * n_channels)
    step, factor = Index(n_channels), np.float32(1) / np.float32(n_channels)
    for i in range(height):
        start = Index(corner[0] + i) * pitch + Index(corner[1]) * step
        mean = gray[i]
        for channel in range(n_channels):
            layer, first = layers[channel, i], start + Index(channel)
            for j in range(Index(width)):
                layer[j] = flat[first + j * step] - center
            for j in range(Index(width)):
                mean[j] = (mean[j] if channel else np.float32(0)) + factor * layer[j]
