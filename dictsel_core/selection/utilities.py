"""Selection by other utilities than the squared one: their problem, fits and differences."""

from typing import NamedTuple

import numpy as np

from dictsel_core._util.validation import Doubles, Floats, Ints
from dictsel_core.selection.differences import Differences, SquaredDifferences
from dictsel_core.selection.problem import Problem, UtilityProblem
from dictsel_core.utility import Utility

#: A difference below this fraction of the largest possible utility may be rounding error, and counts as 0.
_DIFFERENCE_ROUNDING = 1e-10
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


class UtilityFit:
    """Fits supports by damped Newton steps; keeps the gradients of all patches by their entries."""

    def __init__(self, problem: UtilityProblem) -> None:
        self._problem, self._utility = problem, problem.utility
        self._slopes = self._weighted_slopes(np.arange(len(problem)), np.zeros(problem.data.shape))

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Maximize the utility on the supports; return scaled weights, and twice the utility."""
        problem = self._problem
        columns = problem.padded_rows.take(supports, axis=0, mode="wrap")
        y, counts = problem.data[rows].astype(np.float64), problem.entry_weights[rows]
        best = maximize_utility(self._utility, columns, y, counts)
        self._slopes[rows] = self._weighted_slopes(rows, best.fitted)
        return best.weights * self._scales(rows), 2 * best.values

    def gradients(self, rows: Ints) -> Floats:
        """Return the slopes of the utility, scaled as weights are."""
        return np.asarray(self._slopes.take(rows, axis=0) / self._scales(rows))

    def _weighted_slopes(self, rows: Ints, fitted: Doubles) -> Doubles:
        y = self._problem.data[rows].astype(np.float64)
        return np.asarray(self._problem.entry_weights[rows] * self._utility.slope(y, fitted))

    def _scales(self, rows: Ints) -> Doubles:
        scales = self._problem.scales
        assert scales is not None  # a problem with a utility has them
        return np.asarray(scales[rows, None])


class UtilityDifferences(Differences):
    """Every atom and every swap is a fit of its own, which begins at the weights of the support."""

    _problem: UtilityProblem

    def _of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        n_candidates = len(self._problem.ground_set)
        additions = np.empty((len(rows), n_candidates))
        swaps = np.full((len(rows), supports.shape[1], n_candidates), -np.inf)
        for place, (row, padded) in enumerate(zip(rows.tolist(), supports, strict=True)):
            support = padded[padded >= 0]
            now = self._maximum(row, support[None], None)
            additions[place] = self._after(row, support, now.weights[0]) - now.values
            for slot in range(len(support)):
                kept = np.arange(len(support)) != slot
                swaps[place, slot] = self._after(row, support[kept], now.weights[0, kept]) - now.values
        noise = _DIFFERENCE_ROUNDING * self._problem.energies[rows] / 2
        additions[np.abs(additions) <= noise[:, None]] = 0
        swaps[np.abs(swaps) <= noise[:, None, None]] = 0
        return additions, swaps

    def _after(self, row: int, support: Ints, weights: Doubles) -> Doubles:
        """Return f(Z + a) of one patch for all atoms a, from the given weights of Z and 0 for a: (n,)."""
        n_candidates = len(self._problem.ground_set)
        enlarged = np.empty((n_candidates, len(support) + 1), np.intp)
        enlarged[:, :-1], enlarged[:, -1] = support, np.arange(n_candidates)
        start = np.zeros(enlarged.shape)
        start[:, :-1] = weights
        return self._maximum(row, enlarged, start).values

    def _maximum(self, row: int, supports: Ints, start: Doubles | None) -> UtilityMaximum:
        """Fit one patch by several supports: (m, S)."""
        problem = self._problem
        shape = (len(supports), problem.data.shape[1])
        y = np.broadcast_to(problem.data[row].astype(np.float64), shape)
        counts = problem.entry_weights[row]
        return maximize_utility(problem.utility, problem.padded_rows[supports], y, counts[None], start)


def differences_of(problem: Problem) -> Differences:
    """Return the utility differences of the patches of a problem."""
    return UtilityDifferences(problem) if isinstance(problem, UtilityProblem) else SquaredDifferences(problem)


def modular_values(problem: Problem) -> Floats:
    """Return f_t({a}) for every patch and atom, the modular approximation of the utility: (T, n)."""
    if isinstance(problem, UtilityProblem):
        nothing = np.full((len(problem), 0), -1)
        return UtilityDifferences(problem).of_supports(np.arange(len(problem)), nothing)[0]
    return problem.squared_modular_values()


def maximize_utility(
    utility: Utility, columns: Doubles, y: Doubles, entry_weights: Doubles, start: Doubles | None = None
) -> UtilityMaximum:
    """Maximize the utility of patches y (B, d) over the weights of their columns (B, S, d).

    Newton steps with the curvature at the present fit plus a part of the largest one, lam. At lam = 1 the
    quadratic model lies below the utility, so that the step cannot fail; lam falls while steps succeed.
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
