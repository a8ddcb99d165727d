"""Groups of similar patches: for each reference patch, the most similar patches nearby."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._arrays import Scalar
from dictsel_core._validation import Bools, Ints
from dictsel_core.patches import all_patches
from dictsel_core.restoration._workspace import reused
from dictsel_core.restoration.canvas import Plane, Planes

#: References along each side of a cell: their candidates overlap, and their patches stay in the cache.
_CELL = 8


@dataclass(frozen=True)
class Search:
    """How patches are grouped.

    Attributes
    ----------
    size : int
        Height and width of a patch.
    radius : int
        Maximum distance of a member from its reference in pixels, vertically and horizontally. Near a border
        the search extends further inwards instead.
    n_members : int
        Number of patches in a group, including the reference.
    stride : int
        Distance between references.
    penalty : float
        What the square of the distance in pixels adds to the squared difference of two patches: those far
        away must be more similar than those nearby.
    """

    size: int
    radius: int
    n_members: int
    stride: int
    penalty: float = 0.0


@dataclass(frozen=True, eq=False)
class Span:
    """Consecutive references along one axis of an image, and the pixels of all their candidates.

    Attributes
    ----------
    start, stop : int
        Range of these pixels.
    n_patches : int
        How many patches fit into the range; their positions count from `start`.
    references : (b,) ndarray of int
        Positions of the references.
    first : (b,) ndarray of int
        Position of the first candidate of each reference; the others follow it.
    n_candidates : int
    """

    start: int
    stop: int
    n_patches: int
    references: Ints
    first: Ints
    n_candidates: int


@dataclass(frozen=True, eq=False)
class Tile:
    """A rectangle of neighboring references, and the region of the image that holds all their candidates.

    Patches are numbered within that region, row by row: (height - size + 1) x (width - size + 1).
    """

    vertical: Span
    horizontal: Span

    @property
    def region(self) -> tuple[slice, slice]:
        """Rows and columns of the region."""
        return (
            slice(self.vertical.start, self.vertical.stop),
            slice(self.horizontal.start, self.horizontal.stop),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the region."""
        return self.vertical.stop - self.vertical.start, self.horizontal.stop - self.horizontal.start

    @property
    def references(self) -> Ints:
        """Numbers of the references: (B,)."""
        return self._numbers(self.vertical.references, self.horizontal.references)

    @property
    def candidates(self) -> Ints:
        """Numbers of the patches that each reference is compared with: (B, c)."""
        offsets = self._numbers(
            np.arange(self.vertical.n_candidates), np.arange(self.horizontal.n_candidates)
        )
        return self._numbers(self.vertical.first, self.horizontal.first)[:, None] + offsets

    def _numbers(self, rows: Ints, columns: Ints) -> Ints:
        return (rows[:, None] * self.horizontal.n_patches + columns).ravel()


def spans(length: int, search: Search, offset: int = 0, n_references: int = 16) -> list[Span]:
    """Divide the references along an axis of an image into spans of up to `n_references`.

    References are at the borders, and at every stride from `offset` on.
    """
    last = length - search.size
    positions = np.unique([0, *range(offset, last + 1, search.stride), last])
    n_candidates = min(2 * search.radius + 1, last + 1)
    first = np.clip(positions - search.radius, 0, last + 1 - n_candidates)
    parts = []
    for at in range(0, len(positions), n_references):
        chunk = slice(at, at + n_references)
        start, stop = int(first[chunk][0]), int(first[chunk][-1]) + n_candidates + search.size - 1
        n_patches = stop - start - search.size + 1
        parts.append(
            Span(start, stop, n_patches, positions[chunk] - start, first[chunk] - start, n_candidates)
        )
    return parts


def patches_at(planes: NDArray[Scalar], tile: Tile, size: int, numbers: Ints) -> NDArray[Scalar]:
    """Return patches of a tile of planes (H, W, C) by their numbers: (*numbers.shape, C, size, size)."""
    region = planes[tile.region]
    rows, columns = np.divmod(numbers, tile.horizontal.n_patches)
    patches = [all_patches(region[:, :, c], size)[rows, columns] for c in range(planes.shape[2])]
    return np.stack(patches, axis=numbers.ndim)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of similar patches of a tile.

    Attributes
    ----------
    numbers : (B, n) ndarray of int
        Numbers of the members within the tile, the most similar first; the first one is the reference.
    values : (B, n, C, size * size) ndarray
        Their values, less the center.
    center : float
        Mean of the tile.
    """

    numbers: Ints
    values: Planes
    center: np.float32


def find_groups(planes: Planes, tile: Tile, search: Search, wanted: Bools) -> Groups:
    """Return the groups of some references of a tile.

    The difference of patches is that of their means over the channels, in float32, with less precision the
    more candidates there are; of candidates that differ as much, the first ones are members.

    Parameters
    ----------
    planes : (H, W, C) ndarray
    tile : Tile
    search : Search
        Groups are smaller if there are fewer candidates.
    wanted : (b, b') ndarray of bool
        References, by their rows and columns in the tile.
    """
    n_members = min(search.n_members, tile.vertical.n_candidates * tile.horizontal.n_candidates)
    shape = int(np.count_nonzero(wanted)), n_members
    groups = Groups(
        np.empty(shape, np.intp),
        reused("members", (*shape, planes.shape[2], search.size**2)),
        planes[tile.region].copy().mean(),  # in an order that does not depend on the planes around it
    )
    done = 0
    for top in range(0, wanted.shape[0], _CELL):
        for left in range(0, wanted.shape[1], _CELL):
            part = wanted[top : top + _CELL, left : left + _CELL]
            rows, columns = np.nonzero(part)
            if rows.size:
                cell = _Cell(planes, tile, search, groups.center, (top + rows, left + columns))
                cell.find_groups(groups, slice(done, done + rows.size))
                done += rows.size
    return groups


class _Cell:
    """Neighboring references of a tile, and the patches around them.

    Parameters
    ----------
    planes : (H, W, C) ndarray
    tile : Tile
    search : Search
    center : float
        Subtracted from all values, for the precision of the distances.
    chosen : two (B,) ndarrays of int
        References, by their rows and columns in the tile.
    """

    def __init__(
        self, planes: Planes, tile: Tile, search: Search, center: np.float32, chosen: tuple[Ints, Ints]
    ) -> None:
        size, self._penalty = search.size, search.penalty
        down, across = tile.vertical, tile.horizontal
        rows, columns = chosen
        self._n_candidates = down.n_candidates, across.n_candidates
        first = down.first[rows], across.first[columns]
        self._corner = int(first[0].min()), int(first[1].min())
        # All positions count from the corner.
        self._first = tuple(each - at for each, at in zip(first, self._corner, strict=True))
        references = down.references[rows], across.references[columns]
        self._references = tuple(each - at for each, at in zip(references, self._corner, strict=True))
        top, left = down.start + self._corner[0], across.start + self._corner[1]
        height, width = (
            int(each.max()) + n + size - 1 for each, n in zip(self._first, self._n_candidates, strict=True)
        )
        region = planes[top : top + height, left : left + width]
        self._layers = np.subtract(region.transpose(2, 0, 1), center, order="C")
        gray = self._layers[0] if len(self._layers) == 1 else self._layers.mean(axis=0)
        patches = all_patches(gray, size)
        self._patches = reused("patches", (*patches.shape[:2], size * size))
        self._patches.reshape(patches.shape)[...] = patches
        self._n_across = tile.horizontal.n_patches

    def find_groups(self, groups: Groups, part: slice) -> None:
        """Write the groups of the references to a part of `groups`."""
        down, right = np.divmod(self._nearest(groups.numbers.shape[1]), self._n_candidates[1])
        down += self._first[0][:, None]
        right += self._first[1][:, None]
        groups.numbers[part] = (self._corner[0] + down) * self._n_across + self._corner[1] + right
        values = groups.values[part]
        if len(self._layers) == 1:
            flat = down * self._patches.shape[1] + right
            self._patches.reshape(-1, values.shape[3]).take(flat, axis=0, out=values[:, :, 0], mode="clip")
            return
        size = math.isqrt(values.shape[3])
        for channel, layer in enumerate(self._layers):
            values[:, :, channel] = all_patches(layer, size)[down, right].reshape(*down.shape, -1)

    def _nearest(self, n_members: int) -> Ints:
        """Return the candidates nearest to each reference, and first of all the reference itself: (B, n)."""
        down, right = (a - b for a, b in zip(self._references, self._first, strict=True))
        return smallest(self._distances(), down * self._n_candidates[1] + right, n_members)

    def _distances(self) -> Plane:
        """Return the squared distances of the references to all candidates: (B, c)."""
        patches, n_candidates = self._patches, self._n_candidates
        lengths = np.vecdot(patches, patches)
        references = -2 * patches[self._references]
        distances = reused("distances", (len(references), *n_candidates))
        for number, (top, left) in enumerate(zip(*self._first, strict=True)):
            window = np.s_[top : top + n_candidates[0], left : left + n_candidates[1]]
            # Row by row: the result for one reference does not depend on what else is computed.
            np.matmul(patches[window], references[number], out=distances[number])
            distances[number] += lengths[window]
        distances += lengths[self._references][:, None, None]
        if self._penalty:
            down, right = self._penalties()
            distances += down[:, :, None]
            distances += right[:, None, :]
        return np.maximum(distances, 0, out=distances).reshape(len(references), -1)

    def _penalties(self) -> list[Plane]:
        """Return what the vertical and the horizontal distance from each reference cost: (B, n) each."""
        ways = zip(self._first, self._references, self._n_candidates, strict=True)
        steps = [(first - reference)[:, None] + np.arange(n) for first, reference, n in ways]
        return [(self._penalty * np.square(each)).astype(np.float32) for each in steps]


def smallest(distances: Plane, own: Ints, n_members: int) -> Ints:
    """Return the candidates with the smallest distances, and first of all the reference itself: (B, n).

    The number of a candidate takes the place of the last bits of its distance: sorting such integers is
    several times faster than sorting indices.
    """
    n_candidates = distances.shape[1]
    numbers = np.int32((1 << (n_candidates - 1).bit_length()) - 1)  # bits of a number
    keys = distances.view(np.int32)
    keys &= ~numbers
    keys |= np.arange(n_candidates, dtype=np.int32)
    keys[np.arange(len(own)), own] |= np.int32(-(1 << 31))  # as if negative
    keys.partition(n_members - 1, axis=1)
    nearest = np.sort(keys[:, :n_members], axis=1)
    return (nearest & numbers).astype(np.intp)
