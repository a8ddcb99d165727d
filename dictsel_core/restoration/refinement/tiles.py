"""Tiles of neighboring reference patches, and the candidates around them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Scalar
from dictsel_core._support.validation import Ints
from dictsel_core.patches import all_patches


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

    Attributes
    ----------
    vertical, horizontal : Span
    n_planes : int
        Number of images below each other in the region: candidates are at the same places in each of them,
        and references in the first one; see `below_each_other`.
    """

    vertical: Span
    horizontal: Span
    n_planes: int = 1

    @property
    def region(self) -> tuple[slice, slice]:
        """Rows and columns of the region."""
        top, left = self.vertical.start, self.horizontal.start
        height, width = self.shape
        return slice(top, top + height), slice(left, left + width)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the region."""
        return self.n_planes * self.plane_height, self.horizontal.stop - self.horizontal.start

    @property
    def plane_height(self) -> int:
        """Height of the region in each of its images."""
        return self.vertical.stop - self.vertical.start

    @property
    def n_patches(self) -> int:
        """Number of patches in the first image: the numbers of those in the others are not below it."""
        return self.vertical.n_patches * self.horizontal.n_patches

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

    def numbers(self, candidates: Ints, first: Ints) -> Ints:
        """Return the numbers of some candidates of each reference: (B, n).

        Parameters
        ----------
        candidates : (B, n) ndarray of int
            Counted row by row, and image by image.
        first : (B, 2) ndarray of int
            Row and column of the first candidate of each reference.
        """
        down, right = np.divmod(candidates, self.horizontal.n_candidates)
        if self.n_planes > 1:
            plane, down = np.divmod(down, self.vertical.n_candidates)
            down += plane * self.plane_height
        return np.asarray((down + first[:, :1]) * self.horizontal.n_patches + right + first[:, 1:])

    def below_each_other(self, images: Sequence[NDArray[Scalar]]) -> tuple[NDArray[Scalar], "Tile"]:
        """Return the region of several images (H, W, c) below each other, and the tile that it is.

        References are in the first of them, candidates in all of them.
        """
        down, across = (
            replace(each, start=0, stop=each.stop - each.start) for each in (self.vertical, self.horizontal)
        )
        parts = np.concatenate([image[self.region] for image in images])
        return parts, Tile(down, across, len(images))

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


def patches_at(region: NDArray[Scalar], size: int, numbers: Ints) -> NDArray[Scalar]:
    """Return patches of the region of a tile (h, w, C) by their numbers: (*numbers.shape, C, size, size)."""
    rows, columns = np.divmod(numbers, region.shape[1] - size + 1)
    patches = [all_patches(region[:, :, c], size)[rows, columns] for c in range(region.shape[2])]
    return np.stack(patches, axis=numbers.ndim)
