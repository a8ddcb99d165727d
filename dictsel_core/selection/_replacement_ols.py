"""Replacement OLS: Replacement OMP with exact gains of additions and exact costs of removals."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import Bools, Doubles, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import Constraint, ReplacementGains
from dictsel_core.pursuit.kernels import fit_with_gains
from dictsel_core.selection.engine import GainCostEngine, Repeats, SelectedAtom, Selector, as_max_repeats
from dictsel_core.selection.fits import SupportFit
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import SelectionRun, iterate
from dictsel_core.selection.state import FIT_LIMITS, ColumnFit, SupportState

#: Fraction of the squared length of an atom that is assumed to lie outside of a support, at least.
_MIN_OUTSIDE = 1e-2
#: Limits of the kernel. It reads what is observed of the ground set for every patch; if that has more than so
#: many bytes, it is not in a near cache, and BLAS is faster.
_LIMITS, _CACHE_BYTES = (*FIT_LIMITS, _MIN_OUTSIDE), 1 << 19


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
        table = ReplacementGains(fit.gains, fit.costs, state.supports, state.sizes, fit.largest)
        return self.apply_best(table, 2, eligible, new)


class _GainCostFit(ColumnFit):
    """Fits patches, and keeps twice the gains and costs of their replacements.

    Gains, (T, n), are 2 f_t(Z_t + a) - 2 f_t(Z_t), or less for atoms that lie almost in the span of the
    support; the largest ones are (T,). Costs, (T, S), are 2 f_t(Z_t) - 2 f_t(Z_t - b), infinite in empty
    slots.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        super().__init__(problem)
        shape, dtype = (len(problem), len(problem.ground_set)), problem.data.dtype
        lengths = problem.masked_lengths().astype(dtype, copy=False)
        self._lengths = np.broadcast_to(lengths, shape)
        self.gains = np.zeros(shape, dtype)
        self.largest = np.zeros(len(problem), dtype)
        self.costs = np.full((len(problem), capacity), np.inf)
        # What kernels read and write.
        self._candidates = problem.atoms, lengths, problem.rounding, problem.ground_set.duplicates
        self._kept = self._residuals, self.gains, self.largest, self.costs
        observed = np.count_nonzero(self._factors) / self._factors.size
        if observed * problem.atoms.nbytes > _CACHE_BYTES:
            self._max_compiled = 0

    def _refit_compiled(self, rows: Ints, supports: Ints, fitted: tuple[Doubles, Doubles, Bools]) -> None:
        fit_with_gains(rows, supports, self._known, self._candidates, _LIMITS, self._kept, fitted)

    def _store(self, rows: Ints, supports: Ints, fit: SupportFit) -> None:
        super()._store(rows, supports, fit)
        problem = self._problem
        # One product for all patches; NumPy would multiply patch by patch.
        directions = problem.apply_factors(rows, fit.orthonormal.astype(problem.data.dtype))
        inside = (directions.reshape(-1, directions.shape[2]) @ problem.atoms).reshape(
            *directions.shape[:2], -1
        )
        lengths = self._lengths[rows]
        outside = lengths - np.einsum("bsn,bsn->bn", inside, inside)
        np.maximum(outside, _MIN_OUTSIDE * lengths, out=outside)
        squares = np.square(problem.apply_factors(rows, self._residuals[rows]) @ problem.atoms)
        visible = (squares > problem.rounding[rows, None]) & (outside > 0)
        outside[~visible] = np.inf
        gains = np.divide(squares, outside, out=squares)
        # No gain exceeds the residual energy; rounding must not decide between atoms that explain all of it.
        residual_energy = np.square(self._residuals[rows]).sum(axis=1, keepdims=True)
        everything = gains > residual_energy * (1 - np.sqrt(np.finfo(gains.dtype).eps))
        np.copyto(gains, residual_energy, where=everything)
        problem.equalize_duplicates(gains)
        used = supports >= 0
        gains[used.nonzero()[0], supports[used]] = 0
        self.gains[rows], self.largest[rows] = gains, gains.max(axis=1)
        costs = np.full(supports.shape, np.inf)
        np.divide(np.square(fit.coefficients), np.einsum("bss->bs", fit.inverse), out=costs, where=used)
        self.costs[rows] = np.inf
        self.costs[rows, : supports.shape[1]] = costs
