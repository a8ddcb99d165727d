"""The input of a selector: ground set and data."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._validation import Floats, Ints, ObservedData, rounding_level
from dictsel_core.ground_set import GroundSet


class Problem:
    """Ground set and data, checked and converted to one dtype.

    Attributes
    ----------
    atoms : (d, n) ndarray
    padded_rows : (n + 1, d) ndarray of float64
        The atoms as rows, then a row of zeros for the index -1 of empty slots.
    data : (T, d) ndarray
        Zero at missing entries.
    observed : (T, d) ndarray or None
        1.0 where observed and 0.0 where missing; None if nothing is missing.
    energies : (T,) ndarray of float64
        |y_t|^2 on observed entries.
    rounding : (T,) ndarray
        Squared correlations up to this are rounding error.
    """

    def __init__(self, ground_set: GroundSet, data: ArrayLike, mask: ArrayLike | None) -> None:
        if not isinstance(ground_set, GroundSet):
            raise TypeError(
                "ground_set must be a GroundSet, from standard_ground_set or ground_set_from_array, "
                f"not {type(ground_set).__name__}."
            )
        self.ground_set = ground_set
        points = ObservedData(data, mask, ground_set.n_features)
        self.data, self.observed = points.rows(0, len(points))
        self.atoms = np.ascontiguousarray(ground_set.atoms, dtype=self.data.dtype)
        self.padded_rows = np.vstack([ground_set.atoms.T, np.zeros(ground_set.n_features)])
        # Weights are accurate to about ten digits, but not more than the data.
        relative = max(1e-10, rounding_level(ground_set.n_features, self.data.dtype))
        self.energies = np.einsum("td,td->t", self.data, self.data, dtype=np.float64)
        self.rounding = self.energies.astype(self.data.dtype) * relative**2

    def __len__(self) -> int:
        """Return the number T of patches."""
        return len(self.data)

    def equalize_duplicates(self, table: Floats) -> None:
        """Make the entries of equal atoms equal along the last axis, (..., n), in place.

        Then the first of them is selected, whatever the rounding errors.
        """
        copies, originals = self.ground_set.duplicates
        table[..., copies] = table[..., originals]

    def masked_lengths(self) -> Floats:
        """Return |m_t * a|^2 for every patch and atom: (T, n), or (1, n) if nothing is missing."""
        squares = self.ground_set.atoms**2
        return squares.sum(axis=0, keepdims=True) if self.observed is None else self.observed @ squares

    def columns(self, rows: Ints, supports: Ints) -> NDArray[np.float64]:
        """Return the atoms of given supports (B, S), zero at missing entries of the patch: (B, S, d)."""
        columns = self.padded_rows.take(supports, axis=0, mode="wrap")
        if self.observed is not None:
            columns *= self.observed[rows, None, :]
        return columns
