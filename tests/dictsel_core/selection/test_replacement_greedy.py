import numpy as np
import pytest
from constraints import LOCAL_KINDS, make_constraint
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import Patches, difference_rule, literal_run
from synthetic import planted, small_instance

from dictsel_core import (
    BlockSparsity,
    IndividualSparsity,
    ground_set_from_array,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.selection import iter_replacement_greedy, replacement_greedy


def assert_follows_the_definition(seed, kind):
    """Replay a run by brute force; return how often an atom of the dictionary won again."""
    rng = np.random.default_rng(seed)
    ground_set, data, mask = small_instance(rng)
    constraint = make_constraint(kind, rng, len(data), len(ground_set))
    patches = Patches(ground_set, data, mask)
    run = iter_replacement_greedy(ground_set, data, constraint, 6, mask=mask)
    n_repeats = 0
    for expected in literal_run(patches, constraint, 6, difference_rule(patches), repeats=6):
        step = next(run)
        assert step.atom == expected.atom
        assert step.gain == pytest.approx(expected.gain, rel=1e-5, abs=1e-9)
        assert [set(z.tolist()) for z in run.result.supports] == [set(z) for z in expected.supports]
        reached = sum(patches.utility(t, z) for t, z in enumerate(expected.supports))
        assert step.objective == pytest.approx(reached)
        n_repeats += expected.n_repeats
    return n_repeats


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(LOCAL_KINDS))
def test_every_step_is_the_literal_definition(seed, kind):
    assert_follows_the_definition(seed, kind)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("individual", 10), ("individual by patch", 12), ("block by cap", 49), ("graphic matroid", 63)],
)
def test_atoms_of_the_dictionary_may_win_again(kind, seed):
    """The paper maximizes over the whole ground set."""
    assert assert_follows_the_definition(seed, kind) > 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["individual", "block by cap"])
def test_supports_may_become_dependent_under_the_mask(kind, seed):
    """With as few observed entries as a support has atoms."""
    rng = np.random.default_rng(seed)
    ground_set, data = ground_set_from_array(rng.normal(size=(6, 7))), rng.normal(size=(4, 6))
    mask = rng.random(data.shape) < 0.6
    constraint = BlockSparsity([[0, 1], [2, 3]], 3) if kind == "block by cap" else IndividualSparsity(3)
    patches = Patches(ground_set, data, mask)
    run = iter_replacement_greedy(ground_set, data, constraint, 6, mask=mask)
    for expected in literal_run(patches, constraint, 6, difference_rule(patches), repeats=6):
        step = next(run)
        assert step.gain == pytest.approx(expected.gain, rel=1e-5, abs=1e-9)
        assert step.objective == pytest.approx(
            sum(patches.utility(t, z) for t, z in enumerate(expected.supports))
        )
        if expected.gain < 1e-6:
            break  # the rest are ties


@pytest.mark.parametrize("masked", [False, True])
def test_the_objective_grows_by_exactly_the_gain(masked):
    rng = np.random.default_rng(1)
    ground_set = standard_ground_set()
    data, _ = planted(rng, ground_set, 40, 15, 4)
    mask = (rng.random(data.shape) < 0.5) if masked else None
    first_atoms = replacement_greedy(ground_set, data, IndividualSparsity(4), 4, mask=mask)
    np.testing.assert_allclose(np.cumsum(first_atoms.gains), first_atoms.objective)


def test_it_does_at_least_as_well_as_replacement_omp_on_planted_data():
    rng = np.random.default_rng(2)
    ground_set = standard_ground_set()
    data, _ = planted(rng, ground_set, 100, 20, 5)
    greedy = replacement_greedy(ground_set, data, IndividualSparsity(5), 20)
    omp = replacement_omp(ground_set, data, IndividualSparsity(5), 20)
    assert greedy.objective[-1] > 0.99 * omp.objective[-1]


def test_duplicate_atoms_hidden_patches_and_float32():
    rng = np.random.default_rng(3)
    atoms = rng.normal(size=(9, 5))
    ground_set = ground_set_from_array(np.hstack([atoms, atoms]))
    data = rng.normal(size=(6, 9)).astype(np.float32)
    mask = rng.random(data.shape) < 0.3
    mask[2] = True
    selection = replacement_greedy(ground_set, data, IndividualSparsity(4), 10, mask=mask)
    assert sorted(selection.indices.tolist()) == list(range(10))
    assert np.isfinite(np.concatenate(selection.coefficients)).all()
    assert len(selection.supports[2]) == 0
    double = replacement_greedy(ground_set, data.astype(float), IndividualSparsity(4), 10, mask=mask)
    np.testing.assert_allclose(selection.objective, double.objective, rtol=1e-4)


def test_a_missing_constraint_is_refused():
    with pytest.raises(TypeError, match="not int"):
        replacement_greedy(standard_ground_set(), np.ones((2, 64)), 5, 3)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_swaps_no_atoms_of_a_patch_that_is_explained_in_full(seed):
    """Any two atoms span the plane, so no swap can help, whatever the last digits say."""
    rng = np.random.default_rng(seed)
    ground_set = ground_set_from_array(rng.normal(size=(2, 8)))
    run = iter_replacement_greedy(ground_set, rng.normal(size=(40, 2)), IndividualSparsity(2), 8)
    next(run), next(run)
    supports = [set(z.tolist()) for z in run.result.supports]
    explained = [len(z) == 2 for z in supports]
    assert any(explained)
    list(run)
    assert all(
        set(z.tolist()) == before
        for z, before, full in zip(run.result.supports, supports, explained, strict=True)
        if full
    )
    assert run.steps[-1].gain == 0
