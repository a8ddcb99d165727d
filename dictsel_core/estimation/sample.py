"""Missing and held-out values of an image, and what they tell about each other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.completion import wide_parts
from dictsel_core.estimation.cells import Values, estimate_error
from dictsel_core.estimation.result import QualityEstimate
from dictsel_core.estimation.trials import REACH, Trial, depths, trials
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.restorer import Restorer

#: Height and width of a cell, and the same as a multiple of the depth of the deepest hole, if that is more.
_CELL_SIZE, _CELL_DEPTHS = 32, 4
#: There is no estimate if more of the missing values are in holes that no held-out ones stand for.
_MAX_UNKNOWN = 0.02
#: Rounds in place of those that held-out pixels would decide about.
_ROUNDS = 3
#: Smallest squared error of floats, relative to their range.
_MIN_ERROR = 1e-14


def held_out_sample(
    canvases: Sequence[Canvas], settings: RestoreSettings, data_range: float, rng: np.random.Generator
) -> "Sample":
    """Restore parts of images without held-out pixels, and return these."""
    if settings.rounds is None:
        settings = replace(settings, rounds=_ROUNDS)
    ground_set = standard_ground_set((settings.patch_size, settings.patch_size), settings.bases)
    sample = Sample(data_range)
    for number, canvas in enumerate(canvases):
        resolved = settings.resolved(1 - canvas.missing_fraction, len(ground_set))
        wide = wide_parts(np.asarray(canvas.missing.all(axis=2)), REACH)
        sample.has_wide_hole |= bool(wide.any())
        for trial in trials(canvas, wide, rng):
            sample.add(number, trial, _squared_errors(trial, resolved, ground_set, data_range))
    return sample


def _squared_errors(trial: Trial, settings: ResolvedSettings, ground_set: GroundSet, unit: float) -> Floats:
    """Return the squared errors of all values of a trial in a unit: (h, w, C)."""
    canvas = trial.canvas
    held_out = np.asarray(trial.held_out.any(axis=2))
    # Wide holes of the image itself tell nothing, and take long to complete.
    run = GeneratorRun(Restorer(canvas, settings, ground_set, completed=held_out).steps())
    result = run.finish()
    unknown = np.broadcast_to(trial.missing, (*canvas.shape, canvas.n_channels)).reshape(canvas.image.shape)
    difference = np.where(unknown, 0, canvas.image).astype(np.float64) - result.image.astype(np.float64)
    floor = _MIN_ERROR if canvas.image.dtype.kind == "f" else 1 / (12 * unit**2)  # of rounding
    squares = np.square(np.where(unknown, 0, difference) / unit)
    return np.asarray(np.maximum(squares, floor).reshape(*canvas.shape, -1))


class Sample:
    """Missing and held-out values of all trials: where they are, and how far from observed ones."""

    def __init__(self, data_range: float) -> None:
        self.data_range, self.has_wide_hole = data_range, False
        self._missing: list[Ints] = []
        self._held_out: list[Ints] = []
        self._errors: list[Floats] = []

    def add(self, image: int, trial: Trial, errors: Floats) -> None:
        """Add the values of a trial, and its squared errors relative to the data range."""
        self._missing.append(_places(image, trial, trial.missing, depths(trial.missing)))
        self._held_out.append(_places(image, trial, trial.held_out, depths(trial.canvas.missing)))
        if trial.held_out.shape[2] == 1:
            errors = errors.mean(axis=2, keepdims=True)
        self._errors.append(errors[trial.held_out])

    def estimate(self, n_missing: int) -> QualityEstimate:
        """Return the estimate for this number of missing values."""
        if not self._errors:
            return QualityEstimate(np.nan, np.nan, np.nan, self.data_range, 0, 1.0, self.has_wide_hole)
        missing = _counted_once(np.concatenate(self._missing, axis=1))
        held_out, errors = np.concatenate(self._held_out, axis=1), np.concatenate(self._errors)
        size = max(_CELL_SIZE, _CELL_DEPTHS * int(missing[-1].max()))
        places = np.concatenate([missing, held_out], axis=1)[:3] // np.array([[1], [size], [size]])
        _, cells = np.unique(places, axis=1, return_inverse=True)
        n = missing.shape[1]
        result = estimate_error(
            Values(cells[:n], missing[-1]), Values(cells[n:], held_out[-1]), errors, max(n_missing - n, 0)
        )
        if result.unknown_fraction > _MAX_UNKNOWN:
            psnr = low = high = np.nan
        else:
            logarithms = np.array([result.center, result.high, result.low])
            psnr, low, high = (-10 * logarithms / np.log(10)).tolist()
        return QualityEstimate(
            psnr, low, high, self.data_range, len(errors), result.unknown_fraction, self.has_wide_hole
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
