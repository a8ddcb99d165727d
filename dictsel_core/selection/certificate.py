"""A lower bound on the quality of a selection, by an upper bound on the optimum for its own data."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import chunk_rows, positive_part_sums
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.constraints import AverageSparsity, Constraint, ReplacementGains
from dictsel_core.selection.problem import Problem

#: Larger Gram matrices, of data or of atoms, are not made: it would take longer than the selection.
_MAX_GRAM = 1024
#: Bounds are sums of rounded numbers; they are enlarged by this fraction, by the size of a number in bytes.
_SAFETY = {4: 1e-5, 8: 1e-9}


@dataclass(frozen=True)
class Certificate:
    """The objective of a selection, and a bound that no dictionary of as many atoms can exceed.

    Attributes
    ----------
    achieved : float
        The sum of f_t(Z_t) over the selected supports.
    upper_bound : float
        No supports that the constraint allows, in any dictionary of k atoms of the ground set, have a larger
        sum.
    reason : str
        Which bound it is: "energy" of the data, "spectrum" of the data, "blocks" of the constraint, or
        "gains" of further replacements.

    Examples
    --------
    >>> print(Certificate(achieved=8.0, upper_bound=10.0, reason="spectrum"))
    at least 0.800 of the best possible
    """

    achieved: float
    upper_bound: float
    reason: str

    @property
    def ratio(self) -> float:
        """A lower bound on the fraction of the optimum that was reached, from 0 to 1."""
        return min(1.0, self.achieved / self.upper_bound) if self.upper_bound > 0 else 1.0

    def __str__(self) -> str:
        """Return the ratio as text, rounded down."""
        return f"at least {np.floor(1000 * self.ratio) / 1000:.3f} of the best possible"


class DataSums(NamedTuple):
    """Sums over some patches that bound the optimum.

    Half their energy on observed entries, or the largest possible utility; the largest squared length of a
    patch, or twice its largest possible utility; and Y^T Y of their rows, None if entries are missing or for
    other utilities.
    """

    energy: float
    largest: float
    gram: NDArray[np.float64] | None


def data_sums(data: Floats, *, complete: bool) -> DataSums:
    """Return the sums over rows (B, d), which are complete if nothing is missing in them."""
    rows = data.astype(np.float64, copy=False)
    energies = np.vecdot(rows, rows)
    gram = rows.T @ rows if complete and rows.shape[1] <= _MAX_GRAM else None
    return DataSums(float(energies.sum()) / 2, float(energies.max()), gram)


class Bound(ABC):
    """Upper bounds on the optimum for the data of a run."""

    @property
    @abstractmethod
    def energy(self) -> float:
        """Half the energy of the data on observed entries, or their largest possible utility."""

    @abstractmethod
    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return the certificate of a selection of `n_atoms` atoms with the given supports."""


class SpectralBound(Bound):
    """By the energy, and by the spectrum if nothing is missing: sums over parts of the data."""

    def __init__(self, parts: Callable[[], Iterable[DataSums]]) -> None:
        self._parts = parts

    @property
    def energy(self) -> float:
        """Half the energy, or the largest possible utility."""
        return self.sums.energy

    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return the least of these bounds."""
        bounds = {"energy": self.sums.energy}
        if self.sums.gram is not None:
            bounds["spectrum"] = float(np.linalg.eigvalsh(self.sums.gram)[::-1][:n_atoms].sum()) / 2
        return _least(achieved, bounds, _SAFETY[4])

    @cached_property
    def sums(self) -> DataSums:
        """Those over all parts."""

        def add(a: DataSums, b: DataSums) -> DataSums:
            gram = None if a.gram is None or b.gram is None else a.gram + b.gram
            return DataSums(a.energy + b.energy, max(a.largest, b.largest), gram)

        return reduce(add, self._parts())


def _least(achieved: float, bounds: dict[str, float], safety: float) -> Certificate:
    reason = min(bounds, key=lambda name: bounds[name])
    return Certificate(achieved, max(achieved, bounds[reason] * (1 + safety)), reason)


class EnergyBound(Bound):
    """By the energy, or the largest possible utility, alone: every entry at its best."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @property
    def energy(self) -> float:
        """Half the energy, or the largest possible utility."""
        return float(self._problem.energies.sum()) / 2

    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return this bound."""
        return _least(achieved, {"energy": self.energy}, _SAFETY[self._problem.data.itemsize])


class OptimumBound(EnergyBound):
    """Upper bounds on the optimum of the squared utility for one problem and constraint."""

    def __init__(self, problem: Problem, constraint: Constraint) -> None:
        super().__init__(problem)
        self._constraint = constraint

    def certificate(
        self, n_atoms: int, achieved: float, supports: list[Ints], weights: list[Floats]
    ) -> Certificate:
        """Return the least of these bounds."""
        bounds: dict[str, float] = {"energy": self._reachable_energy}
        complete = self._problem.observed is None
        if complete and min(self._problem.data.shape) <= _MAX_GRAM:
            bounds["spectrum"] = float(self._spectrum[:n_atoms].sum()) / 2
        if complete and (blocks := self._block_bound(n_atoms)) is not None:
            bounds["blocks"] = blocks
        further = self._further_gains(n_atoms, supports, weights)
        safety = _SAFETY[self._problem.data.itemsize]
        if further is not None:  # `achieved` is a difference of energies, and rounded as they are
            bounds["gains"] = achieved + further + safety * self.energy
        return _least(achieved, bounds, safety)

    @cached_property
    def _reachable_energy(self) -> float:
        """Half the energy of all patches, or of as many as the budget can reach."""
        energies = self._problem.energies
        if isinstance(self._constraint, AverageSparsity) and self._constraint.budget < len(energies):
            energies = np.partition(energies, -self._constraint.budget)[-self._constraint.budget :]
        return float(energies.sum()) / 2

    @cached_property
    def _spectrum(self) -> NDArray[np.float64]:
        """Eigenvalues of the Gram matrix of the data, the largest first.

        No subspace of k dimensions, as k atoms span, holds more of the energy than the k largest.
        """
        return _eigenvalues(self._problem.data)

    def _block_bound(self, n_atoms: int) -> float | None:
        """Bound each group of patches that shares a few atoms by its own spectrum."""
        groups = self._constraint.shared_caps(len(self._problem))
        data = self._problem.data
        if not groups or any(min(len(rows), data.shape[1]) > _MAX_GRAM for rows, _ in groups):
            return None
        grouped = np.concatenate([rows for rows, _ in groups])
        total = self._problem.energies.sum() - self._problem.energies[grouped].sum()
        for rows, cap in groups:
            total += _eigenvalues(data[rows])[: min(cap, n_atoms)].sum()
        return float(total) / 2

    def _further_gains(self, n_atoms: int, supports: list[Ints], weights: list[Floats]) -> float | None:
        """Bound what any supports of that many atoms have more than these; None if there is no bound."""
        capacity = self._constraint.capacity(len(self._problem), len(self._problem.ground_set), n_atoms)
        if capacity == 1:
            return self._single_atom_gains(n_atoms, supports, weights)
        if self._problem.observed is not None:
            return None
        concavity = self._concavity(2 * capacity)
        if concavity == 0:
            return None
        atoms, values = _padded(supports, weights)
        if self._problem.scales is not None:
            values *= self._problem.scales[:, None]
        if self._constraint.treats_atoms_alike:
            copies, originals = self._problem.ground_set.duplicates
            names = np.append(np.arange(len(self._problem.ground_set)), -1)
            names[copies] = originals
            atoms = names[atoms]
        ordered = np.sort(atoms, axis=1)
        if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
            return None  # a support with equal atoms, as SDS_MA may select
        return self._gradient_gains(n_atoms, concavity, atoms, values)

    def _single_atom_gains(self, n_atoms: int, supports: list[Ints], weights: list[Floats]) -> float:
        """Bound further gains where every patch uses one atom, so that the objective is submodular."""
        values = self._modular
        reached = np.zeros(len(values))
        padded, _ = _padded(supports, weights)
        used = padded[:, 0] >= 0
        reached[used] = values[used, padded[used, 0]]
        return _sum_of_largest(positive_part_sums(values, reached), n_atoms)

    def _gradient_gains(self, n_atoms: int, concavity: float, supports: Ints, weights: Floats) -> float:
        r"""Bound further gains by the inequality behind lemma C.1, which holds for any supports Z*.

        .. math:: f_t(Z^*) - f_t(Z)
            \le |(A^\top r)_{Z^* \setminus Z}|^2 / 2m - m |w_{Z \setminus Z^*}|^2 / 2

        The right side is at most the sum over p replacements, of which the best has the value that the
        constraint finds with m in the place of M.
        """
        constraint = self._constraint
        gains = self._squared_correlations(supports, weights)
        costs = np.where(supports < 0, np.inf, np.square(concavity * weights))
        sizes = (supports >= 0).sum(axis=1)
        values = constraint.values(ReplacementGains(gains, costs, supports, sizes))
        p = constraint.replacement_sparsity(n_atoms, len(np.unique(supports[supports >= 0])))
        # Without the costs, one replacement for each atom is enough under any constraint.
        bounds = [_sum_of_largest(gains.sum(axis=0, dtype=np.float64), n_atoms)]
        if p is not None:
            bounds.append(p * float(values.max()))
        if constraint.one_replacement_per_atom:
            bounds.append(_sum_of_largest(values, n_atoms))
        return min(bounds) / (2 * concavity)

    def _squared_correlations(self, supports: Ints, weights: Floats) -> Floats:
        """Return (A^T r_t)^2, 0 for the atoms of each support: (T, n)."""
        problem = self._problem
        atoms = problem.ground_set.atoms
        squares = np.empty((len(problem), len(problem.ground_set)))
        step = chunk_rows(8 * supports.shape[1] * problem.data.shape[1])
        for start in range(0, len(problem), step):
            rows = slice(start, start + step)
            columns = problem.padded_rows.take(supports[rows], axis=0, mode="wrap")
            residual = problem.data[rows] - np.einsum("bs,bsd->bd", weights[rows], columns)
            squares[rows] = np.square(residual @ atoms)
        at, slots = np.nonzero(supports >= 0)
        squares[at, supports[at, slots]] = 0
        return squares

    @cached_property
    def _modular(self) -> Floats:
        return self._problem.squared_modular_values()

    def _concavity(self, size: int) -> float:
        if len(self._problem.ground_set) > _MAX_GRAM:
            return 0.0
        alike = self._constraint.treats_atoms_alike
        return self._problem.ground_set.smallest_eigenvalue(size, merge_duplicates=alike)


def _eigenvalues(data: Floats) -> NDArray[np.float64]:
    """Return the squared singular values, the largest first."""
    rows = data.astype(np.float64, copy=False)
    gram = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
    return np.asarray(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))


def _sum_of_largest(values: Floats, count: int) -> float:
    return float(np.sort(values)[::-1][:count].sum())


def _padded(supports: list[Ints], weights: list[Floats]) -> tuple[Ints, Floats]:
    """Return supports and weights as arrays (T, S), padded with -1 and 0."""
    sizes = np.array([len(support) for support in supports])
    shape = (len(supports), max(1, int(sizes.max())))
    filled = np.arange(shape[1]) < sizes[:, None]
    atoms, values = np.full(shape, -1), np.zeros(shape)
    if sizes.sum():
        atoms[filled], values[filled] = np.concatenate(supports), np.concatenate(weights)
    return atoms, values
