"""Ground sets with atoms at tiny angles, and their utilities without any rounding."""

from fractions import Fraction
from functools import cache

import numpy as np

from dictsel_core import ground_set_from_array


def near_parallel_set(rng, angle, n_features=5):
    """Two atoms, two that differ from them by about an angle, and one or two others."""
    atoms = rng.normal(size=(n_features, 2))
    near = atoms + angle * rng.normal(size=atoms.shape)
    others = rng.normal(size=(n_features, int(rng.integers(1, 3))))
    return ground_set_from_array(np.hstack([atoms, near, others]))


class ExactPatch:
    """f(Z) of one patch in rational numbers: half of b^T G^-1 b, with the Gram matrix G and b = A_Z^T y."""

    def __init__(self, ground_set, y, missing=None):
        seen = np.ones(len(y), bool) if missing is None else ~missing
        columns = [[Fraction(value) for value in column] for column in ground_set.atoms[seen].T.tolist()]
        data = [Fraction(value) for value in y[seen].tolist()]
        self._products = {
            (i, j): sum(a * b for a, b in zip(columns[i], columns[j], strict=True))
            for i in range(len(columns))
            for j in range(len(columns))
        }
        self._moments = [sum(a * b for a, b in zip(column, data, strict=True)) for column in columns]
        self._utility = cache(self._solve)

    def utility(self, support):
        return self._utility(tuple(sorted(int(atom) for atom in support)))

    def _solve(self, support):
        rows = [[self._products[i, j] for j in support] + [self._moments[i]] for i in support]
        total = Fraction(0)
        for step, row in enumerate(rows):
            if row[step] == 0:
                continue  # dependent
            total += row[-1] ** 2 / row[step]
            for other in rows[step + 1 :]:
                factor = other[step] / row[step]
                other[:] = [a - factor * b for a, b in zip(other, row, strict=True)]
        return float(total / 2)
