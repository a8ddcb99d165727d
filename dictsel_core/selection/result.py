"""The steps and the result of a selection."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import read_only
from dictsel_core._support.validation import Floats, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.certificate import Certificate


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

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> from dictsel_core.selection import iter_replacement_omp
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> step = next(iter_replacement_omp(standard_ground_set(), data, IndividualSparsity(2), 3))
    >>> 0 <= step.atom < 256, step.gain > 0
    (True, True)
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
    atoms : (k,) ndarray of int
        Ground-set indices (not the atoms themselves: see `dictionary`) in the order of selection.
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

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> selection = replacement_omp(standard_ground_set(), data, IndividualSparsity(2), 3)
    >>> selection.dictionary.shape, len(selection.supports)
    ((64, 3), 30)
    """

    ground_set: GroundSet
    atoms: Ints
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    gains: NDArray[np.float64]
    objective: NDArray[np.float64]
    certificate: Certificate

    def __repr__(self) -> str:
        """Summarize: the arrays would fill the screen."""
        used = np.mean([len(support) for support in self.supports])
        reached = f", objective {self.objective[-1]:.4g}" if len(self.atoms) else ""
        return (
            f"Selection({len(self.atoms)} of {len(self.ground_set)} atoms, {len(self.supports)} patches "
            f"using {used:.3g} each{reached})"
        )

    @property
    def dictionary(self) -> NDArray[np.float64]:
        """The selected atoms as columns: (d, k)."""
        return self.ground_set.atoms[:, self.atoms]


def as_selection(
    ground_set: GroundSet,
    steps: Iterable[SelectionStep],
    supports: Iterable[Ints],
    coefficients: Iterable[Floats],
    certificate: Certificate,
) -> Selection:
    """Collect the steps of a run and its final supports, which are read-only already."""
    taken = list(steps)
    return Selection(
        ground_set=ground_set,
        atoms=read_only(np.array(list(dict.fromkeys(step.atom for step in taken)), dtype=np.intp)),
        supports=tuple(supports),
        coefficients=tuple(coefficients),
        gains=read_only(np.array([step.gain for step in taken])),
        objective=read_only(np.array([step.objective for step in taken])),
        certificate=certificate,
    )
