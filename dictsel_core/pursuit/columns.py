"""Orthogonal matching pursuit of a chunk of patches, step by step."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints, rounding_level
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.fits import REPEAT_BELOW, PatchFits, append_columns, solve_columns

#: Rows per chunk: enough to amortize a NumPy call, few enough to stay in the cache.
CHUNK = 256
#: A column is dependent on the previous ones, and gets the coefficient zero, if less than this many machine
#: epsilons of its squared length are orthogonal to them.
_DEPENDENCE_EPSILONS = 16.0

#: Changes scores (B, k) in place, given the supports so far (B, s).
Rule = Callable[[Floats, Ints], None]


class Pursuit:
    """The loop of `omp` for one dictionary; it may be called from several threads.

    Assumes finite atoms (d, k) and data of the same dtype. If they are `sparse`, see `PatchFits`. Excluded
    atoms, (k,) bool, are never selected; by default duplicates of earlier ones: rounding must not decide
    between them. A patch is finished when its squared residual is at most the tolerance.
    """

    def __init__(
        self,
        atoms: Floats,
        capacity: int,
        tolerance: float = 0.0,
        *,
        sparse: bool = False,
        excluded: Bools | None = None,
    ) -> None:
        self.atoms = np.ascontiguousarray(atoms)
        self._rows = np.ascontiguousarray(atoms.T)
        self._squares = self.atoms**2
        self._squares[:, duplicate_columns(self.atoms) if excluded is None else excluded] = 0
        self.capacity, self._sparse = min(capacity, *atoms.shape), sparse
        number, epsilon = self.atoms.dtype.type, np.finfo(self.atoms.dtype).eps
        # Squared relative size below which a correlation, or the masked length of an atom, is rounding error.
        self._rounding = number(rounding_level(atoms.shape[0], atoms.dtype) ** 2)
        self._limits = number(_DEPENDENCE_EPSILONS * epsilon), number(REPEAT_BELOW), number(tolerance)
        self._free: list[tuple[PatchFits, Floats, Floats]] = []  # shared by all threads

    def __call__(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None = None,
        *,
        rule: Rule | None = None,
        path: Floats | None = None,
    ) -> tuple[Ints, Floats, Floats]:
        """Code one chunk by weighted least squares; return supports, coefficients (B, s), and energies (B,).

        Data are multiplied by the weights, and zero at missing entries. Weights are 1 where observed, 0 where
        missing, or between, or None. Caps, (B,), are the capacity by default. A patch that cannot use the
        atom that a rule makes it select goes on without it. The path, (B, s + 1), is filled with the squared
        residual after 0, 1, ... steps.
        """
        n, (fits, all_scores, lengths) = len(data), self._take_workspace(len(data))
        fits.begin(data, weights)
        residual, scores = fits.residuals[:n], all_scores[:n]
        inverse_lengths = self._inverse_lengths(fits, weights, lengths[:n])
        supports, energy = np.full((n, self.capacity), -1), np.vecdot(residual, residual)
        min_scores, active = energy * self._rounding, energy > self._limits[2]
        given_path = np.empty((0, 0), energy.dtype) if path is None else path
        given_path[...] = energy[: len(given_path), None]
        given_caps = np.full(n, self.capacity) if caps is None else caps

        def take_steps(first: int, stop: int, scores: Floats) -> None:
            dictionary = self.atoms, self._rows, inverse_lengths
            keys, codes = (
                scores.view(f"i{scores.itemsize}"),
                (supports, given_caps, energy, min_scores, given_path),
            )
            known = fits.observed, fits.arrays, self._limits, codes, active
            append_columns((first, stop), dictionary, (scores, keys), *known)

        if self._sparse and rule is None:
            take_steps(0, self.capacity, scores[:1])
        else:  # BLAS is faster, and rules are for all patches
            for j in range(self.capacity):
                fits.correlate(residual, self.atoms, scores)
                np.square(scores, out=scores)
                np.multiply(scores, inverse_lengths, out=scores)
                if rule is None:
                    take_steps(j, j + 1, scores)
                else:
                    rule(scores, supports)
                    going_on = active & (given_caps > j) & (scores.max(axis=1) > min_scores)
                    take_steps(j, j + 1, scores)
                    active[...] = going_on
                if not active.any():
                    break
        coefficients = np.zeros(supports.shape, self.atoms.dtype)
        solve_columns(self.capacity, fits.arrays, coefficients)
        self._free.append((fits, all_scores, lengths))
        return supports, coefficients, energy

    @cached_property
    def _min_lengths(self) -> Floats:
        """Lower bounds on the squared masked lengths: atoms of zeros, and duplicates, are never selected."""
        full = self._squares.sum(axis=0)
        return np.where(full > 0, full * self._rounding, np.inf).astype(self.atoms.dtype, copy=False)

    def _inverse_lengths(self, fits: PatchFits, weights: Floats | None, out: Floats) -> Floats:
        """Put 1 / |m * a|^2 for every patch and atom into `out`, and return it."""
        if weights is None:
            out[...] = self._squares.sum(axis=0)
        else:
            fits.correlate(fits.observed[1], self._squares, out)
        np.maximum(out, self._min_lengths, out=out)
        return np.divide(1, out, out=out)

    def _take_workspace(self, n_rows: int) -> tuple[PatchFits, Floats, Floats]:
        """Return fits, and memory for scores and for inverse lengths."""
        with suppress(IndexError):  # another thread may have taken it
            work = self._free.pop()
            if len(work[0]) >= n_rows:
                return work
            del work  # before there is a larger one
        scores = np.empty((n_rows, len(self._rows)), self.atoms.dtype)
        fits = PatchFits(n_rows, self.capacity, self._rows, sparse=self._sparse)
        return fits, scores, np.empty_like(scores)
