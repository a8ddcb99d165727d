"""Conversions of `canvas` and `coding.pyramid`, compiled: the same bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools

Planes = NDArray[np.float32]
Integers = NDArray[np.unsignedinteger[Any]]
Index = np.uintp


@Kernel
def look_up(image: Integers, missing: Bools, table: Planes, planes: Planes) -> None:
    """Write the values (H, W, C) of an image in a table, zero where missing (H, W)."""
    n_channels, values, out = Index(image.shape[2]), image.reshape(-1), planes.reshape(-1)
    unknown = missing.reshape(-1)
    for at in range(Index(len(values))):
        out[at] = table[Index(values[at])]
    for pixel in range(Index(len(unknown))):
        if unknown[pixel]:
            for channel in range(n_channels):
                out[Index(pixel) * n_channels + Index(channel)] = 0


@Kernel
def halve_by_table(image: Integers, missing: Bools, table: Planes) -> tuple[Planes, Bools]:
    """Return what `halve` makes of the values (H, W, C) of an image in a table, and of its mask (H, W)."""
    height, width, n_channels = image.shape
    shape = (height + 1) // 2, (width + 1) // 2
    means, unknown = np.empty((shape[0], shape[1], n_channels), np.float32), np.empty(shape, np.bool_)
    values, out, zero = image.reshape(-1), means.reshape(-1), np.float32(0)
    step, pitch, at = Index(n_channels), Index(width * n_channels), Index(0)
    for row in range(shape[0]):
        upper = Index(2 * row)
        lower = min(upper + Index(1), Index(height - 1))
        for column in range(shape[1]):
            left = Index(2 * column)
            right = min(left + Index(1), Index(width - 1))
            has_right, has_lower = bool(right > left), bool(lower > upper)
            a, b = not missing[upper, left], has_right and not missing[upper, right]
            c = has_lower and not missing[lower, left]
            d = has_lower and has_right and not missing[lower, right]
            count = int(a) + int(b) + int(c) + int(d)
            unknown[row, column] = count == 0
            above, below = upper * pitch + left * step, lower * pitch + left * step
            aside = (right - left) * step
            for _ in range(n_channels):
                if count == 4:  # nearly always
                    first = table[Index(values[above])] + table[Index(values[above + aside])]
                    second = table[Index(values[below])] + table[Index(values[below + aside])]
                else:
                    first = table[Index(values[above])] if a else zero
                    first += table[Index(values[above + aside])] if b else zero
                    second = table[Index(values[below])] if c else zero
                    second += table[Index(values[below + aside])] if d else zero
                out[at] = (first + second) / np.float32(max(count, 1))
                above, below, at = above + Index(1), below + Index(1), at + Index(1)
    return means, unknown
