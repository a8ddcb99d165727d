"""Coarser and finer scales of a masked plane."""

import numpy as np

from dictsel_core._validation import Bools
from dictsel_core.restoration.canvas import Plane


def halve(plane: Plane, missing: Bools) -> tuple[Plane, Bools]:
    """Return the plane at half size, and its mask: means of the observed pixels of each 2 x 2 block.

    A pixel of the result is missing if all four are.
    """
    odd = tuple((0, size % 2) for size in plane.shape)
    observed = np.pad(~missing, odd).astype(np.float32)
    values = np.pad(np.where(missing, 0, plane), odd)
    rows, columns = (size // 2 for size in values.shape)
    counts = observed.reshape(rows, 2, columns, 2).sum(axis=(1, 3))
    sums = values.reshape(rows, 2, columns, 2).sum(axis=(1, 3))
    return (sums / np.maximum(counts, 1)).astype(np.float32), counts == 0


def double(plane: Plane, shape: tuple[int, int]) -> Plane:
    """Return a complete plane at twice its size, cropped to `shape`, by linear interpolation."""
    tall = _double_rows(plane)[: shape[0]]
    return np.ascontiguousarray(_double_rows(tall.T)[: shape[1]].T)


def _double_rows(plane: Plane) -> Plane:
    """Interpolate rows: each becomes two, a quarter of a pixel before and after it."""
    before = np.concatenate([plane[:1], plane[:-1]])
    after = np.concatenate([plane[1:], plane[-1:]])
    result = np.empty((2 * len(plane), plane.shape[1]), np.float32)
    result[0::2] = 0.75 * plane + 0.25 * before
    result[1::2] = 0.75 * plane + 0.25 * after
    return result
