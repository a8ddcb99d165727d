"""The error of missing pixels and its uncertainty, from the errors of held-out ones."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints

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


@dataclass(frozen=True, eq=False)
class Values:
    """Missing or held-out values: the cell and the distance from observed ones of each, as numbers."""

    cells: Ints
    distances: Ints


@dataclass(frozen=True)
class ErrorEstimate:
    """The logarithm of the mean squared error of missing values, and its interval.

    Attributes
    ----------
    center, low, high : float
    unknown_fraction : float
        Fraction of the missing values at distances at which none was held out.
    """

    center: float
    low: float
    high: float
    unknown_fraction: float


def estimate_error(
    missing: Values, held_out: Values, errors: Floats, n_outside: int, *, is_dense: bool = False
) -> ErrorEstimate:
    """Estimate the error of missing values from the squared errors of held-out ones.

    Held-out values are weighted so that their distances from observed ones are distributed like those of the
    missing values. Where cells have both, the errors in each cell count; the errors of other cells are
    assumed to be log-normal.

    Parameters
    ----------
    missing, held_out : Values
    errors : (N,) ndarray
        Of the held-out values, positive.
    n_outside : int
        Number of missing values besides these, in other cells.
    is_dense : bool, optional
        Whether held-out values are everywhere among the missing ones.
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
    variance = (
        share**2 * (variance_alone + _variance(spread, _effective_number(totals[seen].astype(float))))
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


def _effective_number(weights: Floats) -> float:
    """Return the number of equal weights that would have as small a variance."""
    return float(weights.sum() ** 2 / max(float(np.square(weights).sum()), 1e-300))
