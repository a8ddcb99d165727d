"""How the experiments measure, against definitions."""

from itertools import product

import numpy as np
import pytest

from benchmarks.literal import literal_replacement_greedy, literal_sds_omp
from dictsel_core import IndividualSparsity, omp
from dictsel_core.selection import replacement_greedy, sds_omp
from experiments.coding import average_residual_variance, residual_variance, residuals_of_rounds
from experiments.data import GROUND_SET, Photographs, synthetic_sample
from experiments.paper_restoration import adjacent_patches, restore_in


def unit(rng, *shape):
    columns = rng.normal(size=shape)
    return columns / np.linalg.norm(columns, axis=-2, keepdims=True)


def test_residual_variance_counts_hidden_entries():
    rng = np.random.default_rng(0)
    dictionary, data = unit(rng, 8, 5), rng.normal(size=(6, 8))
    mask = rng.random(data.shape) < 0.3
    rebuilt = omp(dictionary, data, 2, mask=mask).rebuilt
    pairs = zip(np.sum((data - rebuilt) ** 2, axis=1), np.sum(data**2, axis=1), strict=True)
    expected = sum(min(left, energy) for left, energy in pairs) / np.sum(data**2)
    assert residual_variance(dictionary, data, 2, mask) == pytest.approx(expected)


def test_shared_budget_is_spent_on_the_best_steps():
    """With an orthonormal dictionary the best split is found by trying them all."""
    rng = np.random.default_rng(1)
    data, budget, cap = rng.normal(size=(4, 5)), 6, 3
    energies = np.sort(data**2, axis=1)[:, ::-1].cumsum(axis=1)
    explained = max(
        sum(energies[t, size - 1] for t, size in enumerate(sizes) if size)
        for sizes in product(range(cap + 1), repeat=4)
        if sum(sizes) <= budget
    )
    found = average_residual_variance(np.eye(5), data, cap, budget)
    assert found == pytest.approx(1 - explained / np.sum(data**2))


def test_rounds_are_coded_in_their_own_dictionaries():
    rng = np.random.default_rng(2)
    dictionaries, data = unit(rng, 7, 10, 6), rng.normal(size=(7, 10))
    dictionaries[3, :, 4:] = 0  # a smaller one
    expected = [omp(x, y[None], 3).residual_energy[0] for x, y in zip(dictionaries, data, strict=True)]
    np.testing.assert_allclose(residuals_of_rounds(dictionaries, data, 3), expected)


def test_algorithms_as_written_select_what_ours_select():
    sample = synthetic_sample(25, 6, 2, 0)
    constraint = IndividualSparsity(2)
    assert (
        literal_sds_omp(GROUND_SET, sample.train, 2, 4)
        == sds_omp(GROUND_SET, sample.train, constraint, 4).indices.tolist()
    )
    ours = replacement_greedy(GROUND_SET, sample.train, constraint, 4).indices.tolist()
    assert literal_replacement_greedy(GROUND_SET, sample.train, 2, 4) == ours


def test_photographs_give_different_patches_of_zero_mean_and_unit_variance():
    photographs = Photographs(None)
    sample = photographs.sample(50, trial=0)
    every = np.concatenate([sample.train, sample.test])
    np.testing.assert_allclose(every.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(every.std(axis=1), 1)
    assert len(np.unique(every, axis=0)) == 100
    np.testing.assert_array_equal(sample.train, photographs.sample(50, trial=0).train)
    assert not np.array_equal(sample.train, photographs.sample(50, trial=1).train)


def test_restoration_in_a_complete_basis_is_exact():
    """Nothing is missing and windows use all atoms of a basis: each of them is rebuilt as it was."""
    picture = np.random.default_rng(3).random((16, 24))
    restored = restore_in(GROUND_SET.atoms[:, :64], picture, np.zeros(picture.shape, bool), 64)
    np.testing.assert_allclose(restored, picture, atol=1e-4)


def test_adjacent_patches_cover_a_picture_once():
    picture = np.arange(16 * 24).reshape(16, 24)
    patches = adjacent_patches(picture)
    assert patches.shape == (6, 64)
    np.testing.assert_array_equal(patches[1].reshape(8, 8), picture[:8, 8:16])
    assert sorted(patches.ravel().tolist()) == list(range(16 * 24))
