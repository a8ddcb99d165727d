"""A selection: its steps, the run that takes them one at a time, and the result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, Protocol

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import Run, single_threaded_blas, step_by_step
from dictsel_core._util.validation import Floats, Ints, as_nonnegative
from dictsel_core.atoms import GroundSet
from dictsel_core.selection.certificate import Bound, Certificate

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class SelectionStep:
    """The selection of one atom.

    Attributes
    ----------
    atom : int
        Index in the ground set.
    gain : float
        The maximum by which the atom was selected; see each selector.
    objective : float
        Value of the objective of the selector after the step.
    n_exact : int
        How many candidate atoms were evaluated exactly in this step.
    error : float
        How far the gain of the atom may be below the largest one; 0 unless gains were estimated.
    """

    atom: int
    gain: float
    objective: float
    n_exact: int
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Selection:
    """A selected dictionary, and the supports of the patches.

    Attributes
    ----------
    ground_set : GroundSet
    indices : (k,) ndarray of int
        Indices of the atoms in the ground set, in the order of selection.
    supports : tuple of (n_t,) ndarray of int
        The atoms that each patch uses, as ground-set indices.
    coefficients : tuple of (n_t,) ndarray
        Their least-squares weights on the observed entries.
    gains : (k,) ndarray
        Gain of each step. There are more steps than atoms only if repeats count as steps.
    objective : (k,) ndarray
        Value after each step.
    certificate : Certificate
        A lower bound on the fraction of the optimum that the supports reach, for the data of this selection;
        `approximation_bound` is the guarantee for any data.
    """

    ground_set: GroundSet
    indices: Ints
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    gains: NDArray[np.float64]
    objective: NDArray[np.float64]
    certificate: Certificate

    def __repr__(self) -> str:
        """Summarize: the arrays would fill the screen."""
        used = np.mean([len(support) for support in self.supports])
        reached = f", objective {self.objective[-1]:.4g}" if len(self.indices) else ""
        return (
            f"Selection({len(self.indices)} of {len(self.ground_set)} atoms, {len(self.supports)} patches "
            f"using {used:.3g} each{reached})"
        )

    @property
    def dictionary(self) -> NDArray[np.float64]:
        """The selected atoms as columns: (d, k)."""
        return self.ground_set.atoms[:, self.indices]


class Engine(Protocol):
    """The state of one selector; created when the first step is asked for."""

    def advance(self) -> SelectionStep:
        """Select one more atom."""

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""

    def achieved(self) -> float:
        """Return the sum of f_t of the supports that `fitted` has returned last."""


class SelectionRun(Run[SelectionStep, Selection]):
    """An iterator over the steps of a selector, one per atom; `result` is available after every step."""

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
            taken, (supports, coefficients) = self._steps, engine.fitted()
            return Selection(
                ground_set=self._ground_set,
                indices=read_only(np.array(list(dict.fromkeys(step.atom for step in taken)), dtype=np.intp)),
                supports=tuple(supports),
                coefficients=tuple(coefficients),
                gains=read_only(np.array([step.gain for step in taken])),
                objective=read_only(np.array([step.objective for step in taken])),
                certificate=self._bound.certificate(len(taken), engine.achieved(), supports),
            )

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


def iterate(select: Callable[Parameters, Selection]) -> Callable[Parameters, SelectionRun]:
    """Return the step-by-step version of a selector."""
    return step_by_step(select, SelectionRun, "which selects one atom per step, and always has a result")
