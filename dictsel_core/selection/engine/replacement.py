"""The loop of algorithm 1: replacements in supports, until a new atom is selected."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np

from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.selection.result import SelectionStep


class SelectedAtom(NamedTuple):
    """The atom that was selected, its gain, how many candidates were evaluated exactly, and the error."""

    atom: int
    gain: float
    n_exact: int
    error: float = 0.0


class Supports(Protocol):
    """The supports that an engine changes."""

    @property
    def n_candidates(self) -> int:
        """The number n of candidate atoms."""

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t)."""

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""


class ReplacementEngine(ABC):
    """Algorithm 1: iterations that replace atoms in supports, until a new atom is selected.

    Parameters
    ----------
    state : Supports
        Modified by `iterate`.
    max_repeats : int or None
        How many iterations may select an atom that is already in the dictionary, without being a step; None
        if every iteration is a step, as in the paper.
    """

    def __init__(self, state: Supports, max_repeats: int | None) -> None:
        self._supports = state
        self._counts_repeats = max_repeats is None
        self._repeats_left = max_repeats or 0
        self._all = np.ones(state.n_candidates, bool)
        self._new = self._all.copy()

    @abstractmethod
    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Apply the best replacement by an eligible atom, (n,) bool.

        If no replacement has a positive gain, pick one of the atoms not selected yet, `new`, with gain 0.
        """

    def advance(self) -> SelectionStep:
        """Iterate until an atom joins the dictionary, or once if every iteration counts."""
        n_exact = 0
        while True:
            eligible = self._all if self._counts_repeats or self._repeats_left > 0 else self._new
            pick = self.iterate(eligible, self._new)
            n_exact += pick.n_exact
            if self._new[pick.atom] or self._counts_repeats:
                break
            self._repeats_left -= 1
        self._new[pick.atom] = False
        return SelectionStep(pick.atom, pick.gain, self._supports.objective, n_exact, pick.error)

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return the supports of all patches, and their least-squares weights."""
        return self._supports.fitted()

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return self._supports.objective
