"""Stamped text or dates: groups of thin strokes of one saturated colour."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from dictsel_core.detection.damage import Detection, detect_one
from dictsel_core.detection.lab import opponent_colors
from dictsel_core.detection.plane import DetectionImage, Single, block_quantile
from dictsel_core.detection.regions import (
    Regions,
    connected_components,
    grown,
    no_regions,
    regions_from_points,
)

Doubles = NDArray[np.float64]

_STROKE = 0.02
"""Width of the widest stroke, as a part of the diagonal."""
_GAP = 0.012
"""Largest gap between the letters of a text, as a part of the diagonal."""
_BLOCK = 96
_TEXTURE_QUANTILE = 0.9
_MIN_CHROMA = 18.0
"""Of CIELAB, above what lies around."""
_USUAL_CHROMA = 40.0
_THRESHOLD = 1.5
_MIN_AREA = 5
_BAND = 1 << 20
_MIDDLE, _SPREAD = 0.0, 2.0


def stamp_candidates(image: DetectionImage) -> Regions:
    """Return groups of letters; nothing in gray pictures."""
    if not image.is_color:
        return no_regions(image.shape)
    diagonal = float(np.hypot(*image.shape))
    size = int(np.clip(_STROKE * diagonal, 7, 61)) // 2 * 2 + 1
    a, b = _opponent_colors(image)
    chroma = np.hypot(a, b)
    raised = chroma - ndimage.grey_opening(chroma, size=(size, size))
    level = block_quantile(raised, _TEXTURE_QUANTILE, _BLOCK)
    strokes = raised > np.maximum(_THRESHOLD * level, np.float32(_MIN_CHROMA))
    letters, n_letters = connected_components(strokes)
    area = np.bincount(letters.ravel(), minlength=n_letters + 1)
    letters[(area < _MIN_AREA)[letters]] = 0
    gap = int(np.clip(_GAP * diagonal, 3, 40))
    texts, n_texts = connected_components(
        ndimage.maximum_filter(letters > 0, (2 * (gap // 2) + 1, 2 * gap + 1))
    )
    texts[letters == 0] = 0
    pixels = np.flatnonzero(texts)
    numbers = texts.ravel()[pixels].astype(np.intp) - 1

    def mean(values: Single | Doubles) -> Doubles:
        return np.bincount(numbers, values, n_texts) / np.maximum(np.bincount(numbers, minlength=n_texts), 1)

    saturation = np.maximum(chroma.ravel()[pixels], 1e-3)
    one_color = np.hypot(*(mean(each.ravel()[pixels] / saturation) for each in (a, b)))
    contrast = mean(raised.ravel()[pixels]) / _USUAL_CHROMA
    evidence = np.log(np.maximum(contrast, 1e-3)) + 4 * np.log(np.maximum(one_color, 1e-3))
    evidence += _layout(letters, texts, n_texts)
    return grown(regions_from_points(image.shape, pixels, numbers, 0.5 + (evidence - _MIDDLE) / _SPREAD), 2)


def _layout(letters: NDArray[np.int32], texts: NDArray[np.int32], n_texts: int) -> Doubles:
    """Return the evidence for text: several letters in one row, wider than high."""
    boxes = ndimage.find_objects(letters)
    places = [(i, box) for i, box in enumerate(boxes, 1) if box is not None]
    owner = np.array([texts[box][letters[box] == i][0] - 1 for i, box in places], np.intp)
    heights = np.array([box[0].stop - box[0].start for _, box in places], np.float64)
    count = np.bincount(owner, minlength=n_texts)
    letter_height = np.bincount(owner, heights**2, n_texts) / np.maximum(
        np.bincount(owner, heights, n_texts), 1
    )
    sides = np.array([[side.stop - side.start for side in box] for box in ndimage.find_objects(texts)])
    height, width = sides.reshape(-1, 2).T
    in_a_row, is_wide = letter_height / height, np.clip(width / height, 0.3, 3)
    evidence: Doubles = 0.5 * np.log(np.clip(count, 1, 6) / 3) + np.log(in_a_row) + 0.5 * np.log(is_wide / 2)
    return evidence


def _opponent_colors(image: DetectionImage) -> tuple[Single, Single]:
    """Return a and b of CIELAB, made in bands: the conversion needs many times the memory of its result."""
    red, green, blue = image.channels()
    a, b = np.empty_like(red), np.empty_like(red)
    step = max(1, _BAND // red.shape[1])
    for top in range(0, red.shape[0], step):
        rows = slice(top, top + step)
        a[rows], b[rows] = opponent_colors(np.stack([red[rows], green[rows], blue[rows]], axis=-1))
    return a, b


def detect_stamps(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect stamped text or dates: groups of thin strokes of one saturated colour.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is a text: letters that stand close together.

    Notes
    -----
    Nothing is found in gray pictures, nor strokes whose colour is no more saturated than what lies around.
    """
    return detect_one(stamp_candidates, "stamps", image, sensitivity, missing)
