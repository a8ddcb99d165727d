"""The support of one patch within a round."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import rounding_level
from dictsel_core.atoms import GroundSet
from dictsel_core.selection.engine.differences import Candidates, true_differences
from dictsel_core.selection.engine.fits import SupportFit, fit_supports, invert_gram
from dictsel_core.selection.engine.utilities import UtilityDifferences, UtilityFit, UtilityProblem

Array = NDArray[np.float64]


class PatchSupport(ABC):
    """Support, weights and correlations of one patch.

    A round replaces about ten atoms of one patch, for which the engines of the selectors, made for many
    patches, would be too slow.

    Parameters
    ----------
    capacity : int
        Maximum size of the support.
    correlations : (n,) ndarray
        Those of the empty support.
    rounding : float
        Squared correlations up to this are rounding error.

    Attributes
    ----------
    support : list of int
        Indices of its atoms; the index is the slot.
    coefficients : (|Z|,) ndarray
        Those that maximize the utility on the observed entries.
    correlations : (n,) ndarray
        Gradient of the utility by the weights of all atoms: inner products of the residual with them.
    """

    def __init__(self, capacity: int, correlations: Array, rounding: float) -> None:
        self._capacity, self._rounding = capacity, rounding
        self.support: list[int] = []
        self.coefficients: Array = np.zeros(0)
        self.correlations = correlations

    @property
    def is_full(self) -> bool:
        """Whether an atom can only replace another one."""
        return len(self.support) >= self._capacity

    def put(self, atom: int, slot: int) -> None:
        """Put an atom into a slot, or append it, and refit."""
        if slot == len(self.support):
            self.support.append(atom)
        else:
            self.support[slot] = atom
        self._refit()

    def squared_correlations(self) -> Array:
        """Return the squared correlations of all atoms, 0 for those of the support and rounding errors."""
        squares = np.square(self.correlations)
        squares[squares <= self._rounding] = 0
        squares[self.support] = 0
        return squares

    def differences(self) -> tuple[Array, Array]:
        """Return f(Z + a) - f(Z), (n,), and f(Z - b + a) - f(Z), (|Z|, n); zero for atoms of the support."""
        additions, swaps = self._differences()
        additions[self.support] = 0
        swaps[:, self.support] = 0
        return additions, swaps

    @abstractmethod
    def _refit(self) -> None:
        """Update weights and correlations."""

    @abstractmethod
    def _differences(self) -> tuple[Array, Array]:
        """Return the differences of all additions and swaps, meaningless for atoms of the support."""


class SquaredSupport(PatchSupport):
    """The support of one patch under the squared utility, in inner products with all atoms.

    A change costs the inner products of the support with all atoms, and operations on s x n numbers.

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
    """

    def __init__(
        self,
        ground_set: GroundSet,
        y: Array,
        observed: Array | None,
        capacity: int,
        gram: Array | None = None,
    ) -> None:
        matrix = ground_set.atoms
        self._moments: Array = y @ matrix
        rounding = float(y @ y) * max(1e-10, rounding_level(len(y), y.dtype)) ** 2
        super().__init__(capacity, self._moments, rounding)
        self._ground_set, self._observed, self._y = ground_set, observed, y
        self._gram = gram if observed is None else None
        self._lengths: Array = np.ones(len(ground_set)) if observed is None else observed @ np.square(matrix)
        self._products: Array = np.zeros((0, len(ground_set)))
        self._inverse: Array = np.zeros((0, 0))
        self._is_ill = False

    def _refit(self) -> None:
        if self._gram is None or not self._refit_by_products(self._gram):
            self._refit_by_columns()

    def _refit_by_products(self, gram: Array) -> bool:
        """Refit by inner products alone, and return whether that is accurate."""
        products = gram[self.support]
        inverse, reliable = invert_gram(products[:, self.support])
        if reliable:
            self._products = products
            self.coefficients = inverse @ self._moments[self.support]
            self.correlations = self._moments - self.coefficients @ products
            self._inverse, self._is_ill = inverse, False
        return reliable

    def _refit_by_columns(self) -> None:
        matrix, columns = self._ground_set.atoms, self._columns()
        fit = fit_supports(columns[None], self._y[None])
        self._products = columns @ matrix
        self._inverse, self.coefficients = fit.inverse[0], fit.coefficients[0]
        self._is_ill = bool(fit.ill_conditioned.size)
        self.correlations = fit.residual[0] @ matrix

    def _columns(self) -> Array:
        """Return the atoms of the support, zero at missing entries: (|Z|, d)."""
        columns: Array = self._ground_set.atoms.T[self.support]
        return columns if self._observed is None else columns * self._observed

    def _differences(self) -> tuple[Array, Array]:
        candidates = Candidates(
            self._ground_set.atoms,
            None if self._observed is None else self._observed[None],
            self._lengths[None],
            np.array([self._rounding]),
            self._ground_set.equal_or_copied(np.array([self.support], np.intp)),
        )
        columns, ill_conditioned = self._columns(), np.zeros(int(self._is_ill), np.intp)
        residual = self._y - self.coefficients @ columns
        fit = SupportFit(
            columns[None], self._inverse[None], self.coefficients[None], residual[None], ill_conditioned
        )
        additions, swaps = true_differences(
            fit, self._y[None], candidates, self._products[None], self.correlations[None]
        )
        return additions[0], swaps[0]


class UtilitySupport(PatchSupport):
    """The support of one patch under another utility, refitted by Newton steps.

    Weights and correlations are scaled such that the smoothness becomes that of the ground set.

    Parameters
    ----------
    problem : UtilityProblem
        With one patch.
    capacity : int
        Maximum size of the support.
    """

    def __init__(self, problem: UtilityProblem, capacity: int) -> None:
        self._fit, self._table = UtilityFit(problem), UtilityDifferences(problem)
        self._row = np.zeros(1, np.intp)
        gradient = np.empty((1, len(problem.ground_set)))
        none = np.zeros((1, 0))
        self._fit.correlate(self._row, none.astype(np.intp), none, gradient)
        super().__init__(capacity, gradient[0], float(problem.rounding[0]))

    def _refit(self) -> None:
        support = np.array([self.support])
        weights, _ = self._fit.refit(self._row, support)
        self.coefficients = weights[0]
        self._fit.correlate(self._row, support, weights, self.correlations[None])

    def _differences(self) -> tuple[Array, Array]:
        support = np.array([self.support], dtype=np.intp)
        additions, swaps = self._table.of_supports(self._row, support)
        return additions[0].astype(np.float64), swaps[0].astype(np.float64)
