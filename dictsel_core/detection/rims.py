"""Where damage ends: its rims, and the frame of the picture, which is none."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from dictsel_core._util.arrays import any_in_windows
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.detection.plane import Single, shrink
from dictsel_core.detection.regions import Regions, grown, regions_from_points

#: So many pixels around a region belong to it in any case; it is followed so far into what may be damage.
_SURE, _REACH = 1, 6
#: Marks are kept so far from what their surroundings are measured by.
_APART = 3
#: What belongs to a region differs from what lies around by so many standard deviations, and by so much of
#: the range.
_DEVIATIONS, _LEAST = 2.0, 0.03
#: What lies around is measured in squares of blocks of pixels: side of a block, and blocks in a row.
_HALVINGS, _BLOCKS = 2, 5
_BLOCK = 1 << _HALVINGS
#: How deep a frame is, as a part of the shorter side and in pixels at least, and how long, in depths.
_DEPTH, _LEAST_DEPTH, _LENGTH = 0.02, 4, 6


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Mean and standard deviation of what lies around marks, by blocks of pixels."""

    mean: Single
    deviation: Single

    @classmethod
    def of(cls, plane: Single, mask: Bools) -> "Surroundings":
        """Return them for a mask, whose rims do not count."""
        weight = (~dilated(mask, _APART)).astype(np.float32)
        values = plane * weight
        sums = [weight, values, values * values]
        for _ in range(_HALVINGS):
            sums = [shrink(each) for each in sums]
        count, total, squares = (ndimage.uniform_filter(each, _BLOCKS) for each in sums)
        mean = total / np.maximum(count, 1e-4)
        variance = squares / np.maximum(count, 1e-4) - mean * mean
        return cls(mean, np.sqrt(np.maximum(variance, 0)))

    def at(self, pixels: Ints, width: int) -> tuple[Single, Single]:
        """Return mean and deviation at pixels of a picture of some width."""
        rows, columns = (each // _BLOCK for each in np.divmod(pixels, width))
        return self.mean[rows, columns], self.deviation[rows, columns]


def with_rims(regions: Regions, plane: Single, possible: Bools, around: Surroundings) -> Regions:
    """Return regions with their rims, and with what goes on from there.

    They are followed through pixels that may be damage, as long as the picture, a plane of brightness,
    differs from what lies around them as they do.
    """
    wide = grown(regions, _SURE)
    if not len(wide):
        return wide
    width, flat = regions.shape[1], plane.reshape(-1)
    sign = signs(flat[wide.pixels], wide.pixels, wide.numbers(), around, width)
    owner = np.full(plane.size, -1, np.int32)
    owner[wide.pixels] = wide.numbers()
    parts = [wide]
    for _ in range(_REACH):
        ring = grown(parts[-1])
        pixels, numbers = ring.pixels, ring.numbers()
        kept = possible.reshape(-1)[pixels] & (owner[pixels] != numbers)
        pixels, numbers = pixels[kept], numbers[kept]
        mean, deviation = around.at(pixels, width)
        kept = sign[numbers] * (flat[pixels] - mean) > np.maximum(_DEVIATIONS * deviation, _LEAST)
        owner[pixels[kept]] = numbers[kept]
        parts.append(regions_from_points(regions.shape, pixels[kept], numbers[kept], regions.confidence))
    pixels = np.concatenate([part.pixels for part in parts])
    numbers = np.concatenate([part.numbers() for part in parts])
    return regions_from_points(regions.shape, pixels, numbers, regions.confidence)


def dilated(mask: Bools, radius: int) -> Bools:
    """Return a mask with all pixels within a square of `radius`."""
    return any_in_windows(np.pad(mask, radius), 2 * radius + 1)


def signs(values: Single, pixels: Ints, numbers: Ints, around: Surroundings, width: int) -> Single:
    """Return 1 for regions lighter than what lies around, -1 for darker ones, from their pixels."""
    excess = values - around.at(pixels, width)[0]
    return np.sign(np.bincount(numbers, excess)).astype(np.float32)


def frame_of(mask: Bools) -> Bools:
    """Return where marks run along an edge of the picture: that is its frame."""
    frame = np.zeros_like(mask)
    depth = max(_LEAST_DEPTH, round(_DEPTH * min(mask.shape)))
    if min(mask.shape) < 3 * depth:
        return frame
    for turn in range(4):
        band = np.rot90(mask, turn)[:depth]
        along = ndimage.binary_closing(np.pad(band.any(axis=0), depth), iterations=depth // 2)[depth:-depth]
        labels, n_runs = ndimage.label(along)
        if n_runs:
            is_long = np.bincount(labels, minlength=n_runs + 1) >= _LENGTH * depth
            is_long[0] = False
            np.rot90(frame, turn)[:depth] |= is_long[labels]
    return frame
