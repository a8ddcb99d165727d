"""Small tools for arrays: regions of images, and reductions of tall arrays in cache-sized chunks."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel
from dictsel_core._util.validation import Bools, Floats, Ints

Scalar = TypeVar("Scalar", bound=np.generic)
Item = TypeVar("Item")
#: Rows and columns of an image.
Region = tuple[slice, slice]

_CHUNK_BYTES = 1 << 18


def chunk_rows(row_bytes: int) -> int:
    """Return how many rows of `row_bytes` bytes fit into a cache-sized chunk."""
    return max(1, _CHUNK_BYTES // max(row_bytes, 1))


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def nonzero_2d(mask: Bools) -> tuple[Ints, Ints]:
    """Return the rows and columns of the True entries of a mask (H, W), several times faster than NumPy."""
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return rows, columns


def positive_part_sums(gains: Floats, floors: Floats, largest: Floats | None = None) -> NDArray[np.float64]:
    """Return the sums over t of max(0, gains[t, :] - floors[t]): (n,).

    Subtracting before summing keeps the result exactly zero if nothing exceeds its floor. If the largest
    gain of each row is given, rows without any gain above their floor are skipped.
    """
    n_rows, n_columns = gains.shape
    floors = floors.astype(gains.dtype, copy=False)
    active = np.arange(n_rows) if largest is None else (largest > floors).nonzero()[0]
    step = chunk_rows(gains.itemsize * n_columns)
    if len(active) <= step:
        return _sum_positive_parts(gains, floors, active).astype(np.float64, copy=False)
    totals = np.zeros(n_columns)
    for start in range(0, len(active), step):
        totals += _sum_positive_parts(gains, floors, active[start : start + step])
    return totals


@Kernel
def _sum_positive_parts(gains: Floats, floors: Floats, rows: Ints) -> Floats:
    """Return the sums of max(0, gains - floors) over some rows: (n,)."""
    sums = np.zeros(gains.shape[1], gains.dtype)
    for row in rows:
        part, floor = gains[row], floors[row]
        for column in range(len(sums)):
            difference = part[column] - floor
            sums[column] += difference if difference > 0 else 0
    return sums


def parts_of(shape: tuple[int, ...], size: int) -> Iterator[Region]:
    """Yield adjacent parts of an image, row by row, of this height and width at most."""
    for row in range(0, shape[0], size):
        for column in range(0, shape[1], size):
            yield slice(row, min(row + size, shape[0])), slice(column, min(column + size, shape[1]))


def grown(region: Region, margin: int, shape: tuple[int, ...], grid: int = 1) -> Region:
    """Return a region with a margin, inside an image, which begins at a multiple of `grid`."""
    rows, columns = (
        slice(max(each.start - margin, 0) // grid * grid, min(each.stop + margin, length))
        for each, length in zip(region, shape[:2], strict=True)
    )
    return rows, columns


def within(region: Region, outer: Region) -> Region:
    """Return a region as a part of a larger one."""
    rows, columns = (slice(a.start - b.start, a.stop - b.start) for a, b in zip(region, outer, strict=True))
    return rows, columns


def evenly_spaced(items: Sequence[Item], n_wanted: int) -> list[Item]:
    """Return some of several items."""
    n = min(n_wanted, len(items))
    return [items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n)]


def has_square(holes: Bools, reach: int) -> bool:
    """Return whether a pixel of a mask (H, W) is farther than `reach` from all that are not in it."""
    if not holes.any():
        return False
    around = np.pad(holes, reach, constant_values=True)  # what lies beyond the border is not observed
    return bool(_runs(_runs(around, 2 * reach + 1).T, 2 * reach + 1).any())


def _runs(mask: Bools, length: int) -> Bools:
    """Return where all of the `length` entries from here on along the first axis are True."""
    n_known = 1
    while n_known < length:
        step = min(n_known, length - n_known)
        mask, n_known = mask[:-step] & mask[step:], n_known + step
    return mask
