"""Orthogonal matching pursuit of a chunk of patches: all of them step by step, or one after the other."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints, rounding_level
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.kernels import append_columns, pursue, solve_columns

#: Rows per chunk: enough to amortize a NumPy call, few enough to stay in the cache.
CHUNK = 2048
#: A column is dependent on the previous ones, and gets the coefficient zero, if less than this many machine
#: epsilons of its squared length are orthogonal to them.
DEPENDENCE_EPSILONS = 16.0
#: Gram-Schmidt is repeated if less than this fraction of the squared length of a column is left.
REPEAT_BELOW = 0.1


#: Changes scores (B, k) in place, given the supports so far (B, s).
Rule = Callable[[Floats, Ints], None]


class Pursuit:
    """The kernel of `omp` for one dictionary; it may be called from several threads.

    Assumes finite atoms (d, k) and data of the same dtype. Weights are `weak` if some lie between 0 (missing)
    and 1 (observed). Excluded atoms, (k,) bool, are never selected; by default duplicates of earlier ones:
    rounding must not decide between them. A patch is finished when its squared residual is at most the
    tolerance.

    All patches of a chunk make each step together, or, if `by_patch`, one patch after the other all of its
    steps on its observed entries alone, up to rounding with the same result; with half of the entries
    missing, both take about as long. Chunks without missing entries, or with a rule, are always coded
    together.
    """

    def __init__(
        self,
        atoms: Floats,
        capacity: int,
        tolerance: float = 0.0,
        *,
        weak: bool = False,
        by_patch: bool = False,
        excluded: Bools | None = None,
    ) -> None:
        self.atoms = np.ascontiguousarray(atoms)
        self._rows = np.ascontiguousarray(atoms.T)
        self._squares = self.atoms**2
        self.capacity = min(capacity, *atoms.shape)
        self.by_patch, self._tolerance, self._weak = by_patch, tolerance, weak
        # Relative magnitude below which a correlation, or the masked length of an atom, is rounding error.
        self._rounding = rounding_level(atoms.shape[0], atoms.dtype)
        self._squares[:, duplicate_columns(self.atoms) if excluded is None else excluded] = 0
        number, epsilon = self.atoms.dtype.type, np.finfo(self.atoms.dtype).eps
        limits = self._rounding**2, DEPENDENCE_EPSILONS * epsilon, REPEAT_BELOW, tolerance
        self._limits = tuple(number(each) for each in limits)  # of `pursue`
        self._free: list[_Workspace] = []  # shared by all threads

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

        Data are multiplied by the weights, and zero at missing entries, which are not read by patch. Weights
        are 1 where observed and 0 where missing, or None. Caps, (B,), are the capacity by default. A patch
        that cannot use the atom that a rule makes it select goes on without it. The path, (B, s + 1), is
        filled with the squared residual after 0, 1, ... steps.
        """
        if self.by_patch and weights is not None and rule is None:
            return self._code_by_patch(data, weights, caps, path)
        work, (n, n_features) = self._take_workspace(len(data)), data.shape
        scores, residual = work.scores[:n], work.residual[:n]
        inverse_lengths = self._inverse_lengths(weights, work.inverse_lengths[:n])
        supports, rows, n_columns = np.full((n, self.capacity), -1), np.arange(n), 0
        residual[...] = data
        energy = np.vecdot(data, data)
        min_score, active = energy * self._limits[0], energy > self._tolerance
        if path is not None:
            path[...] = energy[:, None]
        for j in range(self.capacity):
            weighted = residual
            if self._weak and weights is not None:
                weighted = np.multiply(residual, weights, out=work.weighted[:n])
            np.matmul(weighted, self.atoms, out=scores)
            np.square(scores, out=scores)
            np.multiply(scores, inverse_lengths, out=scores)
            if rule is not None:
                rule(scores, supports)
            chosen = scores.argmax(axis=1)
            active &= scores[rows, chosen] > min_score
            if caps is not None:
                active &= caps > j
            if not active.any():
                break
            work.vectors[:n, j * n_features : (j + 1) * n_features] = self._columns(chosen, weights)
            taken, n_columns = active.copy(), j + 1
            # A dependent column ends the pursuit of its patch: even the best atom explains nothing.
            append_columns(j, inverse_lengths[rows, chosen], self._limits, taken, residual, *work.fit)
            active = taken if rule is None else active
            supports[:, j] = np.where(taken, chosen, -1)
            energy = np.vecdot(residual, residual)
            if path is not None:
                path[:, j + 1 :] = energy[:, None]
            if self._tolerance > 0:
                active &= energy > self._tolerance
        coefficients = np.zeros(supports.shape, self.atoms.dtype)
        solve_columns(n_columns, *work.fit[1:], coefficients)
        self._free.append(work)
        return supports, coefficients, energy

    def _code_by_patch(
        self, data: Floats, weights: Floats, caps: Ints | None, path: Floats | None
    ) -> tuple[Ints, Floats, Floats]:
        (n, dtype), shape = (len(data), self.atoms.dtype), (len(data), self.capacity)
        codes = np.full(shape, -1), np.zeros(shape, dtype), np.empty(n, dtype)
        given_caps = np.full(n, self.capacity) if caps is None else caps
        keys = np.empty(self.atoms.shape[1], np.dtype(f"i{dtype.itemsize}"))
        no_path = np.empty((0, 0), dtype)
        dictionary = self.atoms, self._all_squares, self._min_lengths
        kept = *codes, no_path if path is None else path
        pursue(dictionary, data, weights, given_caps, keys, self._limits, kept)
        return codes

    @cached_property
    def _all_squares(self) -> Floats:
        return np.square(self.atoms)

    @cached_property
    def _min_lengths(self) -> Floats:
        """Lower bounds on the squared masked lengths: atoms of zeros, and duplicates, are never selected."""
        full = self._squares.sum(axis=0)
        return np.where(full > 0, full * self._limits[0], np.inf).astype(self.atoms.dtype, copy=False)

    def _columns(self, chosen: Ints, weights: Floats | None) -> Floats:
        """Return the chosen atoms, weighted: (B, d)."""
        columns = self._rows.take(chosen, axis=0)
        return columns if weights is None else np.multiply(columns, weights, out=columns)

    def _inverse_lengths(self, weights: Floats | None, out: Floats) -> Floats:
        """Put 1 / |m * a|^2 for every patch and atom into `out`, and return it."""
        if weights is None:
            out[...] = self._squares.sum(axis=0)
        else:
            np.matmul(np.square(weights) if self._weak else weights, self._squares, out=out)
        np.maximum(out, self._min_lengths, out=out)
        return np.divide(1, out, out=out)

    def _take_workspace(self, n_rows: int) -> "_Workspace":
        with suppress(IndexError):  # another thread may have taken it
            work = self._free.pop()
            if len(work.scores) >= n_rows:
                return work
            del work  # before there is a larger one
        return _Workspace(self.capacity, n_rows, self.atoms)


class _Workspace:
    """Arrays that are reused for all chunks: new pages cost more than the arithmetic on them."""

    def __init__(self, capacity: int, n_rows: int, atoms: Floats) -> None:
        (n_features, n_atoms), dtype = atoms.shape, atoms.dtype
        self.vectors = np.empty((n_rows, capacity * n_features), dtype)
        overlaps = np.empty((n_rows, capacity, capacity), dtype)
        #: The fits of `append_columns`.
        self.fit = self.vectors, overlaps, np.empty((n_rows, 3, capacity), dtype)
        self.residual = np.empty((n_rows, n_features), dtype)
        self.weighted = np.empty_like(self.residual)
        self.scores = np.empty((n_rows, n_atoms), dtype)
        self.inverse_lengths = np.empty_like(self.scores)
