"""Orthogonal matching pursuit of chunks of patches: by operations on all their columns, or patch by patch."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints, rounding_level
from dictsel_core.pursuit._patch_kernels import pursue
from dictsel_core.pursuit.codes import CHUNK
from dictsel_core.pursuit.least_squares import DEPENDENCE_EPSILONS, REPEAT_BELOW, StackedLeastSquares

#: Changes scores (B, k) in place, given the supports so far (B, s).
Rule = Callable[[Floats, Ints], None]


class Pursuit:
    """The kernel of `omp` for one dictionary; it may be called from several threads.

    Assumes finite atoms and data of the same dtype.

    Parameters
    ----------
    atoms : (d, k) ndarray
    capacity : int
        Maximum sparsity of any patch.
    tolerance : float
        Squared residual at which a patch is finished.
    weak : bool
        Whether some weights lie between 0 (missing) and 1 (observed).
    excluded : (k,) ndarray of bool, optional
        Atoms that are never selected. By default duplicates of earlier ones: rounding must not decide
        between them.
    """

    #: Whether data must be zero at missing entries.
    reads_missing = True

    def __init__(
        self,
        atoms: Floats,
        capacity: int,
        tolerance: float = 0.0,
        *,
        weak: bool = False,
        excluded: Bools | None = None,
    ) -> None:
        self.atoms = np.ascontiguousarray(atoms)
        self._rows = np.ascontiguousarray(atoms.T)
        self._squares = self.atoms**2
        self.capacity = min(capacity, *atoms.shape)
        self.tolerance = tolerance
        self._weak = weak
        # Relative magnitude below which a correlation, or the masked length of an atom, is rounding error.
        self.rounding = rounding_level(atoms.shape[0], atoms.dtype)
        self._squares[:, duplicate_columns(self.atoms) if excluded is None else excluded] = 0
        self._free: list[_Workspace] = []  # shared by all threads

    def __call__(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None = None,
        *,
        rule: Rule | None = None,
        path: Floats | None = None,
        own: Floats | None = None,
    ) -> tuple[Ints, Floats, Floats]:
        """Code one chunk by weighted least squares.

        Parameters
        ----------
        data : (B, d) ndarray
            Multiplied by the weights: zero at missing entries.
        weights : (B, d) ndarray or None
            1 where observed, 0 where missing; None if all entries are observed. With B / C rows they are
            those of every B / C consecutive rows of the data, such as the same patches of C channels.
        caps : (B,) ndarray of int, optional
            Sparsity of each patch; by default the capacity.
        rule : Rule, optional
            Changes the scores of every step in place. A patch that cannot use the selected atom then goes on
            without it.
        path : (B, s + 1) ndarray, optional
            Filled with the squared residual after 0, 1, ... steps.
        own : (B, d) ndarray, optional
            An atom of unit length for each patch, in the place of the last one of the dictionary.

        Returns
        -------
        supports : (B, s) ndarray of int
        coefficients : (B, s) ndarray
        residual_energy : (B,) ndarray
        """
        work = self._take_workspace(len(data))
        try:
            return self._code(data, weights, caps, work, rule, path, own)
        finally:
            self._free.append(work)

    def _code(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None,
        work: "_Workspace",
        rule: Rule | None,
        path: Floats | None,
        own: Floats | None,
    ) -> tuple[Ints, Floats, Floats]:
        n = len(data)
        fit, scores = work.fit, work.scores[:n]
        inverse_lengths = self._inverse_lengths(weights, own, work.inverse_lengths[:n])
        supports = np.full((n, self.capacity), -1)
        rows = np.arange(n)
        fit.begin(data)
        energy = np.vecdot(data, data)
        min_score = energy * self.rounding**2
        active = energy > self.tolerance
        if path is not None:
            path[...] = energy[:, None]
        for j in range(self.capacity):
            residual = fit.residual
            if self._weak and weights is not None:
                residual = _weighted(residual, weights, out=work.weighted[:n])
            np.matmul(residual, self.atoms, out=scores)
            if own is not None:
                scores[:, -1] = np.vecdot(residual, own)
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
            column = fit.next_column()
            self._write_columns(chosen, weights, own, out=column)
            # A dependent column ends the pursuit of its patch: even the best atom explains nothing.
            taken = fit.append(inverse_lengths[rows, chosen], active)
            active = taken if rule is None else active
            supports[:, j] = np.where(taken, chosen, -1)
            if path is not None:
                path[:, j + 1 :] = np.vecdot(fit.residual, fit.residual)[:, None]
            if self.tolerance > 0:
                active &= np.vecdot(fit.residual, fit.residual) > self.tolerance
        return supports, fit.coefficients, np.vecdot(fit.residual, fit.residual)

    @cached_property
    def min_lengths(self) -> Floats:
        """Lower bounds on the squared masked lengths: atoms of zeros, and duplicates, are never selected."""
        full = self._squares.sum(axis=0)
        return np.where(full > 0, full * self.rounding**2, np.inf).astype(self.atoms.dtype, copy=False)

    def _write_columns(self, chosen: Ints, weights: Floats | None, own: Floats | None, out: Floats) -> None:
        """Write the chosen atoms, weighted."""
        np.take(self._rows, chosen, axis=0, out=out, mode="clip")
        if own is not None:
            np.copyto(out, own, where=(chosen == len(self._rows) - 1)[:, None])
        if weights is not None:
            _weighted(out, weights, out=out)

    def _inverse_lengths(self, weights: Floats | None, own: Floats | None, out: Floats) -> Floats:
        """Put 1 / |m * a|^2 for every patch and atom into `out`, and return it."""
        first = out if weights is None else out[: len(weights)]
        if weights is None:
            first[...] = self._squares.sum(axis=0)
        else:
            np.matmul(np.square(weights) if self._weak else weights, self._squares, out=first)
        np.maximum(first, self.min_lengths, out=first)
        np.divide(1, first, out=first)
        if len(first) < len(out):
            out.reshape(-1, *first.shape)[1:] = first
        if own is not None:
            seen = own if weights is None else own * weights
            out[:, -1] = 1 / np.maximum(np.vecdot(seen, seen), self.rounding**2)
        return out

    def _take_workspace(self, n_rows: int) -> "_Workspace":
        try:
            work = self._free.pop()
        except IndexError:
            work = None
        if work is None or len(work.scores) < n_rows:
            work = None  # release it before there is a larger one
            work = _Workspace(self.capacity, n_rows, self.atoms)
        return work


class PatchPursuit(Pursuit):
    """Codes chunks of patches like `Pursuit`, up to rounding, on the observed entries of each patch only.

    Its time follows the number of observed entries, that of `Pursuit` the number of all: with half of them
    missing both take about as long. Chunks without missing entries, or with a rule,
    are left to `Pursuit`.
    """

    reads_missing = False

    def __call__(
        self,
        data: Floats,
        weights: Floats | None,
        caps: Ints | None = None,
        *,
        rule: Rule | None = None,
        path: Floats | None = None,
        own: Floats | None = None,
    ) -> tuple[Ints, Floats, Floats]:
        """Code one chunk, like `Pursuit`; missing entries may have any value."""
        if weights is None or rule is not None or own is not None:
            return super().__call__(data, weights, caps, rule=rule, path=path, own=own)
        n, dtype = len(data), self.atoms.dtype
        supports = np.full((n, self.capacity), -1)
        coefficients, energies = np.zeros(supports.shape, dtype), np.empty(n, dtype)
        pursue(
            self._dictionary,
            data,
            weights,
            np.full(n, self.capacity) if caps is None else caps,
            np.empty(len(self._dictionary[-1]), np.dtype(f"i{dtype.itemsize}")),
            self._limits,
            (supports, coefficients, energies, np.empty((0, 0), dtype) if path is None else path),
        )
        return supports, coefficients, energies

    @cached_property
    def _dictionary(self) -> tuple[Floats, Floats, Floats]:
        """The atoms, their squares, and bounds on lengths."""
        return self.atoms, np.square(self.atoms), self.min_lengths

    @cached_property
    def _limits(self) -> tuple[np.floating[Any], ...]:
        """As described in `pursue`."""
        number, epsilon = self.atoms.dtype.type, np.finfo(self.atoms.dtype).eps
        return tuple(
            number(each)
            for each in (self.rounding**2, DEPENDENCE_EPSILONS * epsilon, REPEAT_BELOW, self.tolerance)
        )


class _Workspace:
    """Arrays that are reused for all chunks."""

    def __init__(self, capacity: int, n_rows: int, atoms: Floats) -> None:
        n_features, n_atoms = atoms.shape
        self.fit = StackedLeastSquares(capacity, n_rows, n_features, atoms.dtype)
        self.weighted = np.empty((n_rows, n_features), atoms.dtype)
        self.scores = np.empty((n_rows, n_atoms), atoms.dtype)
        self.inverse_lengths = np.empty_like(self.scores)


def _weighted(rows: Floats, weights: Floats, out: Floats) -> Floats:
    """Put rows (C * B, d), multiplied by weights (B, d), into `out`, and return it."""
    shape = (-1, *weights.shape)
    np.multiply(rows.reshape(shape), weights, out=out.reshape(shape))
    return out


def duplicate_columns(atoms: Floats) -> Bools:
    """Return which columns are multiples of an earlier one: (k,)."""
    lengths = np.linalg.norm(atoms, axis=0)
    units = atoms / np.where(lengths > 0, lengths, 1)
    close = 1 - 4 * rounding_level(atoms.shape[0], atoms.dtype)
    duplicate = np.zeros(atoms.shape[1], bool)
    for start in range(0, atoms.shape[1], CHUNK):
        block = units[:, start : start + CHUNK]
        products = np.abs(block.T @ units[:, : start + block.shape[1]])
        duplicate[start : start + CHUNK] = (np.tril(products, start - 1) > close).any(axis=1)
    return duplicate
