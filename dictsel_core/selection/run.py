"""A selection: its steps, the run that takes them one at a time, the result, and how good it is at least."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple, ParamSpec, Protocol

import numpy as np

from dictsel_core._util.arrays import positive_part_sums, read_only
from dictsel_core._util.parallel import SteppedRun, single_threaded_blas, step_by_step
from dictsel_core._util.validation import Doubles, Floats, Ints, as_nonnegative
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import AverageSparsity, Constraint
from dictsel_core.selection.problem import Problem, UtilityProblem
from dictsel_core.selection.state import Fitted, SupportState

Parameters = ParamSpec("Parameters")

#: Larger Gram matrices, of data or of atoms, are not made: it would take longer than the selection.
_MAX_GRAM = 1024
#: Bounds are sums of rounded numbers; they are enlarged by this fraction, by the size of a number in bytes.
_SAFETY = {4: 1e-5, 8: 1e-9}


@dataclass(frozen=True)
class Certificate:
    """The sum of f_t(Z_t) that a selection has achieved, and an upper bound on that of any other.

    The bound is for all supports that the constraint allows in any dictionary of k atoms of the ground set.
    Its reason is the "energy" or the "spectrum" of the data, the "blocks" of the constraint, or the "gains"
    of further replacements.
    """

    achieved: float
    upper_bound: float
    reason: str

    @property
    def ratio(self) -> float:
        """A lower bound on the fraction of the optimum that was reached, from 0 to 1."""
        return min(1.0, self.achieved / self.upper_bound) if self.upper_bound > 0 else 1.0

    def __str__(self) -> str:
        return f"at least {np.floor(1000 * self.ratio) / 1000:.3f} of the best possible"


class DataSums(NamedTuple):
    """Sums over some patches that bound the optimum."""

    energy: float  #: Half of it on observed entries, or the largest possible utility.
    largest: float  #: Squared length of a patch, or twice its largest possible utility.
    gram: Doubles | None  #: Y^T Y of the rows; None if entries are missing, or for other utilities.


def data_sums(problem: Problem) -> DataSums:
    """Return the sums over the patches of a problem."""
    energies, rows = problem.energies, problem.data.astype(np.float64, copy=False)
    is_complete = problem.observed is None and not isinstance(problem, UtilityProblem)
    gram = rows.T @ rows if is_complete and rows.shape[1] <= _MAX_GRAM else None
    return DataSums(float(energies.sum()) / 2, float(energies.max()), gram)


class SpectralBound:
    """By the energy, or the largest possible utility, and by the spectrum if nothing is missing.

    Both are sums over parts of the data; `itemsize` is the size of their numbers in bytes.
    """

    def __init__(self, parts: Callable[[], Iterable[DataSums]], itemsize: int = 4) -> None:
        self._parts, self._safety = parts, _SAFETY[itemsize]

    @property
    def energy(self) -> float:
        """Half the energy, or the largest possible utility."""
        return self.sums.energy

    def certificate(self, n_atoms: int, achieved: float, supports: list[Ints]) -> Certificate:
        """Return the least of these bounds for `n_atoms` atoms, whatever the supports are."""
        bounds = {"energy": self.sums.energy}
        if self.sums.gram is not None:
            bounds["spectrum"] = float(np.linalg.eigvalsh(self.sums.gram)[::-1][:n_atoms].sum()) / 2
        return _least(achieved, bounds, self._safety)

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


class OptimumBound:
    """Upper bounds on the optimum of the squared utility for one problem and constraint."""

    def __init__(self, problem: Problem, constraint: Constraint) -> None:
        self._problem, self._constraint = problem, constraint
        self.energy = float(problem.energies.sum()) / 2  #: Half the energy.

    def certificate(self, n_atoms: int, achieved: float, supports: list[Ints]) -> Certificate:
        """Return the least of these bounds."""
        energies, constraint = self._problem.energies, self._constraint
        if isinstance(constraint, AverageSparsity) and constraint.budget < len(energies):
            energies = np.partition(energies, -constraint.budget)[-constraint.budget :]  # of those it reaches
        bounds = {"energy": float(energies.sum()) / 2}
        complete = self._problem.observed is None
        if complete and min(self._problem.data.shape) <= _MAX_GRAM:
            bounds["spectrum"] = float(self._spectrum[:n_atoms].sum()) / 2
        if complete and (blocks := self._block_bound(n_atoms)) is not None:
            bounds["blocks"] = blocks
        further = self._further_gains(n_atoms, supports)
        safety = _SAFETY[self._problem.data.itemsize]
        if further is not None:  # `achieved` is a difference of energies, and rounded as they are
            bounds["gains"] = achieved + further + safety * self.energy
        return _least(achieved, bounds, safety)

    @cached_property
    def _spectrum(self) -> Doubles:
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

    def _further_gains(self, n_atoms: int, supports: list[Ints]) -> float | None:
        """Bound what any supports of that many atoms have more than these; None if there is no bound."""
        problem, ground_set = self._problem, self._problem.ground_set
        alike, sizes = self._constraint.treats_atoms_alike, np.array([len(support) for support in supports])
        atoms = np.full((len(supports), max(1, int(sizes.max()))), -1)
        atoms[np.arange(atoms.shape[1]) < sizes[:, None]] = np.concatenate(supports)
        capacity = self._constraint.capacity(len(problem), len(ground_set), n_atoms)
        if capacity == 1:
            # Where every patch uses one atom, the objective is submodular.
            values, used = problem.squared_modular_values(), atoms[:, 0]
            reached = np.where(used >= 0, values[np.arange(len(used)), used], 0)
            return _sum_of_largest(positive_part_sums(values, reached), n_atoms)
        if problem.observed is not None or len(ground_set) > _MAX_GRAM:
            return None
        concavity = ground_set.smallest_eigenvalue(2 * capacity, merge_duplicates=alike)
        if alike:
            atoms = ground_set.firsts[atoms]
        ordered = np.sort(atoms, axis=1)
        twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()  # as SDS_MA may select
        return None if concavity == 0 or twice else self._gradient_gains(n_atoms, concavity, atoms)

    def _gradient_gains(self, n_atoms: int, concavity: float, supports: Ints) -> float:
        r"""Bound further gains by the inequality behind lemma C.1, which holds for any supports Z*.

        .. math:: f_t(Z^*) - f_t(Z)
            \le |(A^\top r)_{Z^* \setminus Z}|^2 / 2m - m |w_{Z \setminus Z^*}|^2 / 2

        The right side is at most the sum over p replacements, of which the best has the value that the
        constraint finds with m in the place of M.
        """
        constraint, state = self._constraint, SupportState(self._problem, supports.shape[1])
        state.set_supports(supports)
        gains = state.squared_correlations(np.arange(len(supports)))
        values = constraint.values(state.table(gains, concavity))
        p = constraint.replacement_sparsity(n_atoms, len(np.unique(supports[supports >= 0])))
        # Without the costs, one replacement for each atom is enough under any constraint.
        bounds = [_sum_of_largest(gains.sum(axis=0, dtype=np.float64), n_atoms)]
        if p is not None:
            bounds.append(p * float(values.max()))
        if constraint.one_replacement_per_atom:
            bounds.append(_sum_of_largest(values, n_atoms))
        return min(bounds) / (2 * concavity)


def _eigenvalues(data: Floats) -> Doubles:
    """Return the squared singular values, the largest first."""
    rows = data.astype(np.float64, copy=False)
    gram = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
    return np.asarray(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))


def _sum_of_largest(values: Floats, count: int) -> float:
    return float(np.sort(values)[::-1][:count].sum())


@dataclass(frozen=True)
class SelectionStep:
    """The selection of one atom, by its index in the ground set.

    The gain is the maximum by which it was selected, and `objective` the value after the step; see each
    selector. `n_exact` candidates were evaluated exactly. By its `error`, 0 unless gains were estimated, the
    gain may be below the largest one.
    """

    atom: int
    gain: float
    objective: float
    n_exact: int
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Selection:
    """A selected dictionary, and the supports of the patches.

    Attributes
    ----------
    ground_set : GroundSet
    indices : (k,) ndarray of int
        Indices of the atoms in the ground set, in the order of selection.
    supports : tuple of (n_t,) ndarray of int
        The atoms that each patch uses, as ground-set indices.
    coefficients : tuple of (n_t,) ndarray
        Their least-squares weights on the observed entries.
    gains : (k,) ndarray
        Gain of each step. There are more steps than atoms only if repeats count as steps.
    objective : (k,) ndarray
        Value after each step.
    certificate : Certificate
        A lower bound on the fraction of the optimum that the supports reach, for the data of this selection;
        `approximation_bound` is the guarantee for any data.
    """

    ground_set: GroundSet
    indices: Ints
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    gains: Doubles
    objective: Doubles
    certificate: Certificate

    def __repr__(self) -> str:
        used = np.mean([len(support) for support in self.supports])
        reached = f", objective {self.objective[-1]:.4g}" if len(self.indices) else ""
        return (
            f"Selection({len(self.indices)} of {len(self.ground_set)} atoms, {len(self.supports)} patches "
            f"using {used:.3g} each{reached})"
        )

    @property
    def dictionary(self) -> Doubles:
        """The selected atoms as columns: (d, k)."""
        return self.ground_set.atoms[:, self.indices]


class Engine(Protocol):
    """The state of one selector; created when the first step is asked for."""

    def advance(self) -> SelectionStep:
        """Select one more atom."""

    def fitted(self) -> Fitted:
        """Return the supports of all patches, and their least-squares weights."""


class SelectionRun(SteppedRun[SelectionStep, Selection]):
    """An iterator over the steps of a selector, one per atom; `result` is available after every step."""

    def __init__(
        self,
        ground_set: GroundSet,
        n_atoms: int,
        start: Callable[[], Engine],
        bound: OptimumBound | SpectralBound,
    ) -> None:
        super().__init__()
        self._ground_set, self._n_atoms, self._start, self._bound = ground_set, n_atoms, start, bound
        self._engine: Engine | None = None

    @property
    def n_atoms(self) -> int:
        """The number of steps of a full run."""
        return self._n_atoms

    @property
    def result(self) -> Selection:
        """The selection after the steps taken."""
        with single_threaded_blas:
            taken, fitted = self._steps, self._started().fitted()
            return Selection(
                ground_set=self._ground_set,
                indices=read_only(np.array(list(dict.fromkeys(step.atom for step in taken)), dtype=np.intp)),
                supports=tuple(fitted.supports),
                coefficients=tuple(fitted.weights),
                gains=read_only(np.array([step.gain for step in taken])),
                objective=read_only(np.array([step.objective for step in taken])),
                certificate=self._bound.certificate(len(taken), fitted.reached, fitted.supports),
            )

    def finish_when(self, *, explained: float = 1.0, growth: float = 0.0) -> Selection:
        """Take steps until more atoms are not worth it, and return the selection.

        The number of atoms need not be known in advance; that of the run is the maximum.

        Parameters
        ----------
        explained : float, optional
            Stop if the objective reaches this fraction of the energy of the data (observed entries, times
            one half). Default is 1.
        growth : float, optional
            Stop after a step that adds less than this fraction to the objective. Default is 0.
        """
        target = as_nonnegative(explained, "explained") * self._bound.energy
        least = as_nonnegative(growth, "growth")
        before = self._steps[-1].objective if self._steps else 0.0
        with single_threaded_blas:
            for step in self:
                if step.objective >= target or step.objective - before < least * before:
                    break
                before = step.objective
        return self.result

    def _is_finished(self) -> bool:
        return len(self._steps) >= self._n_atoms

    def _advance(self) -> SelectionStep:
        return self._started().advance()

    def _started(self) -> Engine:
        if self._engine is None:
            self._engine = self._start()
        return self._engine


def iterate(select: Callable[Parameters, Selection]) -> Callable[Parameters, SelectionRun]:
    """Return the step-by-step version of a selector."""
    return step_by_step(select, SelectionRun, "which selects one atom per step, and always has a result")
