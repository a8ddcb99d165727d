"""A selection in progress, one step at a time; it has a result after every step."""

from collections.abc import Callable
from typing import Protocol

from dictsel_core._support.runs import Run
from dictsel_core._support.threads import single_threaded_blas
from dictsel_core._support.validation import Floats, Ints, as_nonnegative
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.certificate import Certificate
from dictsel_core.selection.result import Selection, SelectionStep, as_selection


class Engine(Protocol):
    """The state of one selector; created when the first step is asked for."""

    def advance(self) -> SelectionStep:
        """Select one more atom."""

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""

    def achieved(self) -> float:
        """Return the sum of f_t of the supports that `fitted` has returned last."""


class Bound(Protocol):
    """Upper bounds on the optimum for the data of a run."""

    @property
    def energy(self) -> float:
        """Half the energy of the data, on observed entries."""

    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return the certificate of a selection of `n_atoms` atoms with the given supports."""


class SelectionRun(Run[SelectionStep, Selection]):
    """An iterator over the steps of a selector, one per atom; `result` is available after every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.selection import iter_replacement_omp
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> run = iter_replacement_omp(standard_ground_set(), data, IndividualSparsity(4), 20)
    >>> for step in run:
    ...     if step.objective > 100:
    ...         break
    >>> run.result.dictionary.shape[1] == len(run.steps) < 20
    True
    """

    def __init__(
        self, ground_set: GroundSet, n_atoms: int, start: Callable[[], Engine], bound: Bound
    ) -> None:
        self._ground_set, self._n_atoms, self._start, self._bound = ground_set, n_atoms, start, bound
        self._engine: Engine | None = None
        self._steps: list[SelectionStep] = []

    def __next__(self) -> SelectionStep:
        """Select one more atom."""
        if len(self._steps) >= self._n_atoms:
            raise StopIteration
        with single_threaded_blas:
            self._steps.append(self._started().advance())
        return self._steps[-1]

    @property
    def n_atoms(self) -> int:
        """The number of steps of a full run."""
        return self._n_atoms

    @property
    def steps(self) -> tuple[SelectionStep, ...]:
        """The steps taken."""
        return tuple(self._steps)

    @property
    def result(self) -> Selection:
        """The selection after the steps taken."""
        with single_threaded_blas:
            engine = self._started()
            fitted = engine.fitted()
            certificate = self._bound.certificate(len(self._steps), engine.achieved(), *fitted)
            return as_selection(self._ground_set, self._steps, *fitted, certificate)

    def finish(self) -> Selection:
        """Take all remaining steps and return the selection."""
        with single_threaded_blas:  # once for all steps
            return super().finish()

    def finish_when(self, *, explained: float = 1.0, growth: float = 0.0) -> Selection:
        """Take steps until more atoms are not worth it, and return the selection.

        The number of atoms need not be known in advance; that of the run is the maximum.

        Parameters
        ----------
        explained : float, optional
            Stop if the objective reaches this fraction of the energy of the data (observed entries, times
            one half). Default is 1.
        growth : float, optional
            Stop after a step that adds less than this fraction to the objective. Default is 0.

        Examples
        --------
        >>> import numpy as np
        >>> from dictsel_core import IndividualSparsity, standard_ground_set
        >>> from dictsel_core.selection import iter_replacement_omp
        >>> ground_set = standard_ground_set(bases=["dct"])
        >>> data = np.random.default_rng(0).normal(size=(50, 3)) @ ground_set.atoms[:, [5, 17, 40]].T
        >>> run = iter_replacement_omp(ground_set, data, IndividualSparsity(3), 64)
        >>> len(run.finish_when(explained=0.99).atoms)
        3
        """
        target = as_nonnegative(explained, "explained") * self._bound.energy
        least = as_nonnegative(growth, "growth")
        before = self._steps[-1].objective if self._steps else 0.0
        with single_threaded_blas:
            for step in self:
                if step.objective >= target or step.objective - before < least * before:
                    break
                before = step.objective
        return self.result

    def _started(self) -> Engine:
        if self._engine is None:
            self._engine = self._start()
        return self._engine
