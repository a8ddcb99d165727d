"""Algorithm 1 as it is written: every feasible replacement of every atom is tried in every iteration."""

from functools import partial
from typing import NamedTuple

import numpy as np
from brute_force import apply, best_choice
from synthetic import least_squares


class LiteralStep(NamedTuple):
    """An atom that joined the dictionary, and everything after it did."""

    atom: int
    gain: float
    supports: list[list[int]]
    n_repeats: int  # iterations since the last step that went to atoms selected before


class Patches:
    """Data with missing entries, and what the selectors compute from them, by LAPACK."""

    def __init__(self, ground_set, data, mask):
        self.ground_set, self.data, self.mask = ground_set, data, mask

    def utility(self, t, support):
        return least_squares(self.ground_set, self.data[t], self.mask[t], support)[1]

    def weights(self, t, support):
        return least_squares(self.ground_set, self.data[t], self.mask[t], support)[0]

    def squared_correlations(self, t, support):
        """(A^T r_t)^2 on the observed entries, for atoms outside the support."""
        fit = self.ground_set.atoms[:, support] @ self.weights(t, support)
        squares = (self.ground_set.atoms.T @ np.where(self.mask[t], 0, self.data[t] - fit)) ** 2
        squares[support] = 0
        return np.where(squares > 1e-20, squares, 0)  # what is rounding error explains nothing


def gradient_rule(patches, *, decay=False):
    """Replacement OMP (section 4.2), or ROMPd: what an option of a patch is worth, and the spare atom."""

    def rule(supports, iteration):
        smoothness = patches.ground_set.smoothness / (np.sqrt(iteration) if decay else 1)
        squares = [patches.squared_correlations(t, z) for t, z in enumerate(supports)]
        weights = [patches.weights(t, z) for t, z in enumerate(supports)]

        def worth(t, option, atom):
            added, slot = option
            cost = smoothness * weights[t][slot] ** 2 if slot >= 0 else 0.0
            return added * squares[t][atom] / smoothness - cost

        return worth, np.sum(squares, axis=0)

    return rule


def separate_rule(patches):
    """Replacement OLS: the true worth of an addition minus that of a removal."""
    atoms = patches.ground_set.atoms

    def rule(supports, iteration):
        before = [patches.utility(t, z) for t, z in enumerate(supports)]
        additions = []
        for t, z in enumerate(supports):
            visible = np.where(patches.mask[t][:, None], 0, atoms)
            lengths = np.square(visible).sum(axis=0)
            part = visible - visible[:, z] @ np.linalg.pinv(visible[:, z], rcond=1e-10) @ visible
            outside = np.maximum(np.square(part).sum(axis=0), 0.01 * lengths)
            squares = patches.squared_correlations(t, z)
            worth = np.divide(squares, 2 * outside, out=np.zeros_like(squares), where=squares > 0)
            left = np.square(patches.data[t][~patches.mask[t]]).sum() / 2 - before[t]
            additions.append(np.where(worth > left * (1 - 1.5e-8), left, worth))  # all that is left is a tie

        def worth(t, option, atom):
            added, slot = option
            lost = before[t] - patches.utility(t, np.delete(supports[t], slot)) if slot >= 0 else 0.0
            return added * additions[t][atom] - lost

        return worth, np.sum(additions, axis=0)

    return rule


def difference_rule(patches):
    """Replacement Greedy (section 4.1)."""

    def rule(supports, iteration):
        before = [patches.utility(t, z) for t, z in enumerate(supports)]

        def worth(t, option, atom):
            return patches.utility(t, apply(supports[t], atom, option)) - before[t]

        spare = [
            sum(worth(t, (True, -1), atom) for t, z in enumerate(supports) if atom not in z)
            for atom in range(len(patches.ground_set))
        ]
        return worth, np.array(spare)

    return rule


def literal_run(patches, constraint, n_atoms, rule, *, repeats):
    """Yield one `LiteralStep` per atom; at most `repeats` iterations go to atoms selected before."""
    supports = [[] for _ in patches.data]
    chosen, iteration, since = [], 0, 0
    while len(chosen) < n_atoms:
        iteration += 1
        worth, spare = rule(supports, iteration)
        candidates = range(len(patches.ground_set))
        new = [a for a in candidates if a not in chosen]
        eligible = candidates if repeats > 0 else new
        best = {a: best_choice(constraint, supports, a, partial(worth, atom=a)) for a in eligible}
        atom = max(eligible, key=lambda a: best[a][0])
        gain, choice = best[atom]
        if gain > 1e-12:
            supports = [apply(z, atom, option) for z, option in zip(supports, choice, strict=True)]
        else:
            atom, gain = max(new, key=lambda a: spare[a]), 0.0
        if atom in chosen:
            repeats, since = repeats - 1, since + 1
            continue
        chosen.append(atom)
        yield LiteralStep(atom, gain, supports, since)
        since = 0
