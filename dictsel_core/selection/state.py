"""The supports of all patches while a selector runs, refitted after every change."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._arrays import chunk_rows
from dictsel_core._least_squares import SupportFit, fit_supports
from dictsel_core._validation import Floats, Ints, ObservedData, rounding_level
from dictsel_core.constraints import Replacement
from dictsel_core.ground_set import GroundSet


class Problem:
    """Ground set and data, checked and brought to one dtype.

    Attributes
    ----------
    atoms : (d, n) ndarray
    padded_rows : (n + 1, d) ndarray of float64
        The atoms as rows, then a row of zeros, which the index -1 of an empty slot refers to.
    data : (T, d) ndarray
        Zero at missing entries.
    observed : (T, d) ndarray or None
        1.0 where observed and 0.0 where missing; None if nothing is missing.
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
        # Weights are good to about ten digits, and no better than the data.
        relative = max(1e-10, rounding_level(ground_set.n_features, self.data.dtype))
        self.rounding = np.einsum("td,td->t", self.data, self.data) * relative**2

    def __len__(self) -> int:
        """Return the number T of patches."""
        return len(self.data)

    def level_copies(self, table: Floats) -> None:
        """Give equal atoms equal entries along the last axis, (..., n), in place.

        Rounding must not decide between them: of equal entries, the first one wins everywhere.
        """
        copies, originals = self.ground_set.duplicates
        table[..., copies] = table[..., originals]

    def masked_lengths(self) -> Floats:
        """Return |m_t * a|^2 for every patch and atom: (T, n), or (1, n) if nothing is missing."""
        squares = self.ground_set.atoms**2
        return squares.sum(axis=0, keepdims=True) if self.observed is None else self.observed @ squares


class SupportState:
    """Supports, weights and residuals of all patches.

    Attributes
    ----------
    supports : (T, S) ndarray of int
        Ground-set indices in the first ``sizes[t]`` slots, then -1.
    sizes : (T,) ndarray of int
    coefficients : (T, S) ndarray
        Least-squares weights on the observed entries; 0 in empty slots.
    residuals : (T, d) ndarray
        Zero at missing entries.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        self.problem = problem
        shape = (len(problem), capacity)
        self.supports = np.full(shape, -1)
        self.sizes = np.zeros(len(problem), dtype=np.intp)
        self.coefficients = np.zeros(shape, problem.data.dtype)
        self.residuals = problem.data.copy()
        self._remaining = np.einsum("td,td->t", problem.data, problem.data, dtype=np.float64)
        self._energy = self._remaining.sum()

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t) = |y_t|^2/2 - |r_t|^2/2, on observed entries."""
        return float(self._energy - self._remaining.sum()) / 2

    def carry_out(self, replacement: Replacement, atom: int) -> Ints:
        """Change the supports, refit the patches concerned, and return their numbers."""
        takers = np.flatnonzero(replacement.added)
        slots = replacement.removed[takers]
        grown = slots < 0
        if grown.any():
            growing = takers[grown]
            slots[grown] = self.sizes[growing]
            if (slots == self.supports.shape[1]).any():
                raise ValueError(
                    f"The constraint lets a support grow beyond its capacity of {self.supports.shape[1]} "
                    "atoms; if it asks an oracle, is that really the oracle of a matroid?"
                )
            self.sizes[growing] += 1
        self.supports[takers, slots] = atom
        givers = np.flatnonzero(~replacement.added & (replacement.removed >= 0))
        changed = takers
        if givers.size:
            self._drop(givers, replacement.removed[givers])
            changed = np.concatenate([takers, givers])
        self.refit(changed)
        return changed

    def _drop(self, rows: Ints, slots: Ints) -> None:
        """Empty one slot in each row; the last atom moves into it."""
        self.sizes[rows] -= 1
        last = self.sizes[rows]
        self.supports[rows, slots] = self.supports[rows, last]
        self.supports[rows, last] = -1
        self.coefficients[rows, last] = 0

    def set_supports(self, supports: Ints) -> None:
        """Replace all supports at once, and refit."""
        self.supports[...] = supports
        self.coefficients[...] = 0
        self.sizes[...] = (supports >= 0).sum(axis=1)
        self.refit(np.arange(len(supports)))

    def refit(self, rows: Ints) -> None:
        """Fit the given patches anew by least squares on their observed entries."""
        for block, fit in self.fits(rows):
            self.coefficients[block, : fit.coefficients.shape[1]] = fit.coefficients
            self.residuals[block] = fit.residual
            self._remaining[block] = np.vecdot(fit.residual, fit.residual)

    def fits(self, rows: Ints) -> Iterator[tuple[Ints, SupportFit]]:
        """Yield (patches, fit) for blocks of the given patches."""
        problem = self.problem
        rows = rows.take(self.sizes.take(rows).argsort(kind="stable"))  # blocks of about equal size
        step = chunk_rows(8 * problem.data.shape[1] * int(self.sizes.take(rows).max(initial=1)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            supports = self.supports.take(block, axis=0)[:, : max(1, int(self.sizes[block[-1]]))]
            columns = problem.padded_rows.take(supports, axis=0, mode="wrap")
            if problem.observed is not None:
                columns *= problem.observed[block, None, :]
            yield block, fit_supports(columns, problem.data.take(block, axis=0))

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Return one index array and one weight array per patch."""
        supports, weights = self.supports.copy(), self.coefficients.copy()
        sizes = self.sizes.tolist()
        return (
            [row[:size] for row, size in zip(supports, sizes, strict=True)],
            [row[:size] for row, size in zip(weights, sizes, strict=True)],
        )
