"""Similar patches: reference patches by blocks, and for each of them the most similar ones nearby."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region, Scalar, any_in_windows
from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Ints

Singles = NDArray[np.float32]
Keys = NDArray[np.int32]
Index = np.uintp

#: Half the range of a block, at least: less is the rounding of float32.
_MIN_BOUND = np.float32(1e-6)
#: Whole numbers up to this one, and hence sums of these, are exact in float32.
_EXACT = 1 << 24
#: References of a block, down and across.
_BLOCK = 16
#: Columns of a patch that are compared in one pass; patches are as wide as a multiple of this.
TAPS = 4
_0, _1, _2, _3, _TAPS = (Index(number) for number in (0, 1, 2, 3, TAPS))
#: A lower bound of a distance is made a little less, so that it is one in spite of rounding.
_ROUNDING = np.float32(1 - 1e-5)
#: Before and after all distances, as integers; the latter has the bits of the largest number.
_FIRST, _LAST = np.int32(-(1 << 31)), np.float32(np.finfo(np.float32).max).view(np.int32)


@dataclass(frozen=True)
class Search:
    """How patches are grouped; see `RefinementOptions`. Near a border, the radius reaches farther inwards."""

    size: int
    radius: int
    n_members: int
    stride: int
    penalty: float = 0.0


@dataclass(frozen=True, eq=False)
class Span:
    """Consecutive references along one axis of an image, and the range of pixels of all their candidates.

    Positions count from `start`: of the patches that fit into the range, of references, and of the first of
    the consecutive candidates of each reference.
    """

    start: int
    stop: int
    n_patches: int
    references: Ints
    first: Ints
    n_candidates: int

    def part(self, chosen: Bools, axis: int) -> "Span":
        """Return the span from the first to the last reference that is chosen for any of an axis."""
        at, size = np.flatnonzero(chosen.any(axis=axis)), self.stop - self.start - self.n_patches + 1
        kept, offset = slice(at[0], at[-1] + 1), int(self.first[at[0]])
        n_patches, start = int(self.first[at[-1]]) - offset + self.n_candidates, self.start + offset
        references, first = self.references[kept] - offset, self.first[kept] - offset
        return Span(start, start + n_patches + size - 1, n_patches, references, first, self.n_candidates)


@dataclass(frozen=True, eq=False)
class Block:
    """A rectangle of neighboring references, and the region of the image that holds all their candidates.

    Patches are numbered within that region, row by row: (height - size + 1) x (width - size + 1). If it has
    several images below each other, candidates are at the same places in each of them.
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


def damaged_blocks(
    missing: Bools, search: Search, bands: Sequence[Span], columns: Sequence[Span]
) -> list[list[Block]]:
    """Return by band the smallest blocks with all references that have missing pixels (H, W, c)."""
    hidden = missing[:, :, 0] if missing.shape[2] == 1 else np.asarray(missing.any(axis=2))
    down, across = (
        np.concatenate([each.start + each.references for each in part]) for part in (bands, columns)
    )
    chosen = any_in_windows(hidden, search.size)[down[:, None], across]
    found = []
    for i, band in enumerate(bands):
        rows = chosen[i * _BLOCK : (i + 1) * _BLOCK]
        parts = [(each, rows[:, j * _BLOCK : (j + 1) * _BLOCK]) for j, each in enumerate(columns)]
        found.append([Block(band.part(part, 1), each.part(part, 0)) for each, part in parts if part.any()])
    return found


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

    Members have numbers (B, n), the reference first and then the most similar ones; those of other images
    than that of the reference come last. Layers (C, h, w) are the region of the block less its center, the
    middle of the range of values, until the next search of the same thread.
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
    gray = reused("gray", block.shape)
    np.copyto(gray, layers[0])
    for layer in layers[1:]:  # several times faster than np.mean
        gray += layer
    gray /= np.float32(len(layers))
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
    sums = _box_sums(values, max(size // 2, 1), pitch)
    lengths = _box_sums(np.square(values, out=reused("squares", values.shape)), size, pitch)
    squares = _squared_distances(down.n_candidates, across.n_candidates)
    penalties = np.float32(search.penalty * float(scale) ** 2) * squares
    rows, columns = np.nonzero(wanted)
    references = np.stack(
        [down.references[rows], across.references[columns], down.first[rows], across.first[columns]], axis=1
    )
    n_candidates = block.n_planes, down.n_candidates, across.n_candidates
    distances = np.empty(across.n_candidates, np.float32)
    members = np.empty((len(rows), min(search.n_members, math.prod(n_candidates))), np.intp)
    find_nearest(
        (values, sums, lengths),
        penalties.ravel(),
        size,
        references,
        n_candidates,
        (len(gray) // block.n_planes * pitch, pitch, penalties.shape[1]),
        (distances, distances.view(np.int32)),
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


def _box_sums(values: Singles, size: int, pitch: int) -> Singles:
    """Return the sums of all size x size boxes of a plane with rows of length `pitch`, all in one dimension.

    What lies behind the last column continues in the next row.
    """
    return _run_sums(_run_sums(values, size, pitch), size, 1)


def _run_sums(values: Singles, n: int, step: int) -> Singles:
    """Return the sums of n numbers, `step` apart, from each number on."""
    if n == 1:
        return values
    half, shift = _run_sums(values, n // 2, step), n // 2 * step
    sums = half[:-shift] + half[shift:]
    return sums[:-step] + values[(n - 1) * step :] if n % 2 else sums


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


@Kernel
def find_nearest(
    planes: tuple[Singles, Singles, Singles],
    penalties: Singles,
    size: int,
    references: Ints,
    n_candidates: tuple[int, int, int],
    pitches: tuple[int, int, int],
    scratch: tuple[Singles, Keys],
    numbers: Ints,
) -> None:
    """Write the numbers (B, n) of the candidates nearest to each reference, which is the first of them.

    The number of a candidate takes the place of the last bits of its distance, so that sorted integers have
    both. Candidates are compared row by row, from that of the reference up and down, as far as penalties, and
    lower bounds of distances, from the sums of four boxes, are below the largest distance so far.

    Planes are the block in whole numbers so small that distances are exact in float32; the sums of all boxes
    of half the height and width of a patch; and the sums of squares of all patches; all longer by what is
    read behind their ends. Penalties are what the distance between patches adds; that of the reference is in
    the middle. References (B, 4) are their row and column, and those of their first candidate. Candidates
    are counted in images below each other, of which the first has the references, rows and columns. Pitches
    are the lengths of an image, of its rows, and of those of penalties. There is room for the distances of a
    row of candidates, (n_across,), and the same as integers.
    """
    n_planes, n_down, n_across = n_candidates
    plane_pitch, pitch, penalty_pitch = pitches
    distances, keys = scratch
    bits = np.int32(1)
    while bits < n_planes * n_down * n_across:
        bits *= np.int32(2)
    bits -= np.int32(1)
    sizes, width = (Index(pitch), Index(size)), Index((size + TAPS - 1) // TAPS * TAPS)
    taps = np.zeros(Index(size) * width, np.float32)  # a patch times -2
    best = np.empty(numbers.shape[1], np.int32)
    for b in range(len(references)):
        row, column, top, left = references[b, 0], references[b, 1], references[b, 2], references[b, 3]
        at, corner = Index(row * pitch + column), top * pitch + left
        own, left_out, above = row - top, n_across - 1 - column + left, Index(column - left)
        for i in range(sizes[1]):
            for k in range(sizes[1]):
                taps[i * width + k] = np.float32(-2) * planes[0][at + i * sizes[0] + k]
        best[:] = _LAST
        best[0] = np.int32(own * n_across + column - left) | _FIRST
        for step in range(n_planes * 2 * n_down):
            plane, number = step // (2 * n_down), step % (2 * n_down)
            down = own + ((number + 1) // 2 if number % 2 else -(number // 2))
            if 0 <= down < n_down:
                other = Index(corner + plane * plane_pitch + down * pitch)
                near = Index((n_down - 1 + down - own) * penalty_pitch + left_out)
                first = np.int32((plane * n_down + down) * n_across)
                keys[0] = best[-1] | bits
                if penalties[near + above] <= distances[0]:  # what is nearest to the reference in this row
                    places = at, other, near
                    _search_row(planes, sizes, taps, places, penalties, scratch, (first, bits), best)
        for n in range(len(best)):
            numbers[b, n] = best[n] & bits


@PartialKernel
def _search_row(
    planes: tuple[Singles, Singles, Singles],
    sizes: tuple[np.uintp, np.uintp],
    taps: Singles,
    places: tuple[np.uintp, np.uintp, np.uintp],
    penalties: Singles,
    scratch: tuple[Singles, Keys],
    key_parts: tuple[np.int32, np.int32],
    best: Keys,
) -> None:
    """Compare the patch at some place with those side by side from another place on; update the best keys.

    The sizes are the length of a row and the size of a patch; the third place is that of the first penalty.
    The last bits of keys are numbers, from the first one on. The first distance is the largest so far.
    """
    (values, sums, lengths), (pitch, size), (first, bits) = planes, sizes, key_parts
    (at, other, near), (distances, keys) = places, scratch
    n = Index(len(keys))
    half, width = size // _2, Index(taps.size) // size
    lower, factor = half * pitch, _ROUNDING / np.float32(half * half) if half > _0 else np.float32(0)
    limit, n_within = distances[0], np.int32(0)
    one, two, three, four = sums[at], sums[at + half], sums[at + lower], sums[at + lower + half]
    for j in range(n):
        here = other + j
        w, x = sums[here] - one, sums[here + half] - two
        y, z = sums[here + lower] - three, sums[here + lower + half] - four
        bound = factor * (w * w + x * x + y * y + z * z) + penalties[near + j]
        distances[j] = bound
        n_within += np.int32(bound <= limit)
    if n_within == 0:
        return
    start, stop = _0, n
    while distances[start] > limit:
        start += _1
    while distances[stop - _1] > limit:
        stop -= _1
    for j in range(start, stop):
        distances[j] = lengths[other + j] + lengths[at]
    for i in range(size):
        for k in range(_0, width, _TAPS):
            tap, here = i * width + k, other + i * pitch + k
            a, b, c, d = taps[tap], taps[tap + _1], taps[tap + _2], taps[tap + _3]
            for j in range(start, stop):
                to = here + j
                ahead = a * values[to] + b * values[to + _1]
                distances[j] += ahead + (c * values[to + _2] + d * values[to + _3])
    for j in range(start, stop):
        distances[j] += penalties[near + j]
        candidate = first + np.int32(j)
        key = (keys[j] & ~bits) | candidate
        if key < best[-1] and candidate | _FIRST != best[0]:
            place = len(best) - 1  # among sorted ones, of which the last is dropped
            while place > 0 and best[place - 1] > key:
                best[place] = best[place - 1]
                place -= 1
            best[place] = key
