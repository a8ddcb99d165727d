"""Atoms at tiny angles: what is selected and promised, against utilities without rounding."""

from itertools import combinations

import numpy as np
import pytest
from near_parallel import ExactPatch, near_parallel_set

from dictsel_core import IndividualSparsity, ground_set_from_array, replacement_ols, replacement_omp
from dictsel_core.selection import iter_replacement_greedy, replacement_greedy
from dictsel_core.theory import approximation_bound


def choices(support, atom, sparsity):
    """What an atom may make of a support: a larger one, or one with another atom less."""
    if atom in support:
        return [support]
    grown = [*support, atom] if len(support) < sparsity else support
    return [support, grown, *([*(z for z in support if z != gone), atom] for gone in support)]


@pytest.mark.parametrize("angle", [3e-4, 1e-4, 1e-5, 1e-6, 1e-7])
def test_every_gain_is_the_largest_true_difference(angle):
    for seed in range(40):
        rng = np.random.default_rng([seed, int(1 / angle)])
        ground_set, data = near_parallel_set(rng, angle), rng.normal(size=(2, 5))
        mask = rng.random(data.shape) < 0.2 if seed % 2 else np.zeros(data.shape, bool)
        patches = [ExactPatch(ground_set, y, missing) for y, missing in zip(data, mask, strict=True)]
        run = iter_replacement_greedy(ground_set, data, IndividualSparsity(3), 4, mask=mask)
        supports, energy = [[], []], float(np.square(data).sum())
        for _ in range(4):
            before = [each.utility(z) for each, z in zip(patches, supports, strict=True)]
            largest = max(
                sum(
                    max(each.utility(z) for z in choices(support, atom, 3))
                    for each, support in zip(patches, supports, strict=True)
                )
                for atom in range(len(ground_set))
            ) - sum(before)
            step = next(run)
            supports = [z.tolist() for z in run.result.supports]
            reached = [each.utility(z) for each, z in zip(patches, supports, strict=True)]
            assert step.objective == pytest.approx(sum(reached), abs=1e-6 * energy)
            assert sum(reached) >= sum(before) - 1e-9 * energy
            if step.n_exact == len(ground_set):  # one replacement, not several before an atom was new
                assert step.gain == pytest.approx(sum(reached) - sum(before), abs=1e-6 * energy)
                assert step.gain == pytest.approx(largest, abs=1e-6 * energy)


def test_no_gain_exceeds_what_is_left():
    rng = np.random.default_rng(64)
    atoms = rng.normal(size=(5, 2))
    near = atoms + 1e-4 * rng.normal(size=(5, 2))
    ground_set = ground_set_from_array(np.hstack([atoms, near, rng.normal(size=(5, 1))]))
    data = rng.normal(size=(1, 5))
    selection = replacement_greedy(ground_set, data, IndividualSparsity(3), 4)
    assert sum(selection.gains) <= np.square(data).sum() / 2
    np.testing.assert_allclose(np.cumsum(selection.gains)[:3], selection.objective[:3], rtol=1e-9)


@pytest.mark.parametrize("exponent", range(3, 13))
@pytest.mark.parametrize("select", [replacement_omp, replacement_greedy, replacement_ols])
def test_no_certificate_promises_more_than_the_truth(exponent, select):
    for seed in range(34):
        rng = np.random.default_rng([seed, exponent])
        ground_set, data = near_parallel_set(rng, 10.0**-exponent), rng.normal(size=(2, 5))
        selection = select(ground_set, data, IndividualSparsity(2), 2)
        patches = [ExactPatch(ground_set, y) for y in data]
        best = max(
            sum(each.utility(pair) for each in patches) for pair in combinations(range(len(ground_set)), 2)
        )
        reached = sum(each.utility(z) for each, z in zip(patches, selection.supports, strict=True))
        assert selection.certificate.ratio <= reached / best + 1e-9
        bound = approximation_bound(ground_set, IndividualSparsity(2), n_points=2, n_atoms=2)
        eigenvalues = [
            np.linalg.svd(ground_set.atoms[:, four], compute_uv=False)[-1] ** 2
            for four in combinations(range(len(ground_set)), 4)
        ]
        assert bound.concavity <= min(eigenvalues)


def test_only_copies_are_merged():
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(6, 3))
    ground_set = ground_set_from_array(np.hstack([atoms, -7 * atoms, atoms + 1e-9 * rng.normal(size=(6, 3))]))
    assert ground_set.duplicates.tolist() == [[3, 4, 5], [0, 1, 2]]
