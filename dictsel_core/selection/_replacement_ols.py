"""Replacement OLS: Replacement OMP with the true worth of every addition and removal."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._least_squares import SupportFit
from dictsel_core._validation import Bools, Ints
from dictsel_core.constraints import Constraint, Offer
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.driver import Pick, prepare
from dictsel_core.selection.fits import ColumnFit
from dictsel_core.selection.offering import OfferingEngine
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.result import Selection
from dictsel_core.selection.run import SelectionRun
from dictsel_core.selection.state import SupportState

#: An atom counts as if at least this part of its squared length lay outside of a support.
_LEAST_OUTSIDE = 1e-2


def replacement_ols(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
) -> Selection:
    r"""Select a dictionary by Replacement OLS, our own variant of Replacement OMP.

    `replacement_omp` values an atom by its correlation with the residual alone, as OMP does, so it
    undervalues atoms of which a part lies in the span of the support or under the mask. Here the
    value is what orthogonal least squares (OLS) goes by. Each step takes the atom a with the largest

    .. math:: \max_{(Z'_1, \dots, Z'_T) \in \mathcal{F}_a} \Big\{ \sum_t [ f_t(Z_t + a) - f_t(Z_t) ]
        - \sum_t \sum_{b \in Z_t \setminus Z'_t} [ f_t(Z_t) - f_t(Z_t - b) ] \Big\},

    the first sum being over the patches that take the atom. Both terms are exact, except that an atom
    counts as if at least 1 % of its squared length lay outside of a support. That the atom may make up
    for what is removed is left out. `replacement_greedy` counts that too, but cannot keep to
    average sparsity, and takes longer.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    data : (T, d) array_like
        Patches as rows, float32 or float64; missing entries may hold anything.
    constraint : Constraint
        Which supports are allowed; any that `replacement_omp` takes.
    n_atoms : int
        The dictionary size k.
    mask : (T, d) array_like of bool, optional
        True = missing. The loss counts observed entries only.

    Returns
    -------
    Selection
        With exactly k atoms. `objective` is the sum of f_t(Z_t), `gain` the maximum above. The objective
        grows with every addition; a swap may lower it now and then.

    Notes
    -----
    As in `replacement_omp`, an atom that is selected already may win again, up to k times, and where
    nothing gains anything the new atom with the largest summed value joins unused. There is no
    guarantee like theorem 4.2. One step costs O(dns) for each patch that the step before has changed.

    References
    ----------
    .. [1] S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods and their application to
       non-linear system identification", International Journal of Control 50(5), 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_ols, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> weights = np.random.default_rng(0).normal(size=(50, 3))
    >>> data = weights @ ground_set.atoms[:, [5, 17, 40]].T
    >>> selection = replacement_ols(ground_set, data, IndividualSparsity(3), 3)
    >>> sorted(selection.atoms.tolist())
    [5, 17, 40]
    """
    return iter_replacement_ols(ground_set, data, constraint, n_atoms, mask=mask).finish()


def iter_replacement_ols(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
) -> SelectionRun:
    """Select step by step: an iterator over one `SelectionStep` per atom.

    Input is checked at the call. Parameters are those of `replacement_ols`.

    Returns
    -------
    SelectionRun
        Its `selection` is what the steps so far have led to.
    """
    problem, count = prepare(
        ground_set,
        data,
        mask,
        n_atoms,
        constraint=constraint,
        accepted=Constraint,
        needs="replacement_ols needs a sparsity constraint such as IndividualSparsity(5)",
    )
    return SelectionRun(ground_set, count, lambda: _Engine(problem, constraint, count))


class _Engine(OfferingEngine):
    """Supports of one run, and what additions and removals are worth to each patch."""

    def __init__(self, problem: Problem, constraint: Constraint, n_atoms: int) -> None:
        capacity = constraint.capacity(len(problem), len(problem.ground_set), n_atoms)
        self.worth = _WorthFit(problem, capacity)
        super().__init__(SupportState(problem, capacity, self.worth), constraint, repeats=n_atoms)
        self.state.refit(np.arange(len(problem)))

    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Carry out the most valuable replacement."""
        worth, state = self.worth, self.state
        offer = Offer(worth.gains, worth.costs, state.supports, state.sizes, worth.largest)
        return self.take_best(offer, 2, eligible, new)[0]


class _WorthFit(ColumnFit):
    """Fits patches, and keeps what additions and removals are worth to them, times two.

    Attributes
    ----------
    gains : (T, n) ndarray
        2 f_t(Z_t + a) - 2 f_t(Z_t), or less for atoms that lie almost in the span of the support.
    largest : (T,) ndarray
        The largest of each patch.
    costs : (T, S) ndarray
        2 f_t(Z_t) - 2 f_t(Z_t - b) by slot of b; infinite in empty slots.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        super().__init__(problem)
        shape, dtype = (len(problem), len(problem.ground_set)), problem.data.dtype
        self._lengths = np.broadcast_to(problem.masked_lengths().astype(dtype), shape)
        self.gains = np.zeros(shape, dtype)
        self.largest = np.zeros(len(problem), dtype)
        self.costs = np.full((len(problem), capacity), np.inf)

    def _take(self, rows: Ints, supports: Ints, fit: SupportFit) -> None:
        """Keep residuals, gains and costs."""
        super()._take(rows, supports, fit)
        problem = self._problem
        inside = fit.orthonormal.astype(problem.data.dtype) @ problem.atoms
        lengths = self._lengths[rows]
        outside = lengths - np.einsum("bsn,bsn->bn", inside, inside)
        np.maximum(outside, _LEAST_OUTSIDE * lengths, out=outside)
        squares = np.square(self._residuals[rows] @ problem.atoms)
        visible = (squares > problem.rounding[rows, None]) & (outside > 0)
        gains = np.divide(squares, outside, out=np.zeros_like(squares), where=visible)
        # Nothing is worth more than what is left; rounding must not decide between atoms that explain it all.
        left = np.square(self._residuals[rows]).sum(axis=1, keepdims=True)
        np.copyto(gains, left, where=gains > left * (1 - np.sqrt(np.finfo(gains.dtype).eps)))
        problem.level_copies(gains)
        used = supports >= 0
        gains[used.nonzero()[0], supports[used]] = 0
        self.gains[rows], self.largest[rows] = gains, gains.max(axis=1)
        costs = np.full(supports.shape, np.inf)
        np.divide(np.square(fit.coefficients), np.einsum("bss->bs", fit.inverse), out=costs, where=used)
        self.costs[rows] = np.inf
        self.costs[rows, : supports.shape[1]] = costs
