"""Regions of a picture with a confidence each: lists of pixels, so that many cost little."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core._util.validation import Bools, Ints

Confidences = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Regions:
    """Candidates for damage of one kind in a picture of some shape.

    Region i has the pixels ``pixels[offsets[i]:offsets[i + 1]]``, as indices into the flattened picture, and
    a confidence from 0 to 1.
    """

    shape: tuple[int, int]
    pixels: Ints
    offsets: Ints
    confidence: Confidences

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def areas(self) -> Ints:
        """Number of pixels of each region."""
        return np.diff(self.offsets)

    def numbers(self) -> Ints:
        """Return the region of each entry of `pixels`."""
        return np.repeat(np.arange(len(self)), self.areas)


def connected_components(mask: Bools) -> tuple[NDArray[np.int32], int]:
    """Return labels from 1 on of the 8-connected parts of a mask, and their number."""
    labels, n_labels = ndimage.label(mask, np.ones((3, 3), bool))
    return labels.astype(np.int32, copy=False), int(n_labels)


def no_regions(shape: tuple[int, int]) -> Regions:
    """Return no region at all."""
    return Regions(shape, np.zeros(0, np.intp), np.zeros(1, np.intp), np.zeros(0, np.float32))


def regions_from_points(
    shape: tuple[int, int], pixels: Ints, numbers: Ints, confidence: NDArray[np.floating[Any]]
) -> Regions:
    """Return regions from pixels with the number of the region of each; those of confidence 0 are dropped."""
    confidence = np.clip(confidence, 0, 1).astype(np.float32)
    kept = confidence > 0
    renumbered = np.cumsum(kept) - 1
    used = kept[numbers]
    keys = np.sort(renumbered[numbers[used]] * np.intp(shape[0] * shape[1]) + pixels[used])
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique takes several times as long
    numbers, pixels = np.divmod(keys, shape[0] * shape[1])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=int(kept.sum())))])
    return Regions(shape, pixels, offsets.astype(np.intp), confidence[kept])


def grown(regions: Regions, radius: int = 1) -> Regions:
    """Return the regions with all pixels within a square of `radius` around theirs."""
    if not len(regions) or radius == 0:
        return regions
    rows, columns = np.divmod(regions.pixels, regions.shape[1])
    return _spread(regions, rows, columns, range(-radius, radius + 1), regions.shape)


def enlarged(regions: Regions, factor: int, shape: tuple[int, int]) -> Regions:
    """Return regions found in a picture `factor` times smaller, in the picture of `shape`."""
    if factor == 1 or not len(regions):
        return Regions(shape, regions.pixels, regions.offsets, regions.confidence)
    rows, columns = np.divmod(regions.pixels, regions.shape[1])
    return _spread(regions, rows * factor, columns * factor, range(factor), shape)


def _spread(regions: Regions, rows: Ints, columns: Ints, steps: range, shape: tuple[int, int]) -> Regions:
    """Return regions with all pixels at some steps, down and across, from those given, inside a picture."""
    owners, pixels, numbers = regions.numbers(), [], []
    for down, across in product(steps, repeat=2):
        y, x = rows + down, columns + across
        inside = (y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1])
        pixels.append((y * shape[1] + x)[inside])
        numbers.append(owners[inside])
    return regions_from_points(shape, np.concatenate(pixels), np.concatenate(numbers), regions.confidence)


def without(regions: Regions, mask: Bools) -> Regions:
    """Return the regions without the pixels of a mask; regions that have no others are dropped."""
    kept = ~mask.ravel()[regions.pixels]
    if kept.all():
        return regions
    numbers = regions.numbers()[kept]
    left = np.bincount(numbers, minlength=len(regions)) > 0
    return regions_from_points(
        regions.shape, regions.pixels[kept], numbers, np.where(left, regions.confidence, 0)
    )


def chosen_regions(regions: Regions, chosen: Bools) -> Regions:
    """Return some of the regions."""
    areas = regions.areas[chosen]
    offsets = np.concatenate([[0], np.cumsum(areas)]).astype(np.intp)
    pixels = regions.pixels[np.repeat(chosen, regions.areas)]
    return Regions(regions.shape, pixels, offsets, regions.confidence[chosen])


def joined(parts: Sequence[Regions]) -> Regions:
    """Return all regions of several lists, in their order."""
    offsets, start = [np.zeros(1, np.intp)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + start)
        start += len(part.pixels)
    return Regions(
        parts[0].shape,
        np.concatenate([part.pixels for part in parts]),
        np.concatenate(offsets),
        np.concatenate([part.confidence for part in parts]),
    )


def most_confident(regions: Regions) -> Regions:
    """Return the regions that overlap with no region of more confidence, or of as much and more pixels."""
    numbers = regions.numbers()
    rank = np.empty(len(regions), np.intp)
    rank[np.lexsort((regions.areas, regions.confidence))] = np.arange(len(regions))
    places, inverse = np.unique(regions.pixels, return_inverse=True)
    highest = np.full(len(places), -1)
    np.maximum.at(highest, inverse, rank[numbers])
    beaten = np.bincount(numbers, highest[inverse] > rank[numbers], len(regions)) > 0
    confidence = np.where(beaten, 0, regions.confidence)
    return regions_from_points(regions.shape, regions.pixels, numbers, confidence)
