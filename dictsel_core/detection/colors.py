"""The color of damage: paper, dust and scratches have none of the picture's.

In a print of a single tint, they lack it; in a photograph of many colors, they are a gray that covers the
picture more or less, equally in all channels.
"""

from itertools import product

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.detection.plane import FARTHEST, DetectionImage
from dictsel_core.detection.rims import dilated

Marks = tuple[Ints, Ints]

#: How many pixels tell the tint, how far from marks, and in how many classes of brightness.
_N_SAMPLES, _APART, _N_CLASSES = 1 << 16, 2, 16
#: A picture is tinted if its colors differ from gray by so much of its range, and from their median among
#: pixels as bright by no more than so much of that.
_LEAST_TINT, _MOST_SPREAD = 0.03, 0.4
#: Damage lacks the tint if sure regions lack so much of it.
_LACKING = 0.3
#: How far around a region its surroundings are looked at, and in spans, what is at least to be covered.
_AROUND, _LEAST_ROOM = 4, 0.1
#: A gray covers channels so evenly, least over most, or more; what is taken from the logit of what does not.
_EVEN, _WEIGHT_OF_COVER = 0.6, 3.0
#: Logit of a region that is sure, and most that the tint adds to a logit or takes from it.
_SURE, _WEIGHT = 1.5, 3.0


def color_evidence(image: DetectionImage, shape: tuple[int, int], regions: Marks, logits: Floats) -> Floats:
    """Return what color adds to the logit of each region, (N,); parameters as of `tint_evidence`."""
    if not image.is_color or not len(logits):
        return np.zeros(len(logits))
    return tint_evidence(image, shape, regions, logits) + cover_evidence(image, shape, regions, len(logits))


def cover_evidence(image: DetectionImage, shape: tuple[int, int], regions: Marks, n_regions: int) -> Floats:
    """Return what is taken from the logit of each region that no gray over its surroundings explains, (N,).

    A light gray over a green leaf adds most to red and blue; the veins of the leaf do not.
    """
    inside, numbers = _colors(image, shape, regions[0]), regions[1]
    ring, ring_numbers = _ring(shape, *regions)
    around = _means(_colors(image, shape, ring), ring_numbers, n_regions)
    change = _means(inside, numbers, n_regions) - around
    is_light = change.sum(axis=1, keepdims=True) > 0
    low, high = (image.low + each * image.span for each in (0.0, 1.0))
    room = np.where(is_light, high / image.span - around, around - low / image.span)
    cover = np.where(is_light, change, -change) / np.maximum(room, _LEAST_ROOM)
    evenness = cover.min(axis=1) / np.maximum(cover.max(axis=1), 1e-6)
    is_told = np.bincount(ring_numbers, minlength=n_regions) > 0
    return np.asarray(-_WEIGHT_OF_COVER * is_told * np.clip(1 - evenness / _EVEN, 0, 1))


def _ring(shape: tuple[int, int], pixels: Ints, numbers: Ints) -> Marks:
    """Return pixels some way around regions, which belong to none, and the region that each is around."""
    marked = _marked(shape, pixels, 1)
    rows, columns = np.divmod(pixels, shape[1])
    rings = []
    for down, right in product((-_AROUND, 0, _AROUND), repeat=2):
        row, column = rows + down, columns + right
        inside = (row >= 0) & (row < shape[0]) & (column >= 0) & (column < shape[1])
        at = (row * shape[1] + column)[inside]
        free = ~marked.reshape(-1)[at]
        rings.append((at[free], numbers[inside][free]))
    at, owners = (np.concatenate(each) for each in zip(*rings, strict=True))
    return at, owners


def _marked(shape: tuple[int, int], pixels: Ints, margin: int) -> Bools:
    """Return a plane in which pixels and those next to them are marked."""
    marked = np.zeros(shape, np.bool_)
    marked.reshape(-1)[pixels] = True
    return dilated(marked, margin)


def _means(colors: Floats, numbers: Ints, n_regions: int) -> Floats:
    """Return the mean color of each region, (N, 3); 0 of one without pixels."""
    count = np.maximum(np.bincount(numbers, minlength=n_regions), 1)
    sums = [np.bincount(numbers, channel, n_regions) for channel in colors.T]
    return np.stack(sums, axis=1) / count[:, None]


def tint_evidence(image: DetectionImage, shape: tuple[int, int], regions: Marks, logits: Floats) -> Floats:
    """Return what the tint adds to the logit of each region, (N,).

    Nothing, unless the picture has a single tint, as a sepia print has, and regions that are damage for sure
    lack it: then regions that have it are things of the picture, and regions that lack it are damage.

    The shape is that of the plane in which the regions were found, which may be several times smaller than
    the picture; regions are pixels of the flattened plane, and the region of each.
    """
    nothing, (pixels, numbers) = np.zeros(len(logits)), regions
    tones = _Tones.of(_colors(image, shape, _unmarked(shape, pixels)))
    if tones is None:
        return nothing
    share, is_told = tones.lacking(_colors(image, shape, pixels), numbers, len(logits))
    area = np.bincount(numbers, minlength=len(logits)) * is_told
    typical = _weighted_median(share, area * (logits > _SURE))
    if not typical >= _LACKING:
        return nothing
    return np.where(is_told, _WEIGHT * (2 * np.clip(share / typical, 0, 1) - 1), 0)


def _unmarked(shape: tuple[int, int], pixels: Ints) -> Ints:
    """Return pixels all over a plane that are neither marked nor next to what is."""
    marked = _marked(shape, pixels, _APART)
    step = max(1, int(np.sqrt(marked.size / _N_SAMPLES)))
    rows, columns = np.nonzero(~marked[::step, ::step])
    return np.asarray(step * (rows * shape[1] + columns))


def _colors(image: DetectionImage, shape: tuple[int, int], pixels: Ints) -> Floats:
    """Return the colors, (P, 3), of pixels of a plane, in spans of the picture; some may be missing there."""
    factor = -(-image.shape[0] // shape[0])
    rows, columns = (
        np.minimum(factor * each, side - 1)
        for each, side in zip(np.divmod(pixels, shape[1]), image.shape, strict=True)
    )
    known = ~image.missing[rows, columns]
    colors = np.zeros((len(pixels), 3))
    colors[known] = image.pixels[rows[known], columns[known]].astype(np.float64) / image.span
    return colors.clip(-FARTHEST, FARTHEST)


class _Tones:
    """The color of a picture by brightness: the difference from gray that pixels as bright have."""

    def __init__(self, brightness: Floats, chroma: Floats) -> None:
        self._brightness, self._chroma = brightness, chroma

    @classmethod
    def of(cls, sample: Floats) -> "_Tones | None":
        """Return the tones of a sample of pixels, (P, 3); None if they are not those of one tint."""
        if len(sample) < _N_CLASSES:
            return None
        brightness, chroma = _split(sample)
        classes = np.array_split(np.argsort(brightness, kind="stable"), _N_CLASSES)
        tones = cls(
            np.array([np.median(brightness[each]) for each in classes]),
            np.array([np.median(chroma[each], axis=0) for each in classes]),
        )
        expected = tones._at(brightness)
        tint = np.median(np.linalg.norm(expected, axis=1))
        spread = np.median(np.linalg.norm(chroma - expected, axis=1))
        return tones if tint > _LEAST_TINT and spread < _MOST_SPREAD * tint else None

    def _at(self, brightness: Floats) -> Floats:
        return np.stack([np.interp(brightness, self._brightness, each) for each in self._chroma.T], axis=1)

    def lacking(self, colors: Floats, numbers: Ints, n_regions: int) -> tuple[Floats, Bools]:
        """Return which part of the tint each region lacks, and whether it should have enough to tell."""
        brightness, chroma = _split(colors)
        expected = self._at(brightness)
        strength = np.bincount(numbers, np.square(expected).sum(axis=1), n_regions)
        present = np.bincount(numbers, (chroma * expected).sum(axis=1), n_regions)
        count = np.bincount(numbers, minlength=n_regions)
        return 1 - present / np.maximum(strength, 1e-12), strength > count * _LEAST_TINT**2


def _split(colors: Floats) -> tuple[Floats, Floats]:
    """Return brightness, and what colors differ from gray by."""
    brightness = colors.mean(axis=1)
    return brightness, colors - brightness[:, None]


def _weighted_median(values: Floats, weights: Ints) -> float:
    """Return the median of values that count as often as their weights say; NaN if none counts."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    if not total.size or total[-1] <= 0:
        return float("nan")
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
