"""SDS_OMP (Krause and Cevher 2010): greedy on the value of the dictionary that OMP finds."""

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.runs import with_parameters_of
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import IndividualSparsity
from dictsel_core.pursuit.columns import Pursuit, Rule
from dictsel_core.selection.engine.selector import Selector
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import Selection, SelectionRun, SelectionStep

#: Pairs of a patch and an atom that are tried at once.
_PAIRS = 2048


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
    ground_set, data, n_atoms, weights
        As in `replacement_omp`.
    constraint : IndividualSparsity
        The sparsity of OMP for each patch.
    mask : (T, d) array_like of bool, optional
        True = missing. OMP then uses observed entries only, as `omp` does. By default nothing is missing.

    Returns
    -------
    Selection
        `objective` is h of the selected atoms; it may decrease, since OMP is not optimal. `gains` are its
        changes.

    See Also
    --------
    iter_sds_omp : The same, step by step.
    replacement_omp : Selects dictionaries of similar quality in a fraction of the time.

    References
    ----------
    .. [1] A. Krause and V. Cevher, "Submodular dictionary selection for sparse representation", ICML 2010.

    Examples
    --------
    The objective is that of OMP in the selected dictionary:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.online import utilities
    >>> from dictsel_core.selection import sds_omp
    >>> data = np.random.default_rng(0).normal(size=(20, 64))
    >>> selection = sds_omp(standard_ground_set(), data, IndividualSparsity(3), 6)
    >>> bool(np.isclose(selection.objective[-1], utilities(selection.dictionary, data, 3).sum()))
    True
    """
    return iter_sds_omp(ground_set, data, constraint, n_atoms, mask=mask, weights=weights).finish()


class _Engine:
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


@with_parameters_of(sds_omp)
def iter_sds_omp(**problem: Any) -> SelectionRun:  # noqa: ANN401  (checked by the selector)
    """Start `sds_omp`, and return its run, which selects one atom per step.

    The parameters are those of `sds_omp`, checked at the call. There is a result after every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> data = np.random.default_rng(0).normal(size=(20, 64))
    >>> steps = list(iter_sds_omp(standard_ground_set(), data, IndividualSparsity(2), 4))
    >>> bool(np.isclose(sum(step.gain for step in steps), steps[-1].objective))
    True
    """
    needs = "IndividualSparsity, since OMP codes each patch by itself"
    return Selector("sds_omp", _Engine, (IndividualSparsity,), needs).start(**problem)
