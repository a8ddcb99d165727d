r"""One atom under average sparsity: which patches receive it, and which lose another atom for it.

With g_t the gain of adding the atom to patch t, c_t its cheapest removal (infinite if the support is
empty), S the patches at their cap and theta the unused budget, the problem is

.. math:: \max_{A, B} \sum_{t \in A} g_t - \sum_{t \in B} c_t
   \quad\text{subject to}\quad |A| - |B| \le \theta, \; A \cap S \subseteq B.

The paper solves it by algorithm 2, in O(T log T). `best_exchange` finds the same optimum from the
Lagrangian dual in O(T), by selection instead of sorting.
"""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.arrays import positive_part_sums
from dictsel_core._support.validation import Bools, Floats


@dataclass(frozen=True, eq=False)
class ExchangeSolution:
    """The sets A (`added`) and B (`removed`) as masks (T,), their value, and the dual multiplier."""

    value: float
    added: Bools
    removed: Bools
    price: float = 0.0


def price_bounds(
    gains: Floats,
    costs: Floats,
    at_cap: Bools,
    price: float,
    largest: Floats | None = None,
    threads: int = 1,
) -> Floats:
    r"""Bound the optimum of every atom from above at one common multiplier lam, but for lam theta: (n,).

    The Lagrangian of the budget decomposes by patch. A patch may do nothing (0), swap (g - c), remove only
    (lam - c), or, unless it is at its cap, add only (g - lam); hence

    .. math:: \lambda\theta + \sum_t \max(0, g_t - c_t, \lambda - c_t, [t \notin S] (g_t - \lambda))
            = \lambda\theta + \sum_t (\lambda - c_t)_+ + \sum_t (g_t - \phi_t)_+

    with the floor :math:`\phi_t = \lambda`, and at least c_t for patches at their cap.

    Parameters
    ----------
    gains : (T, n) ndarray
    costs : (T,) ndarray
        Cheapest removal of each patch.
    at_cap : (T,) ndarray of bool
        The set S.
    price : float
        lam, at least 0.
    largest : (T,) ndarray, optional
        Largest gain of each patch, if known; it saves looking at patches that cannot gain.
    threads : int, optional
        Default is 1.
    """
    floors = np.where(at_cap, np.maximum(costs, price), price)
    fixed = float(np.maximum(price - costs, 0).sum())
    return fixed + positive_part_sums(gains, floors, largest, threads)


def best_exchange(gains: Floats, costs: Floats, at_cap: Bools, unused: int) -> ExchangeSolution:
    """Solve the problem for one atom exactly, in time linear in T.

    As a function of the multiplier lam, the optimal action of patch t changes at min(g_t, c_t), where it
    stops being a pure addition (if not at its cap), and at max(g_t, c_t), where it becomes a pure removal.
    The dual optimum is therefore an order statistic of these numbers; the primal optimum follows by
    breaking ties such that the budget is met.

    Parameters
    ----------
    gains, costs : (T,) ndarray
    at_cap : (T,) ndarray of bool
    unused : int
    """
    low = np.where(at_cap, 0, np.minimum(gains, costs))
    high = np.maximum(gains, costs)
    price = _dual_price(low, high, unused)
    # At this price there are pure additions, pure removals, swaps, and ties.
    adds = low > price
    removes = high < price
    surplus = unused - np.count_nonzero(adds) + np.count_nonzero(removes)
    # Ties become additions or removals until the budget is met exactly.
    if surplus < 0:
        removes[np.flatnonzero(high == price)[:-surplus]] = True
    elif price > 0:
        adds[np.flatnonzero(low == price)[:surplus]] = True
    swaps = ~adds & ~removes & (gains > costs)
    added, removed = adds | swaps, removes | swaps
    return ExchangeSolution(float(gains[added].sum() - costs[removed].sum()), added, removed, price)


def _dual_price(low: Floats, high: Floats, unused: int) -> float:
    """Return the smallest minimizer lam >= 0 of the dual.

    Its slope is ``unused - #{low > lam} + #{high < lam}`` away from its kinks, and T - #{high > lam}
    of the patches lie below lam, so the slope turns at the (T + unused + 1)-th largest of both lists.
    """
    if np.count_nonzero(low > 0) <= unused:
        return 0.0
    both = np.concatenate([low, high])
    rank = len(both) - (len(high) + unused + 1)  # counted from the smallest
    return float(np.partition(both, rank)[rank])
