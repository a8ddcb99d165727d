"""Weighted squared distances between patches, in integers: no sum depends on the order of its terms."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.ndimage import find_objects

from dictsel_core._util.arrays import Region
from dictsel_core._util.compiled import Kernel
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale, Single

#: Pixels are compared in steps of 1 / this, an eighth of a gray level of 8-bit images.
_LEVELS = 2048
#: Pixels beyond these limits count as the limit: the squares of a row of a patch then fit into 32 bits.
_LIMITS = -0.25, 1.25
#: Weight of the texture around a patch, as a multiple of that of one pixel.
_TEXTURE_WEIGHT = 100.0
#: Percent of a squared difference of means that count; the rest is corrected when a match is copied, since
#: brightness may vary.
_MEAN_PERCENT = 15
#: Weights of squared differences: of pixels and texture, and of sums over patches, which are subtracted.
_PIXEL_WEIGHT, _SUM_WEIGHT = 100 * PATCH_SIZE**2, 100 - _MEAN_PERCENT

Levels = NDArray[np.int16]
Patches = tuple[Levels, Levels, NDArray[np.int64], Ints, Bools]

#: More than any squared distance.
_UNLIMITED = np.iinfo(np.int64).max


class Comparison:
    """Compares the patches of a scale, which are counted row by row.

    The squared distance of two patches is that of their pixels and of the texture in their middle, but the
    difference of their means has little weight.
    """

    unit = 1.0 / (_PIXEL_WEIGHT * _LEVELS**2)  #: One over the squared distance of 1.

    def __init__(self, scale: Scale) -> None:
        (height, width), n_channels = scale.shape, scale.n_channels
        self._scale = scale
        self._shape = height - PATCH_SIZE + 1, width - PATCH_SIZE + 1
        self.pixels = np.empty((height, width, n_channels), np.int16)  #: In steps of 1 / 2048.
        self.texture = np.empty((height, width, N_TEXTURE), np.int16)  #: Times the root of its weight.
        self.sums = np.empty((self._shape[0] * self._shape[1], n_channels), np.int64)
        self._read((slice(0, height), slice(0, width)))
        rows, columns = find_objects(scale.hole.view(np.uint8))[0]
        self._hole: Region = rows, columns

    def update(self) -> None:
        """Read the pixels of the hole again, after it has been filled."""
        self._read(self._hole)

    def _read(self, region: Region) -> None:
        """Read the pixels of a region again."""
        n_channels, planes = self._scale.n_channels, self._scale.planes[region]
        pixels = np.clip(planes[:, :, :n_channels], *_LIMITS) * np.float32(_LEVELS)
        self.pixels[region] = np.rint(pixels)
        texture = planes[:, :, n_channels:] * np.float32(_LEVELS * np.sqrt(_TEXTURE_WEIGHT * n_channels))
        self.texture[region] = np.rint(np.minimum(texture, np.iinfo(np.int16).max))
        rows, columns = (slice(max(each.start - PATCH_SIZE + 1, 0), each.stop) for each in region)
        around = self.pixels[
            rows.start : rows.stop + PATCH_SIZE - 1, columns.start : columns.stop + PATCH_SIZE - 1
        ]
        tall = sliding_window_view(around, PATCH_SIZE, axis=0).sum(axis=-1, dtype=np.int64)
        sums = sliding_window_view(tall, PATCH_SIZE, axis=1).sum(axis=-1)
        self.sums.reshape(*self._shape, n_channels)[rows, columns] = sums

    def vectors(self, patches: Ints) -> Single:
        """Return vectors of which the squared distances are those of the patches, up to rounding: (N, d)."""
        y, x = np.divmod(patches, self._shape[1])
        windows = sliding_window_view(self.pixels, (PATCH_SIZE, PATCH_SIZE), axis=(0, 1))
        pixels = windows[y, x].astype(np.float32).reshape(len(y), -1, PATCH_SIZE**2) / np.float32(_LEVELS)
        means = self.sums[patches, :, None].astype(np.float32) / np.float32(PATCH_SIZE**2 * _LEVELS)
        pixels -= (1 - np.sqrt(np.float32(_MEAN_PERCENT / 100))) * means
        middle = PATCH_SIZE // 2
        texture = self.texture[y + middle, x + middle].astype(np.float32) / np.float32(_LEVELS)
        return np.concatenate([pixels.reshape(len(y), -1), texture], axis=1)

    def corrections(self, targets: Ints, matches: Ints) -> Single:
        """Return what is added to the channels of each match when it is copied: (N, C)."""
        shifts = self.sums[targets] - self.sums[matches]
        return (shifts * (_SUM_WEIGHT / (_PIXEL_WEIGHT * _LEVELS))).astype(np.float32)


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
    """Improve the matches (B,) of some targets in place, and write their distances.

    `patches` are rows of pixels (H, W * C), texture and sums (see `Comparison`), the number of each patch in
    the list of all targets, and whether it may be copied; `shape` is that of all patches; `before` has the
    matches of all targets before this sweep. Tried are the matches of neighbors, so far down and to the right
    as `jumps` (J, 2) say, and sources as far from the target's own match as its `steps` (B, R, 2).
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
    """Return the squared distance of two patches in steps of `Comparison.unit`; above a limit, any more."""
    pixels, texture, sums = patches[:3]
    n_channels = sums.shape[1]
    length = PATCH_SIZE * n_channels
    y, x = divmod(target, n_columns)
    row, column = divmod(source, n_columns)
    distance = np.int64(0)
    for channel in range(n_channels):
        shift = sums[target, channel] - sums[source, channel]
        distance -= _SUM_WEIGHT * shift * shift
    middle = PATCH_SIZE // 2
    for layer in range(N_TEXTURE):
        here, there = texture[y + middle, x + middle, layer], texture[row + middle, column + middle, layer]
        difference = np.int64(here) - np.int64(there)
        distance += _PIXEL_WEIGHT * difference * difference
    for down in range(PATCH_SIZE):
        first = pixels[y + down, x * n_channels : x * n_channels + length]
        second = pixels[row + down, column * n_channels : column * n_channels + length]
        squares = np.int32(0)
        for i in range(length):
            step = np.int32(first[i]) - np.int32(second[i])
            squares = np.int32(squares + step * step)
        distance += _PIXEL_WEIGHT * np.int64(squares)
        if distance >= limit:
            break
    return distance
