"""The search of `matching`, compiled: the same groups, to the bit.

Indices are unsigned, and planes one-dimensional, row by row: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import InlinedKernel, Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core._support.vectors import (
    add,
    load,
    multiply,
    multiply_add,
    splat,
    store,
    subtract,
    total,
    where_larger,
)

Flat = NDArray[np.float32]
Plane = NDArray[np.float32]
Keys = NDArray[np.int32]
Index = np.uintp

#: Candidates side by side that are compared together, and values of a row of a patch in one expression.
LANES, TAPS = 16, 2
_0, _1, _2, _8, _9 = (Index(number) for number in (0, 1, 2, 8, 9))
#: A lower bound of a distance is made a little less, so that it is one in spite of rounding.
_ROUNDING = np.float32(1 - 1e-5)
#: Before and after all distances, as integers; the latter has the bits of the largest number.
_FIRST, _LAST = np.int32(-(1 << 31)), np.float32(np.finfo(np.float32).max).view(np.int32)


@Kernel
def find_nearest(
    gray: Plane,
    scales: tuple[np.float32, float],
    size: int,
    wanted: Bools,
    spans: tuple[Ints, Ints, Ints, Ints],
    n_candidates: tuple[int, int, int],
    buffers: tuple[Plane, Plane, Plane, Plane],
    numbers: Ints,
) -> None:
    """Find the patches nearest to some references, as `Matcher.nearest` does.

    Parameters
    ----------
    gray : (P * h, w) ndarray
        The region of a tile.
    scales : (float, float)
        Factors of values, and of squared distances between the places of patches.
    size : int
        Height and width of a patch.
    wanted : (b, b') ndarray of bool
        References, by their rows and columns in the tile.
    spans : (b,), (b',), (b,) and (b',) ndarray of int
        Rows and columns of references, and of the first candidate of each.
    n_candidates : (int, int, int)
        P, the number of images below each other, of which the first has the references; and how many there
        are in each of them vertically and horizontally.
    buffers : (P * h + 1, pitch), twice, and (2 * n, pitch') ndarray
        Are overwritten. Rows of the former end in `LANES` values and at least `size` more, a multiple of
        `TAPS`, that are compared too, and not used; those of the latter, for penalties, in `LANES` values.
        The pitch is a multiple of `WIDTH`.
    numbers : (B, n) ndarray of int
        Is overwritten with the numbers of the patches nearest to each reference, first of all its own.
    """
    values, sums, lengths, penalties = buffers
    _lay_out(gray, scales[0], size, values, sums, lengths)
    n_planes, n_down, n_across = n_candidates
    _set_penalties(scales[1], (n_down, n_across), penalties)
    planes, near = (values.reshape(-1), sums.reshape(-1), lengths.reshape(-1)), penalties.reshape(-1)
    height, n_patches = len(gray) // n_planes, gray.shape[1] - size + 1
    pitches = height * values.shape[1], values.shape[1], penalties.shape[1]
    rows, columns, first_rows, first_columns = spans
    b = 0
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            if not wanted[i, j]:
                continue
            first = first_rows[i], first_columns[j]
            _nearest(planes, size, (rows[i], columns[j]), first, n_candidates, near, pitches, numbers[b])
            for n in range(numbers.shape[1]):
                down, right = numbers[b, n] // n_across, numbers[b, n] % n_across
                plane, down = down // n_down, down % n_down
                numbers[b, n] = (plane * height + down + first[0]) * n_patches + right + first[1]
            b += 1


@Kernel
def _lay_out(gray: Plane, scale: np.float32, size: int, values: Plane, sums: Plane, lengths: Plane) -> None:
    """Set the planes that `_nearest` needs, of a region (h, w)."""
    height, width, pitch = Index(gray.shape[0]), Index(gray.shape[1]), Index(values.shape[1])
    for i in range(height):
        for j in range(width):
            values[i, j] = np.rint(gray[i, j] * scale)
        for j in range(width, pitch):
            values[i, j] = 0
    values[height] = 0
    for squared in range(2):
        side = Index(size if squared else max(size // 2, 1))
        _box_sums(values.reshape(-1), pitch, side, squared, (lengths if squared else sums).reshape(-1))


@Kernel
def _box_sums(values: Flat, pitch: np.uintp, size: np.uintp, squared: int, sums: Flat) -> None:
    """Set the sums over all blocks of size x size values, or of their squares: of whole numbers, so exact."""
    tall = np.zeros(pitch + size + _8, np.float32)
    for start in range(_0, Index(values.size), pitch):
        for j in range(_0, pitch, _8):
            column, value = load(tall, j), load(values, start + j)
            column = multiply_add(value, value, column) if squared else add(column, value)
            if start >= size * pitch:
                value = load(values, start - size * pitch + j)
                column = subtract(column, multiply(value, value) if squared else value)
            store(tall, j, column)
        if start + pitch < size * pitch:
            continue
        to = start + pitch - size * pitch
        for j in range(_0, pitch, _8):
            block = load(tall, j)
            for at in range(j + _1, j + size):
                block = add(block, load(tall, at))
            store(sums, to + j, block)


@Kernel
def _set_penalties(factor: float, n_candidates: tuple[int, int], penalties: Plane) -> None:
    """Set what the distance from the middle adds to that of patches: its square times a factor."""
    n_down, n_across = n_candidates
    squares = np.square(np.arange(1.0 - n_across, n_across))
    for i in range(Index(2 * n_down - 1)):
        square = (i - n_down + 1.0) ** 2
        for j in range(Index(squares.size)):
            penalties[i, j] = factor * (square + squares[j])
        penalties[i, squares.size :] = 0
    penalties[2 * n_down - 1] = 0


@Kernel
def _nearest(
    planes: tuple[Flat, Flat, Flat],
    size: int,
    reference: tuple[int, int],
    first: tuple[int, int],
    n_candidates: tuple[int, int, int],
    penalties: Flat,
    pitches: tuple[int, int, int],
    nearest: Ints,
) -> None:
    """Find the candidates nearest to a reference.

    Parameters
    ----------
    planes : (P * h * pitch,) ndarrays
        The region of a tile, in whole numbers so small that distances are exact in float32; the sums of all
        its blocks that have half the height and width of a patch; the sums of the squares of all patches.
    size : int
        Height and width of a patch.
    reference, first : (int, int)
        Places of the reference, and of its first candidate.
    n_candidates : (int, int, int)
        See `find_nearest`.
    penalties : (n * pitch',) ndarray
        What the distance between the places of patches adds; that of the reference is in the middle.
    pitches : (int, int, int)
        Lengths of an image in planes, of its rows, and of those of penalties.
    nearest : (n,) ndarray of int
        Is overwritten with candidates, the first of which is that of the reference.
    """
    n_planes, n_down, n_across = n_candidates
    plane_pitch, pitch, penalty_pitch = pitches
    values, sums, lengths = planes
    bits = _number_bits(n_planes * n_down * n_across)
    best = np.empty(len(nearest), np.int32)
    taps = np.zeros((size, (size + TAPS - 1) // TAPS * TAPS), np.float32)
    bound_pitch = (n_across + LANES - 1) // LANES * LANES
    bounds = np.empty(n_down * bound_pitch, np.float32)
    distances = np.empty(LANES + 1, np.float32)
    keys = distances.view(np.int32)
    at = reference[0] * pitch + reference[1]
    _set_taps(values, Index(pitch), Index(at), Index(size), taps)
    row, column = reference[0] - first[0], reference[1] - first[1]
    near = (n_down - 1 - row) * penalty_pitch + n_across - 1 - column
    best[:] = _LAST
    best[0] = np.int32(row * n_across + column) | _FIRST
    n_steps = 2 * n_down - 1
    for step in range(n_planes * n_steps):  # in each image from the row of the reference up and down
        plane, number = step // n_steps, step % n_steps
        other = plane * plane_pitch + first[0] * pitch + first[1]
        if number == 0:
            _bound(sums, Index(pitch), Index(size // 2), Index(at), Index(other), Index(n_down), bounds)
        down = row + (number + 1) // 2 * (1 if number % 2 else -1)
        if down < 0 or down >= n_down:
            continue
        for right in range(0, n_across, LANES):
            to, penalty = Index(other + down * pitch + right), Index(near + down * penalty_pitch + right)
            keys[LANES] = best[-1] | bits
            if not _any_within(
                bounds, Index(down * bound_pitch + right), penalties, penalty, distances[LANES]
            ):
                continue
            _compare(values, lengths, Index(pitch), taps, lengths[at], to, distances)
            if not _any_within(distances, _0, penalties, penalty, distances[LANES]):
                continue
            for lane in range(min(LANES, n_across - right)):
                distances[lane] += penalties[penalty + Index(lane)]
                candidate = np.int32((plane * n_down + down) * n_across + right + lane)
                key = (keys[lane] & ~bits) | candidate
                if key < best[-1] and candidate | _FIRST != best[0]:
                    _insert(best, key)
    for n in range(len(best)):
        nearest[n] = best[n] & bits


@Kernel
def _number_bits(n_candidates: int) -> np.int32:
    """Return the bits of the number of a candidate, which take the place of the last bits of its distance."""
    bits = np.int32(1)
    while bits < n_candidates:
        bits *= np.int32(2)
    return np.int32(bits - np.int32(1))


@Kernel
def _set_taps(values: Flat, pitch: np.uintp, at: np.uintp, size: np.uintp, taps: Plane) -> None:
    """Set the values of a patch times -2."""
    for i in range(size):
        for k in range(size):
            taps[i, k] = -2 * values[at + i * pitch + k]


@Kernel
def _bound(
    sums: Flat, pitch: np.uintp, half: np.uintp, at: np.uintp, other: np.uintp, n_down: np.uintp, bounds: Flat
) -> None:
    """Set lower bounds of the squared differences of a patch and others, by the sums of four blocks."""
    factor = splat(_ROUNDING / np.float32(half * half) if half > 0 else np.float32(0))
    lower, to = half * pitch, _0
    a, b = splat(sums[at]), splat(sums[at + half])
    c, d = splat(sums[at + lower]), splat(sums[at + lower + half])
    width = Index(bounds.size) // n_down
    for down in range(n_down):
        start = other + down * pitch
        for place in range(start, start + width, _8):
            x, y = subtract(load(sums, place), a), subtract(load(sums, place + half), b)
            z, w = subtract(load(sums, place + lower), c), subtract(load(sums, place + lower + half), d)
            upper = multiply_add(y, y, multiply(x, x))
            store(bounds, to, multiply(factor, multiply_add(w, w, multiply_add(z, z, upper))))
            to += _8


@InlinedKernel
def _any_within(bounds: Flat, at: np.uintp, penalties: Flat, penalty: np.uintp, limit: np.float32) -> bool:
    """Return whether any of some lower bounds of distances, side by side, is not beyond the limit."""
    zero, one, most = splat(np.float32(0)), splat(np.float32(1)), splat(limit)
    left = add(load(bounds, at), load(penalties, penalty))
    other = add(load(bounds, at + _8), load(penalties, penalty + _8))
    within = add(where_larger(left, most, zero, one), where_larger(other, most, zero, one))
    return bool(total(within) > 0)


@InlinedKernel
def _compare(
    values: Flat,
    lengths: Flat,
    pitch: np.uintp,
    taps: Plane,
    length: np.float32,
    other: np.uintp,
    distances: Flat,
) -> None:
    """Set the squared differences of a patch and some others, side by side."""
    a, b = load(lengths, other), load(lengths, other + _8)
    a, b, c, d = add(a, splat(length)), add(b, splat(length)), splat(np.float32(0)), splat(np.float32(0))
    for i in range(Index(taps.shape[0])):
        for k in range(_0, Index(taps.shape[1]), _2):
            even, odd, at = splat(taps[i, Index(k)]), splat(taps[i, Index(k) + _1]), other + i * pitch + k
            a, b = multiply_add(even, load(values, at), a), multiply_add(even, load(values, at + _8), b)
            c, d = multiply_add(odd, load(values, at + _1), c), multiply_add(odd, load(values, at + _9), d)
    store(distances, _0, add(a, c))
    store(distances, _8, add(b, d))


@InlinedKernel
def _insert(best: Keys, key: np.int32) -> None:
    """Put a key in its place among sorted ones, of which the last is dropped."""
    at = len(best) - 1
    while at > 0 and best[at - 1] > key:
        best[at] = best[at - 1]
        at -= 1
    best[at] = key
