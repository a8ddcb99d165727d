"""The input of a selector: ground set and data."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.validation import Floats, Ints, ObservedData, rounding_level
from dictsel_core.atoms import GroundSet


def as_points(
    ground_set: object, data: ArrayLike, mask: ArrayLike | None = None, weights: ArrayLike | None = None
) -> ObservedData:
    """Check the ground set, and return data, mask and weights, checked."""
    if not isinstance(ground_set, GroundSet):
        raise TypeError(
            "ground_set must be a GroundSet, from standard_ground_set or ground_set_from_array, "
            f"not {type(ground_set).__name__}."
        )
    return ObservedData(data, mask, ground_set.n_features, weights)


class Problem:
    """Ground set and data, converted to one dtype.

    Attributes
    ----------
    atoms : (d, n) ndarray
    padded_rows : (n + 1, d) ndarray of float64
        The atoms as rows, then a row of zeros for the index -1 of empty slots.
    data : (T, d) ndarray
        Zero at missing entries, and multiplied by the square roots of the weights.
    observed : (T, d) ndarray or None
        The factors of the entries, as in `ObservedData`: 0.0 where missing, else 1.0, or less for entries of
        less weight; None if all are 1.
    has_partial_weights : bool
        Whether some factors lie between 0 and 1.
    scales : (T,) ndarray or None
        By which the weights of the supports are multiplied, as the data are; None if all are 1.
    energies : (T,) ndarray of float64
        |y_t|^2 on observed entries.
    rounding : (T,) ndarray
        Squared correlations up to this are rounding error.

    Examples
    --------
    >>> from dictsel_core import standard_ground_set
    >>> len(Problem.of(standard_ground_set(), [[0.0] * 64, [1.0] * 64]))
    2
    """

    def __init__(self, ground_set: GroundSet, points: ObservedData) -> None:
        self.ground_set = ground_set
        self.data, self.observed = points.rows(0, len(points))
        self.has_partial_weights, self.scales = points.has_partial_weights, points.scales
        self.atoms = np.ascontiguousarray(ground_set.atoms, dtype=self.data.dtype)
        self.padded_rows = np.zeros((len(ground_set) + 1, ground_set.n_features))
        self.padded_rows[:-1] = ground_set.atoms.T
        # Weights are accurate to about ten digits, but not more than the data.
        relative = max(1e-10, rounding_level(ground_set.n_features, self.data.dtype))
        self.energies = np.einsum("td,td->t", self.data, self.data, dtype=np.float64)
        self.rounding = self.energies.astype(self.data.dtype) * relative**2

    @classmethod
    def of(
        cls,
        ground_set: GroundSet,
        data: ArrayLike,
        mask: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> "Problem":
        """Check ground set, data, mask and weights, and make a problem of them."""
        return cls(ground_set, as_points(ground_set, data, mask, weights))

    def __len__(self) -> int:
        """Return the number T of patches."""
        return len(self.data)

    def equalize_duplicates(self, table: Floats) -> None:
        """Make the entries of equal atoms equal along the last axis, (..., n), in place.

        Then the first of them is selected, whatever the rounding errors.
        """
        copies, originals = self.ground_set.duplicates
        table[..., copies] = table[..., originals]

    def modular_values(self) -> Floats:
        """Return f_t({a}) for every patch and atom, the modular approximation of the utility: (T, n)."""
        lengths = np.broadcast_to(self.masked_lengths(), (len(self), len(self.ground_set)))
        squares = np.square(self.apply_factors(np.arange(len(self)), self.data) @ self.atoms)
        values = np.zeros_like(squares)
        # An atom that the mask hides almost entirely explains nothing.
        threshold = rounding_level(self.atoms.shape[0], values.dtype) ** 2
        np.divide(squares, 2 * lengths, out=values, where=lengths > threshold)
        self.equalize_duplicates(values)
        return values

    def masked_lengths(self) -> Floats:
        """Return |m_t * a|^2 for every patch and atom: (T, n), or (1, n) if nothing is missing."""
        squares = self.ground_set.atoms**2
        if self.observed is None:
            return np.asarray(squares.sum(axis=0, keepdims=True))
        counted: Floats = np.square(self.observed) if self.has_partial_weights else self.observed
        lengths: Floats = counted @ squares
        return lengths

    def apply_factors(self, rows: Ints, vectors: Floats) -> Floats:
        """Return vectors of some patches, (B, d) or (B, S, d), such that products with atoms are masked ones.

        They must be zero at missing entries already, so that only other factors than 0 and 1 matter.
        """
        if not self.has_partial_weights or self.observed is None:
            return vectors
        factors = self.observed[rows]
        return vectors * (factors if vectors.ndim == 2 else factors[:, None])

    def columns(self, rows: Ints, supports: Ints) -> NDArray[np.float64]:
        """Return the atoms of given supports (B, S), zero at missing entries of the patch: (B, S, d)."""
        columns = self.padded_rows.take(supports, axis=0, mode="wrap")
        if self.observed is not None:
            columns *= self.observed[rows, None, :]
        return columns
