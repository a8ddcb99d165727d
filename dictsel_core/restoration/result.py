"""What a restoration yields and returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core.bases import AtomOrigin
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.selection import Selection


@dataclass(frozen=True, eq=False)
class Restoration:
    """A restored picture, and how it came about.

    Attributes
    ----------
    image : ndarray
        In the shape, dtype and range of the input.
    settings : RestoreSettings
        As used: a dictionary size, coding sparsity or selector of None is replaced by what was chosen.
    missing_fraction : float
        Part of the colour values that was missing.
    selection : Selection or None
        The dictionary with the supports of the patches it was selected on; None if nothing was missing.
    usage : (k,) ndarray of int
        How many windows used each atom of the dictionary.
    mean_window_atoms : float
        How many atoms a window used on average.
    n_rounds : int
        How many rounds of refinement were made.
    seconds : dict of str to float
        Time spent in each stage that is done.
    """

    image: NDArray[Any]
    settings: RestoreSettings
    missing_fraction: float
    selection: Selection | None
    usage: NDArray[np.intp]
    mean_window_atoms: float
    n_rounds: int
    seconds: dict[str, float]

    @property
    def nothing_missing(self) -> bool:
        """Whether there was nothing to do, so that the picture is unchanged."""
        return self.selection is None

    @property
    def dictionary(self) -> NDArray[np.float64]:
        """Selected atoms as columns: (d, k)."""
        return np.zeros((0, 0)) if self.selection is None else self.selection.dictionary

    @property
    def origins(self) -> tuple[AtomOrigin, ...]:
        """Where each atom of the dictionary comes from."""
        if self.selection is None:
            return ()
        return tuple(self.selection.ground_set.origins[atom] for atom in self.selection.atoms)


@dataclass(frozen=True, eq=False)
class RestoreStep:
    """Where a restoration stands.

    Attributes
    ----------
    stage : str
        "select" (the dictionary), "coarse" (the coarser scales), "code" (the picture itself),
        "channels" (what one channel can learn from another) or "refine" (non-local refinement, which
        shows the picture after each round).
    fraction : float
        Part of the whole work that is done, from 0 to 1.
    so_far : Restoration or None
        What there is if it ends here, where the picture is worth showing; it does not change later.
    """

    stage: str
    fraction: float
    so_far: Restoration | None = None

    @property
    def image(self) -> NDArray[Any] | None:
        """The picture so far, in the shape and dtype of the input, where it is worth showing."""
        return None if self.so_far is None else self.so_far.image
