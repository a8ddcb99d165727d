"""SDS_MA and SDS_OMP (Krause and Cevher 2010), and SDS_MA with average sparsity."""

import heapq
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import AverageSparsity, IndividualSparsity, ReplacementGains
from dictsel_core.pursuit.columns import Pursuit, Rule
from dictsel_core.selection.engine import SelectedAtom, Selector
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import Selection, SelectionStep
from dictsel_core.selection.state import SupportState
from dictsel_core.utility import Utility

#: Pairs of a patch and an atom that are tried at once.
_PAIRS = 2048


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
    >>> data = np.random.default_rng(0).normal(size=(50, 64))
    >>> selection = sds_ma(standard_ground_set(bases=["dct"]), data, IndividualSparsity(2), 5)
    >>> explained = sum((weights**2).sum() for weights in selection.coefficients) / 2
    >>> bool(np.isclose(selection.objective[-1], explained))
    True
    """
    return iter_sds_ma(
        ground_set, data, constraint, n_atoms, mask=mask, weights=weights, utility=utility
    ).finish()


class _ModularEngine:
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


iter_sds_ma = Selector(
    "sds_ma",
    _ModularEngine,
    (IndividualSparsity, AverageSparsity),
    "IndividualSparsity or AverageSparsity",
).step_by_step(sds_ma)


def sds_omp(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: IndividualSparsity,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Selection:
    """Select a dictionary by SDS_OMP.

    Each step selects the atom a with the largest h(X + a), the utility that OMP reaches for all patches
    in the dictionary X + a. Only the patches whose pursuit would choose a are coded again, which does not
    change h; still, a step takes seconds for tens of thousands of patches. The utility is the squared one:
    the ratio in table 1 is for it alone.

    Parameters
    ----------
    ground_set, data, n_atoms, mask, weights
        As in `replacement_omp`.
    constraint : IndividualSparsity
        The sparsity of OMP for each patch.

    Returns
    -------
    Selection
        `objective` is h of the selected atoms; it may decrease, since OMP is not optimal. `gains` are its
        changes.

    See Also
    --------
    sds_ma : Replaces the value by a modular one; has the reference.
    replacement_omp : Selects dictionaries of similar quality in a fraction of the time.

    Examples
    --------
    The objective is that of OMP in the selected dictionary:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.online import utilities
    >>> data = np.random.default_rng(0).normal(size=(20, 64))
    >>> selection = sds_omp(standard_ground_set(), data, IndividualSparsity(3), 6)
    >>> bool(np.isclose(selection.objective[-1], utilities(selection.dictionary, data, 3).sum()))
    True
    """
    return iter_sds_omp(ground_set, data, constraint, n_atoms, mask=mask, weights=weights).finish()


class _OMPEngine:
    """The current dictionary, the code of every patch in it, and the atoms that patches would prefer."""

    def __init__(self, problem: Problem, constraint: IndividualSparsity, n_atoms: int) -> None:
        n_points, n_candidates = len(problem), len(problem.ground_set)
        self.problem = problem
        self.caps: Ints = np.broadcast_to(constraint.caps, n_points)
        # A support holds no more atoms than the dictionary, and no more independent ones than features.
        self.depth = min(int(self.caps.max()), n_atoms, problem.ground_set.n_features)
        self.atom_rows = np.ascontiguousarray(problem.atoms.T)
        self.chosen: list[int] = []
        self.new = np.ones(n_candidates, bool)
        self.code()

    def advance(self) -> SelectionStep:
        """Select the atom with the largest h."""
        gains = np.zeros(len(self.new))
        rows, atoms = np.nonzero(self.preferred & self.new)
        # The last column is that of the atom tried, one for each patch.
        pursuit = self._pursuit(np.pad(self.problem.atoms[:, self.chosen], ((0, 0), (0, 1))))
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            reached = self._run(pursuit, rows[part], own=self.atom_rows[atoms[part]])[1]
            np.add.at(gains, atoms[part], reached - self.utilities[rows[part]])
        self.problem.equalize_duplicates(gains)
        atom = int(np.where(self.new, gains, -np.inf).argmax())
        self.chosen.append(atom)
        self.new[atom] = False
        self.code()
        return SelectionStep(atom, float(gains[atom]), float(self.utilities.sum()), len(np.unique(atoms)))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports that OMP finds, and their least-squares weights."""
        state = SupportState(self.problem, self.depth)
        state.set_supports(self.supports)
        return state.fitted()

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return float(self.utilities.sum())

    def code(self) -> None:
        """Code all patches in the dictionary, and find the atoms that OMP would have chosen over it."""
        n_points, n_candidates = len(self.problem), len(self.new)
        self.utilities = np.zeros(n_points)
        self.supports = np.full((n_points, self.depth), -1)
        self.preferred = np.zeros((n_points, n_candidates), bool)
        pursuit = self._pursuit(self.problem.atoms)
        step = chunk_rows(n_candidates * self.problem.data.itemsize)
        for start in range(0, n_points, step):
            rows = np.arange(start, min(start + step, n_points))
            found = self._run(pursuit, rows, rule=self._note_preferred(rows))
            self.supports[rows], self.utilities[rows] = found

    def _pursuit(self, atoms: Floats) -> Pursuit:
        nothing = np.zeros(atoms.shape[1], bool)  # is excluded: equal atoms have equal gains
        return Pursuit(atoms, self.depth, weak=self.problem.has_partial_weights, excluded=nothing)

    def _run(
        self, pursuit: Pursuit, rows: Ints, rule: Rule | None = None, own: Floats | None = None
    ) -> tuple[Ints, NDArray[np.float64]]:
        """Return the supports of some patches, padded with -1, and their utilities."""
        problem = self.problem
        observed = None if problem.observed is None else problem.observed[rows]
        supports, _, energies = pursuit(problem.data[rows], observed, self.caps[rows], rule=rule, own=own)
        padded = np.full((len(rows), self.depth), -1)
        padded[:, : supports.shape[1]] = supports
        return padded, (problem.energies[rows] - energies) / 2

    def _note_preferred(self, rows: Ints) -> Rule:
        """Return the rule that restricts a pursuit to the dictionary, and notes what it would have chosen."""
        problem, chosen = self.problem, self.chosen
        caps, noise = self.caps[rows], problem.rounding[rows]
        outside = np.setdiff1d(np.arange(len(self.new)), chosen)
        steps = count()

        def restrict(scores: Floats, supports: Ints) -> None:
            best = scores[:, chosen].max(axis=1, initial=0)
            wanted = scores > np.maximum(best, noise)[:, None]
            self.preferred[rows] |= wanted & (caps > next(steps))[:, None]
            scores[:, outside] = -1

        return restrict


iter_sds_omp = Selector(
    "sds_omp",
    _OMPEngine,
    (IndividualSparsity,),
    "IndividualSparsity, since OMP codes each patch by itself",
).step_by_step(sds_omp)
