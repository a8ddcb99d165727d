"""Regions of an image: tiles with a halo of what is around them, and parts of other kinds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dictsel_core._util.arrays import Region

Item = TypeVar("Item")

#: Pixels around a tile that are restored with it: more changes nothing that can be measured (docs/scale.md).
HALO = 48


@dataclass(frozen=True)
class Tile:
    """A part of an image.

    Attributes
    ----------
    region : (slice, slice)
        Rows and columns of the part.
    outer : (slice, slice)
        The same with the halo.
    """

    region: Region
    outer: Region

    @property
    def inner(self) -> Region:
        """The part within its halo."""
        return within(self.region, self.outer)

    @property
    def origin(self) -> tuple[int, int]:
        """First row and column of the halo."""
        return self.outer[0].start, self.outer[1].start


def cut_tiles(shape: tuple[int, ...], side: int, grid: int = 1) -> Iterator[Tile]:
    """Yield the tiles of an image, row by row; their halos begin at multiples of `grid`."""
    for region in parts_of(shape, side):
        yield Tile(region, grown(region, HALO, shape, grid))


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
