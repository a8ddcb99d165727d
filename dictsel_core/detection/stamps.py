"""Stamped text or dates: rows of letters of one saturated color."""

import numpy as np
from scipy import ndimage

from dictsel_core.detection.letters import Doubles, Letters, find_letters, texts_along
from dictsel_core.detection.plane import DetectionImage, Single, block_quantile, shrink
from dictsel_core.detection.regions import (
    Regions,
    enlarged,
    grown,
    joined,
    most_confident,
    no_regions,
    regions_from_points,
)
from dictsel_core.detection.work import Work, open_in_bands, part

#: Larger pictures are looked at at a reduced size: their letters are larger too.
_MAX_PIXELS = 4e6
#: Width of the widest stroke, as a part of the diagonal.
_STROKE = 0.02
_N_HUES = 8
_BLOCK = 128
#: Part of the pixels nearby that are not of the text.
_TEXTURE_QUANTILE = 0.75
_THRESHOLD = 2.5
#: Of CIELAB, above what lies around.
_MIN_CHROMA = 18.0
#: What is weaker than this part of the strongest stroke nearby is its blurred edge.
_PART_OF_PEAK = 0.4
_USUAL_CHROMA = 40.0
_USUAL_LETTERS = 4
_USUAL_SPREAD = 0.12
_USUAL_UNEVENNESS = 0.08
_MIDDLE, _SPREAD = -0.35, 2.4
#: Linear sRGB to X, Y and Z, each divided by that of white.
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_XYZ = (
    np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
    / _WHITE[:, None]
)


def stamp_candidates(image: DetectionImage) -> Work[Regions]:
    """Return rows and columns of letters; nothing in gray pictures."""
    if not image.is_color:
        return no_regions(image.shape)
    channels, factor = image.channels(), 1
    yield 0.0
    while channels[0].size > _MAX_PIXELS:
        channels, factor = [shrink(each) for each in channels], 2 * factor
    yield 0.05
    lab = lab_from_rgb(np.stack(channels, axis=-1))
    shape = lab[0].shape
    size = int(np.clip(_STROKE * np.hypot(*shape), 7, 61)) // 2 * 2 + 1
    raised = yield from part(_raised_chroma(lab[1], lab[2], size), 0.1, 0.8)
    level = _THRESHOLD * block_quantile(raised, _TEXTURE_QUANTILE, _BLOCK)
    np.maximum(level, np.float32(_MIN_CHROMA), out=level)
    np.maximum(level, _PART_OF_PEAK * ndimage.maximum_filter(raised, 2 * size + 1), out=level)
    letters = find_letters(raised > level, lab, raised)
    if not len(letters):
        return no_regions(image.shape)
    texts = joined([_texts(letters, axis, shape) for axis in (1, 0)])
    return enlarged(grown(most_confident(texts)), factor, image.shape)


def _texts(letters: Letters, axis: int, shape: tuple[int, int]) -> Regions:
    """Return texts along an axis; the confidence grows with contrast, number, and likeness of letters."""
    texts = texts_along(letters, axis, shape)
    n_texts, owner = len(texts.n_letters), texts.numbers
    has_text = owner >= 0
    count = np.maximum(np.bincount(owner[has_text], minlength=n_texts), 1)

    def mean(values: Doubles) -> Doubles:
        return np.bincount(owner[has_text], values[has_text], n_texts) / count

    contrast = mean(letters.contrast)
    variance = np.zeros(n_texts)
    for channel in letters.colors.T:
        variance += mean((channel - mean(channel)[owner]) ** 2)
    spread = np.sqrt(variance) / np.maximum(contrast, 1e-3)
    evidence = (
        np.log(np.maximum(contrast, 1e-3) / _USUAL_CHROMA)
        + 1.2 * np.log(np.clip(texts.n_letters, 1, 7) / _USUAL_LETTERS)
        - 0.5 * np.log((0.03 + spread) / _USUAL_SPREAD)
        - 0.3 * np.log((0.02 + texts.unevenness) / _USUAL_UNEVENNESS)
    )
    confidence = np.where(texts.n_letters > 0, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
    used = owner[letters.numbers] >= 0
    return regions_from_points(shape, letters.pixels[used], owner[letters.numbers[used]], confidence)


def _raised_chroma(a: Single, b: Single, size: int) -> Work[Single]:
    """Return by how much a pixel is more saturated than what lies around, in the hue where that is most.

    For each hue, the white top-hat, so that a stroke on a saturated ground of another hue is raised too; but
    no more than the difference from the median around, which the ground between two strokes does not have.
    """
    raised = np.zeros_like(a)
    ground = [_median_around(each, size) for each in (a, b)]
    for number in range(_N_HUES):
        angle = 2 * np.pi * number / _N_HUES
        cos, sin = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        chroma = np.maximum(cos * a + sin * b, 0)
        opened = yield from part(open_in_bands(chroma, size), number / _N_HUES, (number + 1) / _N_HUES)
        chroma -= np.maximum(opened, cos * ground[0] + sin * ground[1])
        np.maximum(raised, chroma, out=raised)
    return raised


def _median_around(plane: Single, size: int) -> Single:
    """Return about the median within two `size` of each pixel, from a regular sample."""
    step = min(size // 4, *plane.shape)
    median = ndimage.median_filter(plane[step // 2 :: step, step // 2 :: step], 9, mode="nearest")
    rows, columns = (
        np.minimum(np.arange(n) // step, m - 1) for n, m in zip(plane.shape, median.shape, strict=True)
    )
    return np.asarray(median[np.ix_(rows, columns)], np.float32)


def lab_from_rgb(rgb: Single) -> tuple[Single, Single, Single]:
    """Return L, a (green to red) and b (blue to yellow) of CIELAB of an (..., 3) image in sRGB from 0 to 1.

    CIE 1976, D65 white, 2 degrees; IEC 61966-2-1.
    """
    rgb = np.clip(rgb, 0, 1)
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ _TO_XYZ.T.astype(np.float32)
    x, y, z = np.moveaxis(np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116), -1, 0)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
