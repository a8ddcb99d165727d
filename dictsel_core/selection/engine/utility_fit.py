"""Selection by other utilities than the squared one: their problem, and fits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import chunk_rows
from dictsel_core._support.validation import Floats, Ints, ObservedData
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.engine.fits import ColumnFit, Fit
from dictsel_core.selection.problem import Problem
from dictsel_core.utility import Utility

Doubles = NDArray[np.float64]

#: Relative size of gradients up to which they are rounding error.
_ROUNDING = 1e-6
_MAX_ITERATIONS = 100
#: A fit ends if a step promises less than this fraction of the largest possible utility.
_TOLERANCE = 1e-14
#: Damping of the first step, by which it is divided after a success, and multiplied after a failure.
_DAMPING, _EASE, _TIGHTEN = 1e-3, 10.0, 30.0


class UtilityMaximum(NamedTuple):
    """Weights (B, S) that maximize a utility, what they make of the columns (B, d), and its value (B,)."""

    weights: Doubles
    fitted: Doubles
    values: Doubles


class UtilityProblem(Problem):
    """Ground set and data for a utility.

    Attributes
    ----------
    utility : Utility
    data : (T, d) ndarray
        Zero at missing entries; not multiplied by weights.
    entry_weights : (T, d) ndarray or (T, 1) ndarray
        How many times the utility of each entry counts, 0 where missing.
    scales : (T,) ndarray
        Weights of supports are multiplied by these, so that the smoothness of every patch becomes that of the
        ground set.
    energies : (T,) ndarray of float64
        Twice the largest possible utility.
    """

    def __init__(self, ground_set: GroundSet, points: ObservedData, utility: Utility) -> None:
        super().__init__(ground_set, points)
        self.utility = utility
        self.data = points.rows(0, len(points), weighted=False)[0]
        utility.check(self.data)
        peaks = np.ones(len(points)) if self.scales is None else np.square(self.scales)
        factors = np.ones((1, 1)) if self.observed is None else np.square(self.observed.astype(np.float64))
        self.entry_weights = factors * peaks[:, None]
        self.scales = np.sqrt(utility.smoothness * peaks)
        values = self.data.astype(np.float64)
        self.energies = 2 * (self.entry_weights * utility.largest(values)).sum(axis=1)
        slopes = self.entry_weights * utility.slope(values, np.zeros_like(values)) / self.scales[:, None]
        self.rounding = (np.square(slopes).sum(axis=1) * _ROUNDING**2).astype(self.data.dtype)


class UtilityFit:
    """Fits supports by damped Newton steps; keeps the gradients of all patches by their entries."""

    def __init__(self, problem: UtilityProblem) -> None:
        self._problem, self._utility = problem, problem.utility
        self._slopes = np.empty(problem.data.shape)
        step = chunk_rows(64 * problem.data.shape[1])
        for start in range(0, len(problem), step):
            rows = np.arange(start, min(start + step, len(problem)))
            self._slopes[rows] = self._weighted_slopes(rows, np.zeros((len(rows), problem.data.shape[1])))

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Maximize the utility on the supports; return scaled weights, and twice the utility."""
        problem = self._problem
        columns = problem.padded_rows.take(supports, axis=0, mode="wrap")
        y, counts = problem.data[rows].astype(np.float64), problem.entry_weights[rows]
        best = maximize_utility(self._utility, columns, y, counts)
        self._slopes[rows] = self._weighted_slopes(rows, best.fitted)
        return best.weights * self._scales(rows), 2 * best.values

    def correlate(self, rows: Ints, supports: Ints, weights: Doubles, out: Floats) -> None:
        """Put the gradient of the utility by the scaled weights of all atoms into `out`."""
        out[...] = (self._slopes.take(rows, axis=0) / self._scales(rows)) @ self._problem.ground_set.atoms

    def _weighted_slopes(self, rows: Ints, fitted: Doubles) -> Doubles:
        y = self._problem.data[rows].astype(np.float64)
        return np.asarray(self._problem.entry_weights[rows] * self._utility.slope(y, fitted))

    def _scales(self, rows: Ints) -> Doubles:
        scales = self._problem.scales
        assert scales is not None  # a problem with a utility has them
        return np.asarray(scales[rows, None])


def as_fit(problem: Problem) -> Fit:
    """Return the fit of supports for a problem: by its utility if it has one, else by columns."""
    return UtilityFit(problem) if isinstance(problem, UtilityProblem) else ColumnFit(problem)


def maximize_utility(
    utility: Utility, columns: Doubles, y: Doubles, entry_weights: Doubles, start: Doubles | None = None
) -> UtilityMaximum:
    """Maximize the utility of each patch over the weights of its columns.

    Newton steps with the curvature at the present fit plus a part of the largest one, lam. At lam = 1 the
    quadratic model lies below the utility, so that the step cannot fail; lam falls while steps succeed.

    Parameters
    ----------
    utility : Utility
    columns : (B, S, d) ndarray
        Zero in empty slots.
    y : (B, d) ndarray
    entry_weights : (B, d) or (B, 1) ndarray
    start : (B, S) ndarray, optional
        Weights to begin with. Default is 0.
    """
    weights = np.zeros(columns.shape[:2]) if start is None else start.copy()
    fitted: Doubles = np.vecmat(weights, columns)
    entry_weights = np.broadcast_to(entry_weights, y.shape)
    bound = _gram(columns, utility.smoothness * entry_weights)
    ridge = 1e-12 * np.einsum("bss->bs", bound).max(axis=1, initial=0) + np.finfo(float).tiny
    damping = np.full(len(y), _DAMPING)
    values = (entry_weights * utility.value(y, fitted)).sum(axis=1)
    enough = _TOLERANCE * (entry_weights * utility.largest(y)).sum(axis=1)
    active = np.arange(len(y))
    for _ in range(_MAX_ITERATIONS):
        part = columns[active]
        slopes = entry_weights[active] * utility.slope(y[active], fitted[active])
        gradient = np.matvec(part, slopes)
        model = _gram(part, entry_weights[active] * utility.curvature(y[active], fitted[active]))
        model += damping[active, None, None] * bound[active]
        np.einsum("bss->bs", model)[...] += np.where((part != 0).any(axis=2), ridge[active, None], 1.0)
        step = np.linalg.solve(model, gradient[:, :, None])[:, :, 0]
        promising = np.vecdot(step, gradient) > enough[active]
        trial = fitted[active] + np.vecmat(step, part)
        reached = (entry_weights[active] * utility.value(y[active], trial)).sum(axis=1)
        better = reached >= values[active]
        won, lost = active[better], active[~better]
        weights[won] += step[better]
        fitted[won], values[won] = trial[better], reached[better]
        # Rounding alone can make a step of full damping fail.
        going_on = active[promising & (better | (damping[active] < 1))]
        damping[won] /= _EASE
        damping[lost] = np.minimum(damping[lost] * _TIGHTEN, 1.0)
        active = going_on
        if not active.size:
            break
    return UtilityMaximum(weights, fitted, values)


def _gram(columns: Doubles, entry_weights: Doubles) -> Doubles:
    """Return the Gram matrices of columns (B, S, d) with the weights (B, d) of their entries."""
    return np.asarray((columns * entry_weights[:, None]) @ columns.transpose(0, 2, 1))
