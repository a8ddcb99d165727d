"""A selector: the constraints it accepts, and how it starts."""

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike

from dictsel_core._support.validation import as_n_atoms
from dictsel_core.constraints import Constraint
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.certificate import EnergyBound, OptimumBound
from dictsel_core.selection.engine.utility_fit import UtilityProblem
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.selection.run import Bound, Engine, SelectionRun
from dictsel_core.utility import Utility, as_utility


class Method(NamedTuple):
    """A selector: which constraints it accepts, and its engine.

    Attributes
    ----------
    accepted : tuple of type
        Classes of constraints.
    requirement : str
        The accepted constraints as text, for errors.
    engine : callable
        Takes a `Problem`, a constraint, the number of atoms, and the selector's own options by name.
    """

    accepted: tuple[type[Constraint], ...]
    requirement: str
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
            problem = UtilityProblem(ground_set, points, as_utility(utility))
            bound = EnergyBound(problem)
        count = as_n_atoms(n_atoms, len(ground_set))
        constraint.check(len(problem), len(ground_set))
        return SelectionRun(
            ground_set, count, lambda: self.engine(problem, constraint, count, **options), bound
        )

    def _check(self, constraint: object) -> None:
        if isinstance(constraint, type):
            raise TypeError(
                f"{self.requirement}, not the class {constraint.__name__}; give it its parameters, "
                "as IndividualSparsity(5)."
            )
        if not isinstance(constraint, Constraint):
            raise TypeError(
                f"{self.requirement}, not {type(constraint).__name__}; a custom constraint derives from "
                "Constraint."
            )
        if not isinstance(constraint, self.accepted):
            raise TypeError(
                f"{self.requirement}, not {type(constraint).__name__}; use replacement_omp for that one."
            )
