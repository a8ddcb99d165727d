"""Replacement OLS: Replacement OMP with exact gains of additions and exact costs of removals."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.compiled import Kernel
from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import Constraint, ReplacementGains
from dictsel_core.selection.engine import GainCostEngine, Repeats, SelectedAtom, Selector, as_max_repeats
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import SelectionRun, iterate
from dictsel_core.selection.state import ColumnFit, SupportState, finish

#: Fraction of the squared length of an atom that is assumed to lie outside of a support, at least.
_MIN_OUTSIDE = 1e-2


@finished
def replacement_ols(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    repeats: Repeats | None = None,
) -> SelectionRun:
    r"""Select a dictionary by Replacement OLS, our own variant of Replacement OMP.

    `replacement_omp` values an atom by its correlation with the residual alone, as OMP does, so it
    undervalues atoms that lie partly in the span of the support or under the mask. Replacement OLS uses
    the criterion of orthogonal least squares (OLS): each step selects the atom a with the largest

    .. math:: \max_{(Z'_1, \dots, Z'_T) \in \mathcal{F}_a} \left\{ \sum_t [ f_t(Z_t + a) - f_t(Z_t) ]
        - \sum_t \sum_{b \in Z_t \setminus Z'_t} [ f_t(Z_t) - f_t(Z_t - b) ] \right\},

    where the first sum is over the patches that receive the atom. Both terms are exact, except that at least
    1 % of the squared length of an atom is assumed to lie outside of a support. That the atom may
    compensate for a removal is neglected; `replacement_greedy` accounts for it.

    Parameters
    ----------
    ground_set, data, constraint, n_atoms, mask, weights, repeats
        As in `replacement_omp`.

    Returns
    -------
    Selection
        With exactly k atoms, unless repeats are steps. `objective` is the sum of f_t(Z_t), `gains` the maxima
        above. Additions increase the objective; a swap may decrease it.

    Notes
    -----
    Unlike `replacement_omp`, it has no guarantee. One step costs O(dns) for each patch that the previous
    step has changed.

    References
    ----------
    .. [1] S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods and their application to
       non-linear system identification", International Journal of Control 50(5), 1989.
       :DOI:`10.1080/00207178908953472`

    Examples
    --------
    Nine of ten entries missing, where exact gains find a better dictionary:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
    >>> rng = np.random.default_rng(0)
    >>> data = rng.normal(size=(100, 64))
    >>> problem = standard_ground_set(), data, IndividualSparsity(3), 10
    >>> mask = rng.random(data.shape) < 0.9
    >>> ours = replacement_ols(*problem, mask=mask)
    >>> bool(ours.objective[-1] > replacement_omp(*problem, mask=mask).objective[-1])
    True
    """
    max_repeats = as_max_repeats(repeats or "extra", n_atoms)
    return Selector("replacement_ols", _Engine).start(
        ground_set, data, constraint, n_atoms, mask, weights, max_repeats=max_repeats
    )


iter_replacement_ols = iterate(replacement_ols)


class _Engine(GainCostEngine):
    """Supports of one run, with the gains and costs of all replacements."""

    def __init__(
        self, problem: Problem, constraint: Constraint, n_atoms: int, max_repeats: int | None
    ) -> None:
        capacity = constraint.capacity(len(problem), len(problem.ground_set), n_atoms)
        self.fit = _GainCostFit(problem, capacity)
        super().__init__(SupportState(problem, capacity, self.fit), constraint, max_repeats)
        self.state.refit(np.arange(len(problem)))

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        fit, state = self.fit, self.state
        table = ReplacementGains(fit.gains, fit.costs, state.supports, state.sizes)
        return self.apply_best(table, 2, eligible, new)


class _GainCostFit(ColumnFit):
    """Fits patches, and keeps twice the gains and costs of their replacements.

    Gains, (T, n), are 2 f_t(Z_t + a) - 2 f_t(Z_t), or less for atoms that lie almost in the span of the
    support. Costs, (T, S), are 2 f_t(Z_t) - 2 f_t(Z_t - b), infinite in empty slots.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        super().__init__(problem)
        shape, dtype = (len(problem), len(problem.ground_set)), problem.data.dtype
        self._lengths = problem.masked_lengths().astype(dtype, copy=False)
        self.gains = np.zeros(shape, dtype)
        self.costs = np.full((len(problem), capacity), np.inf)

    def _store(self, rows: Ints, supports: Ints, weights: Doubles, diagonals: Doubles) -> None:
        problem, fits, (n, width) = self._problem, self._fits, supports.shape
        residuals, lengths = fits.residuals[:n], self._lengths
        if len(lengths) > 1:
            lengths = lengths[rows]
        gains = np.empty((n, self.gains.shape[1]), self.gains.dtype)
        inside = np.empty_like(gains)
        fits.correlate(residuals, problem.atoms, gains)
        fits.project(width, problem.atoms, inside)
        limits = _MIN_OUTSIDE, problem.rounding[rows], np.vecdot(residuals, residuals)
        duplicates = problem.ground_set.duplicates
        _divide_by_outside(gains, inside, lengths, limits, duplicates, supports)
        self.gains[rows] = gains
        costs = np.full((n, self.costs.shape[1]), np.inf)
        np.divide(np.square(weights), diagonals, out=costs[:, :width], where=supports >= 0)
        self.costs[rows] = costs


@Kernel
def _divide_by_outside(
    correlations: Floats,
    inside: Floats,
    lengths: Floats,
    limits: tuple[float, Floats, Floats],
    duplicates: Ints,
    supports: Ints,
) -> None:
    """Turn correlations with residuals (B, n) into the gains of additions, in place.

    Of squared lengths, (B or 1, n), parts are `inside` the span of a support. The limits are the fraction
    that lies outside, at least, squared correlations up to which they are rounding errors, (B,), and the
    energies of the residuals, (B,), which no gain exceeds. For duplicates see `finish`.
    """
    number = correlations.dtype.type
    least = number(limits[0])
    for b in range(len(correlations)):
        gains, hidden, known = correlations[b], inside[b], lengths[min(b, len(lengths) - 1)]
        noise, energy = limits[1][b], number(limits[2][b])
        # Rounding must not decide between atoms that explain all of the residual.
        everything = energy * number(1 - np.sqrt(np.finfo(gains.dtype).eps))
        for a in range(len(gains)):
            outside = max(known[a] - hidden[a], least * known[a])
            square = gains[a] * gains[a]
            gain = square / outside
            gain = energy if gain > everything else gain
            gains[a] = gain if (square > noise) & (outside > 0) else 0
        finish(gains, duplicates, supports[b])
