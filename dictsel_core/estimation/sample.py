"""Missing and held-out values of an image, and what they tell about each other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.estimation.cells import Values, estimate_error
from dictsel_core.estimation.result import QualityEstimate
from dictsel_core.estimation.trials import Trial, depths, trials
from dictsel_core.ground_set import standard_ground_set
from dictsel_core.restoration import RestoreSettings
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.holdout import held_out_errors
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.planning import plan_image
from dictsel_core.restoration.wide import REACH, completion_reach, pixels_to_complete

#: Height and width of a cell, and the same as a multiple of the largest distance, if that is more.
_CELL_SIZE, _CELL_DEPTHS = 32, 4
#: There is no estimate if more of the missing values are in holes that no held-out ones stand for.
_MAX_UNKNOWN = 0.02
#: Smallest squared error of floats, relative to their range.
_MIN_ERROR = 1e-14


def held_out_sample(
    canvases: Sequence[Canvas], settings: RestoreSettings, data_range: float, rng: np.random.Generator
) -> "Sample":
    """Restore parts of images without held-out pixels, and return these."""
    ground_set = standard_ground_set((settings.patch_size, settings.patch_size), settings.bases)
    sample = Sample(data_range)
    for number, canvas in enumerate(canvases):
        narrow = narrow_damage(canvas.missing, settings, str(canvas.image.dtype))
        if narrow.any():
            plan = GeneratorRun(plan_image(canvas, settings, ground_set)).finish()
            plan = replace(plan, reach=0)  # wide holes tell nothing, and take long to complete
            for trial in trials(canvas, narrow, rng):
                sample.add(number, trial, _errors(trial, plan, data_range))
    return sample


def narrow_damage(missing: Bools, settings: RestoreSettings, dtype: str) -> Bools:
    """Return what of a mask (H, W, c) is restored from around it, and not invented, as wide holes are."""
    reach = completion_reach(settings, dtype) or REACH["auto"]
    return missing & ~pixels_to_complete(missing, reach)[:, :, None]


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
        self._missing.append(_places(image, trial, trial.narrow, depths(trial.canvas.missing)))
        self._held_out.append(
            _places(image, trial, trial.held_out, depths(trial.canvas.missing | trial.held_out))
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
    dtype, shape = trial.canvas.image.dtype, (*trial.canvas.shape, trial.canvas.n_channels)
    scales = np.array([(each.span / data_range) ** 2 for each in plan.ranges])
    where = np.broadcast_to(trial.held_out, shape)
    errors = held_out_errors(trial.canvas, plan, trial.held_out) * np.broadcast_to(scales, shape)[where]
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
