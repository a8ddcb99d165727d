"""SDS_OMP (Krause and Cevher 2010): greedy on the value of the dictionary that OMP finds."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.arrays import chunk_rows
from dictsel_core._support.least_squares import StackedLeastSquares
from dictsel_core._support.runs import stepwise
from dictsel_core._support.validation import Floats, Ints, rounding_level
from dictsel_core.constraints import IndividualSparsity
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.engine.fits import ColumnFit
from dictsel_core.selection.engine.method import Method
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.result import Selection, SelectionStep


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
    ground_set : GroundSet
        The n candidate atoms.
    data : (T, d) array_like
        Patches as rows. Missing entries may have any value, NaN included.
    constraint : IndividualSparsity
        The sparsity of OMP for each patch.
    n_atoms : int
        The dictionary size k.
    mask : (T, d) array_like of bool, optional
        True = missing. OMP then uses observed entries only, as `omp` does. By default nothing is missing.
    weights : (T, d) or (T,) array_like, optional
        Of each entry, or of each patch: how many times its squared error counts. An entry of weight 0 is
        missing. Default is 1.

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
        self.depth = min(int(self.caps.max()), n_atoms, problem.atoms.shape[0])
        lengths = np.broadcast_to(problem.masked_lengths(), (n_points, n_candidates))
        visible = lengths > rounding_level(problem.atoms.shape[0], problem.data.dtype) ** 2
        self.inverse: Floats = np.zeros(lengths.shape, problem.data.dtype)
        np.divide(1, lengths, out=self.inverse, where=visible)
        self.atom_rows = np.ascontiguousarray(problem.atoms.T)
        self.chosen: list[int] = []
        self.new = np.ones(n_candidates, bool)
        self.code()

    def advance(self) -> SelectionStep:
        """Select the atom with the largest h."""
        gains = np.zeros(len(self.new))
        rows, atoms = np.nonzero(self.preferred & self.new)
        step = 2048
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            utilities = self.pursue(rows[part], atoms[part])[0]
            np.add.at(gains, atoms[part], utilities - self.utilities[rows[part]])
        self.problem.equalize_duplicates(gains)
        atom = int(np.where(self.new, gains, -np.inf).argmax())
        self.chosen.append(atom)
        self.new[atom] = False
        self.code()
        return SelectionStep(atom, float(gains[atom]), float(self.utilities.sum()), len(np.unique(atoms)))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports that OMP finds, and their least-squares weights."""
        state = SupportState(self.problem, self.depth, ColumnFit(self.problem))
        state.set_supports(self.supports)
        return state.fitted()

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return float(self.utilities.sum())

    def code(self) -> None:
        """Code all patches in the dictionary, and find the atoms that would have been preferred."""
        n_points, n_candidates = self.inverse.shape
        self.utilities = np.zeros(n_points)
        self.supports = np.full((n_points, self.depth), -1)
        self.preferred = np.zeros((n_points, n_candidates), bool)
        step = chunk_rows(n_candidates * self.problem.data.itemsize)
        for start in range(0, n_points, step):
            rows = np.arange(start, min(start + step, n_points))
            found = self.pursue(rows, None)
            self.utilities[rows], self.supports[rows], self.preferred[rows] = found

    def pursue(self, rows: Ints, extra: Ints | None) -> tuple[NDArray[np.float64], Ints, NDArray[np.bool_]]:
        """Code patches by OMP in the dictionary, each with one extra atom if given.

        Returns
        -------
        utilities : (B,) ndarray
        supports : (B, s) ndarray of int
            Ground-set indices, padded with -1.
        preferred : (B, n) ndarray of bool
            Without extra atoms: those that OMP would choose over the dictionary in some step. Else empty.
        """
        problem = self.problem
        n_features = problem.atoms.shape[0]
        dictionary = np.array(self.chosen, dtype=np.intp)
        if extra is None:
            candidates, atoms = np.arange(len(self.new)), problem.atoms
        else:
            candidates, atoms = dictionary, np.ascontiguousarray(problem.atoms[:, dictionary])
            own = self.atom_rows[extra]
        fit = StackedLeastSquares(self.depth, len(rows), n_features, problem.data.dtype)
        fit.begin(problem.data[rows])
        observed = None if problem.observed is None else problem.observed[rows]
        supports = np.full((len(rows), self.depth), -1)
        preferred = np.zeros((len(rows), len(self.new) if extra is None else 0), bool)
        threshold = problem.rounding[rows]
        active = np.ones(len(rows), bool)
        each = np.arange(len(rows))
        inverse = self.inverse[rows[:, None], candidates]
        for j in range(self.depth):
            residual = problem.apply_factors(rows, fit.residual)
            scores = np.square(residual @ atoms) * inverse
            active &= self.caps[rows] > j
            best, atom = self._best_in_dictionary(scores, dictionary, extra is None)
            if extra is None:
                preferred |= active[:, None] & (scores > np.maximum(best, threshold)[:, None])
            else:
                score = np.square(np.vecdot(residual, own)) * self.inverse[rows, extra]
                atom = np.where(score > best, extra, atom)
                best = np.maximum(score, best)
            active &= best > threshold
            column = fit.next_column()
            np.take(self.atom_rows, atom, axis=0, out=column, mode="wrap")
            if observed is not None:
                np.multiply(column, observed, out=column)
            active = fit.append(self.inverse[rows, atom], active)
            supports[each, j] = np.where(active, atom, -1)
        energies = np.einsum("bd,bd->b", problem.data[rows], problem.data[rows])
        remaining = np.einsum("bd,bd->b", fit.residual, fit.residual)
        return (energies.astype(np.float64) - remaining) / 2, supports, preferred

    @staticmethod
    def _best_in_dictionary(scores: Floats, dictionary: Ints, over_ground_set: bool) -> tuple[Floats, Ints]:
        """Return the best score within the dictionary and its atom; (0, -1) if it is empty."""
        if not dictionary.size:
            return np.zeros(len(scores), scores.dtype), np.full(len(scores), -1)
        within = scores[:, dictionary] if over_ground_set else scores
        position = within.argmax(axis=1)
        return within[np.arange(len(within)), position], dictionary[position]


_METHOD = Method(
    (IndividualSparsity,), "sds_omp needs IndividualSparsity, since OMP codes each patch by itself", _Engine
)
iter_sds_omp = stepwise(sds_omp, _METHOD.start)
