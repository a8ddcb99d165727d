"""Dead and hot pixels, and dead rows and columns, as sensors and line scanners have them."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.detection.plane import DetectionImage, Single, block_quantile
from dictsel_core.detection.regions import (
    Regions,
    connected_components,
    joined,
    no_regions,
    regions_from_points,
)
from dictsel_core.detection.work import Work, filter_in_bands, part

# Pixels
_BLOCK = 64
_TEXTURE_QUANTILE = 0.9
_PIXEL_FLOOR = 0.01
_MAX_AREA = 4
_PIXEL_THRESHOLD = 1.0
_PIXEL_MIDDLE, _PIXEL_SPREAD = 1.7, 2.0

# Lines
_SEGMENT = 48
#: Of more rows than these, every other, every third and so on is looked at.
_MANY_ROWS = 1000
_MIN_SIDE = 16
_NEIGHBORHOOD, _PERCENTILE = 65, 90
_LINE_THRESHOLD = 2.0
_LINE_FLOOR = 0.002
#: A column is like a line if it lies outside of its neighbors by this part of its distance from their mean.
_OUTSIDE = 0.5
#: Length of a dead line as a part of the picture's side.
_MIN_PART = 0.25
_LINE_MIDDLE, _LINE_SPREAD = 1.0, 2.0


def dead_pixel_candidates(image: DetectionImage) -> Work[Regions]:
    """Return pixels that exceed all their neighbors but one, in any channel."""
    strongest = np.zeros(image.shape, np.float32)
    channels = image.channels()
    for number, channel in enumerate(channels):
        work = _relative_excess(channel, _PIXEL_FLOOR + image.quantum)
        excess = yield from part(work, number / len(channels), (number + 1) / len(channels))
        np.maximum(strongest, excess, out=strongest)
    labels, n_labels = connected_components(strongest > _PIXEL_THRESHOLD)
    pixels = np.flatnonzero(labels)
    numbers = labels.ravel()[pixels].astype(np.intp) - 1
    strength = np.zeros(n_labels)
    np.maximum.at(strength, numbers, strongest.ravel()[pixels])
    small = np.bincount(numbers, minlength=n_labels) <= _MAX_AREA
    evidence = np.log(np.maximum(strength, _PIXEL_THRESHOLD))
    return regions_from_points(
        image.shape, pixels, numbers, np.where(small, 0.5 + (evidence - _PIXEL_MIDDLE) / _PIXEL_SPREAD, 0)
    )


def _relative_excess(plane: Single, floor: float) -> Work[Single]:
    """Return how far a pixel lies outside of the range of its neighbors, all but one above and below."""
    high = yield from part(filter_in_bands(_second_largest, plane, 1), 0.0, 0.4)
    low = yield from part(filter_in_bands(_second_smallest, plane, 1), 0.4, 0.8)
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


def _second_smallest(plane: Single) -> Single:
    """Return the second smallest of the 8 neighbors of every pixel."""
    return -_second_largest(-plane)


def _second_largest(plane: Single) -> Single:
    """Return the second largest of the 8 neighbors of every pixel.

    The two largest of each column of three are found once, for the pixels to its left and to its right.
    """
    padded = np.pad(plane, 1, mode="reflect" if min(plane.shape) > 1 else "edge")
    upper, middle, lower = padded[:-2], padded[1:-1], padded[2:]
    high, low = np.maximum(upper, lower), np.minimum(upper, lower)
    first, second = np.maximum(high, middle), np.maximum(low, np.minimum(high, middle))
    largest, next_one = _two_largest(first[:, :-2], second[:, :-2], first[:, 2:], second[:, 2:])
    return _two_largest(largest, next_one, high[:, 1:-1], low[:, 1:-1])[1]


def _two_largest(first: Single, second: Single, other: Single, other_second: Single) -> tuple[Single, Single]:
    """Return the two largest of two pairs, the larger one of each given first."""
    runner_up = np.minimum(first, other)
    np.maximum(runner_up, second, out=runner_up)
    np.maximum(runner_up, other_second, out=runner_up)
    return np.maximum(first, other), runner_up


def dead_line_candidates(image: DetectionImage) -> Work[Regions]:
    """Return columns, and rows, that differ from both their neighbors all along."""
    if min(image.shape) < _MIN_SIDE:
        return no_regions(image.shape)
    floor = _LINE_FLOOR + 0.25 * image.quantum
    width = image.shape[1]
    parts: list[Regions] = []
    brightness = image.brightness()
    for plane, steps in ((brightness, (width, 1)), (brightness.T, (1, width))):
        rows, columns, numbers, confidence = yield from part(
            _dead_columns(plane, floor), 0.5 * len(parts), 0.5 * len(parts) + 0.5
        )
        parts.append(
            regions_from_points(image.shape, rows * steps[0] + columns * steps[1], numbers, confidence)
        )
    return joined(parts)


def _dead_columns(plane: Single, floor: float) -> Work[tuple[Ints, Ints, Ints, NDArray[np.float64]]]:
    """Return rows and columns of pixels, the number of the line of each, and the confidence of each line."""
    n_segments = max(1, round(plane.shape[0] / _SEGMENT))
    every = max(1, plane.shape[0] // _MANY_ROWS)
    edges = np.linspace(0, plane.shape[0], n_segments + 1).astype(np.intp)
    deviations = []
    for start, stop in pairwise(edges):
        deviations.append(_deviation(plane[start:stop:every]))
        yield float(stop / plane.shape[0])
    difference, from_mean, least = np.stack(deviations, axis=1)
    # A line itself must not count for what is usual around it, nor for another line nearby.
    beside = ndimage.maximum_filter(difference > _OUTSIDE * from_mean, (1, 5), mode="nearest")
    from_mean = np.where(beside, least, from_mean)
    around = ndimage.percentile_filter(from_mean, _PERCENTILE, (1, _NEIGHBORHOOD), mode="mirror")
    relative = difference / (around + np.float32(floor))
    highest = ndimage.maximum_filter(difference, (1, 5), mode="nearest")
    stands_out = (relative > _LINE_THRESHOLD) & (difference > 0.7 * highest)
    rows, columns, numbers = [], [], []
    confidence: list[float] = []
    for column in np.flatnonzero(stands_out.any(axis=0)):
        for start, stop in _runs(stands_out[:, column]):
            part = (stop - start) / n_segments
            if part < _MIN_PART:
                continue
            evidence = np.log(np.median(relative[start:stop, column])) + 0.4 * np.log(part)
            length = edges[stop] - edges[start]
            rows.append(np.arange(edges[start], edges[stop]))
            columns.append(np.full(length, column))
            numbers.append(np.full(length, len(confidence)))
            confidence.append(0.5 + (evidence - _LINE_MIDDLE) / _LINE_SPREAD)
    if not confidence:
        none = np.zeros(0, np.intp)
        return none, none, none, np.zeros(0)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(numbers), np.array(confidence)


def _deviation(segment: Single) -> tuple[Single, Single, Single]:
    """Return how far each column lies outside of its neighbors, and from their mean at most and at least.

    All are medians over the rows: an edge differs from the mean, but lies outside on one side only. Beside a
    line, one of the two means is without it, and the least difference small.
    """
    outside, from_mean = (np.zeros(segment.shape[1], np.float32) for _ in range(2))
    least = np.full(segment.shape[1], np.inf, np.float32)
    for distance in (1, 2):
        padded = np.pad(segment, ((0, 0), (distance, distance)), mode="reflect")
        one, other = padded[:, : -2 * distance], padded[:, 2 * distance :]
        for contrast in (segment - np.maximum(one, other), np.minimum(one, other) - segment):
            np.maximum(outside, np.median(contrast, axis=0), out=outside)
        mean = (one + other) * np.float32(0.5)
        deviation = np.abs(np.median(segment - mean, axis=0))
        np.maximum(from_mean, deviation, out=from_mean)
        np.minimum(least, deviation, out=least)
    return outside, from_mean, least


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """Return where runs of True begin and end; one False between two is bridged."""
    bridged = flags.copy()
    bridged[1:-1] |= flags[:-2] & flags[2:]
    changes = np.flatnonzero(np.diff(np.concatenate([[False], bridged, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in changes.reshape(-1, 2)]
