"""Tiles of an image, each with a halo of what is around it."""

from collections.abc import Iterator
from dataclasses import dataclass

from dictsel_core._support.arrays import Region

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


def cut_tiles(shape: tuple[int, int], side: int, halo: int = HALO, grid: int = 1) -> Iterator[Tile]:
    """Yield the tiles of an image, row by row.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the image.
    side : int
        Height and width of a tile, a multiple of `grid`; the last ones may be smaller.
    halo : int
    grid : int
        Halos begin at multiples of it.
    """
    for top in range(0, shape[0], side):
        for left in range(0, shape[1], side):
            region = slice(top, min(top + side, shape[0])), slice(left, min(left + side, shape[1]))
            yield Tile(region, grown(region, halo, shape, grid))


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
