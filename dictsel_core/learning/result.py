"""The steps and the result of dictionary learning."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Floats, Ints


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
