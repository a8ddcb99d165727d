"""Replacement OMP that evaluates a sample of the patches in each step."""

from collections.abc import Iterator
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.runs import with_parameters_of
from dictsel_core._util.validation import (
    Bools,
    Floats,
    Ints,
    ObservedData,
    as_count,
    as_generator,
    as_n_atoms,
    as_probability,
)
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import Constraint, ReplacementGains, SeparableConstraint
from dictsel_core.selection.certificate import DataSums, SpectralBound, data_sums
from dictsel_core.selection.engine.selector import (
    ReplacementEngine,
    SelectedAtom,
    Selector,
    best_replacement,
)
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.selection.run import Selection, SelectionRun


def stochastic_replacement_omp(  # noqa: PLR0913  (options by keyword)
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    sample: int = 1024,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Selection:
    r"""Select a dictionary by Replacement OMP with gains that are estimated from samples of the patches.

    Each step draws m of the T patches without replacement, brings their supports up to date with the atoms
    selected so far, and selects the atom a with the largest mean :math:`\bar v(a)` over the sample of

    .. math:: v_t(a) = \max\Big(0, \frac{(a^\top r_t)^2}{M} - M \min_j w_{t,j}^2\Big)

    which is what patch t contributes to eq. 5; j are the atoms whose removal makes room for a, and none is
    removed where there is room. A patch that is not drawn costs nothing until the end, when all supports are
    brought up to date. Data may be a memory-mapped file.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    data : (T, d) array_like
        Patches as rows. Missing entries may have any value, NaN included.
    constraint : Constraint
        Which supports are allowed. Under individual sparsity and matroids the bounds below hold. Under any
        other constraint patches share atoms or a budget: what one of them gains depends on patches that are
        not drawn, so that eq. 5 is no mean over patches. Patches then take what those drawn before them have
        left, and the error of a step is infinite; `chunked_replacement_omp` is exact there.
    n_atoms : int
        The dictionary size k.
    sample : int, optional
        The number m of patches of each step; if there are no more, all of them are used, and the result is
        that of `replacement_omp`. Default is 1024.
    mask : (T, d) array_like of bool, optional
        True = missing. By default nothing is missing.
    weights : (T, d) or (T,) array_like, optional
        Of each entry, or of each patch, as in `replacement_omp`. Default is 1.
    confidence : float, optional
        The probability with which the errors of all steps hold together. Default is 0.95.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the samples. Default is the seed 0.

    Returns
    -------
    Selection
        With exactly k atoms. Gains and objectives of the steps are estimates, T times means over the sample;
        supports, weights and certificate are those of all patches.

    See Also
    --------
    iter_stochastic_replacement_omp : The same, step by step; a step has its `error`.
    chunked_replacement_omp : Exact, for data that do not fit into memory.

    Notes
    -----
    Where every patch has a constraint of its own, with probability `confidence` the gain of the atom that a
    step selects, over all patches, is at least the largest one minus ``step.error``:

    .. math:: T \Big[\max_a \big(\bar v(a) + \epsilon(a)\big) - \bar v(a^*) + \epsilon(a^*)\Big]

    Here :math:`\epsilon(a)` is the smaller of the bounds of Hoeffding and Serfling and of the empirical bound
    of Bernstein and Serfling [1]_,

    .. math:: B \sqrt{\frac{\rho \ln(1/\delta)}{2m}} \quad\text{and}\quad
        \hat\sigma(a) \sqrt{\frac{2 \rho \ln(5/\delta)}{m}}
        + \Big(\frac73 + \frac{3}{\sqrt 2}\Big) \frac{B \ln(5/\delta)}{m},

    where :math:`B = \max_t |y_t|^2 / M` bounds every v, :math:`\hat\sigma(a)` is the standard deviation of v
    in the sample, :math:`\rho = 1 - (m - 1)/T`, or (1 - m/T)(1 + 1/m) beyond half of the patches, and
    :math:`\delta = (1 - \text{confidence}) / 8nk`: both bounds, from above and below, for n atoms in up to 2k
    iterations. A step of relative error :math:`\tau = 1 - \text{error} / \text{largest gain}` counts as
    :math:`\tau` steps in the guarantee (remark 4.4).

    References
    ----------
    .. [1] R. Bardenet and O.-A. Maillard, "Concentration inequalities for sampling without replacement",
       Bernoulli 21(3), 2015. :DOI:`10.3150/14-BEJ605`

    Examples
    --------
    Data made of three atoms, which fifty of two thousand patches are enough to find:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> data = np.random.default_rng(0).normal(size=(2000, 3)) @ ground_set.atoms[:, [5, 17, 40]].T
    >>> selection = stochastic_replacement_omp(ground_set, data, IndividualSparsity(3), 3, sample=50)
    >>> sorted(selection.indices.tolist())
    [5, 17, 40]
    """
    return iter_stochastic_replacement_omp(
        ground_set,
        data,
        constraint,
        n_atoms,
        sample=sample,
        mask=mask,
        weights=weights,
        confidence=confidence,
        rng=rng,
    ).finish()


class _Patches:
    """The supports of all patches, each up to date with the first ``seen[t]`` replacements."""

    def __init__(
        self, ground_set: GroundSet, points: ObservedData, constraint: Constraint, n_atoms: int
    ) -> None:
        self.ground_set, self._points, self._constraint = ground_set, points, constraint
        self.n_candidates = len(ground_set)
        capacity = constraint.capacity(len(points), len(ground_set), n_atoms)
        self._supports: Ints = np.full((len(points), capacity), -1)
        self._seen: Ints = np.zeros(len(points), np.intp)
        self._atoms: list[int] = []
        self.objective = self.reached = 0.0

    def __len__(self) -> int:
        """Return the number T of patches."""
        return len(self._points)

    def append(self, atom: int) -> None:
        """Add a replacement by an atom to those that patches make."""
        self._atoms.append(atom)

    def update(self, rows: Ints) -> tuple[SupportState, Constraint]:
        """Make the remaining replacements of some patches; return their state and constraint."""
        problem = Problem(self.ground_set, self._points.reordered(rows))
        constraint = self._constraint.part(rows, self._supports)
        state = SupportState(problem, self._supports.shape[1])
        state.set_supports(self._supports[rows])
        seen = self._seen[rows]
        for number in range(int(seen.min()), len(self._atoms)):
            self._replace(state, constraint, self._atoms[number], seen <= number)
        self._supports[rows], self._seen[rows] = state.supports, len(self._atoms)
        return state, constraint

    def _replace(self, state: SupportState, constraint: Constraint, atom: int, behind: Bools) -> None:
        """Make the best replacement by an atom in the patches that are behind."""
        problem = state.problem
        rows = np.flatnonzero(behind)
        columns = problem.columns(rows, state.supports[rows])
        residuals = problem.data[rows] - np.vecmat(state.coefficients[rows], columns)
        squares = np.square(problem.apply_factors(rows, residuals) @ self.ground_set.atoms[:, atom])
        squares[squares <= problem.rounding[rows]] = 0
        squares[(state.supports[rows] == atom).any(axis=1)] = 0
        gains = np.zeros((len(behind), 1))
        gains[rows, 0] = squares
        costs = state.removal_costs(self.ground_set.smoothness)
        # Only the column of the atom is looked at.
        gains = np.broadcast_to(gains, (len(behind), self.n_candidates))
        table = ReplacementGains(gains, costs, state.supports, state.sizes)
        state.apply(constraint.replacement(table, atom), atom)

    def fitted(self) -> tuple[list[Ints], list[Floats]]:
        """Bring all patches up to date; return their supports and least-squares weights."""
        supports: list[Ints] = []
        weights: list[Floats] = []
        self.reached = 0.0
        step = _parts_rows(self.ground_set.n_features)
        for start in range(0, len(self), step):
            state = self.update(np.arange(start, min(start + step, len(self))))[0]
            part = state.fitted()
            supports += part[0]
            weights += part[1]
            self.reached += state.objective
        return supports, weights


class _Estimates(NamedTuple):
    """Means over a sample for all atoms, (n,) each: values, how far they may be off, and gains."""

    values: NDArray[np.float64]
    slack: NDArray[np.float64]
    gains: NDArray[np.float64]


class _Engine(ReplacementEngine):
    """Algorithm 1 on estimated gains."""

    def __init__(
        self,
        patches: _Patches,
        n_atoms: int,
        largest: float,
        sample: int,
        confidence: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(patches, max_repeats=n_atoms)
        self._patches, self._rng = patches, rng
        self._sample = min(sample, len(patches))
        self._largest = largest
        self._doubt = (1 - confidence) / (8 * patches.n_candidates * n_atoms)

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        """Make one iteration of algorithm 1 on a new sample."""
        patches, m = self._patches, self._sample
        rows = np.arange(len(patches))
        if m < len(patches):
            rows = np.sort(self._rng.choice(len(patches), m, replace=False))
        state, constraint = patches.update(rows)
        if isinstance(constraint, SeparableConstraint):
            estimates = self._separable_estimates(state, constraint)
        else:
            estimates = self._shared_estimates(state, constraint, eligible)
        means, slack = estimates.values, estimates.slack
        atom = int(np.where(eligible, means, -1.0).argmax())
        gain = max(float(means[atom]), 0.0)
        if gain > 0:
            patches.append(atom)
            state = patches.update(rows)[0]
        else:
            atom = int(np.where(new, estimates.gains, -1.0).argmax())
        error = 0.0
        if m < len(patches):
            error = float((means + slack)[eligible].max() - gain + (slack[atom] if gain > 0 else 0.0))
        patches.objective = state.objective * len(patches) / m
        return SelectedAtom(atom, gain * len(patches), int(eligible.sum()), error * len(patches))

    def _separable_estimates(self, state: SupportState, constraint: SeparableConstraint) -> _Estimates:
        """Return means of what each patch contributes by itself, and their bounds."""
        m = self._sample
        sums, squares, totals = _sums_of_gains(state, constraint, self._largest)
        means = sums / m
        slack = self._largest * self._slack(np.maximum(squares / m - np.square(means), 0))
        return _Estimates(means * self._largest, slack, totals)

    def _shared_estimates(self, state: SupportState, constraint: Constraint, eligible: Bools) -> _Estimates:
        """Return the value of the best replacement by one atom in the sample; there is no bound on others."""
        n, smoothness = state.n_candidates, state.problem.ground_set.smoothness
        gains = np.empty((self._sample, n))
        state.squared_correlations(np.arange(self._sample), gains)
        table = ReplacementGains(gains, state.removal_costs(smoothness), state.supports, state.sizes)
        bounds = np.where(eligible, constraint.bounds(table, 0.0), 0)
        atom, replacement, _ = best_replacement(bounds, lambda atom: constraint.replacement(table, atom))
        values = np.zeros(n)
        if replacement is not None:
            values[atom] = replacement.value / (smoothness * self._sample)
        return _Estimates(values, np.full(n, np.inf), gains.sum(axis=0))

    def _slack(self, variances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much the mean of values up to 1 in a sample may miss that of all patches: (n,)."""
        m, n_points = self._sample, len(self._patches)
        left = 1 - (m - 1) / n_points if 2 * m <= n_points else (1 - m / n_points) * (1 + 1 / m)
        hoeffding = sqrt(left * log(1 / self._doubt) / (2 * m))
        digits = log(5 / self._doubt)
        offset = (7 / 3 + 3 / sqrt(2)) * digits / m
        return np.minimum(hoeffding, np.sqrt(variances * 2 * left * digits / m) + offset)

    def achieved(self) -> float:
        """Return the sum of f_t of the fitted supports."""
        return self._patches.reached


def _sums_of_gains(
    state: SupportState, constraint: SeparableConstraint, largest: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums over patches of v_t(a) and of its squares, and of (a^T r_t)^2: (n,) each.

    The values v are relative to the largest possible one, so that their squares neither overflow nor vanish.
    """
    smoothness, n = state.problem.ground_set.smoothness, state.n_candidates
    sums, squares, totals = np.zeros(n), np.zeros(n), np.zeros(n)
    costs = state.removal_costs(smoothness)
    step = chunk_rows(8 * n)
    for start in range(0, len(costs), step):
        rows = np.arange(start, min(start + step, len(costs)))
        gains = np.empty((len(rows), n))
        state.squared_correlations(rows, gains)
        totals += gains.sum(axis=0)
        table = ReplacementGains(gains, costs[rows], state.supports[rows], state.sizes[rows])
        values = constraint.part(rows).patch_values(table) / (smoothness * largest)
        sums += values.sum(axis=0)
        squares += np.square(values).sum(axis=0)
    return sums, squares, totals


def _parts(points: ObservedData, n_features: int) -> Iterator[DataSums]:
    """Yield the sums over the patches, some of them at a time."""
    step = _parts_rows(n_features)
    for start in range(0, len(points), step):
        rows, factors = points.rows(start, start + step)
        yield data_sums(rows, complete=factors is None)


def _parts_rows(n_features: int) -> int:
    """Return the number of patches that are worked on at once."""
    return 16 * chunk_rows(8 * n_features)


@with_parameters_of(stochastic_replacement_omp)
def iter_stochastic_replacement_omp(  # noqa: PLR0913  (the options above)
    *,
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    sample: int,
    mask: ArrayLike | None,
    weights: ArrayLike | None,
    confidence: float,
    rng: np.random.Generator | int | None,
) -> SelectionRun:
    """Start `stochastic_replacement_omp`, and return its run, which selects one atom per step.

    The parameters are those of `stochastic_replacement_omp`, checked at the call. There is a result after
    every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> data = np.random.default_rng(0).normal(size=(500, 64))
    >>> run = iter_stochastic_replacement_omp(
    ...     standard_ground_set(), data, IndividualSparsity(3), 5, sample=50
    ... )
    >>> next(run).error > 0
    True
    """
    Selector("stochastic_replacement_omp", _Engine).check(constraint)
    points = as_points(ground_set, data, mask, weights)
    count, size = as_n_atoms(n_atoms, len(ground_set)), as_count(sample, "sample")
    probability = as_probability(confidence, "confidence")
    constraint.check(len(points), len(ground_set))
    generator = as_generator(rng)
    bound = SpectralBound(lambda: _parts(points, ground_set.n_features))

    def engine() -> _Engine:
        largest = bound.largest_energy / ground_set.smoothness or 1.0  # if all data are zero
        patches = _Patches(ground_set, points, constraint, count)
        return _Engine(patches, count, largest, size, probability, generator)

    return SelectionRun(ground_set, count, engine, bound)
