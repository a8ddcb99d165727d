"""Sums of estimates: those of the pixels of a block, and of a band of blocks."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Floats, Ints

Single = NDArray[np.float32]
Index = np.uintp

_0, _1 = Index(0), Index(1)
#: Pixels that are looked at together.
_FEW = Index(64)


@Kernel
def sum_estimates(
    numbers: Ints, values: Single, weights: Single, size: int, wanted: Ints, slots: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Add up weighted estimates of some pixels, and their weights, as `pixel_sums` returns them.

    Parameters
    ----------
    numbers : (N,) ndarray of int
    values : (N, C, size * size) ndarray
    weights : (N, 1 or C, size * size) ndarray
    size : int
        Height and width of a patch.
    wanted : (M,) ndarray of int
        The pixels, counted row by row.
    slots : (h, w) ndarray
        Is overwritten with the number of each pixel among those, or -1.

    Returns
    -------
    sums, totals : (M, C) and (M, 1 or C) ndarray
    """
    n_across = Index(slots.shape[1] - size + 1)
    n_channels, n_layers = Index(values.shape[1]), Index(weights.shape[1])
    sums, totals = np.zeros((wanted.size, values.shape[1])), np.zeros((wanted.size, weights.shape[1]))
    flat = slots.reshape(-1)
    flat[:] = -1
    for m in range(len(wanted)):
        flat[Index(wanted[m])] = m
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for i in range(Index(size)):
            for k in range(Index(size)):
                slot, at = slots[row + i, column + k], i * Index(size) + k
                if slot < 0:
                    continue
                for layer in range(n_layers):
                    totals[Index(slot), layer] += weights[n, layer, at]
                for channel in range(n_channels):
                    weight = weights[n, channel if n_layers > _1 else _0, at]
                    sums[Index(slot), channel] += values[n, channel, at] * weight
    return sums, totals


@Kernel
def add_sums(
    pixels: Ints,
    width: int,
    corner: tuple[int, int],
    tile_sums: tuple[Floats, Floats],
    sums: Floats,
    totals: Floats,
) -> None:
    """Add the sums of pixels of a tile to those of a band, whose rows are in turn those of an image.

    Parameters
    ----------
    pixels : (M,) ndarray of int
        Counted row by row in the tile, in their order.
    width : int
        Of the tile.
    corner : (int, int)
        Its first row and column.
    tile_sums : (M, C) and (M, 1 or c) ndarray
    sums, totals : (h, W, C) and (h, W, c) ndarray
        Are added to.
    """
    start, slot = 0, Index(corner[0] % len(sums))
    for m in range(Index(len(pixels))):
        while pixels[m] >= start + width:
            start += width
            slot = slot + _1 if slot + _1 < Index(len(sums)) else _0
        column = Index(corner[1] + pixels[m] - start)
        for channel in range(Index(sums.shape[2])):
            sums[slot, column, channel] += tile_sums[0][m, channel]
        for layer in range(Index(totals.shape[2])):
            totals[slot, column, layer] += tile_sums[1][m, layer if tile_sums[1].shape[1] > 1 else _0]


@Kernel
def move_pixels(
    planes: Single, missing: Bools, rows: tuple[int, int], relaxation: float, sums: Floats, totals: Floats
) -> None:
    """Move the missing pixels of some rows towards the means of their estimates, and set their sums to 0.

    Parameters
    ----------
    planes, missing : (H, W, C) and (H, W, c) ndarray
    rows : (int, int)
        The first one, and that after the last.
    relaxation : float
        How far.
    sums, totals : (h, W, C) and (h, W, c) ndarray
        Their rows are in turn those of the image.
    """
    n_layers, width = Index(missing.shape[2]), Index(missing.shape[1])
    flat = missing.reshape(-1)
    for row in range(Index(rows[0]), Index(rows[1])):
        slot = row % Index(len(sums))
        for start in range(_0, width, _FEW):
            stop, n_missing = min(Index(start) + _FEW, width), 0
            for at in range((row * width + start) * n_layers, (row * width + stop) * n_layers):
                n_missing += flat[at]
            if n_missing:
                for column in range(start, stop):
                    _move_pixel(planes, missing, (Index(row), slot, Index(column)), relaxation, sums, totals)


@PartialKernel
def _move_pixel(
    planes: Single,
    missing: Bools,
    place: tuple[np.uintp, np.uintp, np.uintp],
    relaxation: float,
    sums: Floats,
    totals: Floats,
) -> None:
    """Move a pixel, which is given by its row, that of its sums, and its column, and set its sums to 0."""
    row, slot, column = place
    shares = missing.shape[2] == 1
    if shares and not missing[row, column, _0]:
        return
    for channel in range(Index(planes.shape[2])):
        layer = _0 if shares else channel
        weight, value = totals[slot, column, layer], planes[row, column, channel]
        if missing[row, column, layer] and weight > 0:
            change = relaxation * (sums[slot, column, channel] / weight - value)
            planes[row, column, channel] = np.float32(min(max(value + change, 0.0), 1.0))
        sums[slot, column, channel] = 0
    for layer in range(Index(missing.shape[2])):
        totals[slot, column, layer] = 0
