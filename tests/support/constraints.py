"""Every kind of constraint by name. What is added here is covered by all tests of constraints."""

from itertools import combinations, cycle, islice

import numpy as np

from dictsel_core import AverageSparsity, BlockSparsity, IndividualSparsity, MatroidSparsity, PartitionMatroid
from dictsel_core.constraints import BlockMatroidSparsity, LocalConstraint, OracleMatroid, UniformMatroid


def cap(rng):
    return int(rng.integers(1, 4))


def caps(rng, n):
    return rng.integers(1, 4, n)


def budget(rng, n_points):
    return int(rng.integers(1, 2 * n_points + 1))


def halves(rng, n_points):
    """Blocks of patches in no order."""
    return np.array_split(rng.permutation(n_points), min(n_points, 2))


def groups(rng, n_candidates):
    return rng.integers(0, 3, n_candidates)


def forests(n_candidates):
    """The graphic matroid: atoms are the edges of a graph, and forests are independent."""
    n_vertices = next(v for v in range(2, 99) if v * (v - 1) // 2 >= n_candidates)
    ends = list(combinations(range(n_vertices), 2))

    def is_forest(atoms):
        tree_of = list(range(n_vertices))
        for a, b in (ends[atom] for atom in atoms):
            if tree_of[a] == tree_of[b]:
                return False
            tree_of = [tree_of[a] if tree == tree_of[b] else tree for tree in tree_of]
        return True

    return OracleMatroid(is_forest)


def unlike(rng, n_points, n_candidates):
    """A matroid for each patch."""
    kinds = [UniformMatroid(1), PartitionMatroid(groups(rng, n_candidates), 1), UniformMatroid(3)]
    return list(islice(cycle(kinds), n_points))


#: Each makes a random instance from (rng, n_points, n_candidates).
KINDS = {
    "individual": lambda rng, t, n: IndividualSparsity(cap(rng)),
    "individual by patch": lambda rng, t, n: IndividualSparsity(caps(rng, t)),
    "average": lambda rng, t, n: AverageSparsity(cap(rng), budget(rng, t)),
    "average by patch": lambda rng, t, n: AverageSparsity(caps(rng, t), budget(rng, t)),
    "average uncapped": lambda rng, t, n: AverageSparsity(None, budget(rng, t)),
    "block": lambda rng, t, n: BlockSparsity.from_labels(np.arange(t) % 2, cap(rng)),
    "block by cap": lambda rng, t, n: BlockSparsity(blocks := halves(rng, t), caps(rng, len(blocks))),
    "uniform matroid": lambda rng, t, n: MatroidSparsity(UniformMatroid(2)),
    "partition matroid": lambda rng, t, n: MatroidSparsity(
        PartitionMatroid(groups(rng, n), rng.integers(0, 3, 3))
    ),
    "graphic matroid": lambda rng, t, n: MatroidSparsity(forests(n)),
    "block matroid": lambda rng, t, n: BlockMatroidSparsity(
        halves(rng, t), PartitionMatroid(groups(rng, n), rng.integers(0, 3, 3))
    ),
    "block matroid by block": lambda rng, t, n: BlockMatroidSparsity(
        blocks := halves(rng, t), unlike(rng, len(blocks), n)
    ),
    "matroid by patch": lambda rng, t, n: MatroidSparsity(unlike(rng, t, n)),
}


def make_constraint(kind, rng, n_points, n_candidates):
    """A random constraint of the kind that fits the patches and the ground set."""
    return KINDS[kind](rng, n_points, n_candidates)


#: What Replacement Greedy takes too.
LOCAL_KINDS = [
    kind
    for kind in KINDS
    if isinstance(make_constraint(kind, np.random.default_rng(0), 3, 6), LocalConstraint)
]
