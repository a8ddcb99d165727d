"""`estimate_psnr`: how good a restoration is, without the original."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._layout import Axis
from dictsel_core._runs import GeneratorRun
from dictsel_core._validation import Bools, Floats, Ints, as_count
from dictsel_core.completion import wide_parts
from dictsel_core.estimation.cells import Values, estimate_error
from dictsel_core.estimation.trials import REACH, Trial, depths, trials
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration import PresetName, ResolvedSettings, RestoreSettings
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.restorer import Restorer
from dictsel_core.restoration.settings import as_settings

#: Images of a stack that are used.
_MAX_IMAGES = 8
#: Height and width of a cell, and the same as a multiple of the depth of the deepest hole, if that is more.
_CELL_SIZE, _CELL_DEPTHS = 32, 4
#: There is no estimate if more of the missing values are in holes that no held-out ones stand for.
_MAX_UNKNOWN = 0.02
#: Rounds in place of those that held-out pixels would decide about.
_ROUNDS = 3


@dataclass(frozen=True)
class QualityEstimate:
    """The estimated quality of a restoration.

    Attributes
    ----------
    psnr : float
        PSNR over the missing pixels in decibels. Infinite if nothing is missing; NaN if there is no estimate.
    low, high : float
        The PSNR lies between these with a probability of 90 %.
    n_held_out : int
        Number of observed pixels that were held out.
    unknown_fraction : float
        Fraction of the missing values in wide holes that could not be moved over observed parts. If it is
        more than 2 %, there is no estimate.
    has_wide_hole : bool
        Whether pixels are missing that are farther than 8 from all observed ones.
    """

    psnr: float
    low: float
    high: float
    n_held_out: int
    unknown_fraction: float
    has_wide_hole: bool

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate."""
        return not np.isnan(self.psnr)


def estimate_psnr(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    seed: int = 0,
) -> QualityEstimate:
    """Estimate the PSNR of the missing pixels of a restoration, in decibels, without the original.

    Observed pixels are held out in the shape of the damage: the mask is moved over observed parts, or, if
    more than 30 % are missing, single pixels are drawn. The image without them is restored, with at most
    three rounds of refinement, and they are compared. Of a large image, only parts around the damage are
    used. Held-out pixels are weighted such that they are as far from observed ones as the missing pixels
    are.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or {"paper", "fast", "balanced", "best"}, optional
        As for `restore`.
    channel_axis, axes : optional
        As for `restore`. Of a stack, up to eight of the damaged images are used.
    seed : int, optional
        For the choice of held-out pixels. Default is 0.

    Returns
    -------
    QualityEstimate
        With a 90 % interval. There is no estimate (NaN) for holes so wide that they fit nowhere else, if too
        little is observed to hold anything out, or if a channel is missing entirely.

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
    rng = np.random.default_rng([as_count(seed, "seed", minimum=0), 2018])
    if not damaged.missing.any():
        return QualityEstimate(np.inf, np.inf, np.inf, 0, 0.0, has_wide_hole=False)
    if asked.rounds is None:
        asked = replace(asked, rounds=_ROUNDS)
    ground_set = standard_ground_set((asked.patch_size, asked.patch_size), asked.bases)
    sample = _Sample()
    for image_number, canvas in enumerate(damaged.sample(_MAX_IMAGES)):
        resolved = asked.resolved(1 - canvas.missing_fraction, len(ground_set))
        wide = wide_parts(np.asarray(canvas.missing.all(axis=2)), REACH)
        sample.has_wide_hole |= bool(wide.any())
        for trial in trials(canvas, wide, rng):
            sample.add(image_number, trial, _squared_errors(trial, resolved, ground_set))
    return sample.estimate(int(np.count_nonzero(damaged.missing)))


def _squared_errors(trial: Trial, settings: ResolvedSettings, ground_set: GroundSet) -> Floats:
    """Return the squared errors of all values of a trial, relative to the largest one: (h, w, C)."""
    canvas = trial.canvas
    result = GeneratorRun(Restorer(canvas, settings, ground_set).steps()).finish()
    peak = 1.0 if canvas.image.dtype.kind == "f" else float(np.iinfo(canvas.image.dtype).max)
    original, other = (np.asarray(each, np.float64) / peak for each in (canvas.image, result.image))
    # Values of integers are rounded, so an error of zero is no smaller than that.
    floor = 1e-20 if canvas.image.dtype.kind == "f" else 1 / (12 * peak**2)
    return np.asarray(np.maximum(np.square(original - other), floor).reshape(*canvas.shape, -1))


class _Sample:
    """Missing and held-out values of all trials: their image, row, column and distance from observed ones."""

    def __init__(self) -> None:
        self.has_wide_hole = False
        self._missing: dict[
            tuple[int, ...], Ints
        ] = {}  # by image and corner, of which there may be two trials
        self._held_out: list[Ints] = []
        self._errors: list[Floats] = []

    def add(self, image: int, trial: Trial, errors: Floats) -> None:
        """Add the values of a trial."""
        self._missing[image, *trial.corner] = _places(image, trial, trial.missing, depths(trial.missing))
        self._held_out.append(_places(image, trial, trial.held_out, depths(trial.canvas.missing)))
        if trial.held_out.shape[2] == 1:
            errors = errors.mean(axis=2, keepdims=True)
        self._errors.append(errors[trial.held_out])

    def estimate(self, n_missing: int) -> QualityEstimate:
        """Return the estimate for this number of missing values."""
        if not self._errors:
            return QualityEstimate(np.nan, np.nan, np.nan, 0, 1.0, self.has_wide_hole)
        missing = np.concatenate(list(self._missing.values()), axis=1)
        held_out, errors = np.concatenate(self._held_out, axis=1), np.concatenate(self._errors)
        size = max(_CELL_SIZE, _CELL_DEPTHS * int(missing[3].max()))
        places = np.concatenate([missing, held_out], axis=1)[:3] // np.array([[1], [size], [size]])
        _, cells = np.unique(places, axis=1, return_inverse=True)
        n = missing.shape[1]
        result = estimate_error(
            Values(cells[:n], missing[3]), Values(cells[n:], held_out[3]), errors, max(n_missing - n, 0)
        )
        if result.unknown_fraction > _MAX_UNKNOWN:
            return QualityEstimate(
                np.nan, np.nan, np.nan, len(errors), result.unknown_fraction, self.has_wide_hole
            )
        logarithms = np.array([result.center, result.high, result.low])
        psnr, low, high = (-10 * logarithms / np.log(10)).tolist()
        return QualityEstimate(psnr, low, high, len(errors), result.unknown_fraction, self.has_wide_hole)


def _places(image: int, trial: Trial, chosen: Bools, distances: Ints) -> Ints:
    """Return image, row, column and distance of the chosen values of a trial: (4, N)."""
    rows, columns, _ = at = np.nonzero(chosen)
    images = np.full(len(rows), image)
    return np.stack([images, rows + trial.corner[0], columns + trial.corner[1], distances[at]])
