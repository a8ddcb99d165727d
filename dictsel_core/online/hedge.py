"""Hedge: play actions with probabilities that grow with their past gains."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import (
    Doubles,
    Ints,
    as_count,
    as_counts,
    as_generator,
    as_positive,
    as_real_array,
)


class ExpertBank(ABC):
    """Several independent learners over the same actions, in whole-array operations.

    In every round each learner plays one of n actions, and then observes the gains of all actions. Its
    regret is the total gain of the best single action minus its own expected total.

    Parameters
    ----------
    n_actions : int
        The number n of actions.
    n_learners : int, optional
        Default is 1.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the draws. Default is the seed 0.
    """

    def __init__(
        self, n_actions: int, *, n_learners: int = 1, rng: np.random.Generator | int | None = None
    ) -> None:
        self.n_learners, self.n_actions = as_count(n_learners, "n_learners"), as_count(n_actions, "n_actions")
        self._shape = self.n_learners, self.n_actions
        self._rng = as_generator(rng)
        self._totals: Doubles = np.zeros(self._shape)
        self._gains_so_far: Doubles = np.zeros(self._shape)  # unlike the totals, over restarts too
        self._probabilities: Doubles | None = None
        self._rate: float

    @property
    def probabilities(self) -> Doubles:
        """Probability of each action of each learner in this round: (n_learners, n_actions)."""
        if self._probabilities is None:
            self._probabilities = softmax(self._totals, self._rates())
        return self._probabilities

    def play(self) -> Ints:
        """Draw one action for each learner: (n_learners,)."""
        cumulative = self.probabilities.cumsum(axis=1)
        draws = self._rng.random(len(cumulative)) * cumulative[:, -1]
        drawn: Ints = (cumulative <= draws[:, None]).sum(axis=1)
        return np.minimum(drawn, self.n_actions - 1)

    def distinct(self, actions: ArrayLike) -> Ints:
        """Return different actions, (n_learners,): those that `play` returned, with repetitions replaced.

        A learner that repeats the action of an earlier one takes the action with the largest gain in all
        rounds so far among those that nobody has taken. ValueError if there are more learners than actions.
        """
        taken = as_counts(actions, "actions", minimum=0)
        if len(taken) != self.n_learners or taken.max() >= self.n_actions:
            raise ValueError(
                f"actions must be one for each of {self.n_learners} learners, below {self.n_actions}, "
                f"not {taken.tolist()}."
            )
        if self.n_learners > self.n_actions:
            raise ValueError(
                f"There are {self.n_learners} learners, but only {self.n_actions} actions to take."
            )
        first = np.unique(taken, return_index=True)[1]
        repeats = np.setdiff1d(np.arange(len(taken)), first)
        free = np.ones(self.n_actions, bool)
        free[taken] = False
        for learner in repeats:
            action = np.where(free, self._gains_so_far[learner], -1.0).argmax()
            taken[learner], free[action] = action, False
        return taken

    def observe(self, gains: ArrayLike) -> None:
        """End the round with the gains of each action for each learner, (n_learners, n_actions), at least 0.

        They may be (n_actions,) for a single learner.
        """
        table = as_real_array(gains, "gains").astype(np.float64, copy=False)
        if table.ndim == 1:
            table = table[None]
        if table.shape != self._shape:
            raise ValueError(f"gains must have the shape {self._shape}, but their shape is {table.shape}.")
        if not table.min() >= 0.0 or not np.isfinite(table.max()):
            raise ValueError("gains must be finite and at least 0.")
        self._learn(table)
        self._gains_so_far += table
        self._probabilities = None

    @property
    @abstractmethod
    def regret_bound(self) -> Doubles:
        """Upper bound on the expected regret of each learner in the rounds so far: (n_learners,)."""

    def _rates(self) -> Doubles:
        """Return the learning rates of this round: (n_learners,)."""
        return np.full(self.n_learners, self._rate)

    @abstractmethod
    def _learn(self, gains: Doubles) -> None:
        """Add the gains of this round to the totals, and prepare the next round."""


class Hedge(ExpertBank):
    r"""Hedge with the theoretical learning rate, by the doubling trick if the number of rounds is unknown.

    Action a is played with a probability proportional to :math:`\exp(\eta G_a)`, where G_a is its total gain
    so far [1]_. With gains between 0 and G and T rounds, :math:`\eta = \sqrt{8 \ln n / T} / G` bounds the
    expected regret by :math:`G \sqrt{T \ln n / 2}` ([2]_, theorem 2.2), which is less than the
    :math:`\sqrt{2 T \ln n}` assumed in theorems D.2, D.4 and D.6 of the paper.

    Parameters
    ----------
    n_actions, n_learners, rng
        See `ExpertBank`.
    rounds : int, optional
        The number T of rounds. By default it is unknown: the learner then restarts after 1, 3, 7, 15, ...
        rounds with the rate for twice as many, which increases the bound by a factor of at most 3.42.
    largest_gain : float, optional
        The largest possible gain G; larger ones raise an error. Default is 1.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
       application to boosting", Journal of Computer and System Sciences 55(1), 1997.
       :DOI:`10.1006/jcss.1997.1504`
    .. [2] N. Cesa-Bianchi and G. Lugosi, "Prediction, Learning, and Games", Cambridge University Press, 2006.
       :DOI:`10.1017/CBO9780511546921`

    Examples
    --------
    >>> hedge = Hedge(3, rounds=100)
    >>> for _ in range(100):
    ...     action = hedge.play()
    ...     hedge.observe([0.0, 1.0, 0.5])
    >>> int(hedge.probabilities.argmax())
    1
    """

    def __init__(
        self,
        n_actions: int,
        *,
        n_learners: int = 1,
        rounds: int | None = None,
        largest_gain: float = 1.0,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(n_actions, n_learners=n_learners, rng=rng)
        self._largest = as_positive(largest_gain, "largest_gain")
        self._doubling = rounds is None
        self._begin(1 if rounds is None else as_count(rounds, "rounds"))
        self._earlier = 0.0

    @property
    def regret_bound(self) -> Doubles:
        """Upper bound on the expected regret of each learner in the rounds so far: (n_learners,)."""
        return np.full(self.n_learners, self._earlier + self._bound_since_start())

    def _begin(self, rounds: int) -> None:
        self._rounds, self._done = rounds, 0
        self._rate = np.sqrt(8 * np.log(self.n_actions) / rounds) / self._largest
        self._totals = np.zeros(self._shape)

    def _bound_since_start(self) -> float:
        """Return ln n / eta + eta t G^2 / 8 for the t rounds since the last start."""
        if self._rate == 0 or not self._done:  # one action, or no round
            return 0.0
        growth = self._rate * self._largest * self._done / 8  # finite, whatever the unit of the gains
        return float(np.log(self.n_actions) / self._rate + growth * self._largest)

    def _learn(self, gains: Doubles) -> None:
        if gains.max() > self._largest:
            raise ValueError(
                f"gains must be at most largest_gain, {self._largest}, but one is {gains.max()}."
            )
        self._totals += gains
        self._done += 1
        if self._doubling and self._done == self._rounds:
            self._earlier += self._bound_since_start()
            self._begin(2 * self._rounds)


class FixedHedge(ExpertBank):
    r"""Hedge with a given learning rate, the same in all rounds.

    Gains may have any scale. The regret after T rounds is at most
    :math:`\ln n / \eta + \eta T G^2 / 8`, where G is the largest gain so far.

    Parameters
    ----------
    n_actions, n_learners, rng
        See `ExpertBank`.
    rate : float
        The learning rate :math:`\eta`.
    """

    def __init__(
        self,
        n_actions: int,
        *,
        rate: float,
        n_learners: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(n_actions, n_learners=n_learners, rng=rng)
        self._rate = as_positive(rate, "rate")
        self._done = 0
        self._largest: Doubles = np.zeros(self.n_learners)

    @property
    def regret_bound(self) -> Doubles:
        """Upper bound on the expected regret of each learner in the rounds so far: (n_learners,)."""
        with np.errstate(over="ignore"):  # beyond float64 the bound is infinite
            growth = self._rate * self._done * self._largest**2 / 8
        bound: Doubles = np.log(self.n_actions) / self._rate + growth
        return bound

    def _learn(self, gains: Doubles) -> None:
        self._totals += gains
        self._largest = np.maximum(self._largest, gains.max(axis=1))
        self._done += 1


class AdaptiveHedge(ExpertBank):
    r"""AdaHedge: adapts its learning rate to the gains, whatever their scale and the number of rounds.

    The rate is :math:`\eta = \ln n / \Delta`, where :math:`\Delta` is the sum over all rounds of the
    mixability gap :math:`\frac{1}{\eta} \ln \sum_a p_a e^{\eta g_a} - \sum_a p_a g_a` [1]_. The expected
    regret is at most :math:`2\Delta`, which is never much larger than that of `Hedge`, and far smaller if
    most gains are far below the largest one, as in dictionary selection. The parameters are those of
    `ExpertBank`.

    References
    ----------
    .. [1] S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can, hedge
       if you must", Journal of Machine Learning Research 15, 2014.
    """

    def __init__(
        self, n_actions: int, *, n_learners: int = 1, rng: np.random.Generator | int | None = None
    ) -> None:
        super().__init__(n_actions, n_learners=n_learners, rng=rng)
        self._gaps: Doubles = np.zeros(n_learners)

    @property
    def regret_bound(self) -> Doubles:
        """Upper bound on the expected regret of each learner in the rounds so far: (n_learners,)."""
        return 2 * self._gaps

    def _rates(self) -> Doubles:
        """Return ln n / gap; infinite, which is following the leader, if there is no gap yet."""
        rates = np.full(self.n_learners, np.inf)
        np.divide(np.log(self.n_actions), self._gaps, out=rates, where=self._gaps > 0)
        return rates

    def _learn(self, gains: Doubles) -> None:
        if self.n_actions > 1:  # the gap of a single action would be rounding error
            rates = self._rates()
            expected = np.vecdot(self.probabilities, gains)
            mixture = soft_maximum(self._totals + gains, rates) - soft_maximum(self._totals, rates)
            self._gaps += np.maximum(mixture - expected, 0)
        self._totals += gains


def softmax(totals: Doubles, rates: Doubles) -> Doubles:
    """Return probabilities proportional to exp(rate * total), by row; rates may be infinite."""
    below = totals - totals.max(axis=1, keepdims=True)
    weights = np.exp(_scaled(below, rates))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def soft_maximum(totals: Doubles, rates: Doubles) -> Doubles:
    """Return ln(mean of exp(rate * total)) / rate by row; the largest total if the rate is infinite."""
    largest = totals.max(axis=1)
    means = np.exp(_scaled(totals - largest[:, None], rates)).mean(axis=1)
    return np.asarray(largest + np.log(means) / rates)


def _scaled(below: Doubles, rates: Doubles) -> Doubles:
    """Return rate * (total - largest total), where infinity times zero is zero."""
    with np.errstate(invalid="ignore"):
        return np.where(below == 0, 0.0, below * rates[:, None])
