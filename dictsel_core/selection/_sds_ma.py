"""SDS_MA (Krause and Cevher 2010): greedy on a modular approximation, and its average-sparsity variant."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.runs import with_parameters_of
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import AverageSparsity, IndividualSparsity, ReplacementGains
from dictsel_core.selection.engine.selector import SelectedAtom, Selector
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import Selection, SelectionRun, SelectionStep
from dictsel_core.utility import Utility


def sds_ma(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: IndividualSparsity | AverageSparsity,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    utility: Utility | None = None,
) -> Selection:
    r"""Select a dictionary by SDS_MA, which ignores the overlap of atoms.

    The utility f_t(Z) is replaced by the modular :math:`\sum_{a \in Z} f_t(\{a\})` with
    :math:`f_t(\{a\}) = (a^\top y_t)^2 / 2\lVert m_t \circ a \rVert^2`. The resulting objective,

    .. math:: \max_{(Z_1, \dots, Z_T) \in \mathcal{I},\, Z_t \subseteq X} \sum_t \sum_{a \in Z_t} f_t(\{a\}),

    is submodular in X and maximized greedily.

    Parameters
    ----------
    ground_set, data, n_atoms, mask, weights
        As in `replacement_omp`.
    constraint : IndividualSparsity or AverageSparsity
        Average sparsity is the variant of Cevher and Krause (2011): one budget for all patches.
    utility : Utility, optional
        Another utility u than the squared one (lemma D.1 holds for any that is smooth and strongly concave):
        then :math:`f_t(\{a\})` is its maximum over the weight of atom a, found by a fit for every patch and
        atom. By default u is the squared one.

    Returns
    -------
    Selection
        `objective` and `gains` are those of the modular approximation; the supports maximize it, and have
        least-squares weights.

    See Also
    --------
    iter_sds_ma : The same, step by step.
    replacement_omp : Takes the overlap of atoms into account, in comparable time.

    References
    ----------
    .. [1] A. Krause and V. Cevher, "Submodular dictionary selection for sparse representation", ICML 2010.
    .. [2] V. Cevher and A. Krause, "Greedy dictionary selection for sparse representation", IEEE Journal
       of Selected Topics in Signal Processing 5(5), 2011.

    Examples
    --------
    Orthonormal atoms do not overlap, so the approximation is exact:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.selection import sds_ma
    >>> basis = standard_ground_set(bases=["dct"])
    >>> data = np.random.default_rng(0).normal(size=(50, 64))
    >>> selection = sds_ma(basis, data, IndividualSparsity(2), 5)
    >>> explained = sum((weights**2).sum() for weights in selection.coefficients) / 2
    >>> bool(np.isclose(selection.objective[-1], explained))
    True
    """
    return iter_sds_ma(
        ground_set, data, constraint, n_atoms, mask=mask, weights=weights, utility=utility
    ).finish()


class _Engine:
    """Greedy on the modular objective."""

    def __init__(
        self, problem: Problem, constraint: IndividualSparsity | AverageSparsity, n_atoms: int
    ) -> None:
        values = problem.modular_values()
        capacity = constraint.capacity(len(problem), len(problem.ground_set), n_atoms)
        self._state = SupportState(problem, capacity)
        self._objective = 0.0
        self._pool: _Individual | _Average
        if isinstance(constraint, IndividualSparsity):
            self._pool = _Individual(values, constraint, capacity)
        else:
            self._pool = _Average(values, constraint, capacity)

    def advance(self) -> SelectionStep:
        """Choose the next atom."""
        pick = self._pool.take_best()
        self._objective += pick.gain
        return SelectionStep(pick.atom, pick.gain, self._objective, pick.n_exact)

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the maximizing supports, and their least-squares weights."""
        self._state.set_supports(self._pool.supports())
        return self._state.fitted()

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return self._state.objective


class _Individual:
    """The s_t largest values of each patch."""

    def __init__(self, values: Floats, constraint: IndividualSparsity, capacity: int) -> None:
        n_points = len(values)
        self.constraint = constraint
        self.values = values
        self.new = np.ones(values.shape[1], bool)
        self.kept = np.full((n_points, capacity), np.inf)
        self.slots = np.full((n_points, capacity), -1)
        self.sizes = np.zeros(n_points, dtype=np.intp)

    def take_best(self) -> SelectedAtom:
        """Select the atom that increases the objective most."""
        # A swap gains the value of the new atom and costs that of the old one.
        table = ReplacementGains(self.values, self.kept, self.slots, self.sizes)
        totals = np.where(self.new, self.constraint.values(table), -1.0)
        atom = int(totals.argmax())
        change = self.constraint.replacement(table, atom)
        self.new[atom] = False
        rows = np.flatnonzero(change.added)
        slots = np.where(change.removed[rows] < 0, self.sizes[rows], change.removed[rows])
        self.kept[rows, slots] = self.values[rows, atom]
        self.slots[rows, slots] = atom
        self.sizes[rows] += change.removed[rows] < 0
        return SelectedAtom(atom, change.value, len(totals))

    def supports(self) -> Ints:
        """Return the chosen atoms of each patch, padded with -1."""
        return self.slots


class _Average:
    """The largest values within the budget, among the s_t largest of each patch."""

    def __init__(self, values: Floats, constraint: AverageSparsity, capacity: int) -> None:
        n_points, n_candidates = values.shape
        self.values = values.astype(np.float64)
        caps = capacity if constraint.caps is None else np.minimum(constraint.caps, capacity)
        self.caps = np.broadcast_to(caps, n_points)
        self.budget = min(constraint.budget, n_points * capacity)
        # Slots beyond the cap of a patch count as infinite in the search for the smallest value.
        self.pool: NDArray[np.float64] = np.zeros((n_points, capacity))
        self.atoms = np.full((n_points, capacity), -1)
        self.barred = np.arange(capacity) >= self.caps[:, None]
        self.total = 0.0
        # Upper bounds of the gains, negative; a sorted list is a heap.
        self.queue = sorted(zip((-self.values.sum(axis=0)).tolist(), range(n_candidates), strict=True))

    def take_best(self) -> SelectedAtom:
        """Select the atom that increases the objective most; gains never grow, so old ones are bounds."""
        n_exact = 0
        fresh: set[int] = set()
        while self.queue[0][1] not in fresh:
            atom = self.queue[0][1]
            gain = self._worth(self._with(atom)[0]) - self.total
            heapq.heapreplace(self.queue, (-gain, atom))
            fresh.add(atom)
            n_exact += 1
        gain, atom = heapq.heappop(self.queue)
        self.pool, rows, slots = self._with(atom)
        self.atoms[rows, slots] = atom
        self.total -= gain
        return SelectedAtom(atom, -gain, n_exact)

    def supports(self) -> Ints:
        """Return the atoms of each patch that are within the budget, padded with -1."""
        order = np.argsort(-self.pool, axis=None, kind="stable")[: self.budget]
        paid = np.zeros(self.pool.size, bool)
        paid[order] = True
        paid &= self.pool.ravel() > 0
        chosen = np.where(paid.reshape(self.pool.shape), self.atoms, -1)
        return np.take_along_axis(chosen, np.argsort(chosen < 0, axis=1, kind="stable"), axis=1)

    def _with(self, atom: int) -> tuple[NDArray[np.float64], Ints, Ints]:
        """Return the pool with an atom in place of every smaller value, and the rows and slots it took."""
        slots = np.where(self.barred, np.inf, self.pool).argmin(axis=1)
        rows = np.flatnonzero(self.values[:, atom] > self.pool[np.arange(len(slots)), slots])
        pool = self.pool.copy()
        pool[rows, slots[rows]] = self.values[rows, atom]
        return pool, rows, slots[rows]

    def _worth(self, pool: NDArray[np.float64]) -> float:
        if self.budget == pool.size:
            return float(pool.sum())
        return float(np.partition(pool, -self.budget, axis=None)[-self.budget :].sum())


@with_parameters_of(sds_ma)
def iter_sds_ma(**problem: Any) -> SelectionRun:  # noqa: ANN401  (checked by the selector)
    """Start `sds_ma`, and return its run, which selects one atom per step.

    The parameters are those of `sds_ma`, checked at the call. There is a result after every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> gains = [step.gain for step in iter_sds_ma(standard_ground_set(), data, IndividualSparsity(2), 5)]
    >>> gains == sorted(gains, reverse=True)  # the objective is submodular
    True
    """
    accepted = (IndividualSparsity, AverageSparsity)
    needs = "IndividualSparsity or AverageSparsity"
    return Selector("sds_ma", _Engine, accepted, needs).start(**problem)
