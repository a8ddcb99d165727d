"""The support of one patch within a round."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._least_squares import fit_supports, invert_gram
from dictsel_core._validation import rounding_level
from dictsel_core.ground_set import GroundSet
from dictsel_core.selection.engine.differences import true_differences

Array = NDArray[np.float64]


class PatchSupport:
    """Support, weights and correlations of one patch, in inner products with all atoms.

    A round replaces about ten atoms of one patch, for which the engines of the selectors, made for many
    patches, would be too slow. Here a change costs the inner products of the support with all atoms, and
    operations on s x n numbers.

    Parameters
    ----------
    ground_set : GroundSet
    y : (d,) ndarray
        Zero at missing entries.
    observed : (d,) ndarray or None
        1.0 where observed and 0.0 where missing; None if nothing is missing.
    capacity : int
        Maximum size of the support.
    gram : (n, n) ndarray, optional
        Inner products of all atoms, which save time if nothing is missing.

    Attributes
    ----------
    atoms : list of int
        The support; the index is the slot.
    weights : (|Z|,) ndarray
        Least-squares weights on the observed entries.
    correlations : (n,) ndarray
        Inner products of the residual with all atoms.
    """

    def __init__(
        self,
        ground_set: GroundSet,
        y: Array,
        observed: Array | None,
        capacity: int,
        gram: Array | None = None,
    ) -> None:
        self._ground_set, self._observed, self._capacity = ground_set, observed, capacity
        self._gram = gram if observed is None else None
        self._y = y
        matrix = ground_set.atoms
        self._lengths: Array = np.ones(len(ground_set)) if observed is None else observed @ np.square(matrix)
        self._rounding = float(y @ y) * max(1e-10, rounding_level(len(y), y.dtype)) ** 2
        self._products: Array = np.zeros((0, len(ground_set)))
        self._inverse: Array = np.zeros((0, 0))
        self.atoms: list[int] = []
        self.weights: Array = np.zeros(0)
        self._moments: Array = y @ matrix
        self.correlations: Array = self._moments

    @property
    def is_full(self) -> bool:
        """Whether an atom can only replace another one."""
        return len(self.atoms) >= self._capacity

    def put(self, atom: int, slot: int) -> None:
        """Put an atom into a slot, or append it, and refit."""
        if slot == len(self.atoms):
            self.atoms.append(atom)
        else:
            self.atoms[slot] = atom
        if self._gram is None or not self._refit_by_products(self._gram):
            self._refit_by_columns()

    def _refit_by_products(self, gram: Array) -> bool:
        """Refit by inner products alone, and return whether that is accurate."""
        products = gram[self.atoms]
        inverse, reliable = invert_gram(products[:, self.atoms])
        if reliable:
            self._products, self._inverse = products, inverse
            self.weights = inverse @ self._moments[self.atoms]
            self.correlations = self._moments - self.weights @ products
        return reliable

    def _refit_by_columns(self) -> None:
        matrix = self._ground_set.atoms
        columns: Array = np.ascontiguousarray(matrix[:, self.atoms].T)
        if self._observed is not None:
            columns *= self._observed
        fit = fit_supports(columns[None], self._y[None])
        self._products = columns @ matrix
        self._inverse, self.weights = fit.inverse[0], fit.coefficients[0]
        self.correlations = fit.residual[0] @ matrix

    def squared_correlations(self) -> Array:
        """Return (a^T r)^2 for all atoms, zero for those of the support and where it is rounding error."""
        squares = np.square(self.correlations)
        squares[squares <= self._rounding] = 0
        squares[self.atoms] = 0
        return squares

    def differences(self) -> tuple[Array, Array]:
        """Return f(Z + a) - f(Z), (n,), and f(Z - b + a) - f(Z), (|Z|, n); zero for atoms of the support."""
        additions, swaps = true_differences(
            inverse=self._inverse[None],
            products=self._products[None],
            coefficients=self.weights[None],
            correlations=self.correlations[None],
            lengths=self._lengths[None],
            rounding=np.array([self._rounding]),
        )
        additions[:, self.atoms] = 0
        swaps[:, :, self.atoms] = 0
        return additions[0], swaps[0]
