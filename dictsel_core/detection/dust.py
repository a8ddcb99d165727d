"""Dust and specks: small compact spots, brighter or darker than all around them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.detection.damage import Detection, detect_one
from dictsel_core.detection.plane import DetectionImage, Single, block_quantile
from dictsel_core.detection.regions import (
    Regions,
    connected_components,
    grown,
    joined,
    most_confident,
    regions_from_points,
)
from dictsel_core.detection.work import Work, open_in_bands, part

Doubles = NDArray[np.float64]

#: Spots are smaller than the first, in pictures of so many pixels; larger ones have larger spots.
_USUAL_SIZE, _USUAL_PIXELS, _LARGEST_SIZE = 15, 2e6, 41
_MIN_AREA = 3
#: Side of the square in which spots are counted, in sizes of the largest spot.
_CROWD = 4
_BLOCK = 64
_TEXTURE_QUANTILE = 0.75
#: Multiples of the texture; a spot that melts into its surroundings at one stands alone at another.
_THRESHOLDS = (2.0, 3.2, 5.0)
_FLOOR = 0.012
#: Part of its bounding box that a spot fills.
_MIN_FILLED = 0.35
_MIDDLE, _SPREAD = 0.9, 2.2


def dust_candidates(image: DetectionImage) -> Work[Regions]:
    """Return bright and dark spots that differ from a ring around them."""
    plane, floor = image.brightness, _FLOOR + image.quantum
    size = min(_LARGEST_SIZE, _USUAL_SIZE * max(1.0, np.sqrt(plane.size / _USUAL_PIXELS)))
    yield 0.0
    odd, colorfulness = int(size) // 2 * 2 + 1, image.colorfulness()
    yield 0.0
    bright = yield from part(_spots(plane, colorfulness, odd, floor), 0.0, 0.5)
    dark = yield from part(_spots(-plane, colorfulness, odd, floor), 0.5, 1.0)
    return most_confident(joined([*bright, *dark]))


def _spots(plane: Single, colorfulness: Single, size: int, floor: float) -> Work[list[Regions]]:
    """Return bright spots smaller than `size`, from the white top-hat: what an opening takes away."""
    raised = plane - (yield from part(open_in_bands(plane, size), 0.0, 0.4))
    yield 0.4
    level = block_quantile(raised, _TEXTURE_QUANTILE, _BLOCK)
    level += np.float32(floor)
    yield 0.4
    found: list[Regions] = []
    for number, threshold in enumerate(_THRESHOLDS):
        labels, n_labels = connected_components(raised > threshold * level)
        pixels = np.flatnonzero(labels)
        spots = Spots(labels, n_labels, pixels, labels.ravel()[pixels].astype(np.intp) - 1)
        yield 0.4 + 0.2 * number
        if not found:
            crowding = _crowding(labels, _CROWD * size)
            yield 0.4
        evidence = yield from part(_evidence(spots, plane, level), 0.4 + 0.2 * number, 0.5 + 0.2 * number)
        yield 0.5 + 0.2 * number
        evidence -= 0.3 * np.log(1 + spots.mean(crowding)) + 1.8 * spots.mean(colorfulness)
        yield 0.53 + 0.2 * number
        confidence = np.where(_fits(spots, size), 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
        yield 0.56 + 0.2 * number
        regions = regions_from_points(plane.shape, pixels, spots.numbers, confidence)
        yield 0.58 + 0.2 * number
        found.append(grown(regions))
    return found


@dataclass(frozen=True, eq=False)
class Spots:
    """Connected spots: labels from 1 on, how many, and the pixels with the number from 0 on of each."""

    labels: NDArray[np.int32]
    n_spots: int
    pixels: Ints
    numbers: Ints

    @property
    def areas(self) -> Ints:
        """Number of pixels of each."""
        return np.bincount(self.numbers, minlength=self.n_spots)

    def mean(self, plane: Single) -> Doubles:
        """Return the mean of a plane over each."""
        return np.bincount(self.numbers, plane.ravel()[self.pixels], self.n_spots) / self.areas


def _crowding(labels: NDArray[np.int32], size: int) -> Single:
    """Return how many spots there are in a square around each pixel: dust is sparse, texture is not."""
    pixels = np.flatnonzero(labels)
    first = np.zeros(labels.max() + 1, np.intp)
    first[labels.ravel()[pixels[::-1]]] = pixels[::-1]  # the last assignment counts
    places = np.zeros(labels.shape, np.float32)
    places.reshape(-1)[first[1:]] = 1
    crowding = ndimage.uniform_filter(places, size, mode="mirror")
    crowding *= np.float32(size**2)
    return np.asarray(np.maximum(crowding, 0))


def _fits(spots: Spots, size: int) -> Bools:
    """Return which spots are small and compact."""
    boxes = np.empty((spots.n_spots, 2), np.intp)
    for side, places in enumerate(np.divmod(spots.pixels, spots.labels.shape[1])):
        low, high = np.full(spots.n_spots, places.max(initial=0)), np.zeros(spots.n_spots, np.intp)
        np.minimum.at(low, spots.numbers, places)
        np.maximum.at(high, spots.numbers, places)
        boxes[:, side] = high - low + 1
    is_compact = spots.areas >= np.maximum(_MIN_AREA, _MIN_FILLED * boxes.prod(axis=1))
    return np.asarray(is_compact & (boxes.max(axis=1, initial=0) <= size))


def _evidence(spots: Spots, plane: Single, level: Single) -> Work[Doubles]:
    """Return the evidence from a ring around each spot: contrast over variation, and a sharp edge."""
    near = ndimage.maximum_filter(spots.labels, 3)
    yield 0.3
    ring = ndimage.maximum_filter(spots.labels, 7)
    ring[near > 0] = 0
    near[spots.labels > 0] = 0
    yield 0.7
    mean, variance = _moments(plane, ring, spots.n_spots)
    contrast = np.maximum(spots.mean(plane) - mean, 1e-6)
    halo = np.clip((_moments(plane, near, spots.n_spots)[0] - mean) / contrast, -1, 1)
    evidence: Doubles = np.log(contrast / (np.sqrt(variance) + 0.5 * spots.mean(level)))
    return evidence - 1.2 * halo


def _moments(plane: Single, labels: NDArray[np.int32], n_labels: int) -> tuple[Doubles, Doubles]:
    """Return mean and variance of the pixels of each label from 1 on."""
    pixels = np.flatnonzero(labels)
    numbers, values = labels.ravel()[pixels] - 1, plane.ravel()[pixels].astype(np.float64)
    count = np.maximum(np.bincount(numbers, minlength=n_labels), 1)
    mean = np.bincount(numbers, values, n_labels) / count
    return mean, np.bincount(numbers, (values - mean[numbers]) ** 2, n_labels) / count


def detect_dust(image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None) -> Detection:
    """Detect dust and specks: small compact spots, brighter or darker than all around them.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one speck.

    Notes
    -----
    Specks have 3 pixels or more, and are smaller than 15 pixels across in pictures of up to 2 megapixels,
    41 in large ones. Highlights, stars and eyes are specks too.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.full((64, 64), 120, np.uint8)
    >>> image[30:33, 40:43] = 255
    >>> bool(detect_dust(image).mask[30:33, 40:43].all())
    True
    """
    return detect_one(dust_candidates, "dust", image, sensitivity, missing)
