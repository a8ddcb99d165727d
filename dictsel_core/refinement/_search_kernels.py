"""The search for similar patches."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Ints

Flat = NDArray[np.float32]
Keys = NDArray[np.int32]
Index = np.uintp

#: Columns of a patch that are compared in one pass; patches are as wide as a multiple of this.
TAPS = 4
_0, _1, _2, _3, _TAPS = (Index(number) for number in (0, 1, 2, 3, TAPS))
#: A lower bound of a distance is made a little less, so that it is one in spite of rounding.
_ROUNDING = np.float32(1 - 1e-5)
#: Before and after all distances, as integers; the latter has the bits of the largest number.
_FIRST, _LAST = np.int32(-(1 << 31)), np.float32(np.finfo(np.float32).max).view(np.int32)


@Kernel
def find_nearest(
    planes: tuple[Flat, Flat, Flat],
    penalties: Flat,
    size: int,
    references: Ints,
    n_candidates: tuple[int, int, int],
    pitches: tuple[int, int, int],
    numbers: Ints,
) -> None:
    """Find the candidates nearest to each reference.

    The number of a candidate takes the place of the last bits of its distance, so that sorted integers have
    both. Candidates are compared row by row, from that of the reference up and down, as far as lower bounds
    of distances, from the sums of four blocks, are below the largest distance so far.

    Parameters
    ----------
    planes : (P * h * pitch,) ndarrays
        The region of a tile, in whole numbers so small that distances are exact in float32; the sums of all
        blocks that have half the height and width of a patch; the sums of the squares of all patches. They
        are longer by what is read behind their ends.
    penalties : (n * pitch',) ndarray
        What the distance between the places of patches adds; that of the reference is in the middle.
    size : int
        Height and width of a patch.
    references : (B, 4) ndarray of int
        Row and column of each reference, and of its first candidate.
    n_candidates : (int, int, int)
        P, the number of images below each other, of which the first has the references; and how many there
        are in each of them vertically and horizontally.
    pitches : (int, int, int)
        Lengths of an image in planes, of its rows, and of those of penalties.
    numbers : (B, n) ndarray of int
        Is overwritten with candidates, counted row by row and image by image; the first is the reference.
    """
    n_planes, n_down, n_across = n_candidates
    plane_pitch, pitch, penalty_pitch = pitches
    bits = np.int32(1)
    while bits < n_planes * n_down * n_across:
        bits *= np.int32(2)
    bits -= np.int32(1)
    taps = np.zeros(size * ((size + TAPS - 1) // TAPS * TAPS), np.float32)
    best, distances = np.empty(numbers.shape[1], np.int32), np.empty(n_across, np.float32)
    for b in range(len(references)):
        row, column, top, left = references[b]
        at, corner = Index(row * pitch + column), top * pitch + left
        own, left_out = row - top, n_across - 1 - column + left
        _set_taps(planes[0], Index(pitch), at, Index(size), taps)
        best[:] = _LAST
        best[0] = np.int32(own * n_across + column - left) | _FIRST
        for step in range(n_planes * 2 * n_down):
            plane, number = step // (2 * n_down), step % (2 * n_down)
            down = own + ((number + 1) // 2 if number % 2 else -(number // 2))
            if 0 <= down < n_down:
                other = Index(corner + plane * plane_pitch + down * pitch)
                near = Index((n_down - 1 + down - own) * penalty_pitch + left_out)
                first = np.int32((plane * n_down + down) * n_across)
                _search_row(
                    planes,
                    Index(pitch),
                    Index(size),
                    taps,
                    at,
                    other,
                    penalties,
                    near,
                    distances,
                    first,
                    bits,
                    best,
                )
        for n in range(len(best)):
            numbers[b, n] = best[n] & bits


@PartialKernel
def _set_taps(values: Flat, pitch: np.uintp, at: np.uintp, size: np.uintp, taps: Flat) -> None:
    """Set the values of a patch times -2."""
    width = Index(taps.size) // size
    for i in range(size):
        for k in range(size):
            taps[i * width + k] = np.float32(-2) * values[at + i * pitch + k]


@PartialKernel
def _search_row(  # noqa: PLR0913, PLR0917  (parts of one loop)
    planes: tuple[Flat, Flat, Flat],
    pitch: np.uintp,
    size: np.uintp,
    taps: Flat,
    at: np.uintp,
    other: np.uintp,
    penalties: Flat,
    near: np.uintp,
    distances: Flat,
    first: np.int32,
    bits: np.int32,
    best: Keys,
) -> None:
    """Compare the patch at some place with those side by side from another place on; update the best keys."""
    values, sums, lengths = planes
    keys, n = distances.view(np.int32), Index(distances.size)
    half, width = size // _2, Index(taps.size) // size
    lower, factor = half * pitch, _ROUNDING / np.float32(half * half) if half > _0 else np.float32(0)
    keys[0] = best[-1] | bits
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
            _insert(best, key)


@PartialKernel
def _insert(best: Keys, key: np.int32) -> None:
    """Put a key in its place among sorted ones, of which the last is dropped."""
    at = len(best) - 1
    while at > 0 and best[at - 1] > key:
        best[at] = best[at - 1]
        at -= 1
    best[at] = key
