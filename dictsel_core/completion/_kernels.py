"""The search for matches."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.completion.comparison import PIXEL_WEIGHT, SUM_WEIGHT, Levels
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE

Patches = tuple[Levels, Levels, NDArray[np.int64], Ints, Bools]

#: More than any squared distance.
_UNLIMITED = np.iinfo(np.int64).max


@Kernel
def improve_matches(
    patches: Patches,
    shape: tuple[int, int],
    targets: Ints,
    before: Ints,
    jumps: Ints,
    steps: Ints,
    matches: Ints,
    distances: Ints,
) -> None:
    """Improve the matches of some targets in place.

    Parameters
    ----------
    patches : tuple
        Rows of pixels (H, W * C), texture and sums (see `Comparison`); the number of each patch in the list
        of targets, and whether it may be copied.
    shape : (int, int)
        Rows and columns of patches.
    targets, matches, distances : (B,) ndarray of int
        Of these targets. The distances are written.
    before, jumps, steps : ndarray of int
        As for `search.improve`.
    """
    numbers, is_source = patches[3:]
    height, width = shape
    for i in range(len(targets)):
        target, match = targets[i], matches[i]
        y, x = divmod(target, width)
        best = _distance(patches, width, target, match, _UNLIMITED)
        for candidate in range(len(jumps) + steps.shape[1]):
            if candidate < len(jumps):
                down, across = jumps[candidate]
                row, column = y - down, x - across
                if row < 0 or row >= height or column < 0 or column >= width:
                    continue
                neighbor = numbers[row * width + column]
                if neighbor < 0:
                    continue
                row, column = divmod(before[neighbor], width)
            else:
                down, across = steps[i, candidate - len(jumps)]
                row, column = divmod(match, width)
            row, column = row + down, column + across
            if row < 0 or row >= height or column < 0 or column >= width:
                continue
            place = row * width + column
            if is_source[place] and place != match:
                distance = _distance(patches, width, target, place, best)
                if distance < best:
                    match, best = place, distance
        matches[i], distances[i] = match, best


@Kernel
def _distance(patches: Patches, n_columns: int, target: int, source: int, limit: int | np.int64) -> np.int64:
    """Return the squared distance of two patches, as `Comparison.distances` does, if it is below a limit.

    Otherwise return a part of it that is not.
    """
    pixels, texture, sums = patches[:3]
    n_channels = sums.shape[1]
    length = PATCH_SIZE * n_channels
    y, x = divmod(target, n_columns)
    row, column = divmod(source, n_columns)
    distance = np.int64(0)
    for channel in range(n_channels):
        shift = sums[target, channel] - sums[source, channel]
        distance -= SUM_WEIGHT * shift * shift
    middle = PATCH_SIZE // 2
    for layer in range(N_TEXTURE):
        here, there = texture[y + middle, x + middle, layer], texture[row + middle, column + middle, layer]
        difference = np.int64(here) - np.int64(there)
        distance += PIXEL_WEIGHT * difference * difference
    for down in range(PATCH_SIZE):
        first = pixels[y + down, x * n_channels : x * n_channels + length]
        second = pixels[row + down, column * n_channels : column * n_channels + length]
        squares = np.int32(0)
        for i in range(length):
            step = np.int32(first[i]) - np.int32(second[i])
            squares = np.int32(squares + step * step)
        distance += PIXEL_WEIGHT * np.int64(squares)
        if distance >= limit:
            break
    return distance
