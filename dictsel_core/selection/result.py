"""What the selectors yield and return."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Floats, Ints
from dictsel_core.ground_set import GroundSet


@dataclass(frozen=True)
class SelectionStep:
    """One atom chosen by a selector.

    Attributes
    ----------
    atom : int
        Index in the ground set.
    gain : float
        What the selector maximised when it chose this atom; see each selector.
    objective : float
        Value reached so far of the function that the selector maximises.
    n_exact : int
        How many candidates had their best replacement worked out exactly in this step.
    """

    atom: int
    gain: float
    objective: float
    n_exact: int


@dataclass(frozen=True, eq=False)
class Selection:
    """A selected dictionary and the supports that go with it.

    Attributes
    ----------
    ground_set : GroundSet
    atoms : (k,) ndarray of int
        Ground-set indices in the order of selection.
    supports : tuple of (|Z_t|,) ndarray of int
        The atoms that each patch uses, as ground-set indices.
    coefficients : tuple of (|Z_t|,) ndarray
        Their least-squares weights on the observed entries.
    gains : (k,) ndarray
        Gain of each step.
    objective : (k,) ndarray
        Value after each step.
    """

    ground_set: GroundSet
    atoms: Ints
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    gains: NDArray[np.float64]
    objective: NDArray[np.float64]

    @property
    def dictionary(self) -> NDArray[np.float64]:
        """The selected atoms as columns: (d, k)."""
        return self.ground_set.atoms[:, self.atoms]


def as_selection(
    ground_set: GroundSet,
    steps: Iterable[SelectionStep],
    supports: Iterable[Ints],
    coefficients: Iterable[Floats],
) -> Selection:
    """Collect the steps of a run and its final supports."""
    taken = list(steps)
    return Selection(
        ground_set=ground_set,
        atoms=np.array([step.atom for step in taken], dtype=np.intp),
        supports=tuple(supports),
        coefficients=tuple(coefficients),
        gains=np.array([step.gain for step in taken]),
        objective=np.array([step.objective for step in taken]),
    )
