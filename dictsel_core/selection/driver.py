"""What the selectors share: how they start, and the loop of algorithm 1."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._validation import Bools, Floats, Ints, as_n_atoms
from dictsel_core.constraints import Constraint
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.certificate import OptimumBound
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.selection.result import SelectionStep
from dictsel_core.selection.run import Bound, Engine, SelectionRun
from dictsel_core.selection.utility_fit import UtilityBound, UtilityProblem
from dictsel_core.utility import Utility


class Method(NamedTuple):
    """A selector: which constraints it accepts, and its engine.

    Attributes
    ----------
    accepted : tuple of type
        Classes of constraints.
    needs : str
        The same in words, for errors.
    engine : callable
        Takes a `Problem`, a constraint, the number of atoms, and the selector's own options by name.
    """

    accepted: tuple[type[Constraint], ...]
    needs: str
    engine: Callable[..., Engine]

    def start(
        self,
        ground_set: GroundSet,
        data: ArrayLike,
        constraint: Constraint,
        n_atoms: int,
        mask: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        utility: Utility | None = None,
        **options: object,
    ) -> SelectionRun:
        """Check the input, and return a run that has not begun."""
        self._check(constraint)
        problem: Problem
        bound: Bound
        points = as_points(ground_set, data, mask, weights)
        if utility is None:
            problem = Problem(ground_set, points)
            bound = OptimumBound(problem, constraint)
        else:
            problem = UtilityProblem(ground_set, points, _checked_utility(utility))
            bound = UtilityBound(problem)
        count = as_n_atoms(n_atoms, len(ground_set))
        constraint.check(len(problem), len(ground_set))
        return SelectionRun(
            ground_set, count, lambda: self.engine(problem, constraint, count, **options), bound
        )

    def _check(self, constraint: object) -> None:
        if isinstance(constraint, type):
            raise TypeError(
                f"{self.needs}, not the class {constraint.__name__}; give it its parameters, "
                "as IndividualSparsity(5)."
            )
        if not isinstance(constraint, Constraint):
            raise TypeError(
                f"{self.needs}, not {type(constraint).__name__}; a custom constraint derives from Constraint."
            )
        if not isinstance(constraint, self.accepted):
            raise TypeError(
                f"{self.needs}, not {type(constraint).__name__}; use replacement_omp for that one."
            )


def _checked_utility(utility: object) -> Utility:
    if not isinstance(utility, Utility):
        raise TypeError(
            f"utility must be a Utility such as HuberUtility(0.1), not {type(utility).__name__}."
            if not isinstance(utility, type)
            else f"utility must be a Utility, not the class {utility.__name__}; give it its parameters."
        )
    return utility


class Pick(NamedTuple):
    """The atom that was selected, its gain, how many candidates were evaluated exactly, and the error."""

    atom: int
    gain: float
    n_exact: int
    error: float = 0.0


class Supports(Protocol):
    """The supports that an engine changes."""

    @property
    def n_candidates(self) -> int:
        """The number n of candidate atoms."""

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t)."""

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""


class ReplacementEngine(ABC):
    """Algorithm 1: iterations that replace atoms in supports, until a new atom is selected.

    Parameters
    ----------
    state : Supports
        Modified by `iterate`.
    max_repeats : int or None
        How many iterations may select an atom that is already in the dictionary, without being a step; None
        if every iteration is a step, as in the paper.
    """

    def __init__(self, state: Supports, max_repeats: int | None) -> None:
        self._supports = state
        self._counts_repeats = max_repeats is None
        self._repeats_left = max_repeats or 0
        self._all = np.ones(state.n_candidates, bool)
        self._new = self._all.copy()

    @abstractmethod
    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Apply the best replacement by an eligible atom, (n,) bool.

        If no replacement has a positive gain, pick one of the atoms not selected yet, `new`, with gain 0.
        """

    def advance(self) -> SelectionStep:
        """Iterate until an atom joins the dictionary, or once if every iteration counts."""
        n_exact = 0
        while True:
            eligible = self._all if self._counts_repeats or self._repeats_left > 0 else self._new
            pick = self.iterate(eligible, self._new)
            n_exact += pick.n_exact
            if self._new[pick.atom] or self._counts_repeats:
                break
            self._repeats_left -= 1
        self._new[pick.atom] = False
        return SelectionStep(pick.atom, pick.gain, self._supports.objective, n_exact, pick.error)

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        return self._supports.fitted()

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return self._supports.objective
