"""The rims of damage: how far it reaches around the pixels that are certain."""

import numpy as np
from scipy import ndimage

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.detection.plane import Single
from dictsel_core.detection.regions import Regions, grown, regions_from_points

#: Pixels around a region that belong to it in any case, and more of them that may.
_SURE, _MORE = 1, 2
#: A rim differs from what lies around by so many standard deviations, and by so much of the range.
_DEVIATIONS, _LEAST = 2.0, 0.03
#: What lies around is measured in squares of blocks of pixels: side of a block, and blocks in a row.
_BLOCK, _BLOCKS = 4, 5


def with_rims(regions: Regions, plane: Single) -> Regions:
    """Return regions with their rims: until the picture is back at what it is around them.

    Parameters
    ----------
    regions : Regions
        What is certain.
    plane : (H, W) ndarray of float32
        The brightness.
    """
    wide = grown(regions, _SURE)
    if not len(wide):
        return wide
    covered = np.zeros(regions.shape, np.bool_)
    covered.reshape(-1)[wide.pixels] = True
    mean, deviation = _surroundings(plane, ndimage.maximum_filter(covered, 2 * _MORE + 1))
    sign = _signs(wide, plane, mean)
    flat = plane.reshape(-1)
    for _ in range(_MORE):
        ring = grown(wide)
        pixels, numbers = ring.pixels, ring.numbers()
        around, spread = (_at(each, pixels, regions.shape[1]) for each in (mean, deviation))
        excess = sign[numbers] * (flat[pixels] - around)
        kept = excess > np.maximum(_DEVIATIONS * spread, _LEAST)
        pixels = np.concatenate([wide.pixels, pixels[kept]])
        numbers = np.concatenate([wide.numbers(), numbers[kept]])
        wide = regions_from_points(regions.shape, pixels, numbers, regions.confidence)
    return wide


def _surroundings(plane: Single, covered: Bools) -> tuple[Single, Single]:
    """Return mean and standard deviation around each block of what is not covered."""
    rows, columns = (-(-side // _BLOCK) for side in plane.shape)
    pad = [(0, size * _BLOCK - side) for size, side in zip((rows, columns), plane.shape, strict=True)]
    seen = np.pad(~covered, pad).astype(np.float32)
    values = np.pad(plane, pad, mode="edge") * seen
    sums = [
        ndimage.uniform_filter(each.reshape(rows, _BLOCK, columns, _BLOCK).sum(axis=(1, 3)), _BLOCKS)
        for each in (seen, values, values * values)
    ]
    count = np.maximum(sums[0], 1e-3)
    mean = sums[1] / count
    return mean, np.sqrt(np.maximum(sums[2] / count - mean * mean, 0))


def _at(blocks: Single, pixels: Ints, width: int) -> Single:
    rows, columns = np.divmod(pixels, width)
    return np.asarray(blocks[rows // _BLOCK, columns // _BLOCK])


def _signs(regions: Regions, plane: Single, mean: Single) -> Single:
    """Return 1 for regions lighter than what lies around, -1 for darker ones."""
    excess = plane.reshape(-1)[regions.pixels] - _at(mean, regions.pixels, regions.shape[1])
    return np.sign(np.bincount(regions.numbers(), excess, len(regions))).astype(np.float32)
