"""MOD and K-SVD against their definitions."""

import numpy as np
import pytest
from synthetic import planted, random_ground_set

from dictsel_core import omp
from dictsel_core.learning import iter_ksvd, iter_mod, ksvd, mod

LEARNERS = [mod, ksvd]
RUNS = [iter_mod, iter_ksvd]


def instance(seed, *, n_points=150, n_features=16, n_atoms=8, sparsity=2):
    """Patches of a planted dictionary, which is returned too, and a mask."""
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, n_features, n_atoms)
    data, _ = planted(rng, ground_set, n_points, n_atoms, sparsity)
    return ground_set.atoms, data, rng.random(data.shape) < 0.3


def loss(data, mask, dictionary, codes):
    error = np.where(mask, 0, data - codes @ dictionary.T)
    return (error**2).sum() / 2


def dense_codes(learned):
    codes = np.zeros((len(learned.supports), learned.dictionary.shape[1]))
    for row, support, weights in zip(codes, learned.supports, learned.coefficients, strict=True):
        row[support] = weights
    return codes


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("masked", [False, True])
def test_objective_never_falls_and_is_that_of_the_returned_codes(learn, masked):
    _, data, mask = instance(0)
    mask = mask if masked else np.zeros_like(mask)
    noisy = data + 0.1 * np.random.default_rng(1).normal(size=data.shape)
    learned = learn(noisy, 8, 2, mask=mask, max_iterations=30)
    assert (np.diff(learned.objective) >= -1e-9).all()
    energy = (np.where(mask, 0, noisy) ** 2).sum() / 2
    reached = energy - loss(noisy, mask, learned.dictionary, dense_codes(learned))
    assert learned.objective[-1] == pytest.approx(reached)
    assert max(map(len, learned.supports)) <= 2
    np.testing.assert_allclose(np.linalg.norm(learned.dictionary, axis=0), 1)


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("masked", [False, True])
def test_planted_dictionary_is_found_from_nearby(learn, masked):
    truth, data, mask = instance(2, n_points=600)
    initial = truth + 0.3 * np.random.default_rng(3).normal(size=truth.shape) / 4
    learned = learn(data, 8, 2, mask=mask if masked else None, initial=initial)
    likeness = np.abs(truth.T @ learned.dictionary)
    assert likeness.max(axis=1).min() > 0.999


@pytest.mark.parametrize("learn", LEARNERS)
def test_planted_data_are_explained_by_the_best_of_some_starts(learn):
    _, data, _ = instance(4, n_points=400, n_features=20)
    starts = [learn(data, 8, 2, rng=np.random.default_rng(seed)).dictionary for seed in range(5)]
    left = [omp(dictionary, data, 2).residual_energy.sum() for dictionary in starts]
    assert min(left) < 0.01 * (data**2).sum()


def first_iteration(learn, data, mask=None, n_atoms=8, sparsity=2):
    """The codes of a first iteration, (T, k), and what it makes of a random dictionary."""
    initial = np.random.default_rng(5).normal(size=(data.shape[1], n_atoms))
    initial /= np.linalg.norm(initial, axis=0)
    codes = omp(initial, data, sparsity, mask=mask)
    dense = np.zeros((len(data), n_atoms))
    rows, slots = np.nonzero(codes.supports >= 0)
    dense[rows, codes.supports[rows, slots]] = codes.coefficients[rows, slots]
    assert dense.any(axis=0).all()  # every atom is used, so that none is replaced
    run = learn(data, n_atoms, sparsity, mask=mask, initial=initial)
    next(run)
    return dense, run.result


def test_mod_update_is_the_least_squares_optimum_of_every_row():
    _, data, mask = instance(5)
    codes, learned = first_iteration(iter_mod, data, mask)
    rebuilt = dense_codes(learned) @ learned.dictionary.T
    for i in range(data.shape[1]):
        seen = ~mask[:, i]
        row = np.linalg.lstsq(codes[seen], data[seen, i], rcond=None)[0]
        np.testing.assert_allclose(rebuilt[:, i], codes @ row, atol=1e-6)


def test_mod_update_without_mask_is_the_least_squares_optimum():
    _, data, _ = instance(6)
    codes, learned = first_iteration(iter_mod, data)
    expected = codes @ np.linalg.lstsq(codes, data, rcond=None)[0]
    np.testing.assert_allclose(dense_codes(learned) @ learned.dictionary.T, expected, atol=1e-8)


def test_an_atom_of_ksvd_becomes_the_leading_singular_pair():
    rng = np.random.default_rng(7)
    left = np.outer(rng.normal(size=30), rng.normal(size=12)) + 0.1 * rng.normal(size=(30, 12))
    _, learned = first_iteration(iter_ksvd, left, n_atoms=1, sparsity=1)
    u, s, vt = np.linalg.svd(left)
    rebuilt = dense_codes(learned) @ learned.dictionary.T
    np.testing.assert_allclose(rebuilt, s[0] * np.outer(u[:, 0], vt[0]), atol=1e-3)


def test_a_masked_atom_of_ksvd_is_stationary():
    """Neither the atom nor the weights can be bettered with the other one held fixed."""
    rng = np.random.default_rng(8)
    seen = rng.random((30, 12)) < 0.6
    left = np.where(seen, np.outer(rng.normal(size=30), rng.normal(size=12)), 0)
    left += np.where(seen, 0.05 * rng.normal(size=left.shape), 0)
    learned = ksvd(left, 1, 1, mask=~seen, initial=rng.normal(size=(12, 1)), tolerance=0.0)
    atom, weights = learned.dictionary[:, 0], dense_codes(learned)[:, 0]
    best_weights = [
        np.linalg.lstsq(atom[m][:, None], e[m], rcond=None)[0][0] for e, m in zip(left, seen, strict=True)
    ]
    np.testing.assert_allclose(weights, best_weights)
    best_atom = [
        np.linalg.lstsq(weights[m][:, None], e[m], rcond=None)[0][0]
        for e, m in zip(left.T, seen.T, strict=True)
    ]
    np.testing.assert_allclose(atom, best_atom, atol=5e-3)


@pytest.mark.parametrize("learn", LEARNERS)
def test_what_missing_entries_hold_does_not_matter(learn):
    _, data, mask = instance(9)
    spoiled = np.where(mask, np.nan, data)
    one, other = (learn(each, 8, 2, mask=mask, max_iterations=5) for each in (data, spoiled))
    np.testing.assert_array_equal(one.dictionary, other.dictionary)


@pytest.mark.parametrize("learn", LEARNERS)
def test_the_seed_decides_and_input_is_not_changed(learn):
    _, data, mask = instance(10)
    data.flags.writeable = mask.flags.writeable = False
    seeds = (np.random.default_rng(1), 1, 2)
    results = [learn(data, 8, 2, mask=mask, max_iterations=3, rng=rng) for rng in seeds]
    np.testing.assert_array_equal(results[0].dictionary, results[1].dictionary)
    assert not np.array_equal(results[0].dictionary, results[2].dictionary)


@pytest.mark.parametrize("begin", RUNS)
def test_run_stops_by_itself_can_be_left_and_looked_at(begin):
    _, data, _ = instance(11)
    run = begin(data, 8, 2)
    first = next(run)
    assert run.result.objective.tolist() == [first.objective]
    learned = run.finish()
    assert learned.converged == (run.steps[-1].change <= 1e-6)
    assert len(learned.objective) == len(run.steps) <= 200
    assert list(run) == []
    assert list(begin(data, 8, 2, max_iterations=2)) == list(run.steps[:2])


@pytest.mark.parametrize("learn", LEARNERS)
def test_unused_atoms_become_patches_that_are_explained_worst(learn):
    data = np.eye(6)
    initial = np.zeros((6, 3))
    initial[0] = 1  # three times the same atom: two of them are never used
    learned = learn(data, 3, 1, initial=initial, max_iterations=4)
    assert learned.objective[-1] == pytest.approx(1.5)  # three of six unit vectors


@pytest.mark.parametrize("learn", LEARNERS)
def test_a_first_atom_orthogonal_to_all_data_is_no_end(learn):
    data = np.random.default_rng(0).normal(size=(50, 16))
    data -= data.mean(axis=1, keepdims=True)
    learned = learn(data, 1, 1, initial=np.ones((16, 1)))
    best = np.linalg.svd(data, compute_uv=False)[0] ** 2 / 2
    assert learned.converged
    assert learned.objective[-1] == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("unit", [2.0**-450, 2.0**450])
@pytest.mark.parametrize("masked", [False, True])
def test_the_unit_of_the_data_does_not_matter(learn, unit, masked):
    _, data, mask = instance(0)
    options = {"mask": mask if masked else None, "max_iterations": 3, "tolerance": 0.0}
    ours, reference = learn(unit * data, 4, 2, **options), learn(data, 4, 2, **options)
    np.testing.assert_allclose(ours.dictionary, reference.dictionary, atol=1e-12)
    np.testing.assert_allclose(ours.objective / unit**2, reference.objective, rtol=1e-9)


@pytest.mark.parametrize("learn", LEARNERS)
def test_data_of_zeros_need_no_iteration(learn):
    learned = learn(np.zeros((5, 4)), 2, 1, initial=np.eye(4)[:, :2])
    assert learned.converged and len(learned.objective) == 0
    assert "2 atoms" in repr(learned)


@pytest.mark.parametrize("learn", LEARNERS)
def test_wrong_input_is_refused_in_words(learn):
    _, data, _ = instance(12)
    with pytest.raises(ValueError, match="give an initial dictionary"):
        learn(data[:5], 8, 2)
    with pytest.raises(ValueError, match="initial must have the shape"):
        learn(data, 8, 2, initial=np.eye(16))
    with pytest.raises(ValueError, match="initial must be finite and nonzero"):
        learn(data, 8, 2, initial=np.zeros((16, 8)))
    with pytest.raises(ValueError, match="max_iterations must be at least 1"):
        learn(data, 8, 2, max_iterations=0)
