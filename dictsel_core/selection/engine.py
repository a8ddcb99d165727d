"""The parts of selectors, from which others can be made: see docs/extending.md."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import Bools, Floats, Ints, as_n_atoms, as_positive
from dictsel_core.atoms import GroundSet
from dictsel_core.atoms.ground_set import as_ground_set
from dictsel_core.constraints import Constraint, Replacement, ReplacementGains
from dictsel_core.selection.problem import Problem, UtilityProblem, as_points, problem_of
from dictsel_core.selection.run import (
    Engine,
    OptimumBound,
    SelectionRun,
    SelectionStep,
    SpectralBound,
    data_sums,
)
from dictsel_core.selection.state import Fitted, GramState, SupportState
from dictsel_core.utility import Utility, as_utility

__all__ = [
    "GainCostEngine",
    "OMPEngine",
    "Problem",
    "ReplacementEngine",
    "SelectedAtom",
    "Selector",
    "SupportState",
    "best_replacement",
]

Repeats = Literal["extra", "steps", "none"]


def as_max_repeats(repeats: object, n_atoms: int) -> int | None:
    """Return the `max_repeats` of an engine for a value of `repeats`, checked."""
    if repeats not in get_args(Repeats):
        raise ValueError(f"repeats must be one of {', '.join(get_args(Repeats))}, not {repeats!r}.")
    return {"extra": n_atoms, "steps": None, "none": 0}[str(repeats)]


def as_smoothness(smoothness: object, ground_set: GroundSet) -> float:
    """Return M, checked; that of the ground set if it is not given."""
    return (
        as_ground_set(ground_set).smoothness if smoothness is None else as_positive(smoothness, "smoothness")
    )


class SelectedAtom(NamedTuple):
    """The atom that was selected, its gain, how many candidates were evaluated exactly, and the error."""

    atom: int
    gain: float
    n_exact: int
    error: float = 0.0


class Supports(Protocol):
    """The supports that an engine changes, such as a `SupportState`."""

    @property
    def n_candidates(self) -> int:
        """The number n of candidate atoms."""

    @property
    def objective(self) -> float:
        """Sum of f_t(Z_t)."""

    def fitted(self) -> Fitted:
        """Return the supports of all patches, and their least-squares weights."""


class ReplacementEngine(ABC):
    """Algorithm 1: iterations that replace atoms in supports, until a new atom is selected.

    Derive from it, and write `iterate`, to have a selector of your own.

    Parameters
    ----------
    state : SupportState
        Changed by `iterate`.
    max_repeats : int or None
        How many iterations may select an atom that is already in the dictionary, without being a step; None
        if every iteration is a step, as in the paper.

    Examples
    --------
    An engine that takes the atoms in their order, whatever they are worth:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> class InOrder(ReplacementEngine):
    ...     def __init__(self, problem, constraint, n_atoms):
    ...         super().__init__(SupportState(problem, 1), max_repeats=0)
    ...     def iterate(self, eligible, new):
    ...         return SelectedAtom(int(new.argmax()), 0.0, 0)
    >>> data = np.random.default_rng(0).normal(size=(30, 64))
    >>> run = Selector("in_order", InOrder).start(standard_ground_set(), data, IndividualSparsity(1), 3)
    >>> run.finish().indices.tolist()
    [0, 1, 2]
    """

    def __init__(self, state: Supports, max_repeats: int | None) -> None:
        self._supports = state
        self._counts_repeats = max_repeats is None
        self._repeats_left = max_repeats or 0
        self._all = np.ones(state.n_candidates, bool)
        self._new = self._all.copy()

    @abstractmethod
    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Apply the best replacement by an eligible atom, (n,) bool.

        If no replacement has a positive gain, pick one of the atoms not selected yet, `new`, with gain 0.
        """

    def advance(self) -> SelectionStep:
        """Iterate until an atom joins the dictionary, or once if every iteration counts."""
        n_exact = 0
        while True:
            eligible = self._all if self._counts_repeats or self._repeats_left > 0 else self._new
            pick = self.iterate(eligible, self._new)
            n_exact += pick.n_exact
            if self._new[pick.atom] or self._counts_repeats:
                break
            self._repeats_left -= 1
        self._new[pick.atom] = False
        return SelectionStep(pick.atom, pick.gain, self._supports.objective, n_exact, pick.error)

    def fitted(self) -> Fitted:
        """Return the supports of all patches, and their least-squares weights."""
        return self._supports.fitted()


def best_replacement(
    bounds: Floats, solve: Callable[[int], Replacement], accuracy: float = 1.0
) -> tuple[int, Replacement | None, int]:
    """Return the atom of the best replacement, that one (None if no value is positive), and how many solves.

    Parameters
    ----------
    bounds : (n,) ndarray
        Upper bounds on the values of all atoms, in whose order they are tried; overwritten.
    solve : callable
        Returns the replacement of an atom, such as ``lambda atom: constraint.replacement(table, atom)``.
    accuracy : float, optional
        Atoms are tried until no bound, times this, exceeds the best value. Default is 1.
    """
    best_atom, best, best_value, n_exact = -1, None, 0.0, 0
    while accuracy * bounds[atom := int(bounds.argmax())] > best_value:
        replacement = solve(atom)
        n_exact += 1
        bounds[atom] = 0
        if replacement.value > best_value:
            best_atom, best, best_value = atom, replacement, replacement.value
    return best_atom, best, n_exact


class GainCostEngine(ReplacementEngine):
    """Values replacements by gains and costs, among which the constraint finds the best combination.

    State and maximum number of repeats are those of a `ReplacementEngine`; a replacement reaches at least the
    fraction `accuracy` of the largest value.
    """

    def __init__(
        self, state: SupportState, constraint: Constraint, max_repeats: int | None, accuracy: float = 1.0
    ) -> None:
        super().__init__(state, max_repeats)
        self.state = state
        self.constraint, self._accuracy = constraint, accuracy
        self._price = 0.0

    def apply(self, replacement: Replacement, atom: int) -> None:
        """Change the supports, and refit them."""
        self.state.apply(replacement, atom)

    def apply_best(self, table: ReplacementGains, scale: float, eligible: Bools, new: Bools) -> SelectedAtom:
        """Apply the best replacement; return the atom, and the gain over `scale`.

        If no replacement has a positive value, the new atom with the largest summed gain is picked.
        """
        constraint = self.constraint
        bounds = np.where(eligible, constraint.bounds(table, self._price), 0)

        def solve(atom: int) -> Replacement:
            found, bounds[atom] = constraint.replacement(table, atom), 0
            if found.price != self._price and bounds.max() > found.value:
                self._price = found.price  # bounds at the price of a good atom are tighter
                np.minimum(bounds, constraint.bounds(table, found.price), out=bounds)
            return found

        atom, replacement, n_exact = best_replacement(bounds, solve, self._accuracy)
        if replacement is None:
            totals = table.gains.sum(axis=0, dtype=np.float64)
            return SelectedAtom(int(np.where(new, totals, -1.0).argmax()), 0.0, n_exact)
        self._price = replacement.price
        self.apply(replacement, atom)
        return SelectedAtom(atom, replacement.value / scale, n_exact)


class Selector(NamedTuple):
    """A selector: its name, its engine, and which classes of constraints it accepts.

    The engine is made of a `Problem`, a constraint, the number of atoms, and the selector's own options by
    name. `needs` are the accepted constraints as text, for errors.
    """

    name: str
    engine: Callable[..., Engine]
    accepted: tuple[type[Constraint], ...] = (Constraint,)
    needs: str = "a sparsity constraint such as IndividualSparsity(5)"

    def start(
        self,
        ground_set: GroundSet,
        data: ArrayLike,
        constraint: Constraint,
        n_atoms: int,
        mask: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        utility: Utility | None = None,
        **options: object,
    ) -> SelectionRun:
        """Check the input, and return a run that has not begun."""
        self.check(constraint)
        u = None if utility is None else as_utility(utility)
        problem = problem_of(ground_set, as_points(ground_set, data, mask, weights), u)
        bound: OptimumBound | SpectralBound = OptimumBound(problem, constraint)
        if u is not None:
            bound = SpectralBound(lambda: [data_sums(problem)], problem.data.itemsize)
        count = as_n_atoms(n_atoms, len(ground_set))
        constraint.check(len(problem), len(ground_set))
        return SelectionRun(
            ground_set, count, lambda: self.engine(problem, constraint, count, **options), bound
        )

    def check(self, constraint: object) -> None:
        """Raise TypeError if a constraint is not accepted."""
        if isinstance(constraint, self.accepted):
            return
        kind = type(constraint).__name__
        if isinstance(constraint, type):
            given = f"the class {constraint.__name__}; give it its parameters, as IndividualSparsity(5)"
        elif isinstance(constraint, Constraint):
            given = f"{kind}; use replacement_omp for that one"
        else:
            given = f"{kind}; a custom constraint derives from Constraint"
        raise TypeError(f"{self.name} needs {self.needs}, not {given}.")


class OMPEngine(GainCostEngine):
    """Replacement OMP: supports and squared correlations of all patches.

    Derive from it, and write `iterate`, for a selector with the same gains that chooses otherwise. The
    parameters are those of `replacement_omp`. `gains`, (T, n), are the squared correlations of the atoms with
    the residuals.
    """

    def __init__(
        self,
        problem: Problem,
        constraint: Constraint,
        n_atoms: int,
        smoothness: float | None = None,
        decay: bool = False,
        repeats: Repeats | None = None,
        accuracy: float = 1.0,
    ) -> None:
        n_candidates = len(problem.ground_set)
        capacity = constraint.capacity(len(problem), n_candidates, n_atoms)
        # In larger dictionaries, shared products cost more than they save.
        shares_products = (
            not isinstance(problem, UtilityProblem)
            and problem.observed is None
            and n_atoms <= 2 * problem.ground_set.n_features
        )
        state = GramState(problem, capacity, n_atoms) if shares_products else SupportState(problem, capacity)
        # With decay a gain does not guarantee an improvement, so repeats could cycle.
        max_repeats = as_max_repeats(repeats or ("none" if decay else "extra"), n_atoms)
        super().__init__(state, constraint, max_repeats, accuracy)
        self.problem, self.decay = problem, decay
        self.smoothness = as_smoothness(smoothness, problem.ground_set)
        self.gains = np.empty((len(problem), n_candidates), problem.data.dtype)
        self.update_gains(np.arange(len(problem)))
        self.iteration = 0

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Make one iteration of algorithm 1."""
        self.iteration += 1
        smoothness = self.smoothness
        if self.decay:
            smoothness /= np.sqrt(self.iteration)
        return self.apply_best(self.table(smoothness), smoothness, eligible, new)

    def table(self, smoothness: float | None = None) -> ReplacementGains:
        """Return gains and costs, both multiplied by M: squares of A^T r, and of M w."""
        return self.state.table(self.gains, smoothness or self.smoothness)

    def apply(self, replacement: Replacement, atom: int) -> None:
        """Change the supports, refit them, and update the gains."""
        self.update_gains(self.state.apply(replacement, atom))

    def update_gains(self, rows: Ints) -> None:
        """Recompute the squared correlations of patches whose residual has changed."""
        self.state.update_squares(rows, self.gains)
