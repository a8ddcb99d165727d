"""What the selectors share: checks of their input, and the loop of algorithm 1."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._validation import Bools, Floats, Ints, as_n_atoms
from dictsel_core.constraints import Constraint
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.problem import Problem
from dictsel_core.selection.result import SelectionStep
from dictsel_core.selection.state import SupportState


def prepare(
    ground_set: GroundSet,
    data: ArrayLike,
    mask: ArrayLike | None,
    n_atoms: int,
    *,
    constraint: object,
    accepted: type | tuple[type, ...],
    needs: str,
) -> tuple[Problem, int]:
    """Check the input of a selector before any work; `needs` says which constraints it accepts."""
    if isinstance(constraint, type):
        raise TypeError(
            f"{needs}, not the class {constraint.__name__}; give it its parameters, as IndividualSparsity(5)."
        )
    if not isinstance(constraint, Constraint):
        raise TypeError(
            f"{needs}, not {type(constraint).__name__}; a constraint of your own derives from Constraint."
        )
    if not isinstance(constraint, accepted):
        raise TypeError(f"{needs}, not {type(constraint).__name__}; use replacement_omp for that one.")
    problem = Problem(ground_set, data, mask)
    count = as_n_atoms(n_atoms, len(ground_set))
    constraint.check(len(problem), len(ground_set))
    return problem, count


class Pick(NamedTuple):
    """An atom, what choosing it gained, and how many candidates were evaluated exactly."""

    atom: int
    gain: float
    n_exact: int


class ReplacementEngine(ABC):
    """Algorithm 1: iterations that replace atoms in supports, until a new atom wins.

    Parameters
    ----------
    state : SupportState
        Changed by `iterate`.
    repeats : int
        How many iterations may go to an atom that is in the dictionary already.
    """

    def __init__(self, state: SupportState, repeats: int) -> None:
        self.state = state
        self._repeats = repeats
        self._all = np.ones(len(state.problem.ground_set), bool)
        self._new = self._all.copy()

    @abstractmethod
    def iterate(self, eligible: Bools, new: Bools) -> Pick:
        """Carry out the best replacement by an eligible atom, (n,) bool.

        Where none gains anything, pick one of the atoms not selected yet, `new`, with the gain 0.
        """

    def advance(self) -> SelectionStep:
        """Iterate until an atom joins the dictionary."""
        n_exact = 0
        while True:
            eligible = self._all if self._repeats > 0 else self._new
            pick = self.iterate(eligible, self._new)
            n_exact += pick.n_exact
            if self._new[pick.atom]:
                break
            self._repeats -= 1
        self._new[pick.atom] = False
        return SelectionStep(pick.atom, pick.gain, self.state.objective, n_exact)

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        return self.state.fitted()
