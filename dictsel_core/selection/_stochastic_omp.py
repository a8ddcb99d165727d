"""Replacement OMP that evaluates a sample of the patches in each step."""

from collections.abc import Iterator
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import chunk_rows
from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import (
    Bools,
    Doubles,
    Ints,
    ObservedData,
    as_count,
    as_generator,
    as_n_atoms,
    as_positive,
)
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import Constraint, ReplacementGains, SeparableConstraint
from dictsel_core.selection._chunks import as_table
from dictsel_core.selection.engine import (
    Repeats,
    ReplacementEngine,
    SelectedAtom,
    Selector,
    as_max_repeats,
    as_smoothness,
    best_replacement,
)
from dictsel_core.selection.problem import Problem, as_points
from dictsel_core.selection.run import SelectionRun, SpectralBound, data_sums, iterate
from dictsel_core.selection.state import Fitted, SupportState, joined


@finished
def stochastic_replacement_omp(  # noqa: PLR0913  (options by keyword)
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    sample: int = 1024,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    smoothness: float | None = None,
    repeats: Repeats = "extra",
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> SelectionRun:
    r"""Select a dictionary by Replacement OMP with gains that are estimated from samples of the patches.

    Each step draws m of the T patches without replacement, brings their supports up to date with the atoms
    selected so far, and selects the atom a with the largest mean :math:`\bar v(a)` over the sample of

    .. math:: v_t(a) = \max\Big(0, \frac{(a^\top r_t)^2}{M} - M \min_j w_{t,j}^2\Big)

    which is what patch t contributes to eq. 5; j are the atoms whose removal makes room for a, and none is
    removed where there is room. A patch that is not drawn costs nothing until the end, when all supports are
    brought up to date. Data may be a memory-mapped file.

    Parameters
    ----------
    ground_set, data, n_atoms, mask, weights, smoothness, repeats
        As in `replacement_omp`.
    constraint : Constraint
        Which supports are allowed. Under individual sparsity and matroids the bounds below hold. Where
        patches share atoms or a budget, they take what those drawn before them have left, and the error of a
        step is infinite; `chunked_replacement_omp` is exact there.
    sample : int, optional
        The number m of patches of each step; if there are no more, all of them are used, and the result is
        that of `replacement_omp`. Default is 1024.
    confidence : float, optional
        The probability with which the errors of all steps hold together. Default is 0.95.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the samples. Default is the seed 0.

    Returns
    -------
    Selection
        With exactly k atoms. Gains and objectives of the steps are estimates, T times means over the sample;
        supports, weights and certificate are those of all patches.

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
    Selector("stochastic_replacement_omp", _Engine).check(constraint)
    points = as_points(ground_set, data, mask, weights)
    count, size = as_n_atoms(n_atoms, len(ground_set)), as_count(sample, "sample")
    if (probability := as_positive(confidence, "confidence")) >= 1:
        raise ValueError(f"confidence must be below 1, but is {probability}.")
    constraint.check(len(points), len(ground_set))
    generator, max_repeats = as_generator(rng), as_max_repeats(repeats, count)
    patches = _Patches(ground_set, points, constraint, count, as_smoothness(smoothness, ground_set))

    def engine() -> _Engine:
        largest = bound.sums.largest / patches.smoothness or 1.0  # if all data are zero
        doubt = (1 - probability) / (8 * len(ground_set) * count)
        return _Engine(patches, max_repeats, largest, size, doubt, generator)

    bound = SpectralBound(lambda: map(data_sums, map(patches.problem, patches.parts())))
    return SelectionRun(ground_set, count, engine, bound)


iter_stochastic_replacement_omp = iterate(stochastic_replacement_omp)


class _Patches:
    """The supports of all patches, each up to date with the first ``seen[t]`` replacements."""

    def __init__(
        self,
        ground_set: GroundSet,
        points: ObservedData,
        constraint: Constraint,
        n_atoms: int,
        smoothness: float,
    ) -> None:
        self.ground_set, self._points, self._constraint = ground_set, points, constraint
        self.smoothness = smoothness
        self.n_candidates = len(ground_set)
        capacity = constraint.capacity(len(points), len(ground_set), n_atoms)
        self._supports: Ints = np.full((len(points), capacity), -1)
        self._seen: Ints = np.zeros(len(points), np.intp)
        self.atoms: list[int] = []  # of the replacements that patches make
        self.objective = 0.0

    def __len__(self) -> int:
        return len(self._points)

    def parts(self) -> Iterator[Ints]:
        """Yield the patches in parts that are worked on at once."""
        step = 16 * chunk_rows(8 * self.ground_set.n_features)
        return (np.arange(start, min(start + step, len(self))) for start in range(0, len(self), step))

    def problem(self, rows: Ints) -> Problem:
        """Return some patches as a problem."""
        return Problem(self.ground_set, self._points.reordered(rows))

    def update(self, rows: Ints) -> tuple[SupportState, Constraint]:
        """Make the remaining replacements of some patches; return their state and constraint."""
        constraint = self._constraint.part(rows, self._supports)
        state = SupportState(self.problem(rows), self._supports.shape[1])
        state.set_supports(self._supports[rows])
        seen = self._seen[rows]
        for number in range(int(seen.min()), len(self.atoms)):
            atom = self.atoms[number]
            gains = np.where(seen <= number, state.squares_with(np.array([atom]))[:, 0], 0)
            table = state.table(as_table(gains, self.n_candidates), self.smoothness)
            state.apply(constraint.replacement(table, atom), atom)
        self._supports[rows], self._seen[rows] = state.supports, len(self.atoms)
        return state, constraint

    def fitted(self) -> Fitted:
        """Bring all patches up to date; return their supports and least-squares weights."""
        return joined(self.update(rows)[0].fitted() for rows in self.parts())


class _Engine(ReplacementEngine):
    """Algorithm 1 on estimated gains; no patch contributes more than `largest`."""

    def __init__(
        self,
        patches: _Patches,
        max_repeats: int | None,
        largest: float,
        sample: int,
        doubt: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(patches, max_repeats)
        self._patches, self._rng, self._largest = patches, rng, largest
        self._sample = min(sample, len(patches))
        self._doubt = doubt

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        patches, m = self._patches, self._sample
        rows = np.arange(len(patches))
        if m < len(patches):
            rows = np.sort(self._rng.choice(len(patches), m, replace=False))
        state, constraint = patches.update(rows)
        squares = state.squared_correlations(np.arange(m))
        table = state.table(squares, patches.smoothness)
        if isinstance(constraint, SeparableConstraint):
            means, slack = self._separable_estimates(table, constraint)
        else:
            means, slack = self._shared_estimates(table, constraint, eligible)
        atom = int(np.where(eligible, means, -1.0).argmax())
        gain = max(float(means[atom]), 0.0)
        if gain > 0:
            patches.atoms.append(atom)
            state = patches.update(rows)[0]
        else:
            atom = int(np.where(new, squares.sum(axis=0), -1.0).argmax())
        error = 0.0
        if m < len(patches):
            error = float((means + slack)[eligible].max() - gain + (slack[atom] if gain > 0 else 0.0))
        patches.objective = state.objective * len(patches) / m
        return SelectedAtom(atom, gain * len(patches), int(eligible.sum()), error * len(patches))

    def _separable_estimates(
        self, table: ReplacementGains, constraint: SeparableConstraint
    ) -> tuple[Doubles, Doubles]:
        """Return means of what each patch contributes by itself, and how far they may be off: (n,) each."""
        # Relative to the largest possible value, so that squares neither overflow nor vanish.
        values = constraint.patch_values(table) / (self._patches.smoothness * self._largest)
        m, n_points = self._sample, len(self._patches)
        left = 1 - (m - 1) / n_points if 2 * m <= n_points else (1 - m / n_points) * (1 + 1 / m)
        hoeffding = sqrt(left * log(1 / self._doubt) / (2 * m))
        digits = log(5 / self._doubt)
        offset = (7 / 3 + 3 / sqrt(2)) * digits / m
        bernstein = np.sqrt(values.var(axis=0) * 2 * left * digits / m) + offset
        return self._largest * values.mean(axis=0), self._largest * np.minimum(hoeffding, bernstein)

    def _shared_estimates(
        self, table: ReplacementGains, constraint: Constraint, eligible: Bools
    ) -> tuple[Doubles, Doubles]:
        """Return the value of the best replacement by one atom in the sample; there is no bound on others."""
        bounds = np.where(eligible, constraint.bounds(table, 0.0), 0)
        atom, replacement, _ = best_replacement(bounds, lambda atom: constraint.replacement(table, atom))
        values = np.zeros(len(bounds))
        if replacement is not None:
            values[atom] = replacement.value / (self._patches.smoothness * self._sample)
        return values, np.full(len(bounds), np.inf)
