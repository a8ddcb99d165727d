"""Data sets for the tests."""

from itertools import combinations, product

import numpy as np

from dictsel_core import GroundSet, ground_set_from_array


def random_ground_set(rng: np.random.Generator, n_features: int, n_candidates: int) -> GroundSet:
    return ground_set_from_array(rng.normal(size=(n_features, n_candidates)))


def small_instance(rng: np.random.Generator):
    """Seven atoms and three patches, some of whose entries are missing: small enough for brute force."""
    ground_set = random_ground_set(rng, 7, 7)
    data = rng.normal(size=(3, 7))
    return ground_set, data, rng.random(data.shape) < 0.1


def planted(rng: np.random.Generator, ground_set: GroundSet, n_points: int, n_atoms: int, sparsity: int):
    """The synthetic data of the paper: sparse Gaussian combinations of a random dictionary."""
    atoms = rng.choice(len(ground_set), n_atoms, replace=False)
    data = np.zeros((n_points, ground_set.n_features))
    for row in data:
        used = rng.choice(atoms, sparsity, replace=False)
        row[...] = ground_set.atoms[:, used] @ rng.normal(size=sparsity)
    return data, np.sort(atoms)


def least_squares(ground_set: GroundSet, y, missing, support):
    """Weights and utility f_t(Z) of one patch, by LAPACK, on its observed entries."""
    observed = ~missing
    columns = ground_set.atoms[observed][:, list(support)]
    weights = np.linalg.lstsq(columns, y[observed], rcond=None)[0]
    residual = y[observed] - columns @ weights
    return weights, (y[observed] @ y[observed] - residual @ residual) / 2


def optimum(ground_set: GroundSet, data, constraint, n_atoms: int, missing=None) -> float:
    """The best objective of any dictionary of so many atoms, by enumeration of all supports."""
    hidden = np.zeros(data.shape, bool) if missing is None else missing
    known = [{} for _ in data]

    def utility(t, support):
        if support not in known[t]:
            known[t][support] = least_squares(ground_set, data[t], hidden[t], support)[1]
        return known[t][support]

    best = 0.0
    for dictionary in combinations(range(len(ground_set)), n_atoms):
        subsets = [z for size in range(n_atoms + 1) for z in combinations(dictionary, size)]
        for supports in product(subsets, repeat=len(data)):
            if constraint.is_feasible([np.array(z, int) for z in supports]):
                best = max(best, sum(utility(t, z) for t, z in enumerate(supports)))
    return best
