"""`estimate_psnr`: how good a restoration is, without the original.

The error of missing pixels, and its uncertainty, follow from the errors of held-out ones, cell by cell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import Axis, Region
from dictsel_core._util.parallel import GeneratorRun
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.evaluation.metrics import span
from dictsel_core.restoration import PresetName, RestoreSettings
from dictsel_core.restoration.damaged import DamagedArray, as_damaged, wide_pixels
from dictsel_core.restoration.holdout import held_out_errors, hold_out, is_dense, trial_generator
from dictsel_core.restoration.image import Image, as_layers
from dictsel_core.restoration.plan import as_atom_source, plan_image
from dictsel_core.restoration.restore import NEIGHBOR_PLANES
from dictsel_core.restoration.settings import REACH, as_settings
from dictsel_core.restoration.stack import errors_among_neighbors, neighbor_reach

#: Images of a stack that are used; most pixels of all trials on one image, and height and width of the tiles
#: by which a larger one is represented.
_MAX_IMAGES, _MAX_PIXELS, _TILE_SIZE = 8, 512**2, 192
#: Height and width of a cell, and the same as a multiple of the largest distance, if that is more.
_CELL_SIZE, _CELL_DEPTHS = 32, 4
#: There is no estimate if more of the missing values are in holes that no held-out ones stand for.
_MAX_UNKNOWN = 0.02
#: Smallest squared error of floats, relative to their range.
_MIN_ERROR = 1e-14
#: Standard deviation of the logarithm of the error from cell to cell that is assumed before any is seen, how
#: many cells that assumption is worth, and the largest one.
_PRIOR_SPREAD, _PRIOR_CELLS, _MAX_SPREAD = 1.0, 3.0, 2.0
#: The same between the missing and the held-out pixels of one cell, if these are among each other or not;
#: and of whatever else differs.
_SPREAD_WITHIN, _SPREAD_OF_MODEL = {True: 0.2, False: 1.0}, 0.2
#: Variance of squared errors of single pixels of a cell, relative to the square of their mean.
_PIXEL_VARIANCE = 8.0
#: Minimum number of held-out values of a cell, and of a distance.
_MIN_VALUES = 8
#: Distances up to 8 pixels, in powers of 2, may stand for each other.
_N_NARROW = 4
#: Quantile of the normal distribution: 90 % lie between minus and plus this.
_QUANTILE = 1.645


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
    neighbor_planes: int | None = None,
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
    image, mask, settings
        As for `restore`.
    channel_axis, axes : optional
        As for `restore`. Of a stack, up to eight of the damaged images are used, or fewer with neighbors.
    neighbor_planes : int or None, optional
        As for `restore`.
    rng : numpy.random.Generator or int, optional
        Random generator for the choice of held-out pixels, or its seed. Default is 0.

    Returns
    -------
    QualityEstimate
        With a 90 % interval. There is no estimate (NaN) if wide holes are all that is missing, if too little
        is observed to hold anything out, or if a channel is missing entirely.

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
    asked_reach = NEIGHBOR_PLANES.checked(neighbor_planes)
    data_range = span(damaged.images, damaged.missing, "image")
    generator = trial_generator(rng)
    if not damaged.missing.any():
        return QualityEstimate(np.inf, np.inf, np.inf, data_range, 0, 0.0, n_invented=0)
    reach = neighbor_reach(damaged, asked, asked_reach)
    sample = _held_out_sample(damaged, asked, reach, data_range, generator)
    n_missing = n_narrow = 0
    for missing in map(as_layers, damaged.missing):
        n_missing += int(np.count_nonzero(missing))
        n_narrow += int(np.count_nonzero(narrow_damage(missing, asked, damaged.images.dtype)))
    return sample.estimate(n_narrow, n_missing - n_narrow)


def _held_out_sample(
    damaged: DamagedArray,
    settings: RestoreSettings,
    reach: int,
    data_range: float,
    rng: np.random.Generator,
) -> "Sample":
    """Restore parts of images, each with `reach` neighbors on either side, without held-out pixels."""
    sample, source = Sample(data_range), as_atom_source(None, settings)
    for number, part in enumerate(damaged.sample(-(-_MAX_IMAGES // (2 * reach + 1)))):
        image = damaged.image(part)
        narrow = narrow_damage(image.missing, settings, image.pixels.dtype)
        if not narrow.any():
            continue
        plan = None if reach else GeneratorRun(plan_image(image, settings, source)).finish()
        for trial in trials(image, narrow, rng):
            if plan is None:
                given = trial.region, trial.held_out, settings, reach
                errors = errors_among_neighbors(damaged, part, *given) / data_range**2
            else:
                # Wide holes tell nothing, and take long to fill.
                given_plan, origin = (
                    replace(plan, fill_reach=0),
                    (trial.region[0].start, trial.region[1].start),
                )
                errors = held_out_errors(
                    trial.image, given_plan, trial.held_out, origin=origin, data_range=data_range
                )
            sample.add(number, trial, _by_pixel(trial, errors, data_range))
    return sample


class Trial(NamedTuple):
    """A part of an image with observed pixels held out."""

    image: Image  #: with the held-out pixels
    narrow: Bools  #: (h, w, c), what of its missing pixels is narrow damage
    held_out: Bools  #: (h, w, c)
    region: Region  #: rows and columns of this part in the image


def trials(image: Image, narrow: Bools, rng: np.random.Generator) -> Iterator[Trial]:
    """Yield trials on an image with this narrow damage (H, W, c), each of which holds out something."""
    for tile in _tiles(narrow, rng):
        part, damage = image.part(tile), narrow[tile]
        held_out = hold_out(part.missing, rng, damage)
        if held_out.any() and all(part.observed_channels):
            yield Trial(part, damage, held_out, tile)


def _tiles(narrow: Bools, rng: np.random.Generator) -> Iterator[tuple[slice, slice]]:
    """Yield the whole image, or tiles around damaged pixels."""
    height, width = narrow.shape[:2]
    if height * width <= _MAX_PIXELS:
        yield slice(0, height), slice(0, width)
        return
    centers = np.flatnonzero(narrow.any(axis=2))
    for center in rng.choice(centers, max(1, _MAX_PIXELS // _TILE_SIZE**2)):
        y, x = divmod(int(center), width)
        top = max(0, min(y - _TILE_SIZE // 2, height - _TILE_SIZE))
        left = max(0, min(x - _TILE_SIZE // 2, width - _TILE_SIZE))
        yield slice(top, min(top + _TILE_SIZE, height)), slice(left, min(left + _TILE_SIZE, width))


def depths(missing: Bools) -> Ints:
    """Return the distance of each missing value from the nearest observed one of its channel: (H, W, c)."""
    from scipy.ndimage import distance_transform_cdt  # noqa: PLC0415  (slow to import)

    layers = [distance_transform_cdt(missing[:, :, c], metric="chessboard") for c in range(missing.shape[2])]
    # Of a channel without any observed pixel, the distances are negative.
    return np.asarray(np.abs(np.stack(layers, axis=2)), np.intp)


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
        self._is_dense &= is_dense(trial.image.missing, trial.narrow)
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


def _by_pixel(trial: Trial, errors: Floats, data_range: float) -> Floats:
    """Return squared errors of held-out values, or their means over channels that share a mask."""
    if trial.image.shares_mask:
        errors = errors.reshape(-1, trial.image.n_channels).mean(axis=1)
    # Integers are rounded.
    is_float = trial.image.pixels.dtype.kind == "f"
    return np.asarray(np.maximum(errors, _MIN_ERROR) if is_float else errors + 1 / (12 * data_range**2))


def _places(image: int, trial: Trial, chosen: Bools, distances: Ints) -> Ints:
    """Return image, row, column, layer and distance of the chosen values of a trial: (5, N)."""
    rows, columns, layers = at = np.nonzero(chosen)
    top, left = (each.start for each in trial.region)
    return np.stack([np.full(len(rows), image), rows + top, columns + left, layers, distances[at]])


def _counted_once(places: Ints) -> Ints:
    """Return the places of values that overlapping trials share, each once, with its smallest distance."""
    ordered = places[:, np.lexsort(places[::-1])]
    is_new = np.ones(ordered.shape[1], bool)
    is_new[1:] = (np.diff(ordered[:-1], axis=1) != 0).any(axis=0)
    return ordered[:, is_new]


class Values(NamedTuple):
    """Missing or held-out values: the cell and the distance from observed ones of each, as numbers."""

    cells: Ints
    distances: Ints


class ErrorEstimate(NamedTuple):
    """The logarithm of the mean squared error of missing values, and its interval."""

    center: float
    low: float
    high: float
    unknown_fraction: float  #: of the missing values, at distances at which none was held out


def estimate_error(
    missing: Values, held_out: Values, errors: Floats, n_outside: int, *, is_dense: bool = False
) -> ErrorEstimate:
    """Estimate the error of missing values from the squared errors of held-out ones.

    Held-out values are weighted so that their distances from observed ones are distributed like those of the
    missing values. Where cells have both, the errors in each cell count; the errors of other cells are
    assumed to be log-normal.
    Errors, (N,), are positive. Besides the missing values there are some in other cells, `n_outside`. If it
    is dense, held-out values are everywhere among the missing ones.
    """
    weights, unknown_fraction = _weights(missing.distances, held_out.distances)
    n_cells = 1 + max(int(missing.cells.max()), int(held_out.cells.max()))
    totals = np.bincount(held_out.cells, weights, n_cells)
    counts = np.bincount(held_out.cells[weights > 0], minlength=n_cells)
    sums = np.bincount(held_out.cells, weights * errors, n_cells)
    needed = np.bincount(missing.cells, minlength=n_cells).astype(float)
    seen = counts >= min(_MIN_VALUES, max(1, int(counts.max())))
    means = np.where(seen, sums / np.maximum(totals, 1e-12), 0)
    overall = float(sums[seen].sum() / totals[seen].sum())
    spread = _spread(means[seen])
    alone = np.where(seen, 0, needed)
    n_alone = alone.sum() + n_outside
    share = n_alone / (needed.sum() + n_outside)
    n_cells_alone = np.count_nonzero(alone) + n_outside / max(needed[needed > 0].mean(), 1)
    mean = share * overall + float((means * np.where(seen, needed, 0)).sum()) / (needed.sum() + n_outside)
    variance_alone = _variance(spread, n_cells_alone)
    # As many equal weights would have as small a variance.
    n_equal = float(totals[seen].sum() ** 2 / max(float(np.square(totals[seen]).sum()), 1e-300))
    variance = (
        share**2 * (variance_alone + _variance(spread, n_equal))
        + (1 - share) ** 2 * _variance_within(means * needed, counts, seen, _SPREAD_WITHIN[is_dense])
        + _SPREAD_OF_MODEL**2
    )
    center = float(np.log(mean)) - share * variance_alone / 2
    reach = _QUANTILE * float(np.sqrt(variance))
    return ErrorEstimate(center, center - reach, center + reach, unknown_fraction)


def _weights(missing: Ints, held_out: Ints) -> tuple[Floats, float]:
    """Return a weight for each held-out value, and the fraction of the missing ones they cannot stand for."""
    bins, others = (np.ceil(np.log2(np.maximum(each, 1))).astype(np.intp) for each in (missing, held_out))
    n_bins = 1 + max(int(bins.max()), int(others.max()))
    wanted, present = np.bincount(bins, minlength=n_bins), np.bincount(others, minlength=n_bins)
    known = present >= min(_MIN_VALUES, int(present.max()))
    for narrow in range(min(n_bins, _N_NARROW)):  # at the border of an image, a line is wider than it is
        if not known[narrow]:
            nearest = int(np.flatnonzero(known)[np.abs(np.flatnonzero(known) - narrow).argmin()])
            wanted[nearest], wanted[narrow] = wanted[nearest] + wanted[narrow], 0
    ratios = np.where(known, wanted / np.maximum(present, 1), 0)
    return ratios[others], float(wanted[~known].sum() / wanted.sum())


def _spread(means: Floats) -> float:
    """Return the standard deviation of the logarithm of the error from cell to cell."""
    logarithms = np.log(means)
    squares = float(np.square(logarithms - logarithms.mean()).sum())
    degrees = len(means) - 1 + _PRIOR_CELLS
    return min(float(np.sqrt((squares + _PRIOR_CELLS * _PRIOR_SPREAD**2) / degrees)), _MAX_SPREAD)


def _variance_within(sums: Floats, counts: Ints, seen: Bools, spread: float) -> float:
    """Return the variance of the logarithm of the error of the cells that were seen.

    Cells have sums of errors of missing values, and counts of held-out values that tell them; `spread` is the
    standard deviation of the logarithm of the error from place to place in a cell.
    """
    relative = np.expm1(spread**2) + _PIXEL_VARIANCE / counts[seen]
    shares = sums[seen] / max(float(sums[seen].sum()), 1e-300)
    return float(np.log1p(np.square(shares) @ relative))


def _variance(spread: float, n: float) -> float:
    """Return the variance of the logarithm of the mean of n log-normal numbers, approximately."""
    return float(np.log1p(np.expm1(spread**2) / max(n, 1.0)))
