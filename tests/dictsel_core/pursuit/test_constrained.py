"""Coding under a constraint, against OMP by definition with each regression solved by LAPACK."""

import numpy as np
import pytest
from constraints import KINDS, make_constraint
from synthetic import random_ground_set

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    constrained_omp,
    omp,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import OracleMatroid


def masked_problem(rng, n_points=12, masked=True):
    atoms = random_ground_set(rng, 8, 10).atoms
    data = rng.normal(size=(n_points, 8))
    mask = rng.random(data.shape) < 0.3 if masked else np.zeros(data.shape, bool)
    return atoms, data, mask


def residual_of(atoms, y, missing, support):
    columns = np.where(missing[:, None], 0, atoms[:, support])
    target = np.where(missing, 0, y)
    return target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]


def scores_of(atoms, missing, residual):
    return np.square(residual @ atoms) / np.square(np.where(missing[:, None], 0, atoms)).sum(axis=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [False, True], ids=["complete", "masked"])
def test_codes_are_feasible_and_least_squares_fits(kind, masked):
    rng = np.random.default_rng(sum(map(ord, kind)))
    atoms, data, mask = masked_problem(rng, masked=masked)
    constraint = make_constraint(kind, rng, len(data), atoms.shape[1])
    codes = constrained_omp(atoms, np.where(mask, np.nan, data), constraint, mask=mask, threads=1)
    supports = [row[row >= 0] for row in codes.supports]
    assert constraint.is_feasible(supports)
    for t, support in enumerate(supports):
        residual = residual_of(atoms, data[t], mask[t], support)
        assert codes.residual_energy[t] == pytest.approx(residual @ residual, abs=1e-9)
        fit = np.where(mask[t], 0, data[t] - codes.rebuilt[t])
        np.testing.assert_allclose(fit, residual, atol=1e-7)
    many = constrained_omp(atoms, data, constraint, mask=mask, threads=3)
    np.testing.assert_array_equal(many.supports, codes.supports)


def test_individual_sparsity_is_plain_omp():
    rng = np.random.default_rng(0)
    atoms, data, mask = masked_problem(rng)
    caps = rng.integers(1, 5, len(data))
    codes = constrained_omp(atoms, data, IndividualSparsity(caps), mask=mask)
    np.testing.assert_array_equal(codes.rebuilt, omp(atoms, data, caps, mask=mask).rebuilt)


@pytest.mark.parametrize("cap", [None, 3])
@pytest.mark.parametrize("budget", [1, 5, 20, 1000])
def test_a_budget_buys_the_best_steps_of_omp(cap, budget):
    rng = np.random.default_rng(1)
    atoms, data, mask = masked_problem(rng)
    depth = 8 if cap is None else cap
    energies = [np.where(mask, 0, data * data).sum(axis=1)]
    energies += [omp(atoms, data, s, mask=mask).residual_energy for s in range(1, depth + 1)]
    worth = np.minimum.accumulate(-np.diff(energies, axis=0), axis=0)
    steps = sorted((-worth[j, t], j, t) for j in range(depth) for t in range(len(data)))
    counts = np.zeros(len(data), int)
    for loss, _, t in steps[:budget]:
        counts[t] += loss < -1e-20
    codes = constrained_omp(atoms, data, AverageSparsity(cap, budget), mask=mask)
    np.testing.assert_array_equal(codes.n_used, counts)
    expected = [energies[n][t] for t, n in enumerate(counts)]
    np.testing.assert_allclose(codes.residual_energy, expected, atol=1e-9)


def test_patches_of_a_block_select_the_atom_with_the_largest_sum():
    rng = np.random.default_rng(2)
    atoms, data, mask = masked_problem(rng)
    blocks = [[0, 5, 7, 11], [1, 2, 3, 4, 6, 8, 9], [10]]
    constraint = BlockSparsity(blocks, [2, 3, 1])
    codes = constrained_omp(atoms, data, constraint, mask=mask)
    for block, cap in zip(blocks, [2, 3, 1], strict=True):
        support = []
        for _ in range(cap):
            residuals = [residual_of(atoms, data[t], mask[t], support) for t in block]
            total = sum(scores_of(atoms, mask[t], r) for t, r in zip(block, residuals, strict=True))
            support.append(int(total.argmax()))
        for t in block:  # as many atoms as entries are observed fit everything
            expected = support[: np.count_nonzero(~mask[t])]
            assert [a for a in codes.supports[t].tolist() if a >= 0] == expected


def test_a_patch_that_does_not_see_an_atom_of_its_block_uses_the_next():
    dictionary = np.eye(3)
    data, mask = np.array([[9.0, 1.0, 0.0], [9.0, 1.0, 0.0]]), np.zeros((2, 3), bool)
    mask[1, 0] = True
    codes = constrained_omp(dictionary, data, BlockSparsity([[0, 1]], 2), mask=mask)
    np.testing.assert_allclose(codes.rebuilt, [[9, 1, 0], [0, 1, 0]])


def test_matroids_restrict_each_step_and_refer_to_the_ground_set():
    rng = np.random.default_rng(3)
    ground_set = standard_ground_set((4, 4))
    data = rng.normal(size=(30, 16))
    groups = np.arange(len(ground_set)) // 16  # one atom of each basis
    constraint = MatroidSparsity(PartitionMatroid(groups, 1))
    selection = replacement_omp(ground_set, data, constraint, 12)
    codes = constrained_omp(selection.dictionary, data, constraint, indices=selection.indices)
    used = [selection.indices[row[row >= 0]] for row in codes.supports]
    assert constraint.is_feasible(used)
    by_oracle = MatroidSparsity(OracleMatroid(lambda atoms: len({groups[a] for a in atoms}) == len(atoms)))
    same = constrained_omp(selection.dictionary, data, by_oracle, indices=selection.indices)
    np.testing.assert_array_equal(same.supports, codes.supports)
    for y, row in zip(data, codes.supports.tolist(), strict=True):
        support = []
        for atom in row:
            taken = {groups[selection.indices[a]] for a in support}
            free = [a for a in range(12) if groups[selection.indices[a]] not in taken]
            if atom < 0:
                break
            residual = residual_of(selection.dictionary, y, np.zeros(16, bool), support)
            scores = scores_of(selection.dictionary, np.zeros(16, bool), residual)
            assert scores[atom] == pytest.approx(scores[free].max())
            support.append(atom)


def test_chunks_hold_whole_blocks_and_float32_stays():
    rng = np.random.default_rng(4)
    atoms = standard_ground_set((4, 4), ["dct"]).atoms
    data = rng.normal(size=(5000, 16)).astype(np.float32)
    labels = np.sort(rng.integers(0, 40, 5000))
    constraint = BlockSparsity.from_labels(labels, 3)
    codes = constrained_omp(atoms, data, constraint)
    assert codes.coefficients.dtype == np.float32
    for label in np.unique(labels):
        assert len(np.unique(codes.supports[labels == label])) == 3
    tall = constrained_omp(atoms, data, BlockSparsity([range(5000)], 3))  # one block beyond a chunk
    assert len(np.unique(tall.supports)) == 3


def test_a_budget_is_shared_better_than_equal_caps_share_it():
    rng = np.random.default_rng(5)
    ground_set = standard_ground_set((4, 4))
    data = rng.normal(size=(200, 16)) * rng.exponential(size=(200, 1))
    selection = replacement_omp(ground_set, data, AverageSparsity(6, 600), 20)
    shared = constrained_omp(selection.dictionary, data, AverageSparsity(6, 600))
    equal = omp(selection.dictionary, data, 3)
    assert shared.n_used.sum() == equal.n_used.sum() == 600
    assert shared.residual_energy.sum() < equal.residual_energy.sum()


class Wrapped(Constraint):
    """A constraint of somebody else, of which nothing is known but whether supports are feasible."""

    values = replacement = replacement_sparsity = None

    def __init__(self, inner):
        self.inner = inner

    def capacity(self, n_points, n_candidates, n_atoms):
        return self.inner.capacity(n_points, n_candidates, n_atoms)

    def is_feasible(self, supports):
        return self.inner.is_feasible(supports)


@pytest.mark.parametrize("hides", [False, True])
def test_a_constraint_of_ones_own_is_kept_by_asking_what_is_feasible(hides):
    rng = np.random.default_rng(6)
    dictionary, data = rng.normal(size=(12, 9)), rng.normal(size=(40, 12))
    mask = rng.random(data.shape) < 0.3 if hides else None
    atoms = rng.permutation(30)[:9]
    for inner in (
        IndividualSparsity(3),
        MatroidSparsity(PartitionMatroid(np.arange(30) % 3, 1)),
    ):
        own = constrained_omp(dictionary, data, Wrapped(inner), mask=mask, indices=atoms)
        expected = constrained_omp(dictionary, data, inner, mask=mask, indices=atoms)
        np.testing.assert_array_equal(own.supports, expected.supports)
        np.testing.assert_allclose(own.coefficients, expected.coefficients)


def test_a_budget_of_ones_own_goes_to_those_who_gain_most():
    data = np.diag([9.0, 1.0, 5.0, 3.0])
    codes = constrained_omp(np.eye(4), data, Wrapped(AverageSparsity(1, 2)))
    assert codes.n_used.tolist() == [1, 0, 1, 0]


def test_misfits_are_refused_in_words():
    data = np.ones((3, 4))

    with pytest.raises(TypeError, match="must be a Constraint, not int"):
        constrained_omp(np.eye(4), data, 3)
    with pytest.raises(ValueError, match="cover 2 patches"):
        constrained_omp(np.eye(4), data, BlockSparsity([[0, 1]], 1))
    with pytest.raises(ValueError, match="one per patch, 3"):
        constrained_omp(np.eye(4), data, AverageSparsity([1, 2], 3))
    with pytest.raises(ValueError, match="indices must name each column"):
        constrained_omp(np.eye(4), data, IndividualSparsity(1), indices=[1, 2])
    with pytest.raises(ValueError, match="one matroid or one per patch"):
        constrained_omp(np.eye(4), data, MatroidSparsity([PartitionMatroid([0] * 4, 1)] * 2))
    with pytest.raises(ValueError, match="it does not know atom 3"):
        constrained_omp(np.eye(4), data, MatroidSparsity(PartitionMatroid([0, 0, 1], 1)))
