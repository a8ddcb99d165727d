"""Reductions of tall arrays in cache-sized chunks."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Floats

Kind = TypeVar("Kind", bound=np.generic)

_CHUNK_BYTES = 1 << 18


def chunk_rows(row_bytes: int) -> int:
    """Return how many rows of `row_bytes` bytes make a cache-sized chunk."""
    return max(1, _CHUNK_BYTES // max(row_bytes, 1))


def read_only(array: NDArray[Kind]) -> NDArray[Kind]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def positive_part_sums(gains: Floats, floors: Floats) -> NDArray[np.float64]:
    """Return the sums over t of max(0, gains[t, :] - floors[t]): (n,).

    Subtracting before summing keeps the result exactly zero where nothing exceeds its floor.
    """
    n_rows, n_columns = gains.shape
    totals = np.zeros(n_columns)
    step = chunk_rows(gains.itemsize * n_columns)
    buffer = np.empty((min(step, n_rows), n_columns), gains.dtype)
    columns = floors.astype(gains.dtype, copy=False)[:, None]
    for start in range(0, n_rows, step):
        rows = gains[start : start + step]
        part = np.subtract(rows, columns[start : start + step], out=buffer[: len(rows)])
        np.maximum(part, 0, out=part)
        totals += part.sum(axis=0)
    return totals
