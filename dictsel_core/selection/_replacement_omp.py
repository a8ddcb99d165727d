"""Replacement OMP (section 4.2), the paper's own selector."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._arrays import chunk_rows
from dictsel_core._validation import Bools, Ints
from dictsel_core.constraints import Constraint, Offer
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.driver import Pick, prepare
from dictsel_core.selection.fits import ColumnFit, GramFit
from dictsel_core.selection.offering import OfferingEngine
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.result import Selection
from dictsel_core.selection.run import SelectionRun
from dictsel_core.selection.state import SupportState


def replacement_omp(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    decay: bool = False,
) -> Selection:
    r"""Select a dictionary by Replacement OMP (algorithm 1, section 4.2).

    Starting from empty supports, each step takes the atom a with the largest

    .. math:: \max_{(Z'_1, \dots, Z'_T) \in \mathcal{F}_a} \Big\{ \frac{1}{M}
        \sum_t \lVert (A^\top r_t)_{Z'_t \setminus Z_t} \rVert^2
        - M \sum_t \lVert (w_t)_{Z_t \setminus Z'_t} \rVert^2 \Big\}

    over the feasible replacements of the current supports (eq. 3), carries the best one out, and
    refits all weights w_t by least squares on the observed entries, which gives the residuals r_t.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    data : (T, d) array_like
        Patches as rows, float32 or float64; missing entries may hold anything.
    constraint : Constraint
        Which supports are allowed.
    n_atoms : int
        The dictionary size k.
    mask : (T, d) array_like of bool, optional
        True = missing. The loss counts observed entries only.
    decay : bool
        True is ROMPd (section 6.1): M falls as :math:`M / \sqrt{i}` in iteration i, so that gains
        do not all reach zero. The objective may then fall now and then.

    Returns
    -------
    Selection
        With exactly k atoms. `objective` is the sum of f_t(Z_t), `gain` the maximum above. Without
        decay the objective grows by at least half the gain of each step.

    Notes
    -----
    The paper maximises over the whole ground set, so an atom that is selected already may win again and
    change supports without enlarging the dictionary; such iterations are part of the next step. At
    most k of them are made, which makes the first k iterations those of the paper and keeps
    theorem 4.2. With decay only new atoms compete. Where no replacement has a positive gain, the new
    atom with the largest summed squared correlation joins the dictionary unused.

    Of atoms that are equal up to sign, the first one in the ground set wins. One step costs O(dn) for
    each patch that the step before has changed, and O(ds^2) for its refit; if nothing is missing, inner
    products are shared, and that is O(kn) and O(s^3) for small dictionaries. Each other patch costs O(n),
    unless no replacement is worth anything to it.

    References
    ----------
    .. [1] K. Fujii and T. Soma, "Fast greedy algorithms for dictionary selection with generalized
       sparsity constraints", NeurIPS 2018.

    Examples
    --------
    Data made of three atoms, which are found again:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> weights = np.random.default_rng(0).normal(size=(50, 3))
    >>> data = weights @ ground_set.atoms[:, [5, 17, 40]].T
    >>> selection = replacement_omp(ground_set, data, IndividualSparsity(3), 3)
    >>> sorted(selection.atoms.tolist())
    [5, 17, 40]

    Half of the entries missing, and a budget of two atoms per patch on average:

    >>> from dictsel_core import AverageSparsity
    >>> mask = np.random.default_rng(1).random(data.shape) < 0.5
    >>> average = replacement_omp(ground_set, data, AverageSparsity(3, 100), 3, mask=mask)
    >>> sum(len(support) for support in average.supports)
    100
    """
    return iter_replacement_omp(ground_set, data, constraint, n_atoms, mask=mask, decay=decay).finish()


def iter_replacement_omp(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    decay: bool = False,
) -> SelectionRun:
    """Select step by step: an iterator over one `SelectionStep` per atom.

    Input is checked at the call. Parameters are those of `replacement_omp`.

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
        needs="replacement_omp needs a sparsity constraint such as IndividualSparsity(5)",
    )
    return SelectionRun(ground_set, count, lambda: _Engine(problem, constraint, count, decay))


class _Engine(OfferingEngine):
    """Supports and squared correlations of one run."""

    def __init__(self, problem: Problem, constraint: Constraint, n_atoms: int, decay: bool) -> None:
        n_candidates = len(problem.ground_set)
        capacity = constraint.capacity(len(problem), n_candidates, n_atoms)
        # Beyond, a product with the dictionary costs more than one with the residual saves.
        shares_products = problem.observed is None and n_atoms <= 2 * problem.ground_set.n_features
        fit = GramFit(problem, n_atoms) if shares_products else ColumnFit(problem)
        # ROMPd is a heuristic whose gains promise no improvement: its repeats could go round in circles.
        super().__init__(SupportState(problem, capacity, fit), constraint, repeats=0 if decay else n_atoms)
        self.problem, self.decay = problem, decay
        self.gains = np.empty((len(problem), n_candidates), problem.data.dtype)
        self.largest = np.empty(len(problem), problem.data.dtype)
        self.scratch = np.empty_like(self.gains[: chunk_rows(self.gains.itemsize * n_candidates)])
        self.update_gains(np.arange(len(problem)))
        self.iteration = 0

    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Make one iteration of algorithm 1."""
        self.iteration += 1
        smoothness = self.problem.ground_set.smoothness
        if self.decay:
            smoothness /= np.sqrt(self.iteration)
        pick, changed = self.take_best(self.offer(smoothness), smoothness, eligible, new)
        self.update_gains(changed)
        return pick

    def offer(self, smoothness: float) -> Offer:
        """Return gains and costs, both multiplied by M: squares of A^T r, and of M w."""
        state = self.state
        costs = np.square(smoothness * state.coefficients)
        costs[state.supports < 0] = np.inf
        return Offer(self.gains, costs, state.supports, state.sizes, self.largest)

    def update_gains(self, rows: Ints) -> None:
        """Recompute the squared correlations of patches whose residual has changed."""
        problem, state = self.problem, self.state
        step = len(self.scratch)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            squares = self.scratch[: len(block)]
            state.correlate(block, squares)
            np.square(squares, out=squares)
            np.copyto(squares, 0, where=squares <= problem.rounding.take(block)[:, None])
            problem.level_copies(squares)
            supports = state.supports.take(block, axis=0)
            used = supports >= 0
            squares[used.nonzero()[0], supports[used]] = 0
            self.gains[block] = squares
            self.largest[block] = np.maximum.reduce(squares, axis=1)
