"""Dictionary learning: its iterations, the run that makes them one at a time, and the result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import single_threaded_blas
from dictsel_core._util.runs import Run
from dictsel_core._util.validation import Floats, Ints, as_count, as_nonnegative
from dictsel_core.learning.state import LearningState, learning_state


@dataclass(frozen=True)
class LearningStep:
    """One iteration: all patches coded, all atoms updated.

    Attributes
    ----------
    iteration : int
        Its number, from 1.
    objective : float
        Sum over patches of ``|y_t|^2/2 - |r_t|^2/2`` on the observed entries; never decreases.
    change : float
        Its growth by this iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core.learning import iter_mod
    >>> step = next(iter_mod(np.random.default_rng(0).normal(size=(30, 16)), 4, 2))
    >>> step.iteration, step.objective > 0
    (1, True)
    """

    iteration: int
    objective: float
    change: float


@dataclass(frozen=True, eq=False)
class LearnedDictionary:
    """A learned dictionary and the codes of the patches, with the names of a `Selection`.

    Attributes
    ----------
    dictionary : (d, k) ndarray of float64, read-only
        Atoms as unit columns.
    supports : tuple of (n_t,) ndarray of int
        The columns of `dictionary` that each patch uses (those of a `Selection` index the ground set).
    coefficients : tuple of (n_t,) ndarray
        Their weights.
    objective : (n_iterations,) ndarray
        Value after each iteration.
    converged : bool
        Whether the objective grew by at most the tolerance in the last iteration; False if the maximum
        number of iterations was reached first.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core.learning import mod
    >>> learned = mod(np.random.default_rng(0).normal(size=(30, 16)), 4, 2, max_iterations=2)
    >>> learned.dictionary.shape, len(learned.supports)
    ((16, 4), 30)
    """

    dictionary: NDArray[np.float64]
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    objective: NDArray[np.float64]
    converged: bool

    def __repr__(self) -> str:
        """Summarize: the arrays would fill the screen."""
        used = np.mean([len(support) for support in self.supports])
        reached = f", objective {self.objective[-1]:.4g}" if len(self.objective) else ""
        return (
            f"LearnedDictionary({self.dictionary.shape[1]} atoms, {len(self.supports)} patches using "
            f"{used:.3g} each, {len(self.objective)} iterations{reached})"
        )


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


def start_learning(
    update: Callable[[LearningState], None],
    data: ArrayLike,
    n_atoms: int,
    sparsity: int,
    max_iterations: int,
    tolerance: float,
    **options: Any,  # noqa: ANN401  (of `learning_state`)
) -> LearningRun:
    """Check the input of a learner, and return a run that has not begun; `update` fits atoms to codes."""
    return LearningRun(learning_state(data, n_atoms, sparsity, **options), update, max_iterations, tolerance)
