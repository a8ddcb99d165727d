"""Orthogonal matching pursuit of a chunk of patches, step by step."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np

from dictsel_core._util.validation import Bools, Doubles, Floats, Ints, rounding_level
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.kernels import (
    append_columns,
    correlate,
    invert_columns,
    observe,
    project,
    solve_columns,
)

#: Rows per chunk: enough to amortize a NumPy call, few enough to stay in the cache.
CHUNK = 256
#: A column is dependent on the previous ones, and gets the coefficient zero, if less than this many machine
#: epsilons of its squared length are orthogonal to them.
_DEPENDENCE_EPSILONS = 16.0
#: Gram-Schmidt is repeated if less than this fraction of the squared length of a column is left.
_REPEAT_BELOW = 0.1
#: Largest entry of an inverse Gram matrix of unit columns above which a fit is made by singular values, of
#: which those up to this fraction of the largest one are rounding error.
_ILL_CONDITIONED, _NEGLIGIBLE = 1e6, 1e-10

#: Changes scores (B, k) in place, given the supports so far (B, s).
Rule = Callable[[Floats, Ints], None]


class PatchFits:
    """Fits of up to N patches by up to `capacity` rows of a matrix (k, d), in arrays that are used again.

    New pages would cost more than the arithmetic on them. If they are `sparse`, which pays if half of the
    entries are missing, nothing but observed entries is worked on. See the kernels for the arrays.
    """

    def __init__(self, n_patches: int, capacity: int, rows: Floats, *, sparse: bool) -> None:
        self._rows, self._sparse, self.capacity = rows, sparse, capacity
        pitch, dtype = rows.shape[1] + 4, rows.dtype
        factors = np.empty((n_patches, pitch), dtype)
        self.observed = np.empty(factors.shape, np.uintp), factors, np.empty(n_patches, np.uintp)
        self.residuals, self._weighted = np.empty_like(factors), np.empty_like(factors)
        self.vectors = np.zeros((n_patches, capacity * pitch), dtype)
        self._overlaps = np.empty((n_patches, capacity, capacity), dtype)
        self.steps = np.empty((n_patches, 4, capacity), dtype)
        self.arrays = self.residuals, self.vectors, self._overlaps, self.steps
        #: Patches whose columns were dependent when they were fitted.
        self.dependent: Ints = np.empty(0, np.intp)

    def __len__(self) -> int:
        return len(self.residuals)

    def begin(self, data: Floats, weights: Floats | None) -> None:
        """Begin with the data of some patches, (B, d), multiplied by the weights of their entries."""
        factors = np.ones((1, data.shape[1]), data.dtype) if weights is None else weights
        observe(data, factors, self._sparse, self.observed, self.residuals)
        self._overlaps[: len(data)] = self.steps[: len(data)] = 0

    def correlate(self, vectors: Floats, matrix: Floats, out: Floats) -> None:
        """Write the products of vectors of patches, and their factors, with a matrix (d, n) to (B, n)."""
        if self._sparse:
            correlate(vectors, self.observed, matrix, out)
        else:
            n, d = len(out), len(matrix)
            np.multiply(vectors[:n, :d], self.observed[1][:n, :d], out=self._weighted[:n, :d])
            np.matmul(self._weighted[:n, :d], matrix, out=out, casting="same_kind")

    def project(self, n_columns: int, matrix: Floats, out: Floats) -> None:
        """Write which parts of the squared lengths of columns (d, n) lie in the span of each fit: (B, n)."""
        if self._sparse:
            project(n_columns, self.observed, self.arrays, matrix, out)
            return
        n, (d, pitch) = len(out), (len(matrix), self.residuals.shape[1])
        basis = self.vectors[:n].reshape(n, -1, pitch)[:, :n_columns, :d] * self.observed[1][:n, None, :d]
        basis *= np.sqrt(self.steps[:n, 1, :n_columns, None])
        inside = (basis.reshape(-1, d).astype(matrix.dtype) @ matrix).reshape(n, n_columns, -1)
        np.einsum("bsn,bsn->bn", inside, inside, out=out)

    def fit(self, data: Floats, weights: Floats | None, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit patches by supports (B, S), with -1 behind the atoms; return weights and inverse Gram matrices.

        Dependent columns get weights of minimum norm. Both results are 0 in empty slots.
        """
        self.begin(data, weights)
        n, width = supports.shape
        sizes, reliable, energies = (supports >= 0).sum(axis=1), np.ones(n, bool), np.empty(n)
        nothing = np.empty((0, 0))
        append_columns(
            (0, width),
            (self._rows, self._rows, self._rows),
            (nothing, nothing.view(np.intp)),
            self.observed,
            self.arrays,
            (1 / _ILL_CONDITIONED, _REPEAT_BELOW, -1.0),
            (supports, sizes, energies, energies, nothing),
            reliable,
        )
        coefficients, inverse = np.zeros((n, width)), np.empty((n, width, width))
        solve_columns(width, self.arrays, coefficients)
        invert_columns(width, self.arrays, inverse)
        strain = np.einsum("bss->bs", inverse) * self.steps[:n, 2, :width]
        self.dependent = ill = np.flatnonzero(~reliable | (strain > _ILL_CONDITIONED).any(axis=1))
        if ill.size:
            coefficients[ill], inverse[ill] = self._fit_dependent(ill, data[ill], supports[ill])
        return coefficients, inverse

    def _fit_dependent(self, rows: Ints, data: Floats, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit some patches by singular values, which is slow but accurate even for dependent columns."""
        entries, factors, counts = (each[rows] for each in self.observed)
        (n, pitch), places = entries.shape, entries.astype(np.intp)
        columns = self._rows[supports[:, :, None], places[:, None]] * factors[:, None]
        columns[supports < 0] = 0
        residual = np.take_along_axis(data, places, axis=1).astype(np.float64)
        residual[np.arange(pitch) >= counts[:, None]] = 0
        left, sizes, directions = np.linalg.svd(columns, full_matrices=False)
        visible = sizes > _NEGLIGIBLE * sizes[:, :1]
        directions *= visible[:, :, None]
        duals = left * np.divide(1, sizes, out=np.zeros_like(sizes), where=visible)[:, None]
        along = np.matvec(directions, residual)
        self.residuals[rows] = residual - np.vecmat(along, directions)
        vectors = np.zeros((n, self.capacity, pitch))
        vectors[:, : directions.shape[1]] = directions
        self.vectors[rows], self.steps[rows, 1] = vectors.reshape(n, -1), 1
        return np.matvec(duals, along), duals @ duals.transpose(0, 2, 1)


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
        self._limits = number(_DEPENDENCE_EPSILONS * epsilon), number(_REPEAT_BELOW), number(tolerance)
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
