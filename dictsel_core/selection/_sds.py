"""SDS_MA and SDS_OMP (Krause and Cevher 2010), and SDS_MA with average sparsity."""

import heapq
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows, positive_part_sums
from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import AverageSparsity, IndividualSparsity
from dictsel_core.pursuit.columns import Pursuit, Rule
from dictsel_core.selection.engine import Selector
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import SelectionRun, SelectionStep, iterate
from dictsel_core.selection.state import Fitted, SupportState
from dictsel_core.selection.utilities import modular_values
from dictsel_core.utility import Utility


@finished
def sds_ma(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: IndividualSparsity | AverageSparsity,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    utility: Utility | None = None,
) -> SelectionRun:
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
        then :math:`f_t(\{a\})` is its maximum over the weight of atom a.

    Returns
    -------
    Selection
        `objective` and `gains` are those of the modular approximation; the supports maximize it, and have
        least-squares weights.

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
    accepted, needs = (IndividualSparsity, AverageSparsity), "IndividualSparsity or AverageSparsity"
    return Selector("sds_ma", _ModularEngine, accepted, needs).start(
        ground_set, data, constraint, n_atoms, mask, weights, utility
    )


iter_sds_ma = iterate(sds_ma)


class _ModularEngine:
    """The largest values within the budget, if there is one, among the s_t largest of each patch."""

    def __init__(
        self, problem: Problem, constraint: IndividualSparsity | AverageSparsity, n_atoms: int
    ) -> None:
        n_points, n_candidates = len(problem), len(problem.ground_set)
        capacity = constraint.capacity(n_points, n_candidates, n_atoms)
        self._state, self._total = SupportState(problem, capacity), 0.0
        self._values = modular_values(problem).astype(np.float64)
        self._pool, self._atoms = np.zeros((n_points, capacity)), np.full((n_points, capacity), -1)
        self._barred: Bools = np.zeros((n_points, capacity), bool)  # slots beyond the cap of a patch
        if constraint.caps is not None:
            self._barred[...] = np.arange(capacity) >= np.broadcast_to(constraint.caps, n_points)[:, None]
        budget = constraint.budget if isinstance(constraint, AverageSparsity) else self._pool.size
        self._budget = min(budget, self._pool.size)
        # Upper bounds of the gains, negative; a sorted list is a heap.
        self._queue = sorted(zip((-self._values.sum(axis=0)).tolist(), range(n_candidates), strict=True))

    def advance(self) -> SelectionStep:
        fresh: set[int] = set()
        if self._budget == self._pool.size:  # then the gains of all atoms are sums over patches
            gains = positive_part_sums(self._values, self._smallest()[1])
            self._queue = sorted((-float(gains[atom]), atom) for _, atom in self._queue)
            fresh.update(range(len(gains)))
        while self._queue[0][1] not in fresh:  # gains never grow, so that old ones are bounds
            atom = self._queue[0][1]
            heapq.heapreplace(self._queue, (self._total - self._worth(self._with(atom)[0]), atom))
            fresh.add(atom)
        gain, atom = heapq.heappop(self._queue)
        self._pool, rows, slots = self._with(atom)
        self._atoms[rows, slots] = atom
        self._total -= gain
        return SelectionStep(atom, -gain, self._total, len(fresh))

    def fitted(self) -> Fitted:
        paid = np.zeros(self._pool.size, bool)
        paid[np.argsort(-self._pool, axis=None, kind="stable")[: self._budget]] = True
        chosen = np.where(paid.reshape(self._pool.shape) & (self._pool > 0), self._atoms, -1)
        order = np.argsort(chosen < 0, axis=1, kind="stable")
        self._state.set_supports(np.take_along_axis(chosen, order, axis=1))
        return self._state.fitted()

    def _smallest(self) -> tuple[Ints, Doubles]:
        """Return the slot of the smallest value of each patch, and that value: (T,) each."""
        slots = np.where(self._barred, np.inf, self._pool).argmin(axis=1)
        return slots, self._pool[np.arange(len(slots)), slots]

    def _with(self, atom: int) -> tuple[Doubles, Ints, Ints]:
        """Return the pool with an atom in place of every smaller value, and the rows and slots it took."""
        slots, smallest = self._smallest()
        rows = np.flatnonzero(self._values[:, atom] > smallest)
        pool = self._pool.copy()
        pool[rows, slots[rows]] = self._values[rows, atom]
        return pool, rows, slots[rows]

    def _worth(self, pool: Doubles) -> float:
        return float(np.partition(pool, -self._budget, axis=None)[-self._budget :].sum())


@finished
def sds_omp(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: IndividualSparsity,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> SelectionRun:
    """Select a dictionary by SDS_OMP, which takes long.

    Each step selects the atom a with the largest h(X + a), the utility that OMP reaches for all patches
    in the dictionary X + a. Only the patches whose pursuit would choose a are coded again, which does not
    change h.

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
    needs = "IndividualSparsity, since OMP codes each patch by itself"
    return Selector("sds_omp", _OMPEngine, (IndividualSparsity,), needs).start(
        ground_set, data, constraint, n_atoms, mask, weights
    )


iter_sds_omp = iterate(sds_omp)


class _OMPEngine:
    """The current dictionary, the code of every patch in it, and the atoms that patches would prefer."""

    def __init__(self, problem: Problem, constraint: IndividualSparsity, n_atoms: int) -> None:
        n_points, n_candidates = len(problem), len(problem.ground_set)
        self.problem = problem
        self.caps: Ints = np.broadcast_to(constraint.caps, n_points)
        # A support holds no more atoms than the dictionary, and no more independent ones than features.
        self.depth = min(int(self.caps.max()), n_atoms, problem.ground_set.n_features)
        self.chosen: list[int] = []
        self.new = np.ones(n_candidates, bool)
        self.code()

    def advance(self) -> SelectionStep:
        gains, wanted = np.zeros(len(self.new)), self.preferred & self.new
        tried = np.flatnonzero(wanted.any(axis=0))
        for atom in tried:
            rows = np.flatnonzero(wanted[:, atom])
            _, reached = self._run(self._pursuit([*self.chosen, int(atom)]), rows)
            gains[atom] = (reached - self.utilities[rows]).sum()
        self.problem.equalize_duplicates(gains)
        best = int(np.where(self.new, gains, -np.inf).argmax())
        self.chosen.append(best)
        self.new[best] = False
        self.code()
        return SelectionStep(best, float(gains[best]), float(self.utilities.sum()), len(tried))

    def fitted(self) -> Fitted:
        state = SupportState(self.problem, self.depth)
        state.set_supports(self.supports)
        return state.fitted()

    def code(self) -> None:
        """Code all patches in the dictionary, and find the atoms that OMP would have chosen over it."""
        n_points, n_candidates = len(self.problem), len(self.new)
        self.utilities = np.zeros(n_points)
        self.supports = np.full((n_points, self.depth), -1)
        self.preferred = np.zeros((n_points, n_candidates), bool)
        pursuit = self._pursuit(list(range(n_candidates)))
        step = chunk_rows(n_candidates * self.problem.data.itemsize)
        for start in range(0, n_points, step):
            rows = np.arange(start, min(start + step, n_points))
            found = self._run(pursuit, rows, rule=self._note_preferred(rows))
            self.supports[rows], self.utilities[rows] = found

    def _pursuit(self, atoms: list[int]) -> Pursuit:
        nothing = np.zeros(len(atoms), bool)  # is excluded: equal atoms have equal gains
        return Pursuit(self.problem.atoms[:, atoms], self.depth, excluded=nothing)

    def _run(self, pursuit: Pursuit, rows: Ints, rule: Rule | None = None) -> tuple[Ints, Doubles]:
        """Return the supports of some patches, padded with -1, and their utilities."""
        problem = self.problem
        observed = None if problem.observed is None else problem.observed[rows]
        supports, _, energies = pursuit(problem.data[rows], observed, self.caps[rows], rule=rule)
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
