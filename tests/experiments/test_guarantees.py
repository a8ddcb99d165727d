"""What the experiment on guarantees measures, against definitions."""

from itertools import combinations

import numpy as np
import pytest

from dictsel_core import ground_set_from_array, standard_ground_set
from experiments.guarantees import best_objective, nearly_dependent, submodularity_ratios


def explained(atoms, y):
    weights = np.linalg.lstsq(atoms, y, rcond=None)[0]
    return (np.square(y).sum() - np.square(y - atoms @ weights).sum()) / 2


@pytest.mark.parametrize("sparsity", [1, 2])
def test_the_optimum_is_that_of_all_dictionaries(sparsity):
    rng = np.random.default_rng(0)
    ground_set = ground_set_from_array(np.column_stack([rng.normal(size=(6, 6)), np.eye(6)[:, [0, 0]]]))
    data = rng.normal(size=(5, 6))
    best = max(
        sum(
            max(explained(ground_set.atoms[:, support], y) for support in combinations(chosen, sparsity))
            for y in data
        )
        for chosen in combinations(range(8), 3)
    )
    assert best_objective(ground_set, data, sparsity) == pytest.approx(best)


def test_a_haar_atom_is_a_combination_of_four_cosines():
    ground_set = standard_ground_set(bases=["dct", "haar"])
    assert nearly_dependent(ground_set, 5) == pytest.approx(0, abs=1e-9)
    assert nearly_dependent(ground_set, 2) > 0.01
    assert nearly_dependent(standard_ground_set(bases=["dct"]), 4) == pytest.approx(1)


def test_orthonormal_atoms_gain_together_what_they_gain_one_by_one():
    data = np.random.default_rng(1).normal(size=(20, 64))
    ratios = submodularity_ratios(standard_ground_set(bases=["dct"]).atoms, data, 3)
    np.testing.assert_allclose(ratios, 1)


def test_the_ratio_is_that_of_the_next_atoms_of_omp():
    rng = np.random.default_rng(2)
    atoms = rng.normal(size=(8, 12))
    atoms /= np.linalg.norm(atoms, axis=0)
    y = rng.normal(size=8)
    support = []
    for _ in range(4):
        weights = np.linalg.lstsq(atoms[:, support], y, rcond=None)[0]
        support.append(int(np.abs(atoms.T @ (y - atoms[:, support] @ weights)).argmax()))
    base = explained(atoms[:, support[:2]], y)
    alone = sum(explained(atoms[:, [*support[:2], atom]], y) - base for atom in support[2:])
    expected = alone / (explained(atoms[:, support], y) - base)
    np.testing.assert_allclose(submodularity_ratios(atoms, y[None], 2), [expected])
