"""Groups of similar patches: for each reference patch, the most similar patches nearby."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Plane, Planes
from dictsel_core.restoration.refinement._tile_kernels import split_channels
from dictsel_core.restoration.refinement._workspace import reused
from dictsel_core.restoration.refinement.matching import Matcher
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

    def values(self) -> Planes:
        """Return the values of the members (B, n, C, size * size), less the center, until the next call."""
        values = reused("members", (*self.numbers.shape, len(self.layers), self.size**2))
        for channel, layer in enumerate(self.layers):
            values[:, :, channel] = _gather(layer, self.size, self.numbers)
        return values


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
    if is_enabled():
        layers, gray = reused("layers", (planes.shape[2], *tile.shape)), reused("gray", tile.shape)
        corner = tile.vertical.start, tile.horizontal.start
        low, high = map(np.float32, split_channels(np.ascontiguousarray(planes), corner, layers, gray))
        center = (low + high) / np.float32(2)
    else:
        region = planes[tile.region]
        low, high = region.min(), region.max()
        center = (low + high) / np.float32(2)
        layers = np.subtract(region.transpose(2, 0, 1), center, order="C")
        gray = layers[0] if len(layers) == 1 else layers.mean(axis=0)
    bound = max((high - low) / np.float32(2), _MIN_BOUND)
    numbers = Matcher(gray, bound, tile, search).nearest(wanted)
    if tile.n_planes > 1:
        order = np.argsort(numbers >= tile.n_patches, axis=1, kind="stable")
        numbers = np.take_along_axis(numbers, order, axis=1)
    return Groups(numbers, layers, center, search.size)


def _gather(layer: Plane, size: int, numbers: Ints) -> Plane:
    """Return the patches with some numbers (B, n): (B, n, size * size), until the next call."""
    n_across = layer.shape[1] - size + 1
    # All that may be a row of a patch: to gather rows takes a third of the time of pixels or of patches.
    segments = reused("segments", (len(layer), n_across, size))
    for column in range(size):
        segments[:, :, column] = layer[:, column : column + n_across]
    first = numbers[:, :, None] + np.arange(size) * n_across
    patches = reused("gathered", (*first.shape, size))
    segments.reshape(-1, size).take(first, axis=0, out=patches, mode="clip")
    return patches.reshape(*numbers.shape, -1)
