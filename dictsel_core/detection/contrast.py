"""Whether regions are lighter or darker than what lies around them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.validation import Bools
from dictsel_core.detection.damage import DamageAnalysis
from dictsel_core.detection.plane import prepare
from dictsel_core.detection.regions import Regions

#: How far from each pixel of a region its surroundings are looked at, in the four directions.
_AWAY = 5


def region_contrasts(
    image: ArrayLike, analysis: DamageAnalysis, *, missing: ArrayLike | None = None
) -> NDArray[np.float32]:
    """Return how much lighter each region is than what lies around it; negative if it is darker.

    Parameters
    ----------
    image, missing
        As they were given to `analyze_damage`.
    analysis : DamageAnalysis
        What was found in the picture.

    Returns
    -------
    (N,) ndarray of float32
        By the number of the region, as a part of the range of the picture; 0 if nothing around it is seen.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core.detection import analyze_damage
    >>> image = np.full((64, 64), 120, np.uint8)
    >>> image[30:33, 40:43] = 255
    >>> analysis = analyze_damage(image, ["dust"])
    >>> bool((region_contrasts(image, analysis) > 0).all())
    True
    """
    plane = prepare(image, missing).brightness
    covered = analysis.mask(1.0)
    parts = [_contrasts(plane, covered, regions) for regions in analysis.candidates.values()]
    return np.concatenate([np.zeros(0, np.float32), *parts])


def _contrasts(plane: NDArray[np.float32], covered: Bools, regions: Regions) -> NDArray[np.float32]:
    numbers, n_regions = regions.numbers(), len(regions)
    rows, columns = np.divmod(regions.pixels, regions.shape[1])
    inside = np.bincount(numbers, plane[rows, columns], n_regions) / np.maximum(regions.areas, 1)
    total, count = np.zeros(n_regions), np.zeros(n_regions)
    for dy, dx in ((-_AWAY, 0), (_AWAY, 0), (0, -_AWAY), (0, _AWAY)):
        y, x = rows + dy, columns + dx
        seen = (y >= 0) & (y < plane.shape[0]) & (x >= 0) & (x < plane.shape[1])
        seen[seen] = ~covered[y[seen], x[seen]]
        total += np.bincount(numbers[seen], plane[y[seen], x[seen]], n_regions)
        count += np.bincount(numbers[seen], minlength=n_regions)
    around = total / np.maximum(count, 1)
    return np.where(count > 0, inside - around, 0).astype(np.float32)
