"""Dictionary learning in progress, one iteration at a time; it has a result after every iteration."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.arrays import read_only
from dictsel_core._support.runs import Run
from dictsel_core._support.threads import single_threaded_blas
from dictsel_core._support.validation import as_count, as_nonnegative
from dictsel_core.learning.codes import LearningState, learning_state
from dictsel_core.learning.result import LearnedDictionary, LearningStep


class LearningRun(Run[LearningStep, LearnedDictionary]):
    """An iterator over the iterations of a learner; `result` is available after every one.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core.learning import iter_mod
    >>> run = iter_mod(np.random.default_rng(0).normal(size=(50, 16)), 8, 2)
    >>> [next(run).iteration for _ in range(3)]
    [1, 2, 3]
    >>> run.result.dictionary.shape
    (16, 8)
    """

    def __init__(
        self,
        state: LearningState,
        update: Callable[[LearningState], None],
        max_iterations: int,
        tolerance: float,
    ) -> None:
        self._state, self._update = state, update
        self._max_iterations = as_count(max_iterations, "max_iterations")
        self._tolerance = as_nonnegative(tolerance, "tolerance")
        self._steps: list[LearningStep] = []
        self._converged = state.energy == 0.0

    def __next__(self) -> LearningStep:
        """Code all patches, and update all atoms."""
        if self._converged or len(self._steps) >= self._max_iterations:
            raise StopIteration
        state, before = self._state, self._steps[-1].objective if self._steps else 0.0
        with single_threaded_blas:
            state.code()
            replaced = state.replace_unused()
            self._update(state)
        objective = state.objective
        change = objective - before
        # No code uses the new atoms before the next iteration.
        self._converged = change <= self._tolerance and not replaced
        self._steps.append(LearningStep(len(self._steps) + 1, objective, change))
        return self._steps[-1]

    @property
    def steps(self) -> tuple[LearningStep, ...]:
        """The iterations made."""
        return tuple(self._steps)

    @property
    def result(self) -> LearnedDictionary:
        """The dictionary after the iterations made."""
        supports, coefficients = self._state.fitted()
        return LearnedDictionary(
            dictionary=read_only(self._state.dictionary.copy()),
            supports=tuple(map(read_only, supports)),
            coefficients=tuple(map(read_only, coefficients)),
            objective=read_only(np.array([step.objective for step in self._steps])),
            converged=self._converged,
        )

    def finish(self) -> LearnedDictionary:
        """Make all remaining iterations and return the dictionary."""
        with single_threaded_blas:  # once for all iterations
            return super().finish()


class LearningMethod(NamedTuple):
    """A learner: `update` fits the atoms of a state to its codes."""

    update: Callable[[LearningState], None]

    def start(
        self,
        data: ArrayLike,
        n_atoms: int,
        sparsity: int,
        mask: ArrayLike | None,
        initial: ArrayLike | None,
        max_iterations: int,
        tolerance: float,
        rng: np.random.Generator | int | None,
    ) -> LearningRun:
        """Check the input, and return a run that has not begun."""
        state = learning_state(data, n_atoms, sparsity, mask, initial, rng)
        return LearningRun(state, self.update, max_iterations, tolerance)
