"""Images and arrays that are processed in blocks, and the regions of them that a block needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import as_count, has_other_bytes


@dataclass(frozen=True)
class ImageSpec:
    """What is known of an image before any of its pixels.

    Attributes
    ----------
    height, width, n_channels : int
        Gray images have one channel.
    dtype : str
        Of integers or floats, such as "uint8".
    n_layers : int
        Layers of its mask: one for all channels, which is the default, or one per channel.

    Examples
    --------
    >>> ImageSpec(4000, 6000, 3, "uint16").shape
    (4000, 6000)
    """

    height: int
    width: int
    n_channels: int = 1
    dtype: str = "uint8"
    n_layers: int = 1

    def __post_init__(self) -> None:
        """Check every value."""
        for name in ("height", "width", "n_channels"):
            object.__setattr__(self, name, as_count(getattr(self, name), name))
        if self.n_layers not in (1, self.n_channels):
            raise ValueError(
                f"A mask has one layer, or one per channel, {self.n_channels}, but not {self.n_layers}."
            )
        if np.dtype(self.dtype).kind not in "iuf":
            raise TypeError(f"image must hold integers or floats, but its dtype is {self.dtype}.")
        object.__setattr__(self, "dtype", str(np.dtype(self.dtype)))  # np.uint8 is not known to JSON

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width


@dataclass(frozen=True)
class ArraySpec:
    """An array of rows, columns and layers that a stage writes."""

    name: str
    shape: tuple[int, int, int]
    dtype: str


@dataclass(frozen=True)
class Read:
    """A region of an array that a stage reads."""

    array: str
    rows: slice
    columns: slice


def reads_of(region: Region, *arrays: str) -> tuple[Read, ...]:
    """Return the same region of several arrays."""
    return tuple(Read(array, *region) for array in arrays)


def check_blocks(blocks: Sequence[NDArray[Any]], reads: Sequence[Read], spec: ImageSpec) -> None:
    """Refuse blocks that are not those of the reads, by number, shape, and dtype of image and mask."""
    if len(blocks) != len(reads):
        names = ", ".join(read.array for read in reads)
        raise ValueError(f"There must be {len(reads)} blocks ({names}), but there are {len(blocks)}.")
    known = {"image": (spec.n_channels, np.dtype(spec.dtype)), "mask": (spec.n_layers, np.dtype(bool))}
    for block, read in zip(blocks, reads, strict=True):
        rows, columns = (each.stop - each.start for each in (read.rows, read.columns))
        layers, dtype = known.get(read.array, (None, block.dtype))
        if block.ndim != 3 or block.shape[:2] != (rows, columns) or layers not in (None, block.shape[2]):
            raise ValueError(
                f"The block of {read.array} must have {rows} rows, {columns} columns and "
                f"{'its' if layers is None else layers} layers, but its shape is {block.shape}."
            )
        if block.dtype.newbyteorder("=") != dtype.newbyteorder("="):
            raise TypeError(f"The block of {read.array} must be of {dtype}, but its dtype is {block.dtype}.")
        if dtype == np.bool_ and has_other_bytes(block):
            raise ValueError(f"The block of {read.array} must hold True and False; pass block != 0 instead.")


def as_block(rows: slice, columns: slice, shape: tuple[int, int], grid: int) -> Region:
    """Return the region of a block of an array of this shape; refuse those that are not on the grid."""
    region = []
    for part, length, name in zip((rows, columns), shape, ("rows", "columns"), strict=True):
        given: object = part
        if not isinstance(given, slice):
            raise TypeError(f"{name} must be a slice, not {given!r}.")
        start, stop = part.start or 0, length if part.stop is None else part.stop
        if part.step not in (None, 1) or not 0 <= start < stop <= length:
            raise ValueError(f"{name} must be a part of the {length} there are, not {part}.")
        if start % grid or (stop % grid and stop != length):
            raise ValueError(
                f"{name} must begin and end at multiples of {grid}, or at the end of the array, not {part}."
            )
        region.append(slice(start, stop))
    return region[0], region[1]


def grown(region: Region, margin: int, shape: tuple[int, ...], grid: int = 1) -> Region:
    """Return a region with a margin inside an array, which begins at a multiple of `grid`."""
    rows, columns = (
        slice(max(each.start - margin, 0) // grid * grid, min(each.stop + margin, length))
        for each, length in zip(region, shape[:2], strict=True)
    )
    return rows, columns


def within(region: Region, outer: Region) -> Region:
    """Return a region as a part of a larger one."""
    rows, columns = (slice(a.start - b.start, a.stop - b.start) for a, b in zip(region, outer, strict=True))
    return rows, columns


def halved_shape(shape: tuple[int, int], level: int) -> tuple[int, int]:
    """Return the shape of a coarser scale; the image itself is level 0."""
    return -(-shape[0] >> level), -(-shape[1] >> level)


def doubled(region: Region, shape: tuple[int, int]) -> Region:
    """Return the pixels, on the next finer scale of this shape, of a region."""
    rows, columns = (
        slice(2 * each.start, min(2 * each.stop, length)) for each, length in zip(region, shape, strict=True)
    )
    return rows, columns


def coarser_region(region: Region, shape: tuple[int, int]) -> Region:
    """Return the pixels, on the next coarser scale of this shape, between which a region is interpolated."""
    rows, columns = (
        slice(max(each.start // 2 - 1, 0), min((each.stop - 1) // 2 + 2, length))
        for each, length in zip(region, shape, strict=True)
    )
    return rows, columns
