"""Coarser and finer scales of masked planes."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Plane, Planes

Number = TypeVar("Number", np.uint8, np.float32)


def halve(planes: Planes, missing: Bools) -> tuple[Planes, Bools]:
    """Return planes at half size, and their mask: means of the observed pixels of each 2 x 2 block.

    A pixel of the result is missing, and zero, if all four are.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        Zero where missing.
    missing : (H, W) ndarray of bool
    """
    counts = _block_sums((~missing).view(np.uint8))
    means = np.empty((*counts.shape, planes.shape[2]), np.float32)
    for channel in range(planes.shape[2]):
        means[:, :, channel] = _block_sums(planes[:, :, channel])
    flat, fewer = means.reshape(-1, planes.shape[2]), np.flatnonzero(counts < 4)
    few = flat[fewer] / np.maximum(counts.reshape(-1)[fewer], 1)[:, None]
    means *= np.float32(0.25)
    flat[fewer] = few
    return means, counts == 0


def _block_sums(array: NDArray[Number]) -> NDArray[Number]:
    """Sum each 2 x 2 block; blocks at an odd border are smaller."""
    across = array[:, 0::2].copy()
    np.add(across[:, : array.shape[1] // 2], array[:, 1::2], out=across[:, : array.shape[1] // 2])
    sums = across[0::2].copy()
    np.add(sums[: array.shape[0] // 2], across[1::2], out=sums[: array.shape[0] // 2])
    return sums


def double(plane: Plane, shape: tuple[int, int]) -> Plane:
    """Return a complete plane at twice its size, cropped to `shape`, by linear interpolation."""
    tall = _double_rows(plane)[: shape[0]]
    return np.ascontiguousarray(_double_rows(tall.T)[: shape[1]].T)


def double_at(planes: Planes, pixels: Ints, width: int, origin: tuple[int, int] = (0, 0)) -> Planes:
    """Return some pixels of complete planes (H, W, C) at twice their size, by linear interpolation: (N, C).

    They are counted row by row in an image of this width, and have the same values as in `double`. The first
    one is at `origin` of the doubled planes.
    """
    height, half_width, n_channels = planes.shape
    flat = planes.reshape(-1, n_channels)
    rows, columns = np.divmod(pixels, width)
    rows, columns = rows + origin[0], columns + origin[1]
    row, other_row = (each * half_width for each in _sources(rows, height))
    near, far = (
        0.75 * flat.take(row + at, axis=0) + 0.25 * flat.take(other_row + at, axis=0)
        for at in _sources(columns, half_width)
    )
    return np.asarray(0.75 * near + 0.25 * far, np.float32)


def _sources(at: Ints, length: int) -> tuple[Ints, Ints]:
    """Return the nearest and the second nearest pixels on the coarser scale, along one axis."""
    near = at // 2
    return near, np.clip(near - 1 + 2 * (at % 2), 0, length - 1)


def _double_rows(plane: Plane) -> Plane:
    """Interpolate rows: each becomes two, a quarter of a pixel before and after it."""
    before = np.concatenate([plane[:1], plane[:-1]])
    after = np.concatenate([plane[1:], plane[-1:]])
    result = np.empty((2 * len(plane), plane.shape[1]), np.float32)
    result[0::2] = 0.75 * plane + 0.25 * before
    result[1::2] = 0.75 * plane + 0.25 * after
    return result
