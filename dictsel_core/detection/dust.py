"""Dust and specks: small compact spots, brighter or darker than all around them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from dictsel_core._validation import Bools
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

Doubles = NDArray[np.float64]

_USUAL_SIZE, _USUAL_PIXELS, _LARGEST_SIZE = 15, 2e6, 41
"""Spots are smaller than the first, in pictures of so many pixels; larger ones have larger spots."""
_MIN_AREA = 3
_BLOCK = 64
_TEXTURE_QUANTILE = 0.75
_THRESHOLDS = (2.0, 3.2, 5.0)
"""Multiples of the texture; a spot that melts into its surroundings at one stands alone at another."""
_FLOOR = 0.012
_MIN_FILLED = 0.35
"""Part of its bounding box that a spot fills."""
_MIDDLE, _SPREAD = 1.55, 2.2


def dust_candidates(image: DetectionImage) -> Regions:
    """Return bright and dark spots that differ from a ring around them."""
    plane, floor = image.brightness, _FLOOR + image.quantum
    size = min(_LARGEST_SIZE, _USUAL_SIZE * max(1.0, np.sqrt(plane.size / _USUAL_PIXELS)))
    odd = int(size) // 2 * 2 + 1
    return most_confident(joined([*_spots(plane, odd, floor), *_spots(-plane, odd, floor)]))


def _spots(plane: Single, size: int, floor: float) -> list[Regions]:
    """Return bright spots smaller than `size`, from the white top-hat: what an opening takes away."""
    raised = plane - ndimage.grey_opening(plane, size=(size, size))
    level = block_quantile(raised, _TEXTURE_QUANTILE, _BLOCK)
    level += np.float32(floor)
    return [_components(plane, raised > each * level, level, size) for each in _THRESHOLDS]


def _components(plane: Single, spots: Bools, level: Single, size: int) -> Regions:
    """Return connected spots with their confidence: contrast to a ring, over the variation in that ring."""
    labels, n_labels = connected_components(spots)
    pixels = np.flatnonzero(labels)
    numbers = labels.ravel()[pixels] - 1
    area = np.bincount(numbers, minlength=n_labels)
    boxes = np.array(
        [(box[0].stop - box[0].start, box[1].stop - box[1].start) for box in ndimage.find_objects(labels)]
    ).reshape(-1, 2)
    fits = (boxes.max(axis=1, initial=0) <= size) & (area >= _MIN_AREA)
    fits &= area >= _MIN_FILLED * boxes.prod(axis=1)
    contrast, variation = _against_ring(plane, labels, n_labels)
    texture = ndimage.maximum(level, labels, np.arange(1, n_labels + 1)) if n_labels else np.zeros(0)
    evidence = np.log(np.maximum(contrast, 1e-6) / (variation + 0.5 * texture))
    confidence = np.where(fits, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
    return grown(regions_from_points(plane.shape, pixels, numbers.astype(np.intp), confidence))


def _against_ring(plane: Single, labels: NDArray[np.int32], n_labels: int) -> tuple[Doubles, Doubles]:
    """Return by how much each spot is brighter than the ring around it, and the deviation in the ring."""
    around = ndimage.maximum_filter(labels, 7)
    around[ndimage.maximum_filter(labels, 3) > 0] = 0
    mean, variance = _moments(plane, around, n_labels)
    return _moments(plane, labels, n_labels)[0] - mean, np.sqrt(variance)


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
    """
    return detect_one(dust_candidates, "dust", image, sensitivity, missing)
