"""The color of damage: in a print of a single tint, paper, dust and scratches lack it."""

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
#: Logit of a region that is sure, and most that the tint adds to a logit or takes from it.
_SURE, _WEIGHT = 1.5, 3.0


def tint_evidence(image: DetectionImage, shape: tuple[int, int], regions: Marks, logits: Floats) -> Floats:
    """Return what the tint adds to the logit of each region, (N,).

    Nothing, unless the picture has a single tint, as a sepia print has, and regions that are damage for sure
    lack it: then regions that have it are things of the picture, and regions that lack it are damage.

    The shape is that of the plane in which the regions were found, which may be several times smaller than
    the picture; regions are pixels of the flattened plane, and the region of each.
    """
    nothing, (pixels, numbers) = np.zeros(len(logits)), regions
    if not image.is_color or not len(logits):
        return nothing
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
    marked = np.zeros(shape, np.bool_)
    marked.reshape(-1)[pixels] = True
    marked = dilated(marked, _APART)
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
