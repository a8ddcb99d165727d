r"""One atom under average sparsity: which patches take it, and which give an atom up for it.

With g_t the gain of adding the atom to patch t, c_t its cheapest removal (infinite where the
support is empty), S the patches at their cap and theta the unused budget, the task is

.. math:: \max_{A, B} \sum_{t \in A} g_t - \sum_{t \in B} c_t
   \quad\text{subject to}\quad |A| - |B| \le \theta, \; A \cap S \subseteq B.

`algorithm_2` is the paper's greedy method, repaired; it is the oracle of `best_exchange`, which the
library uses: the same optimum from the Lagrangian dual, by selection instead of sorting.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dictsel_core._arrays import positive_part_sums
from dictsel_core._validation import Bools, Floats


@dataclass(frozen=True, eq=False)
class Exchange:
    """The sets A (`added`) and B (`removed`) as masks (T,), their value, and the dual multiplier."""

    value: float
    added: Bools
    removed: Bools
    price: float = 0.0


def price_bounds(
    gains: Floats,
    costs: Floats,
    tight: Bools,
    spare: int,
    price: float,
    largest: Floats | None = None,
) -> Floats:
    r"""Bound the optimum of every atom from above at one common multiplier lam: (n,).

    The Lagrangian of the budget splits by patch. A patch may do nothing (0), swap
    (g - c), only remove (lam - c), or, unless it is at its cap, only add (g - lam); hence

    .. math:: \lambda\theta + \sum_t \max(0, g_t - c_t, \lambda - c_t, [t \notin S] (g_t - \lambda))
            = \lambda\theta + \sum_t (\lambda - c_t)_+ + \sum_t (g_t - \phi_t)_+

    with the floor :math:`\phi_t = \lambda`, and at least c_t for patches at their cap.

    Parameters
    ----------
    gains : (T, n) ndarray
    costs : (T,) ndarray
        Cheapest removal of each patch.
    tight : (T,) ndarray of bool
        The set S.
    spare : int
        theta.
    price : float
        lam, at least 0.
    largest : (T,) ndarray, optional
        Largest gain of each patch, which saves looking at the others.
    """
    floors = np.where(tight, np.maximum(costs, price), price)
    fixed = price * spare + float(np.maximum(price - costs, 0).sum())
    return fixed + positive_part_sums(gains, floors, largest)


def best_exchange(gains: Floats, costs: Floats, tight: Bools, spare: int) -> Exchange:
    """Solve the task for one atom exactly, in time linear in T.

    As a function of the multiplier lam, patch t changes its mind at min(g_t, c_t), where it stops
    being a pure addition (if not at its cap), and at max(g_t, c_t), where it becomes a pure removal.
    The dual optimum is therefore one order statistic of these numbers, and the primal one follows by
    settling ties so that the budget is met.

    Parameters
    ----------
    gains, costs : (T,) ndarray
    tight : (T,) ndarray of bool
    spare : int
    """
    low = np.where(tight, 0, np.minimum(gains, costs))
    high = np.maximum(gains, costs)
    price = _dual_price(low, high, spare)
    # At this price: pure additions, pure removals, swaps, and those that are undecided.
    adds = low > price
    removes = high < price
    surplus = spare - np.count_nonzero(adds) + np.count_nonzero(removes)
    # Undecided patches join the additions or the removals until the budget is met exactly.
    if surplus < 0:
        removes[np.flatnonzero(high == price)[:-surplus]] = True
    elif price > 0:
        adds[np.flatnonzero(low == price)[:surplus]] = True
    swaps = ~adds & ~removes & (gains > costs)
    added, removed = adds | swaps, removes | swaps
    return Exchange(float(gains[added].sum() - costs[removed].sum()), added, removed, price)


def _dual_price(low: Floats, high: Floats, spare: int) -> float:
    """Return the smallest minimiser lam >= 0 of the dual.

    Its slope is ``spare - #{low > lam} + #{high < lam}`` away from its kinks, and T - #{high > lam}
    of the patches lie below lam, so the slope turns at the (T + spare + 1)-th largest of both lists.
    """
    if np.count_nonzero(low > 0) <= spare:
        return 0.0
    both = np.concatenate([low, high])
    rank = len(both) - (len(high) + spare + 1)  # counted from the smallest
    return float(np.partition(both, rank)[rank])


def algorithm_2(
    gains: Sequence[float], costs: Sequence[float], tight: Sequence[bool], spare: int
) -> Exchange:
    """Solve the task for one atom by Algorithm 2 of appendix C, in O(T log T).

    Repairs to the printed algorithm: when gamma is taken it leaves Q2 as well as Q3; any of the queues
    may be empty; an empty support has an infinite removal cost and never enters Q2 or Q3. The
    factors 1/M and M are part of `gains` and `costs`.
    """
    n_points = len(gains)
    additions = [(-gains[t], t) for t in range(n_points) if not tight[t]]  # Q1
    removals = [(costs[t], t) for t in range(n_points) if np.isfinite(costs[t])]  # Q2
    swaps = [(costs[t] - gains[t], t) for t in range(n_points) if tight[t]]  # Q3
    for queue in (additions, removals, swaps):
        heapq.heapify(queue)
    added, removed = np.zeros(n_points, bool), np.zeros(n_points, bool)
    value, n_added, n_removed = 0.0, 0, 0
    while True:
        while removals and removed[removals[0][1]]:
            heapq.heappop(removals)
        while swaps and removed[swaps[0][1]]:
            heapq.heappop(swaps)
        paid = n_added == n_removed + spare
        alpha_worth, gamma_worth = -np.inf, -np.inf
        if additions and (removals or not paid):
            alpha_worth = -additions[0][0] - (removals[0][0] if paid else 0.0)
        if swaps:
            gamma_worth = -swaps[0][0]
        if max(alpha_worth, gamma_worth) <= 0:
            return Exchange(value, added, removed)
        value += max(alpha_worth, gamma_worth)
        n_added += 1
        if alpha_worth >= gamma_worth:
            added[heapq.heappop(additions)[1]] = True
            if paid:
                beta = heapq.heappop(removals)[1]
                removed[beta] = True
                n_removed += 1
                if tight[beta]:
                    heapq.heappush(additions, (-gains[beta], beta))
        else:
            gamma = heapq.heappop(swaps)[1]
            added[gamma] = removed[gamma] = True
            n_removed += 1
