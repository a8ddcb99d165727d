"""Replacement Greedy (section 4.1), with true utility differences in place of gradients."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import LocalConstraint, SwapTable
from dictsel_core.selection.engine import Repeats, ReplacementEngine, SelectedAtom, Selector, as_max_repeats
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.run import SelectionRun, iterate
from dictsel_core.selection.state import SupportState
from dictsel_core.selection.utilities import differences_of
from dictsel_core.utility import Utility


@finished
def replacement_greedy(
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: LocalConstraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    utility: Utility | None = None,
    repeats: Repeats = "extra",
) -> SelectionRun:
    r"""Select a dictionary by Replacement Greedy (algorithm 1, section 4.1).

    Each step selects the atom a with the largest

    .. math:: \max_{(Z'_1, \dots, Z'_T) \in \mathcal{F}_a} \sum_t \{ f_t(Z'_t) - f_t(Z_t) \}

    and applies that replacement. The differences of all atoms and all swaps of a patch follow in
    closed form from one orthogonal basis of its support.

    Parameters
    ----------
    ground_set, data, n_atoms, mask, weights, repeats
        As in `replacement_omp`.
    constraint : LocalConstraint
        Individual, matroid or block sparsity. Average sparsity cannot be used: with one budget for all
        patches, the best replacement by true differences does not decompose by patch (section 4.3).
    utility : Utility, optional
        Another utility u than the squared one (theorem 4.1 holds for any that is smooth and strongly
        concave). Every atom and swap of every patch is then a fit of its own, which takes far longer.

    Returns
    -------
    Selection
        `objective` is the sum of f_t(Z_t), and `gains` are its growth by the replacement of each step.

    Examples
    --------
    Ten patches that share two atoms, by block sparsity:

    >>> import numpy as np
    >>> from dictsel_core import BlockSparsity, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["haar"])
    >>> weights = np.random.default_rng(0).normal(size=(10, 2))
    >>> data = weights @ ground_set.atoms[:, [3, 30]].T
    >>> selection = replacement_greedy(ground_set, data, BlockSparsity([range(10)], 2), 4)
    >>> sorted(set(np.concatenate(selection.supports).tolist()))
    [3, 30]
    """
    needs = "IndividualSparsity, MatroidSparsity or BlockSparsity"
    max_repeats = as_max_repeats(repeats, n_atoms)
    return Selector("replacement_greedy", _Engine, (LocalConstraint,), needs).start(
        ground_set, data, constraint, n_atoms, mask, weights, utility, max_repeats=max_repeats
    )


iter_replacement_greedy = iterate(replacement_greedy)


class _Engine(ReplacementEngine):
    """Supports of one run, and the table of all differences."""

    def __init__(
        self, problem: Problem, constraint: LocalConstraint, n_atoms: int, max_repeats: int | None
    ) -> None:
        n_points, n_candidates = len(problem), len(problem.ground_set)
        capacity = constraint.capacity(n_points, n_candidates, n_atoms)
        self.state = SupportState(problem, capacity)
        super().__init__(self.state, max_repeats)
        self.problem, self.constraint = problem, constraint
        self._differences = differences_of(problem)
        self.table = SwapTable(
            additions=np.empty((n_points, n_candidates), problem.data.dtype),
            swaps=np.empty((n_points, capacity, n_candidates), problem.data.dtype),
            supports=self.state.supports,
            sizes=self.state.sizes,
        )
        self.update_table(np.arange(n_points))

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        values = np.where(eligible, self.constraint.swap_values(self.table), 0)
        atom = int(values.argmax())
        if values[atom] <= 0:
            totals = self.table.additions.sum(axis=0, dtype=np.float64)
            return SelectedAtom(int(np.where(new, totals, -1.0).argmax()), 0.0, len(values))
        before = self.state.explained.copy()
        self.update_table(self.state.apply(self.constraint.swap(self.table, atom), atom))
        gain = float((self.state.explained - before).sum()) / 2
        return SelectedAtom(atom, max(gain, 0.0), len(values))

    def update_table(self, rows: Ints) -> None:
        for block, supports in self.state.blocks(rows, self.state.n_candidates):
            width = supports.shape[1]
            self.table.additions[block], self.table.swaps[block, :width] = self._differences.of_supports(
                block, supports
            )
            self.table.swaps[block, width:] = -np.inf
