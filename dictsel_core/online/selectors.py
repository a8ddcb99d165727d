"""Online versions of SDS_MA, Replacement Greedy and Replacement OMP (appendix D), and their regret."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import single_threaded_blas
from dictsel_core._util.validation import (
    Doubles,
    Ints,
    ObservedData,
    as_bool_mask,
    as_count,
    as_n_atoms,
    as_nonnegative,
    as_plain_array,
    as_positive,
    as_real_array,
)
from dictsel_core.atoms.ground_set import GroundSet, as_ground_set
from dictsel_core.constraints import Replacement
from dictsel_core.online.hedge import AdaptiveHedge, ExpertBank, Hedge
from dictsel_core.pursuit.codes import code_data
from dictsel_core.selection.engine import as_smoothness
from dictsel_core.selection.problem import Problem, problem_of
from dictsel_core.selection.state import SupportState
from dictsel_core.selection.utilities import differences_of, modular_values
from dictsel_core.utility import Utility, as_utility

_ROW = np.zeros(1, np.intp)


class OnlineSelector(ABC):
    """One dictionary per round, from k learners that contribute one atom each (algorithm 3).

    In every round, `play` returns the dictionary, and `observe` takes the patch to be coded. Learner
    i then observes the gains of all atoms, given the atoms of the previous learners.

    Learners may agree on an atom, where the paper defines X + a for new atoms only. The dictionary is then
    completed to k different atoms: a learner that repeats the atom of an earlier one adds the atom with its
    largest total gain so far among the rest. What the learners observe stays that of their own atoms, and the
    utility of a dictionary does not fall when atoms are added, so the regret bounds of appendix D hold.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    n_atoms : int
        The dictionary size k.
    sparsity : int
        Maximum number of atoms per patch, s.
    utility : Utility, optional
        Another utility u than the squared one, such as `HuberUtility` (the theorems of appendix D hold for
        any that is smooth and strongly concave); rounds then take far longer.
    largest_energy : float, optional
        Largest squared length of a patch, or with another utility twice its largest possible value for a
        patch. With it, the learners are those of the paper's theorems: `Hedge` with the theoretical rate. By
        default they are `AdaptiveHedge`, which needs no parameters.
    rounds : int, optional
        Number of rounds T, if known; requires `largest_energy`. By default `Hedge` uses the doubling trick.
    smoothness : float, optional
        The constant M of the gains of `OnlineReplacementOMP`, relative to the smoothness of the utility; by
        default that of the ground set. Theorem D.6 does not hold for a smaller one.
    learners : ExpertBank, optional
        k learners over the n atoms, to be used instead; then largest_energy, rounds and rng must not be
        given. Gains are at most the energy of a patch divided by 2, or by M for Replacement OMP.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the draws. Default is the seed 0.

    Examples
    --------
    Patches that are one of two atoms, which are found:

    >>> from dictsel_core import standard_ground_set
    >>> from dictsel_core.online import OnlineReplacementOMP
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> selector = OnlineReplacementOMP(ground_set, n_atoms=2, sparsity=1)
    >>> for t in range(50):
    ...     atoms = selector.play()
    ...     selector.observe(ground_set.atoms[:, 5 + t % 2])
    >>> sorted(selector.play().tolist())
    [5, 6]
    """

    def __init__(  # noqa: PLR0913  (options by keyword)
        self,
        ground_set: GroundSet,
        n_atoms: int,
        sparsity: int,
        *,
        utility: Utility | None = None,
        largest_energy: float | None = None,
        rounds: int | None = None,
        smoothness: float | None = None,
        learners: ExpertBank | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        self.ground_set = as_ground_set(ground_set)
        self.smoothness = as_smoothness(smoothness, ground_set)
        self._utility = None if utility is None else as_utility(utility)
        n, count = len(ground_set), as_n_atoms(n_atoms, len(ground_set))
        self._sparsity = min(as_count(sparsity, "sparsity"), count)
        self._picks: Ints | None = None
        self.learners: ExpertBank
        self._largest_energy, self._largest = np.inf, np.inf
        if learners is not None:
            if any(each is not None for each in (largest_energy, rounds, rng)):
                raise TypeError(
                    "learners already have a rate and a generator; omit largest_energy, rounds and rng."
                )
            _check_learners(learners, count, n)
            self.learners = learners
        elif largest_energy is None and rounds is not None:
            raise TypeError("rounds requires largest_energy; give both, or omit rounds.")
        elif largest_energy is None:
            self.learners = AdaptiveHedge(n, n_learners=count, rng=rng)
        else:
            energy = as_positive(largest_energy, "largest_energy")
            # Slightly more than the bound, to allow for rounding errors.
            largest = (1 + 1e-9) * self._largest_gain(energy)
            self._largest_energy, self._largest = energy, largest
            self.learners = Hedge(n, n_learners=count, rounds=rounds, largest_gain=largest, rng=rng)

    def play(self) -> Ints:
        """Return the dictionary of this round: the indices of k different atoms."""
        return self.learners.distinct(self._draw())

    def observe(self, y: ArrayLike, mask: ArrayLike | None = None) -> None:
        """End the round with the patch to be coded, (d,), and its mask, True = missing."""
        patch, n_features = as_plain_array(y, "y"), self.ground_set.n_features
        if patch.shape != (n_features,):
            raise ValueError(
                f"y must be one patch, of shape ({n_features},), but its shape is {patch.shape}."
            )
        missing = None if mask is None else as_bool_mask(mask, shape=patch.shape, of="y")[None]
        points = ObservedData(patch[None], missing, n_features)
        points.dtype = np.dtype(np.float64)
        picks = self._draw()
        with single_threaded_blas:
            gains = self._feedback(problem_of(self.ground_set, points, self._utility), picks)
            if gains.max() > self._largest:
                what = "the largest squared length" if self._utility is None else "twice the largest utility"
                raise ValueError(
                    f"largest_energy must be {what} of a patch, but is {self._largest_energy}, "
                    "which y exceeds."
                )
            self.learners.observe(gains)
        self._picks = None

    def _draw(self) -> Ints:
        if self._picks is None:
            self._picks = self.learners.play()
        return self._picks

    @abstractmethod
    def _feedback(self, problem: Problem, picks: Ints) -> Doubles:
        """Return the gains of all atoms for every learner, (k, n), given the atoms of all learners."""

    def _largest_gain(self, energy: float) -> float:
        """Return the largest possible gain from a patch of squared length `energy`."""
        return energy / 2


class _PatchSupport(SupportState):
    """The support of one patch within a round."""

    @property
    def is_full(self) -> bool:
        """Whether an atom can only replace another one."""
        return bool(self.sizes[0] == self.supports.shape[1])

    @property
    def atoms(self) -> Ints:
        """The support as far as it is filled, at least one slot: (1, S)."""
        return self.supports[:, : max(1, int(self.sizes[0]))]

    def put(self, atom: int, slot: int) -> None:
        """Add an atom, or put it into a slot if the support is full."""
        removed = np.array([slot if self.is_full else -1])
        self.apply(Replacement(0.0, np.ones(1, bool), removed), atom)

    def gradient_squares(self) -> Doubles:
        """Return the squared correlations of all atoms, 0 for those of the support and rounding errors."""
        return np.asarray(self.squared_correlations(_ROW)[0], np.float64)


def _check_learners(learners: object, n_atoms: int, n_candidates: int) -> None:
    if not isinstance(learners, ExpertBank):
        raise TypeError(f"learners must be an ExpertBank such as FixedHedge, not {type(learners).__name__}.")
    if (learners.n_learners, learners.n_actions) != (n_atoms, n_candidates):
        raise ValueError(
            f"learners must be {n_atoms} over {n_candidates} atoms, one for each atom of the dictionary, "
            f"but are {learners.n_learners} over {learners.n_actions}."
        )


class OnlineSDSMA(OnlineSelector):
    r"""Online SDS_MA (appendix D.1): gains of the modular approximation.

    Learner i observes :math:`\tilde g_t(X^{i-1} + a) - \tilde g_t(X^{i-1})`, where :math:`\tilde g_t(X)` is
    the sum of the s largest f_t({a}) of atoms in X. The parameters are those of `OnlineSelector`.
    """

    def _feedback(self, problem: Problem, picks: Ints) -> Doubles:
        values: Doubles = modular_values(problem)[0]  # f_t({a})
        gains = np.empty((len(picks), len(values)))
        kept = np.zeros(self._sparsity)  # the s largest values in the dictionary so far, ascending
        remaining = values.copy()
        for i, atom in enumerate(picks.tolist()):
            np.maximum(remaining - kept[0], 0.0, out=gains[i])
            kept[0] = max(kept[0], remaining[atom])
            kept.sort()
            remaining[atom] = 0.0
        return gains


class OnlineReplacementGreedy(OnlineSelector):
    """Online Replacement Greedy (appendix D.2): gains are true utility differences.

    Learner i observes :math:`f_t(Z + a) - f_t(Z)` while the support Z has fewer than s atoms, and then the
    difference of the best swap, or 0; after that its own atom enters Z in the same way. The parameters are
    those of `OnlineSelector`.
    """

    def _feedback(self, problem: Problem, picks: Ints) -> Doubles:
        gains = np.empty((len(picks), len(self.ground_set)))
        support, table = _PatchSupport(problem, self._sparsity), differences_of(problem)
        additions, swaps = table.of_supports(_ROW, support.atoms)
        for i, atom in enumerate(picks.tolist()):
            np.maximum(swaps[0].max(axis=0) if support.is_full else additions[0], 0.0, out=gains[i])
            if gains[i, atom] > 0:
                support.put(atom, int(swaps[0, :, atom].argmax()))
                additions, swaps = table.of_supports(_ROW, support.atoms)
        return gains


class OnlineReplacementOMP(OnlineSelector):
    r"""Online Replacement OMP (appendix D.3): gains from gradients and weights.

    Learner i observes :math:`(a^\top r_t)^2 / M` while the support has fewer than s atoms, and then
    :math:`\max(0, (a^\top r_t)^2 / M - M \min_j w_{t,j}^2)`; after that its own atom enters the support in
    the same way, and the weights w_t are refitted. The parameters are those of `OnlineSelector`.
    """

    def _feedback(self, problem: Problem, picks: Ints) -> Doubles:
        smoothness, support = self.smoothness, _PatchSupport(problem, self._sparsity)
        gains = np.empty((len(picks), len(self.ground_set)))
        squares, cost, slot = support.gradient_squares(), 0.0, -1
        for i, atom in enumerate(picks.tolist()):
            np.maximum(squares / smoothness - cost, 0.0, out=gains[i])
            if gains[i, atom] > 0:
                support.put(atom, slot)
                squares = support.gradient_squares()
                if support.is_full:
                    sizes = np.square(support.coefficients[0])
                    slot = int(sizes.argmin())
                    cost = smoothness * float(sizes[slot])
        return gains

    def _largest_gain(self, energy: float) -> float:
        return energy / self.smoothness


def utilities(
    dictionary: ArrayLike, data: ArrayLike, sparsity: int, *, mask: ArrayLike | None = None
) -> Doubles:
    r"""Return the utility of a dictionary for each patch: :math:`|y_t|^2/2 - |r_t|^2/2`, (T,).

    The reward :math:`\max_{|w|_0 \le s} u(y_t, X w)` of a round is NP-hard to compute; as in the paper's
    experiments, the code is that of OMP, whose parameters these are. `data` may be a single patch, (d,).

    Examples
    --------
    >>> import numpy as np
    >>> utilities(np.eye(3)[:, :2], [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 1).tolist()
    [2.0, 0.0]
    """
    rows = np.atleast_2d(as_plain_array(data, "data"))
    missing = None if mask is None else np.atleast_2d(as_plain_array(mask, "mask"))
    codes = code_data(dictionary, rows, sparsity, missing)
    rows = rows.astype(np.float64)
    observed = rows if missing is None else np.where(missing, 0, rows)
    # Where nothing is explained, rounding may leave the residual longer than the patch.
    return np.asarray(np.maximum(np.square(observed).sum(axis=1) - codes.residual_energy, 0) / 2)


def alpha_regret(player: ArrayLike, reference: ArrayLike, alpha: float = 1.0) -> Doubles:
    r"""Return the regret after every round: :math:`\alpha \sum_\tau f_\tau(X^*) - \sum_\tau f_\tau(X_\tau)`.

    Divided by 1, ..., T it is the average regret.

    Parameters
    ----------
    player : (T,) array_like
        Utility of the dictionary played in each round.
    reference : (T,) array_like
        Utility of one dictionary chosen in hindsight, such as that of `replacement_omp` on all patches.
        The optimal dictionary of the definition (section 5) is NP-hard to find.
    alpha : float, optional
        Factor of the reference. Default is 1; in theorems D.2, D.4 and D.6 it is the offline approximation
        ratio.

    Examples
    --------
    >>> alpha_regret([1.0, 2.0, 3.0], [3.0, 3.0, 3.0]).tolist()
    [2.0, 3.0, 3.0]
    """
    played, best = as_real_array(player, "player"), as_real_array(reference, "reference")
    if played.ndim != 1 or played.shape != best.shape:
        raise ValueError(
            "player and reference must hold one utility per round each, but their shapes are "
            f"{played.shape} and {best.shape}."
        )
    return np.asarray(np.cumsum(as_nonnegative(alpha, "alpha") * best - played))
