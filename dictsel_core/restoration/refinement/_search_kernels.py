"""The search of `matching`, compiled: the same groups, to the bit.

Indices are unsigned, and planes one-dimensional, row by row: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core._support.vectors import WIDTH, load, splat, store, where_larger

Flat = NDArray[np.float32]
Plane = NDArray[np.float32]
Planes = NDArray[np.float32]
Keys = NDArray[np.int32]
Index = np.uintp

#: Candidates side by side that are compared together, and values of a row of a patch in one expression.
LANES, TAPS = 16, 8
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (Index(number) for number in range(9))
_LANES = Index(LANES)
#: A lower bound of a distance is made a little less, so that it is one in spite of rounding.
_ROUNDING = np.float32(1 - 1e-5)
#: Before and after all distances, as integers; the latter has the bits of the largest number.
_FIRST, _LAST = np.int32(-(1 << 31)), np.float32(np.finfo(np.float32).max).view(np.int32)


@Kernel
def find_incomplete(missing: Bools, corner: tuple[int, int], rows: Ints, columns: Ints, size: int) -> Bools:
    """Return which patches of a part of a mask (H, W, c) have missing pixels: (b, b').

    Their rows (b,) and columns (b',) count from the corner of the part.
    """
    found = np.empty((len(rows), len(columns)), np.bool_)
    n_layers = Index(missing.shape[2])
    left, width = Index(corner[1]) * n_layers, Index(columns[-1] + size) * n_layers
    hidden, flat = np.empty(width, np.uint8), missing.reshape(len(missing), -1)
    for i in range(len(rows)):
        top = Index(corner[0] + rows[i])
        hidden[:] = 0
        for row in range(top, top + Index(size)):
            for at in range(width):
                hidden[at] |= flat[row, left + at]
        for j in range(len(columns)):
            count = 0
            for at in range(Index(columns[j]) * n_layers, Index(columns[j] + size) * n_layers):
                count += hidden[at]
            found[i, j] = count > 0
    return found


@Kernel
def split_channels(
    planes: Planes, corner: tuple[int, int], layers: Planes, gray: Plane
) -> tuple[np.float32, np.float32]:
    """Set the channels (C, h, w) of a part of planes (H, W, C), less a center, and the mean of the channels.

    The part begins at a corner. Returns its least and its largest value, which have the center between them.
    """
    n_channels, width = Index(layers.shape[0]), Index(layers.shape[2])
    flat, pitch = planes.reshape(-1), Index(planes.shape[1]) * n_channels
    start = Index(corner[0]) * pitch + Index(corner[1]) * n_channels
    low, high = _value_range(flat, start, pitch, Index(layers.shape[1]), width * n_channels)
    center = (low + high) / np.float32(2)
    for i in range(Index(layers.shape[1])):
        at = start + i * pitch
        for channel in range(n_channels):
            layer = layers[channel, i]
            for j in range(width):
                layer[j] = flat[at + channel + j * n_channels] - center
        mean, layer = gray[i], layers[_0, i]
        for j in range(width):
            mean[j] = layer[j]
        for channel in range(_1, n_channels):
            layer = layers[channel, i]
            for j in range(width):
                mean[j] += layer[j]
        for j in range(width):
            mean[j] /= np.float32(n_channels)
    return low, high


@Kernel
def _value_range(
    flat: Flat, start: np.uintp, pitch: np.uintp, height: np.uintp, width: np.uintp
) -> tuple[np.float32, np.float32]:
    """Return the least and the largest value of a part of rows."""
    low = high = splat(flat[start])
    least = largest = flat[start]
    for i in range(height):
        at = start + i * pitch
        stop = at + width
        while at + _8 <= stop:
            values = load(flat, at)
            low, high = where_larger(low, values, values, low), where_larger(values, high, values, high)
            at += _8
        while at < stop:
            least, largest = min(least, flat[at]), max(largest, flat[at])
            at += _1
    ends = np.empty(2 * WIDTH, np.float32)
    store(ends, _0, low)
    store(ends, _8, high)
    return min(least, ends[:WIDTH].min()), max(largest, ends[WIDTH:].max())


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
        Are overwritten. Rows of the former end in `LANES` values and a multiple of `TAPS` more, at least
        `size`, that are compared too, and not used; those of the latter, for penalties, in `LANES` values.
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
    squares = np.empty_like(values)
    for i in range(height):
        for j in range(width):
            values[i, j] = np.rint(gray[i, j] * scale)
        for j in range(width, pitch):
            values[i, j] = 0
        for j in range(pitch):
            squares[i, j] = values[i, j] * values[i, j]
    for j in range(pitch):
        values[height, j] = squares[height, j] = 0
    _box_sums(values, Index(max(size // 2, 1)), sums)
    _box_sums(squares, Index(size), lengths)


@Kernel
def _box_sums(values: Plane, size: np.uintp, sums: Plane) -> None:
    """Set the sums over all blocks of size x size values: of whole numbers, so exact."""
    width = Index(values.shape[1])
    tall = np.zeros(width + size, np.float32)
    for i in range(Index(values.shape[0])):
        for j in range(width):
            tall[j] += values[i, j]
        if i >= size:
            for j in range(width):
                tall[j] -= values[i - size, j]
        if i + _1 < size:
            continue
        top = i + _1 - size
        for j in range(width):
            sums[top, j] = tall[j]
        for k in range(_1, size):
            for j in range(width):
                sums[top, j] += tall[j + k]


@Kernel
def _set_penalties(factor: float, n_candidates: tuple[int, int], penalties: Plane) -> None:
    """Set what the distance from the middle adds to that of patches: its square times a factor."""
    n_down, n_across = n_candidates
    for i in range(2 * n_down - 1):
        for j in range(2 * n_across - 1):
            square = (i - n_down + 1) ** 2 + (j - n_across + 1) ** 2
            penalties[Index(i), Index(j)] = factor * square
        for j in range(2 * n_across - 1, penalties.shape[1]):
            penalties[Index(i), Index(j)] = 0
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
    bits = np.int32(1)
    while bits < n_planes * n_down * n_across:
        bits *= np.int32(2)
    bits -= np.int32(1)  # of the number of a candidate, in place of the last bits of its distance
    best = np.empty(len(nearest), np.int32)
    taps = np.zeros((size, (size + TAPS - 1) // TAPS * TAPS), np.float32)
    bounds = np.zeros((n_down, (n_across + LANES - 1) // LANES * LANES), np.float32)
    distances = np.empty(LANES + 1, np.float32)
    keys = distances.view(np.int32)
    at = reference[0] * pitch + reference[1]
    _set_taps(values, Index(pitch), Index(at), Index(size), taps)
    row, column = reference[0] - first[0], reference[1] - first[1]
    near = (n_down - 1 - row) * penalty_pitch + n_across - 1 - column
    for n in range(len(best)):
        best[n] = _LAST
    best[0] = np.int32(row * n_across + column) | _FIRST
    n_steps = 2 * n_down - 1
    for step in range(n_planes * n_steps):  # in each image from the row of the reference up and down
        plane, number = step // n_steps, step % n_steps
        other = plane * plane_pitch + first[0] * pitch + first[1]
        if number == 0:
            _bound(sums, Index(pitch), Index(size // 2), Index(at), Index(other), bounds)
        down = row + (number + 1) // 2 * (1 if number % 2 else -1)
        if down < 0 or down >= n_down:
            continue
        for right in range(0, n_across, LANES):
            to, penalty = Index(other + down * pitch + right), Index(near + down * penalty_pitch + right)
            keys[LANES] = best[-1] | bits
            if not _any_within(bounds[down], Index(right), penalties, penalty, distances[LANES]):
                continue
            _compare(values, lengths, Index(pitch), taps, lengths[at], to, distances)
            for lane in range(min(LANES, n_across - right)):
                distances[lane] += penalties[penalty + Index(lane)]
                candidate = np.int32((plane * n_down + down) * n_across + right + lane)
                key = (keys[lane] & ~bits) | candidate
                if key < best[-1] and candidate | _FIRST != best[0]:
                    _insert(best, key)
    for n in range(len(best)):
        nearest[n] = best[n] & bits


@Kernel
def _set_taps(values: Flat, pitch: np.uintp, at: np.uintp, size: np.uintp, taps: Plane) -> None:
    """Set the values of a patch times -2."""
    for i in range(size):
        for k in range(size):
            taps[i, k] = -2 * values[at + i * pitch + k]


@Kernel
def _bound(sums: Flat, pitch: np.uintp, half: np.uintp, at: np.uintp, other: np.uintp, bounds: Plane) -> None:
    """Set lower bounds of the squared differences of a patch and others, by the sums of four blocks."""
    factor = _ROUNDING / np.float32(half * half) if half > 0 else np.float32(0)
    lower = half * pitch
    a, b, c, d = sums[at], sums[at + half], sums[at + lower], sums[at + lower + half]
    for down in range(Index(bounds.shape[0])):
        for right in range(Index(bounds.shape[1])):
            to = other + down * pitch + right
            total = (sums[to] - a) ** 2 + (sums[to + half] - b) ** 2
            total += (sums[to + lower] - c) ** 2 + (sums[to + lower + half] - d) ** 2
            bounds[down, right] = factor * total


@Kernel
def _any_within(bounds: Flat, right: np.uintp, penalties: Flat, penalty: np.uintp, limit: np.float32) -> bool:
    """Return whether any of some lower bounds of distances, side by side, is not beyond the limit."""
    count = 0
    for lane in range(_LANES):
        count += bounds[right + lane] + penalties[penalty + lane] <= limit
    return count > 0


@Kernel
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
    for lane in range(_LANES):
        distances[lane] = length + lengths[other + lane]
    for i in range(Index(taps.shape[0])):
        for k in range(_0, Index(taps.shape[1]), _8):
            a, b, c, d = taps[i, k], taps[i, k + _1], taps[i, k + _2], taps[i, k + _3]
            e, f, g, h = taps[i, k + _4], taps[i, k + _5], taps[i, k + _6], taps[i, k + _7]
            start = other + i * pitch + k
            for lane in range(_LANES):
                at = start + lane
                distances[lane] += (
                    a * values[at] + b * values[at + _1] + c * values[at + _2] + d * values[at + _3]
                    + e * values[at + _4] + f * values[at + _5] + g * values[at + _6] + h * values[at + _7]
                )  # fmt: skip


@Kernel
def _insert(best: Keys, key: np.int32) -> None:
    """Put a key in its place among sorted ones, of which the last is dropped."""
    at = len(best) - 1
    while at > 0 and best[at - 1] > key:
        best[at] = best[at - 1]
        at -= 1
    best[at] = key
