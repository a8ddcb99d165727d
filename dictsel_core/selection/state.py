"""The supports of all patches during a selection, refitted after every change."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from dictsel_core._util.arrays import chunk_rows, read_only
from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Doubles, Floats, Ints
from dictsel_core.constraints import Replacement, ReplacementGains
from dictsel_core.pursuit.fits import spread
from dictsel_core.selection.problem import Problem, UtilityProblem
from dictsel_core.selection.utilities import UtilityFit

#: Of `_solve_supports`: what is added to the diagonal, so that dependent atoms give large numbers, no errors;
#: and the inverse determinant up to which a fit needs no other method.
_RIDGE, _WELL_CONDITIONED = 1e-13, 1e2


class Fitted(NamedTuple):
    """The supports of all patches, their least-squares weights, and the sum of f_t that they reach."""

    supports: list[Ints]
    weights: list[Floats]
    reached: float


def joined(parts: Iterable[Fitted]) -> Fitted:
    """Return what was fitted in parts."""
    supports, weights, reached = zip(*parts, strict=True)
    return Fitted(list(chain(*supports)), list(chain(*weights)), sum(reached))


class ColumnFit:
    """Fits by the columns of each support, under the mask of the patch; keeps all residuals."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._residuals = problem.data.copy()
        self._fits = problem.fits(1, 1)

    def refit(self, rows: Ints, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit by supports (B, S), -1 in empty slots; return weights, (B, S), and ``|y|^2 - |r|^2``, (B,)."""
        problem, (n, width) = self._problem, supports.shape
        if len(self._fits) < n or self._fits.capacity < width:
            self._fits = problem.fits(max(n, len(self._fits)), max(width, self._fits.capacity))
        fits = self._fits
        observed = None if problem.observed is None else problem.observed[rows]
        weights, diagonals = fits.fit(problem.data.take(rows, axis=0), observed, supports)
        residuals = fits.residuals[:n]
        spread(residuals, fits.observed, rows, self._residuals)
        self._store(rows, supports, weights, diagonals)
        return weights, problem.energies.take(rows) - np.vecdot(residuals, residuals)

    def _store(self, rows: Ints, supports: Ints, weights: Doubles, diagonals: Doubles) -> None:
        """Keep more of the fits than residuals."""

    def gradients(self, rows: Ints) -> Floats:
        """Return r of some patches, (B, d), whose products with the atoms are A^T r as observed."""
        return self._problem.apply_factors(rows, self._residuals.take(rows, axis=0))


class SupportState:
    """Supports and weights of all patches.

    Supports, (T, S), hold ground-set indices in their first ``sizes[t]`` slots, then -1; S is the capacity.
    Coefficients are least-squares weights on the observed entries, or the best for the utility of the
    problem, and 0 in empty slots; `explained`, (T,), is ``2 f_t(Z_t) = |y_t|^2 - |r_t|^2``.
    """

    def __init__(self, problem: Problem, capacity: int, fit: ColumnFit | UtilityFit | None = None) -> None:
        self.problem = problem
        shape = (len(problem), capacity)
        self.supports = np.full(shape, -1)
        self.sizes = np.zeros(len(problem), dtype=np.intp)
        self.coefficients = np.zeros(shape)
        self.explained = np.zeros(len(problem))
        if fit is None:
            fit = UtilityFit(problem) if isinstance(problem, UtilityProblem) else ColumnFit(problem)
        self._fit = fit

    @property
    def n_candidates(self) -> int:
        """The number n of candidate atoms."""
        return len(self.problem.ground_set)

    @property
    def objective(self) -> float:
        """Sum of ``f_t(Z_t) = |y_t|^2/2 - |r_t|^2/2``, on observed entries."""
        return float(self.explained.sum()) / 2

    def apply(self, replacement: Replacement, atom: int) -> Ints:
        """Change the supports, refit the changed patches, and return their indices."""
        added, slots = replacement.added, replacement.removed
        supports, sizes, is_removal = self.supports, self.sizes, slots >= 0
        rows = np.flatnonzero(added & is_removal)
        supports[rows, slots[rows]] = atom
        rows = np.flatnonzero(added & ~is_removal)
        if (sizes[rows] == supports.shape[1]).any():
            raise ValueError(
                f"A support has more atoms than the capacity of its constraint, {supports.shape[1]}; if "
                "the constraint uses an oracle, its independent sets are no matroid."
            )
        supports[rows, sizes[rows]] = atom
        sizes[rows] += 1
        rows = np.flatnonzero(is_removal & ~added)  # where the last atom moves into the empty slot
        sizes[rows] -= 1
        supports[rows, slots[rows]] = supports[rows, sizes[rows]]
        supports[rows, sizes[rows]], self.coefficients[rows, sizes[rows]] = -1, 0
        changed = np.flatnonzero(added | is_removal)
        self.refit(changed)
        return changed

    def set_supports(self, supports: Ints) -> None:
        """Replace all supports at once, and refit."""
        self.supports[...] = supports
        self.coefficients[...] = 0
        self.sizes[...] = (supports >= 0).sum(axis=1)
        self.refit(np.arange(len(supports)))

    def refit(self, rows: Ints) -> None:
        """Fit the given patches by least squares on their observed entries."""
        for block, supports in self.blocks(rows, self.problem.data.shape[1]):
            weights, self.explained[block] = self._fit.refit(block, supports)
            self.coefficients[block, : weights.shape[1]] = weights

    def table(
        self,
        gains: Floats,
        smoothness: float,
        rows: Ints | slice = slice(None),
    ) -> ReplacementGains:
        """Return gains (B, n) of patches, by default all, with the costs of removals.

        These are (M w)^2 with the smoothness M, and infinite in empty slots.
        """
        width = max(1, int(self.sizes.max()))  # slots beyond are empty
        supports = self.supports[rows, :width]
        costs = np.square(smoothness * self.coefficients[rows, :width])
        costs[supports < 0] = np.inf
        return ReplacementGains(gains, costs, supports, self.sizes[rows])

    def update_squares(self, rows: Ints, squares: Floats) -> None:
        """Write (A^T r)^2 of the given patches to an array for all patches."""
        step = chunk_rows(squares.itemsize * squares.shape[1])
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            squares[block] = self.squared_correlations(block)

    def squared_correlations(self, rows: Ints) -> Floats:
        """Return (A^T r)^2 of the given patches, (B, n), 0 for atoms in use and rounding errors."""
        supports, rounding = self.supports.take(rows, axis=0), self.problem.rounding.take(rows)
        squares: Floats = self.gradients(rows) @ self.problem.atoms
        _square_correlations(squares, rounding, self.problem.ground_set.duplicates, supports)
        return squares

    def gradients(self, rows: Ints) -> Floats:
        """Return what the atoms are correlated with, (B, d): the residuals, or gradients of the utility."""
        return self._fit.gradients(rows)

    def squares_with(self, atoms: Ints) -> Floats:
        """Return (A^T r)^2 of all patches for some atoms, as `squared_correlations` has them: (T, m)."""
        problem = self.problem
        everyone, columns = np.arange(len(problem)), problem.atoms[:, problem.ground_set.firsts[atoms]]
        squares = np.square(self.gradients(everyone) @ columns)
        squares[squares <= problem.rounding[:, None]] = 0
        for column, atom in enumerate(atoms.tolist()):
            squares[(self.supports == atom).any(axis=1), column] = 0
        return squares

    def blocks(self, rows: Ints, n_columns: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield (patches, supports) for blocks of patches, as wide as the largest support.

        As many numbers for each atom of these supports, `n_columns`, fit into the cache.
        """
        sizes = self.sizes.take(rows)
        step = chunk_rows(8 * n_columns * int(sizes.max(initial=1)))
        if len(rows) > step:
            rows = rows.take(sizes.argsort(kind="stable"))  # blocks of about equal size
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            width = max(1, int(self.sizes.take(block).max()))
            yield block, self.supports[block, :width]

    def fitted(self) -> Fitted:
        """Return one index array and one weight array per patch, all read-only."""
        supports = read_only(self.supports.copy())
        scales = self.problem.scales
        weights = self.coefficients if scales is None else self.coefficients / scales[:, None]
        weights = read_only(weights.astype(self.problem.data.dtype))
        sizes = self.sizes.tolist()
        return Fitted(
            [row[:size] for row, size in zip(supports, sizes, strict=True)],
            [row[:size] for row, size in zip(weights, sizes, strict=True)],
            self.objective,
        )


class GramState(SupportState):
    """A `SupportState` of small dictionaries that fits by inner products alone; nothing is missing.

    With G = A^T A the weights solve G_ZZ w = (A^T y)_Z, and A^T r = A^T y - G_VZ w. One patch costs O(s^3)
    and O(kn), where `ColumnFit` takes O(ds^2) and O(dn); that one fits the patches whose normal equations are
    ill-conditioned. All supports together hold at most `n_atoms` different atoms.
    """

    def __init__(self, problem: Problem, capacity: int, n_atoms: int) -> None:
        super().__init__(problem, capacity, ColumnFit(problem))
        atoms = problem.ground_set.atoms
        n_candidates = atoms.shape[1]
        self._products = np.zeros((n_atoms, n_candidates))
        self._places = np.full(n_candidates, -1)  # rows of the products
        self._n_used = 0
        moments = problem.data.astype(np.float64, copy=False) @ atoms
        self._inner = moments, self._products, self._places
        self._arrays = self.supports, self.sizes, self.coefficients, self.explained
        self._known = problem.rounding, problem.ground_set.duplicates

    def apply(self, replacement: Replacement, atom: int) -> Ints:
        """Change the supports, refit the changed patches, and return their indices."""
        self._add_products([atom])
        return super().apply(replacement, atom)

    def set_supports(self, supports: Ints) -> None:
        """Replace all supports at once, and refit."""
        self._add_products(np.unique(supports[supports >= 0]).tolist())
        super().set_supports(supports)

    def refit(self, rows: Ints) -> None:
        """Fit the given patches by least squares."""
        rest = _solve_supports(rows, self._arrays, self._inner, (_RIDGE, _WELL_CONDITIONED))
        if len(rest):
            super().refit(rest)

    def update_squares(self, rows: Ints, squares: Floats) -> None:
        """Write (A^T r)^2 of the given patches to an array for all patches."""
        _square_by_products(rows, self._arrays, self._inner, self._known, squares)

    def gradients(self, rows: Ints) -> Floats:
        """Return the residuals of some patches, (B, d): no fit keeps all of them here."""
        columns = self.problem.columns(rows, self.supports[rows])
        return np.asarray(self.problem.data[rows] - np.vecmat(self.coefficients[rows], columns))

    def squared_correlations(self, rows: Ints) -> Floats:
        """Return (A^T r)^2 of the given patches, (B, n), 0 for atoms in use and rounding errors."""
        squares = np.empty((len(self.problem), self.n_candidates), self.problem.data.dtype)
        self.update_squares(rows, squares)
        return squares[rows]

    def _add_products(self, atoms: Iterable[int]) -> None:
        for atom in atoms:
            if self._places[atom] < 0:
                row = self.problem.padded_rows[atom]
                np.matmul(row, self.problem.ground_set.atoms, out=self._products[self._n_used])
                self._places[atom] = self._n_used
                self._n_used += 1


@Kernel
def _solve_supports(
    rows: Ints,
    state: tuple[Ints, Ints, Floats, Floats],
    inner: tuple[Floats, Floats, Ints],
    limits: tuple[float, float],
) -> Ints:
    """Solve the normal equations of patches by elimination, and return for which ones it is unreliable.

    The state is supports (T, S) and their sizes, and weights (T, S) and explained energies, which are
    written. `inner` has the inner products of patches with atoms, of atoms with each other, and the row where
    those of each atom are. The limits are what is added to the diagonal, and the inverse determinant up to
    which a fit is reliable.
    """
    supports, sizes, weights, explained = state
    moments, products, places = inner
    ridge, well_conditioned = limits
    system = np.empty((supports.shape[1], supports.shape[1] + 1))
    unreliable, n_unreliable = np.empty(len(rows), np.intp), 0
    for row in rows:
        support, size = supports[row], sizes[row]
        for i in range(size):
            place = places[support[i]]
            for j in range(size):
                system[i, j] = products[place, support[j]]
            system[i, i] = 1 + ridge
            system[i, size] = moments[row, support[i]]
        determinant = 1.0
        for j in range(size):
            determinant *= system[j, j]
            for k in range(j + 1, size + 1):
                system[j, k] /= system[j, j]
            for i in range(size):
                if i != j:
                    for k in range(j + 1, size + 1):
                        system[i, k] -= system[i, j] * system[j, k]
        explained[row] = 0
        for i in range(size):
            weights[row, i] = system[i, size]
            explained[row] += weights[row, i] * moments[row, support[i]]
        if determinant * well_conditioned < 1:
            unreliable[n_unreliable] = row
            n_unreliable += 1
    return unreliable[:n_unreliable]


@Kernel
def _square_by_products(
    rows: Ints,
    state: tuple[Ints, Ints, Floats, Floats],
    inner: tuple[Floats, Floats, Ints],
    known: tuple[Floats, Ints],
    squares: Floats,
) -> None:
    """Write squared correlations of patches with all atoms, (T, n).

    For the arguments see `_solve_supports` and, for rounding errors and duplicates, `_square_correlations`.
    """
    supports, sizes, weights, _ = state
    moments, products, places = inner
    rounding, duplicates = known
    n_atoms = squares.shape[1]
    left = np.empty(n_atoms)
    for row in rows:
        left[:] = moments[row, :n_atoms]
        for s in range(sizes[row]):
            weight, explained = weights[row, s], products[places[supports[row, s]]]
            if weight != 0:
                for a in range(n_atoms):
                    left[a] -= weight * explained[a]
        squares[row] = left
        _square(squares[row], rounding[row], duplicates, supports[row])


@Kernel
def _square_correlations(out: Floats, rounding: Floats, duplicates: Ints, supports: Ints) -> None:
    """Square correlations (B, n) in place.

    They become 0 for atoms in use and where they are rounding errors, and equal for equal atoms: the columns
    of `duplicates`, (2, m), are atoms that equal an earlier one, and these.
    """
    for b in range(len(out)):
        _square(out[b], rounding[b], duplicates, supports[b])


@PartialKernel
def _square(squares: Floats, rounding: float, duplicates: Ints, support: Ints) -> None:
    """Square the correlations of one patch in place."""
    for a in range(len(squares)):
        square = squares[a] * squares[a]
        squares[a] = square if square > rounding else 0
    finish(squares, duplicates, support)


@PartialKernel
def finish(values: Floats, duplicates: Ints, support: Ints) -> None:
    """Make the values of equal atoms equal, and those of atoms in use zero."""
    for m in range(duplicates.shape[1]):
        values[duplicates[0, m]] = values[duplicates[1, m]]
    for atom in support:
        if atom >= 0:
            values[atom] = 0
