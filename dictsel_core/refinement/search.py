"""Similar patches: reference patches by blocks, and for each of them the most similar ones nearby."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region, Scalar
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.refinement._search_kernels import TAPS, find_nearest

Singles = NDArray[np.float32]

#: Half the range of a block, at least: less is the rounding of float32.
_MIN_BOUND = np.float32(1e-6)
#: Whole numbers up to this one, and hence sums of these, are exact in float32.
_EXACT = 1 << 24
#: References of a block, down and across.
_BLOCK = 16


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
class Block:
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
    def region(self) -> Region:
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

    def below_each_other(self, images: Sequence[NDArray[Scalar]]) -> tuple[NDArray[Scalar], "Block"]:
        """Return the region of several images (H, W, c) below each other, and the block that it is.

        References are in the first of them, candidates in all of them.
        """
        down, across = (
            replace(each, start=0, stop=each.stop - each.start) for each in (self.vertical, self.horizontal)
        )
        parts = np.concatenate([image[self.region] for image in images])
        return parts, Block(down, across, len(images))

    def incomplete(self, missing: Bools, size: int) -> Bools:
        """Return which references have missing pixels (H, W, c), by their rows and columns: (b, b')."""
        hidden = missing[self.region].any(axis=2)
        patches = np.lib.stride_tricks.sliding_window_view(hidden, (size, size))
        rows, columns = self.vertical.references, self.horizontal.references
        return np.asarray(patches[rows[:, None], columns].any(axis=(2, 3)))


def spans(length: int, search: Search, offset: int = 0) -> list[Span]:
    """Divide the references along an axis of an image: at its borders, and at every stride from an offset."""
    last = length - search.size
    positions = np.unique([0, *range(offset, last + 1, search.stride), last])
    n_candidates = min(2 * search.radius + 1, last + 1)
    first = np.clip(positions - search.radius, 0, last + 1 - n_candidates)
    parts = []
    for at in range(0, len(positions), _BLOCK):
        chunk = slice(at, at + _BLOCK)
        start, stop = int(first[chunk][0]), int(first[chunk][-1]) + n_candidates + search.size - 1
        n_patches = stop - start - search.size + 1
        parts.append(
            Span(start, stop, n_patches, positions[chunk] - start, first[chunk] - start, n_candidates)
        )
    return parts


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of similar patches of a block.

    Attributes
    ----------
    numbers : (B, n) ndarray of int
        Numbers of the members within the block, the most similar first; the first one is the reference. Those
        that are not in the image of the reference come last.
    layers : (C, h, w) ndarray
        The region of the block, less the center; until the next search of the same thread.
    center : float
        Middle of the range of values of the block.
    size : int
        Height and width of a patch.
    """

    numbers: Ints
    layers: Singles
    center: np.float32
    size: int


def find_groups(planes: Singles, block: Block, search: Search, wanted: Bools) -> Groups:
    """Return the groups of some references of a block, row by row.

    The difference of patches is that of their means over the channels, in about 500 levels from the least to
    the largest value of the block, and with less precision the more candidates there are; of candidates that
    differ as much, the first ones are members. Groups are smaller if there are fewer candidates. References
    are `wanted` by their rows and columns in the block: (b, b').
    """
    region = planes[block.region]
    low, high = region.min(), region.max()
    center = (low + high) / np.float32(2)
    layers = reused("layers", (planes.shape[2], *block.shape))
    np.subtract(region.transpose(2, 0, 1), center, out=layers)
    gray = np.mean(layers, axis=0, out=reused("gray", block.shape))
    bound = max((high - low) / np.float32(2), _MIN_BOUND)
    numbers = _nearest(gray, bound, block, search, wanted)
    if block.n_planes > 1:
        order = np.argsort(numbers >= block.n_patches, axis=1, kind="stable")
        numbers = np.take_along_axis(numbers, order, axis=1)
    return Groups(numbers, layers, center, search.size)


def _nearest(gray: Singles, bound: np.float32, block: Block, search: Search, wanted: Bools) -> Ints:
    """Return the numbers of the patches nearest to each reference, first of all its own: (B, n).

    Values, which are from `-bound` to `bound`, are rounded to whole numbers so small that all sums of their
    products are exact in float32: distances do not depend on the order of sums.
    """
    down, across, size = block.vertical, block.horizontal, search.size
    # No part of the sum of a distance, |a|^2 - 2 a b + |b|^2, is more than 4 d m^2 for d values up to m.
    scale = np.float32(math.isqrt(_EXACT // 4) // size) / bound
    values = reused("values", (gray.size + TAPS,))
    np.rint(np.multiply(gray.ravel(), scale, out=values[: gray.size]), out=values[: gray.size])
    values[gray.size :] = 0
    pitch = gray.shape[1]
    sums = _box_sums("sums", values, max(size // 2, 1), pitch)
    lengths = _box_sums("lengths", np.square(values, out=reused("squares", values.shape)), size, pitch)
    squares = _squared_distances(down.n_candidates, across.n_candidates)
    penalties = np.float32(search.penalty * float(scale) ** 2) * squares
    rows, columns = np.nonzero(wanted)
    references = np.stack(
        [down.references[rows], across.references[columns], down.first[rows], across.first[columns]], axis=1
    )
    n_candidates = block.n_planes, down.n_candidates, across.n_candidates
    members = np.empty((len(rows), min(search.n_members, math.prod(n_candidates))), np.intp)
    find_nearest(
        (values, sums, lengths),
        penalties.ravel(),
        size,
        references,
        n_candidates,
        (len(gray) // block.n_planes * pitch, pitch, penalties.shape[1]),
        members,
    )
    # Candidates are counted row by row, and image by image.
    below, right = np.divmod(members, across.n_candidates)
    plane, below = np.divmod(below, down.n_candidates)
    below += plane * block.plane_height + references[:, 2:3]
    return np.asarray(below * across.n_patches + right + references[:, 3:])


@cache
def _squared_distances(n_down: int, n_across: int) -> Singles:
    """Return the squared distances of places from that in the middle: (2 * n_down - 1, 2 * n_across - 1)."""
    down, across = (np.square(np.arange(1 - n, n, dtype=np.float32)) for n in (n_down, n_across))
    return np.add.outer(down, across)


def _box_sums(name: str, values: Singles, size: int, pitch: int) -> Singles:
    """Return the sums of all size x size boxes of a plane with rows of length `pitch`, all in one dimension.

    What lies behind the last column continues in the next row.
    """
    return _run_sums(name, _run_sums("tall", values, size, pitch), size, 1)


def _run_sums(name: str, values: Singles, n: int, step: int) -> Singles:
    """Return the sums of n numbers, `step` apart, from each number on."""
    sums = reused(name, (len(values) - (n - 1) * step,))
    sums[...] = values[: len(sums)]
    for shift in range(step, n * step, step):
        sums += values[shift : shift + len(sums)]
    return sums


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.by_name: dict[str, Singles] = {}


_buffers = _Buffers()


def reused(name: str, shape: tuple[int, ...]) -> Singles:
    """Return an uninitialized array, which the next call with this name by the same thread overwrites.

    New pages of memory cost more than the arithmetic on them.
    """
    n_values = math.prod(shape)
    buffer = _buffers.by_name.get(name)
    if buffer is None or buffer.size < n_values:
        buffer = _buffers.by_name[name] = np.empty(n_values, np.float32)
    return buffer[:n_values].reshape(shape)
