"""Scratches: thin, long, brighter or darker than both sides, in any direction."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core.detection.damage import Detection, detect_one
from dictsel_core.detection.lines import Lines, find_lines
from dictsel_core.detection.plane import DetectionImage, Single, shrink
from dictsel_core.detection.regions import (
    Regions,
    enlarged,
    grown,
    joined,
    merged,
    not_covered,
    regions_from_points,
)
from dictsel_core.detection.work import Work, part

_HALF_LENGTH = 9
_TEXTURE_QUANTILE = 0.95
_FLOOR = 0.006
_MIN_LENGTH = 14
_USUAL_LENGTH = 30
_MAX_LEVELS = 3
#: A picture with more pixels is also looked at at a quarter of its size: its scratches may be wider.
_LEVEL_PIXELS = 4e6
#: Evidence of confidence 0.5, and the range of evidence from confidence 0 to 1.
_MIDDLE, _SPREAD = 2.65, 2.0


def scratch_candidates(image: DetectionImage) -> Work[Regions]:
    """Return lines of up to 2 pixels, at full size, and wider ones at reduced sizes."""
    plane, floor = image.brightness, _FLOOR + 0.5 * image.quantum
    yield 0.0
    n_levels = _MAX_LEVELS if plane.size > _LEVEL_PIXELS else _MAX_LEVELS - 1
    parts: list[Regions] = []
    for level in range(n_levels):
        work = find_lines(plane, half_length=_HALF_LENGTH, floor=floor, texture_quantile=_TEXTURE_QUANTILE)
        done = 1 - 0.25 ** (level + 1)
        found = yield from part(work, 1 - 0.25**level, done)
        scored = joined([enlarged(_scored(lines, plane), 2**level, image.shape) for lines in found])
        if parts:  # a thin line is wide where two pixels are one
            yield done
            covering = grown(joined(parts))
            yield done
            scored = not_covered(scored, covering)
        yield done
        parts.append(grown(scored))
        plane = shrink(plane)
        yield done
    return merged(joined(parts))


def _scored(lines: Lines, plane: Single) -> Regions:
    evidence = (
        np.log(lines.strength)
        + 0.4 * np.log(lines.length / _USUAL_LENGTH)
        - 0.6 * np.log(0.1 + lines.imbalance)
    )
    confidence = np.where(lines.length >= _MIN_LENGTH, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
    return regions_from_points(plane.shape, lines.pixels, lines.numbers, confidence)


def detect_scratches(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect scratches: thin long lines, brighter or darker than both sides, in any direction.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one scratch, or a piece of it.

    Notes
    -----
    Lines of up to about 5 pixels are found (10 in pictures of more than 4 megapixels). Lines that belong to
    the picture, such as wires, hair and rims, cannot always be told from scratches.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).integers(118, 122, (96, 96)).astype(np.uint8)
    >>> image[10:80, 40] = 255
    >>> bool(detect_scratches(image).mask[20:70, 40].all())
    True
    """
    return detect_one(scratch_candidates, "scratches", image, sensitivity, missing)
