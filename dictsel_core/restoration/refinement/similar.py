"""Groups of similar patches: for each reference patch, the most similar patches nearby."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.refinement._tile_kernels import split_channels
from dictsel_core.restoration.refinement._workspace import reused
from dictsel_core.restoration.refinement.matching import nearest
from dictsel_core.restoration.refinement.tiles import Search, Tile

#: Half the range of a tile, at least: less is the rounding of float32.
_MIN_BOUND = np.float32(1e-6)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of similar patches of a tile.

    Attributes
    ----------
    numbers : (B, n) ndarray of int
        Numbers of the members within the tile, the most similar first; the first one is the reference. Those
        that are not in the image of the reference come last.
    layers : (C, h, w) ndarray
        The region of the tile, less the center; until the next search of the same thread.
    center : float
        Middle of the range of values of the tile.
    size : int
        Height and width of a patch.
    """

    numbers: Ints
    layers: Planes
    center: np.float32
    size: int


def find_groups(planes: Planes, tile: Tile, search: Search, wanted: Bools) -> Groups:
    """Return the groups of some references of a tile, row by row.

    The difference of patches is that of their means over the channels, in about 500 levels from the least to
    the largest value of the tile, and with less precision the more candidates there are; of candidates that
    differ as much, the first ones are members.

    Parameters
    ----------
    planes : (H, W, C) ndarray
    tile : Tile
    search : Search
        Groups are smaller if there are fewer candidates.
    wanted : (b, b') ndarray of bool
        References, by their rows and columns in the tile.
    """
    region = planes[tile.region]
    low, high = region.min(), region.max()
    center = (low + high) / np.float32(2)
    layers, gray = reused("layers", (planes.shape[2], *tile.shape)), reused("gray", tile.shape)
    corner = tile.vertical.start, tile.horizontal.start
    split_channels(np.ascontiguousarray(planes), corner, center, layers, gray)
    bound = max((high - low) / np.float32(2), _MIN_BOUND)
    numbers = nearest(gray, bound, tile, search, wanted)
    if tile.n_planes > 1:
        order = np.argsort(numbers >= tile.n_patches, axis=1, kind="stable")
        numbers = np.take_along_axis(numbers, order, axis=1)
    return Groups(numbers, layers, center, search.size)
