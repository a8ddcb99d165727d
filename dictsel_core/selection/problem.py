"""The input of a selector: ground set and data."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import Doubles, Floats, Ints, ObservedData, rounding_level
from dictsel_core.atoms.ground_set import GroundSet, as_ground_set
from dictsel_core.pursuit.fits import PatchFits
from dictsel_core.utility import Utility

#: Relative size of gradients up to which they are rounding error.
_ROUNDING = 1e-6


def as_points(
    ground_set: object, data: ArrayLike, mask: ArrayLike | None = None, weights: ArrayLike | None = None
) -> ObservedData:
    """Check the ground set, and return data, mask and weights, checked."""
    return ObservedData(data, mask, as_ground_set(ground_set).n_features, weights)


class Problem:
    """Ground set and data, converted to one dtype.

    Data, (T, d), are zero at missing entries, and multiplied by the square roots of the weights. `observed`
    are the factors of their entries, and `scales`, (T,), multiply the weights of the supports, both as in
    `ObservedData`.
    """

    def __init__(self, ground_set: GroundSet, points: ObservedData) -> None:
        self.ground_set = ground_set
        self.data, self.observed = points.rows(0, len(points))
        self.has_partial_weights, self.scales = points.has_partial_weights, points.scales
        self._sparse = points.are_sparse
        self.atoms = np.ascontiguousarray(ground_set.atoms, dtype=self.data.dtype)
        #: The atoms as rows, then zeros for the index -1 of empty slots: (n + 1, d).
        self.padded_rows = np.zeros((len(ground_set) + 1, ground_set.n_features))
        self.padded_rows[:-1] = ground_set.atoms.T
        #: ``|y_t|^2`` on observed entries: (T,).
        self.energies = np.einsum("td,td->t", self.data, self.data, dtype=np.float64)
        # Weights are accurate to about ten digits, but not more than the data.
        relative = max(1e-10, rounding_level(ground_set.n_features, self.data.dtype))
        #: Squared correlations up to this are rounding error: (T,).
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
        return len(self.data)

    def fits(self, n_patches: int, capacity: int) -> PatchFits:
        """Return fits of some patches by atoms, in float64; sparse if much is missing."""
        return PatchFits(n_patches, capacity, self.padded_rows, sparse=self._sparse)

    def equalize_duplicates(self, table: Floats) -> None:
        """Make the entries of equal atoms, along the last axis, equal: then the first one is selected."""
        copies, originals = self.ground_set.duplicates
        table[..., copies] = table[..., originals]

    def squared_modular_values(self) -> Floats:
        """Return f_t({a}) of the squared utility for every patch and atom: (T, n)."""
        lengths = np.broadcast_to(self.masked_lengths(), (len(self), len(self.ground_set)))
        squares = np.square(self.apply_factors(np.arange(len(self)), self.data) @ self.atoms)
        values = np.zeros_like(squares)
        # An atom that the mask hides almost entirely explains nothing.
        threshold = rounding_level(self.atoms.shape[0], values.dtype) ** 2
        np.divide(squares, 2 * lengths, out=values, where=lengths > threshold)
        self.equalize_duplicates(values)
        return values

    def masked_lengths(self) -> Floats:
        """Return ``|m_t * a|^2`` for every patch and atom: (T, n), or (1, n) if nothing is missing."""
        squares = self.ground_set.atoms**2
        if self.observed is None:
            return np.asarray(squares.sum(axis=0, keepdims=True))
        counted: Floats = np.square(self.observed) if self.has_partial_weights else self.observed
        lengths: Floats = counted @ squares
        return lengths

    def apply_factors(self, rows: Ints, vectors: Floats) -> Floats:
        """Return vectors, zero at missing entries, such that their products with atoms are masked ones."""
        if not self.has_partial_weights or self.observed is None:
            return vectors
        return vectors * self.observed[rows]

    def columns(self, rows: Ints, supports: Ints) -> Doubles:
        """Return the atoms of given supports (B, S), zero at missing entries of the patch: (B, S, d)."""
        columns = self.padded_rows.take(supports, axis=0, mode="wrap")
        if self.observed is not None:
            columns *= self.observed[rows, None, :]
        return columns


class UtilityProblem(Problem):
    """Ground set and data for a utility.

    Unlike those of a `Problem`, the data are not multiplied by weights. The utility of an entry counts
    `entry_weights` times, (T, d) or (T, 1), 0 where missing. Weights of supports are multiplied by `scales`,
    so that the smoothness of every patch becomes that of the ground set. Energies are twice the largest
    possible utility.
    """

    def __init__(self, ground_set: GroundSet, points: ObservedData, utility: Utility) -> None:
        super().__init__(ground_set, points)
        self.utility = utility
        self.data = points.rows(0, len(points), weighted=False)[0]
        utility.check(self.data)
        peaks = np.ones(len(points)) if self.scales is None else np.square(self.scales)
        factors = np.ones((1, 1)) if self.observed is None else np.square(self.observed.astype(np.float64))
        self.entry_weights = factors * peaks[:, None]
        self.scales = np.sqrt(utility.smoothness * peaks)
        values = self.data.astype(np.float64)
        self.energies = 2 * (self.entry_weights * utility.largest(values)).sum(axis=1)
        slopes = self.entry_weights * utility.slope(values, np.zeros_like(values)) / self.scales[:, None]
        self.rounding = (np.square(slopes).sum(axis=1) * _ROUNDING**2).astype(self.data.dtype)


def problem_of(ground_set: GroundSet, points: ObservedData, utility: Utility | None) -> Problem:
    """Return ground set and data as a problem of the squared utility, or of another one."""
    return Problem(ground_set, points) if utility is None else UtilityProblem(ground_set, points, utility)
