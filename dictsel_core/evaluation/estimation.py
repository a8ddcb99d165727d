"""`estimate_psnr`: how good a restoration is, without the original."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.layout import Axis
from dictsel_core._util.runs import GeneratorRun
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.evaluation.cells import Values, estimate_error
from dictsel_core.evaluation.metrics import span
from dictsel_core.evaluation.trials import Trial, depths, trials
from dictsel_core.restoration import PresetName, RestoreSettings
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.dictionary import as_atom_source
from dictsel_core.restoration.holdout import held_out_errors, trial_generator
from dictsel_core.restoration.image import Image, as_layers
from dictsel_core.restoration.plan import Plan, plan_image
from dictsel_core.restoration.settings import REACH, as_settings
from dictsel_core.restoration.wide import wide_pixels

#: Images of a stack that are used.
_MAX_IMAGES = 8
#: Height and width of a cell, and the same as a multiple of the largest distance, if that is more.
_CELL_SIZE, _CELL_DEPTHS = 32, 4
#: There is no estimate if more of the missing values are in holes that no held-out ones stand for.
_MAX_UNKNOWN = 0.02
#: Smallest squared error of floats, relative to their range.
_MIN_ERROR = 1e-14


@dataclass(frozen=True)
class QualityEstimate:
    """The estimated quality of a restoration.

    Attributes
    ----------
    psnr : float
        PSNR over the narrow damage in decibels: all missing pixels but those of wide holes. Infinite if
        nothing is missing; NaN if there is no estimate.
    low, high : float
        The PSNR lies between these with a probability of 90 %.
    data_range : float
        The range to which the PSNR refers: `observed_range` of the image and its mask.
    n_held_out : int
        Number of observed pixels that were held out.
    unknown_fraction : float
        Fraction of the missing values that are farther from observed ones of their channel than any that
        could be held out. If it is more than 2 %, there is no estimate.
    n_invented : int
        Number of missing values in wide holes. What fills them is invented, however well it fits: it has no
        PSNR, and is left out of the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import estimate_psnr
    >>> image = np.uint8(100 + 50 * np.sin(np.add.outer(np.arange(48), np.arange(48)) / 5))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.3
    >>> estimate = estimate_psnr(image, mask, "fast")
    >>> estimate.low < estimate.psnr < estimate.high
    True
    """

    psnr: float
    low: float
    high: float
    data_range: float
    n_held_out: int
    unknown_fraction: float
    n_invented: int

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate."""
        return not np.isnan(self.psnr)

    @property
    def has_wide_hole(self) -> bool:
        """Whether something is invented: pixels are missing that are far from all observed ones."""
        return self.n_invented > 0

    @property
    def rmse(self) -> float:
        """The root of the mean squared error that corresponds to `psnr`, in the unit of the data."""
        return float(self.data_range * 10 ** (-self.psnr / 20))


def estimate_psnr(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    rng: np.random.Generator | int | None = None,
) -> QualityEstimate:
    """Estimate the PSNR of the missing pixels of a restoration, in decibels, without the original.

    Observed pixels are held out in the shape of the damage: the mask is moved a little, or, if more than 30 %
    are missing, single pixels are drawn. The image is restored without them, and they are compared with the
    result. Of a large image, only parts around the damage are used. Held-out pixels are weighted such that
    they are as far from observed ones as the missing pixels are.

    What fills wide holes (see `has_wide_hole`) is invented, however well it fits. It has no PSNR: the
    estimate is that of the other, narrow damage.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`.
    channel_axis, axes : optional
        As for `restore`. Of a stack, up to eight of the damaged images are used.
    rng : numpy.random.Generator or int, optional
        Random generator for the choice of held-out pixels, or its seed. Default is 0.

    Returns
    -------
    QualityEstimate
        With a 90 % interval. There is no estimate (NaN) if wide holes are all that is missing, if too little
        is observed to hold anything out, or if a channel is missing entirely.

    See Also
    --------
    psnr : Measures the quality if the original is known.
    tune : Chooses settings by held-out pixels.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    >>> mask = np.zeros((64, 64), bool)
    >>> mask[30:33] = True
    >>> estimate = estimate_psnr(image, mask, "fast")
    >>> estimate.low < estimate.psnr < estimate.high
    True
    """
    damaged, asked = as_damaged(image, mask, channel_axis, axes), as_settings(settings)
    data_range = span(damaged.images, damaged.missing, "image")
    generator = trial_generator(rng)
    if not damaged.missing.any():
        return QualityEstimate(np.inf, np.inf, np.inf, data_range, 0, 0.0, n_invented=0)
    sample = _held_out_sample(damaged.sample(_MAX_IMAGES), asked, data_range, generator)
    n_missing = n_narrow = 0
    for missing in map(as_layers, damaged.missing):
        n_missing += int(np.count_nonzero(missing))
        n_narrow += int(np.count_nonzero(narrow_damage(missing, asked, damaged.images.dtype)))
    return sample.estimate(n_narrow, n_missing - n_narrow)


def _held_out_sample(
    images: Sequence[Image], settings: RestoreSettings, data_range: float, rng: np.random.Generator
) -> "Sample":
    """Restore parts of images without held-out pixels, and return these."""
    sample, source = Sample(data_range), as_atom_source(None, settings)
    for number, image in enumerate(images):
        narrow = narrow_damage(image.missing, settings, image.pixels.dtype)
        if narrow.any():
            plan = GeneratorRun(plan_image(image, settings, source)).finish()
            plan = replace(plan, fill_reach=0)  # wide holes tell nothing, and take long to fill
            for trial in trials(image, narrow, rng):
                sample.add(number, trial, _errors(trial, plan, data_range))
    return sample


def narrow_damage(missing: Bools, settings: RestoreSettings, dtype: np.dtype[Any]) -> Bools:
    """Return what of a mask (H, W, c) is restored from around it, and not invented, as wide holes are."""
    reach = settings.fill_reach(dtype) or REACH["auto"]
    return missing & ~wide_pixels(missing, reach)[:, :, None]


class Sample:
    """Missing and held-out values of all trials: where they are, and how far from observed ones."""

    def __init__(self, data_range: float) -> None:
        self._data_range, self._is_dense = data_range, True
        self._missing: list[Ints] = []
        self._held_out: list[Ints] = []
        self._errors: list[Floats] = []

    def add(self, image: int, trial: Trial, errors: Floats) -> None:
        """Add the values of a trial, and the squared errors of those held out, relative to the data range."""
        self._is_dense &= trial.is_dense
        self._missing.append(_places(image, trial, trial.narrow, depths(trial.image.missing)))
        self._held_out.append(
            _places(image, trial, trial.held_out, depths(trial.image.missing | trial.held_out))
        )
        self._errors.append(errors)

    def estimate(self, n_missing: int, n_invented: int) -> QualityEstimate:
        """Return the estimate for this number of values of narrow damage, besides invented ones."""
        if not self._errors:
            return QualityEstimate(np.nan, np.nan, np.nan, self._data_range, 0, 1.0, n_invented)
        missing = _counted_once(np.concatenate(self._missing, axis=1))
        held_out, errors = np.concatenate(self._held_out, axis=1), np.concatenate(self._errors)
        size = max(_CELL_SIZE, _CELL_DEPTHS * int(missing[-1].max()))
        places = np.concatenate([missing, held_out], axis=1)[:3] // np.array([[1], [size], [size]])
        _, cells = np.unique(places, axis=1, return_inverse=True)
        n = missing.shape[1]
        result = estimate_error(
            Values(cells[:n], missing[-1]),
            Values(cells[n:], held_out[-1]),
            errors,
            max(n_missing - n, 0),
            is_dense=self._is_dense,
        )
        if result.unknown_fraction > _MAX_UNKNOWN:
            psnr = low = high = np.nan
        else:
            logarithms = np.array([result.center, result.high, result.low])
            psnr, low, high = (-10 * logarithms / np.log(10)).tolist()
        return QualityEstimate(
            psnr, low, high, self._data_range, len(errors), result.unknown_fraction, n_invented
        )


def _errors(trial: Trial, plan: Plan, data_range: float) -> Floats:
    """Return the squared errors of held-out values, relative to the data range; of all channels if shared."""
    dtype, shape = trial.image.pixels.dtype, trial.image.pixels.shape
    scales = np.array([(each.span / data_range) ** 2 for each in plan.ranges])
    where = np.broadcast_to(trial.held_out, shape)
    errors = held_out_errors(trial.image, plan, trial.held_out) * np.broadcast_to(scales, shape)[where]
    if trial.held_out.shape[2] == 1:
        errors = errors.reshape(-1, shape[2]).mean(axis=1)
    # Integers are rounded.
    return np.asarray(
        np.maximum(errors, _MIN_ERROR) if dtype.kind == "f" else errors + 1 / (12 * data_range**2)
    )


def _places(image: int, trial: Trial, chosen: Bools, distances: Ints) -> Ints:
    """Return image, row, column, layer and distance of the chosen values of a trial: (5, N)."""
    rows, columns, layers = at = np.nonzero(chosen)
    images = np.full(len(rows), image)
    return np.stack([images, rows + trial.corner[0], columns + trial.corner[1], layers, distances[at]])


def _counted_once(places: Ints) -> Ints:
    """Return the places of values that overlapping trials share, each once, with its smallest distance."""
    ordered = places[:, np.lexsort(places[::-1])]
    is_new = np.ones(ordered.shape[1], bool)
    is_new[1:] = (np.diff(ordered[:-1], axis=1) != 0).any(axis=0)
    return ordered[:, is_new]
