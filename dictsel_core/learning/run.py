"""Dictionary learning under way: iterations one at a time, and what they have led to."""

from collections.abc import Callable, Iterator

import numpy as np

from dictsel_core._arrays import read_only
from dictsel_core._threads import single_threaded_blas
from dictsel_core._validation import as_count, as_nonnegative
from dictsel_core.learning.codes import LearningState
from dictsel_core.learning.result import LearnedDictionary, LearningStep


class LearningRun(Iterator[LearningStep]):
    """An iterator over the iterations of a learner.

    Not asking for the next one is all it takes to stop; what has been learned until then is at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import iter_mod
    >>> run = iter_mod(np.random.default_rng(0).normal(size=(50, 16)), 8, 2)
    >>> [next(run).iteration for _ in range(3)]
    [1, 2, 3]
    >>> run.learned.dictionary.shape
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
            revived = state.revive_unused()
            self._update(state)
        objective = state.objective
        change = objective - before
        # Revived atoms are in no code before the next iteration.
        self._converged = change <= self._tolerance and not revived
        self._steps.append(LearningStep(len(self._steps) + 1, objective, change))
        return self._steps[-1]

    @property
    def steps(self) -> tuple[LearningStep, ...]:
        """The iterations made so far."""
        return tuple(self._steps)

    @property
    def learned(self) -> LearnedDictionary:
        """What the iterations so far have led to."""
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
        with single_threaded_blas:
            for _ in self:
                pass
        return self.learned
