"""Creases: soft straight lines across a large part of the picture."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core.detection.damage import Detection, detect_one
from dictsel_core.detection.lines import find_lines
from dictsel_core.detection.plane import DetectionImage, shrink
from dictsel_core.detection.regions import (
    Regions,
    enlarged,
    grown,
    joined,
    merged,
    no_regions,
    regions_from_points,
)
from dictsel_core.detection.work import Work

#: The shorter side of the picture at the size at which creases are a few pixels wide.
_LARGEST_SIDE = 400
_SMALLEST_SIDE = 32
_HALF_LENGTH = 14
_TEXTURE_QUANTILE = 0.92
_FLOOR = 0.004
#: Length of a crease as a part of the shorter side.
_MIN_PART = 0.25
_MIDDLE, _SPREAD = 1.9, 1.6


def crease_candidates(image: DetectionImage) -> Work[Regions]:
    """Return long lines of the picture at a reduced size."""
    if min(image.shape) < 2 * _SMALLEST_SIDE:
        return no_regions(image.shape)
    plane, factor = shrink(image.brightness), 2
    while min(plane.shape) > _LARGEST_SIDE:
        plane, factor = shrink(plane), 2 * factor
    parts = []
    found = yield from find_lines(
        plane,
        half_length=_HALF_LENGTH,
        floor=_FLOOR + image.quantum / factor,
        texture_quantile=_TEXTURE_QUANTILE,
    )
    for lines in found:
        part = lines.length / min(plane.shape)
        evidence = (
            np.log(lines.strength) + 0.7 * np.log(part / _MIN_PART) - 0.3 * np.log(0.1 + lines.imbalance)
        )
        confidence = np.where(part >= _MIN_PART, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
        creases = regions_from_points(plane.shape, lines.pixels, lines.numbers, confidence)
        parts.append(enlarged(grown(creases), factor, image.shape))
    return merged(joined(parts))


def detect_creases(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect creases: soft lines of a quarter of the picture or longer, brighter or darker than both sides.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one crease, or a long piece of it.

    Notes
    -----
    A crease that shades one side only is an edge, and is not found.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns = np.mgrid[:96, :96]
    >>> image = 120 + 60 * np.exp(-np.square((rows - 48) / 2))
    >>> bool(detect_creases(np.uint8(image), sensitivity=0.9).mask[48].any())
    True
    """
    return detect_one(crease_candidates, "creases", image, sensitivity, missing)
