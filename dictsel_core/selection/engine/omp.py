"""The engine of Replacement OMP (section 4.2)."""

from typing import Literal

import numpy as np

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.constraints import Constraint, Replacement, ReplacementGains
from dictsel_core.selection.engine.selector import GainCostEngine, SelectedAtom
from dictsel_core.selection.engine.state import GramState, SupportState
from dictsel_core.selection.engine.utilities import UtilityProblem
from dictsel_core.selection.problem import Problem

Repeats = Literal["extra", "steps", "none"]


class OMPEngine(GainCostEngine):
    """Replacement OMP: supports and squared correlations of all patches.

    Derive from it, and write `iterate`, for a selector with the same gains that chooses otherwise.

    Parameters
    ----------
    problem : Problem
    constraint : Constraint
    n_atoms : int
    decay, repeats, accuracy, threads
        Those of `replacement_omp`.

    Attributes
    ----------
    gains : (T, n) ndarray
        Squared correlations of the atoms with the residuals.
    largest : (T,) ndarray
        The largest of each patch.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.selection.engine import Problem
    >>> ground_set = standard_ground_set()
    >>> engine = OMPEngine(Problem.of(ground_set, 3 * ground_set.atoms[:, [7]].T), IndividualSparsity(1), 1)
    >>> engine.advance().atom
    7
    """

    def __init__(
        self,
        problem: Problem,
        constraint: Constraint,
        n_atoms: int,
        decay: bool = False,
        repeats: Repeats | None = None,
        accuracy: float = 1.0,
        threads: int = 1,
    ) -> None:
        n_candidates = len(problem.ground_set)
        capacity = constraint.capacity(len(problem), n_candidates, n_atoms)
        # In larger dictionaries, shared products cost more than they save.
        shares_products = (
            not isinstance(problem, UtilityProblem)
            and problem.observed is None
            and n_atoms <= 2 * problem.ground_set.n_features
        )
        state: SupportState
        if shares_products:
            state = GramState(problem, capacity, n_atoms, threads)
        else:
            state = SupportState(problem, capacity, threads=threads)
        # With decay a gain does not guarantee an improvement, so repeats could cycle.
        max_repeats = {"extra": n_atoms, "steps": None, "none": 0}[repeats or ("none" if decay else "extra")]
        super().__init__(state, constraint, max_repeats, accuracy)
        self.problem, self.decay = problem, decay
        self.gains = np.empty((len(problem), n_candidates), problem.data.dtype)
        self.largest = np.empty(len(problem), problem.data.dtype)
        self.update_gains(np.arange(len(problem)))
        self.iteration = 0

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Make one iteration of algorithm 1."""
        self.iteration += 1
        smoothness = self.problem.ground_set.smoothness
        if self.decay:
            smoothness /= np.sqrt(self.iteration)
        return self.apply_best(self.table(smoothness), smoothness, eligible, new)

    def table(self, smoothness: float | None = None) -> ReplacementGains:
        """Return gains and costs, both multiplied by M: squares of A^T r, and of M w.

        M is that of the ground set by default.
        """
        state = self.state
        smoothness = self.problem.ground_set.smoothness if smoothness is None else smoothness
        costs = state.removal_costs(smoothness)
        return ReplacementGains(self.gains, costs, state.supports, state.sizes, self.largest, state.threads)

    def apply(self, replacement: Replacement, atom: int) -> None:
        """Change the supports, refit them, and update the gains."""
        self.update_gains(self.state.apply(replacement, atom))

    def update_gains(self, rows: Ints) -> None:
        """Recompute the squared correlations of patches whose residual has changed."""
        self.state.update_squares(rows, self.gains, self.largest)
