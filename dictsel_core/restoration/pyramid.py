"""Coarser and finer scales of a masked plane."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools, Ints
from dictsel_core.restoration.canvas import Plane

Number = TypeVar("Number", np.uint8, np.float32)


def halve(plane: Plane, missing: Bools) -> tuple[Plane, Bools]:
    """Return the plane at half size, and its mask: means of the observed pixels of each 2 x 2 block.

    A pixel of the result is missing if all four are.
    """
    counts = _block_sums((~missing).view(np.uint8))
    means = _block_sums(np.where(missing, np.float32(0), plane))
    means /= np.maximum(counts, 1)
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


def double_at(plane: Plane, pixels: Ints, width: int) -> Plane:
    """Return some pixels of `double`, counted row by row in an image of this width: (N,)."""
    rows, columns = np.divmod(pixels, width)
    row, other_row = _sources(rows, plane.shape[0])
    column, other_column = _sources(columns, plane.shape[1])
    near, far = (0.75 * plane[row, at] + 0.25 * plane[other_row, at] for at in (column, other_column))
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
