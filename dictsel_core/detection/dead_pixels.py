"""Dead and hot pixels: single pixels that stand out from all their neighbors."""

import numpy as np

from dictsel_core.detection.plane import DetectionImage, Single, block_quantile
from dictsel_core.detection.regions import Regions, connected_components, regions_from_points
from dictsel_core.detection.work import Work, filter_in_bands, part

_BLOCK = 64
_TEXTURE_QUANTILE = 0.9
_FLOOR = 0.01
_MAX_AREA = 4
_THRESHOLD = 1.0
_MIDDLE, _SPREAD = 1.7, 2.0


def dead_pixel_candidates(image: DetectionImage) -> Work[Regions]:
    """Return pixels that exceed all their neighbors but one, in any channel."""
    strongest = np.zeros(image.shape, np.float32)
    channels = image.channels()
    for number, channel in enumerate(channels):
        work = _relative_excess(channel, _FLOOR + image.quantum)
        excess = yield from part(work, number / len(channels), (number + 1) / len(channels))
        np.maximum(strongest, excess, out=strongest)
    labels, n_labels = connected_components(strongest > _THRESHOLD)
    pixels = np.flatnonzero(labels)
    numbers = labels.ravel()[pixels].astype(np.intp) - 1
    strength = np.zeros(n_labels)
    np.maximum.at(strength, numbers, strongest.ravel()[pixels])
    small = np.bincount(numbers, minlength=n_labels) <= _MAX_AREA
    evidence = np.log(np.maximum(strength, _THRESHOLD))
    return regions_from_points(
        image.shape, pixels, numbers, np.where(small, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
    )


def _relative_excess(plane: Single, floor: float) -> Work[Single]:
    """Return how far a pixel lies outside of the range of its neighbors, all but one above and below."""
    high = yield from part(filter_in_bands(_second_largest, plane, 1), 0.0, 0.4)
    low = -(yield from part(filter_in_bands(_second_largest, -plane, 1), 0.4, 0.8))
    excess: Single = np.maximum(plane - high, low - plane)
    np.maximum(excess, 0, out=excess)
    yield 0.9
    noise = block_quantile(excess, _TEXTURE_QUANTILE, _BLOCK)
    high -= low
    np.maximum(high, 0, out=high)
    noise += high * np.float32(0.5)
    noise += np.float32(floor)
    excess /= noise
    return excess


def _second_largest(plane: Single) -> Single:
    """Return the second largest of the 8 neighbors of every pixel."""
    padded = np.pad(plane, 1, mode="reflect" if min(plane.shape) > 1 else "edge")
    first = np.full(plane.shape, -np.inf, np.float32)
    second = first.copy()
    rows, columns = plane.shape
    for dy, dx in ((y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1)):
        value = padded[dy : dy + rows, dx : dx + columns]
        np.maximum(second, np.minimum(first, value), out=second)
        np.maximum(first, value, out=first)
    return second
