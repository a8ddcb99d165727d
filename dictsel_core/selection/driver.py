"""What the selectors share: checks of their input, the loop of algorithm 1, draining the steps."""

from collections.abc import Callable, Generator
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._threads import single_threaded_blas
from dictsel_core._validation import Bools, as_n_atoms
from dictsel_core.constraints import Constraint
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.result import Selection, SelectionStep, as_selection
from dictsel_core.selection.state import Problem, SupportState

Selecting = Generator[SelectionStep, None, Selection]
Returned = TypeVar("Returned")


def prepare(
    ground_set: GroundSet,
    data: ArrayLike,
    mask: ArrayLike | None,
    n_atoms: int,
    constraint: object,
    accepted: type | tuple[type, ...],
    needs: str,
) -> tuple[Problem, int]:
    """Check the input of a selector before any work; `needs` says which constraints it accepts."""
    if isinstance(constraint, type):
        raise TypeError(
            f"{needs}, not the class {constraint.__name__}; give it its parameters, as IndividualSparsity(5)."
        )
    if not isinstance(constraint, Constraint) or not isinstance(constraint, accepted):
        advice = "; use replacement_omp for that one" if isinstance(constraint, Constraint) else ""
        raise TypeError(f"{needs}, not {type(constraint).__name__}{advice}.")
    problem = Problem(ground_set, data, mask)
    count = as_n_atoms(n_atoms, len(ground_set))
    constraint.check(len(problem), len(ground_set))
    return problem, count


def drain(steps: Generator[object, None, Returned]) -> Returned:
    """Run a generator to its end and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Returned = stop.value
            return result


def replacement_steps(
    state: SupportState,
    n_atoms: int,
    repeats: int,
    iterate: Callable[[Bools, Bools], tuple[int, float, int]],
) -> Selecting:
    """Run algorithm 1 until the dictionary holds `n_atoms` atoms.

    Parameters
    ----------
    state : SupportState
        Changed by `iterate`.
    n_atoms : int
    repeats : int
        How many iterations may go to an atom that is in the dictionary already.
    iterate : callable
        Takes the atoms that may win, (n,) bool, and those not yet selected, (n,) bool. Carries the best
        replacement out and returns its atom, its gain and the number of exact solves.
    """
    ground_set = state.problem.ground_set
    new = np.ones(len(ground_set), bool)
    taken: list[SelectionStep] = []
    n_exact = 0
    while len(taken) < n_atoms:
        with single_threaded_blas:
            atom, gain, solved = iterate(new if repeats == 0 else np.ones_like(new), new)
        n_exact += solved
        if new[atom]:
            new[atom] = False
            taken.append(SelectionStep(atom, gain, state.objective, n_exact))
            n_exact = 0
            yield taken[-1]
        else:
            repeats -= 1
    return as_selection(ground_set, taken, *state.final_supports())
