"""A selection under way: steps one at a time, and what they have led to."""

from collections.abc import Callable, Iterator
from typing import Protocol

from dictsel_core._threads import single_threaded_blas
from dictsel_core._validation import Floats, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.result import Selection, SelectionStep, as_selection


class Engine(Protocol):
    """The state of one selector; made when the first step is asked for."""

    def advance(self) -> SelectionStep:
        """Choose the next atom."""

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""


class SelectionRun(Iterator[SelectionStep]):
    """An iterator over the steps of a selector, one per atom.

    Not asking for the next step is all it takes to stop; what has been selected until then is at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, iter_replacement_omp, standard_ground_set
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> run = iter_replacement_omp(standard_ground_set(), data, IndividualSparsity(4), 20)
    >>> for step in run:
    ...     if step.objective > 100:
    ...         break
    >>> run.selection.dictionary.shape[1] == len(run.steps) < 20
    True
    """

    def __init__(self, ground_set: GroundSet, n_atoms: int, start: Callable[[], Engine]) -> None:
        self._ground_set, self._n_atoms, self._start = ground_set, n_atoms, start
        self._engine: Engine | None = None
        self._steps: list[SelectionStep] = []

    def __next__(self) -> SelectionStep:
        """Choose the next atom."""
        if len(self._steps) >= self._n_atoms:
            raise StopIteration
        with single_threaded_blas:
            if self._engine is None:
                self._engine = self._start()
            self._steps.append(self._engine.advance())
        return self._steps[-1]

    @property
    def n_atoms(self) -> int:
        """The number of steps of a full run."""
        return self._n_atoms

    @property
    def steps(self) -> tuple[SelectionStep, ...]:
        """The steps taken so far."""
        return tuple(self._steps)

    @property
    def selection(self) -> Selection:
        """What the steps so far have selected."""
        with single_threaded_blas:
            if self._engine is None:
                self._engine = self._start()
            return as_selection(self._ground_set, self._steps, *self._engine.fitted())

    def finish(self) -> Selection:
        """Take all remaining steps and return the selection."""
        with single_threaded_blas:  # once for all steps
            for _ in self:
                pass
            return self.selection
