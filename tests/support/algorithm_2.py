"""The paper's own solution of the problem that `AverageSparsity` solves for one atom."""

import heapq
from typing import NamedTuple

import numpy as np


class Exchange(NamedTuple):
    """The patches that receive the atom, those that lose another, and the value."""

    value: float
    added: np.ndarray
    removed: np.ndarray


def algorithm_2(gains, costs, at_cap, unused):
    """Solve the problem of one atom by algorithm 2 of appendix C, in O(T log T).

    Repairs to the printed algorithm: when gamma is taken it leaves Q2 as well as Q3; any of the queues
    may be empty; an empty support has an infinite removal cost and never enters Q2 or Q3. The
    factors 1/M and M are part of `gains` and `costs`.
    """
    n_points = len(gains)
    additions = [(-gains[t], t) for t in range(n_points) if not at_cap[t]]  # Q1
    removals = [(costs[t], t) for t in range(n_points) if np.isfinite(costs[t])]  # Q2
    swaps = [(costs[t] - gains[t], t) for t in range(n_points) if at_cap[t]]  # Q3
    for queue in (additions, removals, swaps):
        heapq.heapify(queue)
    added, removed = np.zeros(n_points, bool), np.zeros(n_points, bool)
    value, n_added, n_removed = 0.0, 0, 0
    while True:
        while removals and removed[removals[0][1]]:
            heapq.heappop(removals)
        while swaps and removed[swaps[0][1]]:
            heapq.heappop(swaps)
        paid = n_added == n_removed + unused
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
                if at_cap[beta]:
                    heapq.heappush(additions, (-gains[beta], beta))
        else:
            gamma = heapq.heappop(swaps)[1]
            added[gamma] = removed[gamma] = True
            n_removed += 1
