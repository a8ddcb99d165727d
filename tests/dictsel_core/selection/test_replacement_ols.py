"""Replacement OLS against its definition, and against what it is there for."""

import numpy as np
import pytest
from constraints import KINDS, make_constraint
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import Patches, literal_run, separate_rule
from synthetic import least_squares, planted, small_instance

from dictsel_core import (
    AverageSparsity,
    IndividualSparsity,
    ground_set_from_array,
    omp,
    replacement_ols,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.selection import iter_replacement_ols

STANDARD = standard_ground_set()


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(list(KINDS)))
def test_every_step_takes_the_largest_gain_of_all_feasible_replacements(seed, kind):
    rng = np.random.default_rng(seed)
    ground_set, data, mask = small_instance(rng)
    constraint = make_constraint(kind, rng, len(data), len(ground_set))
    patches = Patches(ground_set, data, mask)
    run = iter_replacement_ols(ground_set, data, constraint, 6, mask=mask)
    for expected in literal_run(patches, constraint, 6, separate_rule(patches), repeats=6):
        step = next(run)
        assert step.atom == expected.atom
        assert step.gain == pytest.approx(expected.gain, abs=1e-9)
        assert [set(z.tolist()) for z in run.result.supports] == [set(z) for z in expected.supports]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_supports_are_feasible_and_coefficients_least_squares(kind, dtype):
    rng = np.random.default_rng(1)
    data, mask = rng.normal(size=(40, 64)).astype(dtype), rng.random((40, 64)) < 0.5
    constraint = make_constraint(kind, rng, 40, len(STANDARD))
    selection = replacement_ols(STANDARD, data, constraint, 12, mask=mask)
    assert constraint.is_feasible(selection.supports)
    assert len(set(selection.indices.tolist())) == 12
    total = 0.0
    for y, missing, z, w in zip(data, mask, selection.supports, selection.coefficients, strict=True):
        expected, utility = least_squares(STANDARD, y.astype(np.float64), missing, z)
        np.testing.assert_allclose(w, expected, rtol=1e-3, atol=1e-4)
        total += utility
    assert selection.objective[-1] == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("constraint", [IndividualSparsity(5), AverageSparsity(8, 500)])
def test_planted_dictionaries_are_found_better_than_by_correlations_alone(constraint):
    """Half of the entries missing, and atoms that look alike: what the variant is there for."""
    rng = np.random.default_rng(2)
    data, _ = planted(rng, STANDARD, 200, 40, 5)
    mask = rng.random(data.shape) < 0.5
    train, test = slice(0, 100), slice(100, 200)
    left = {}
    for select in (replacement_omp, replacement_ols):
        dictionary = select(STANDARD, data[train], constraint, 40, mask=mask[train]).dictionary
        left[select] = omp(dictionary, data[test], 5, mask=mask[test]).residual_energy.sum()
    assert left[replacement_ols] < 0.5 * left[replacement_omp]


def test_degenerate_data_and_ground_sets():
    rng = np.random.default_rng(3)
    twice = ground_set_from_array(np.hstack([np.eye(4), np.eye(4), rng.normal(size=(4, 2))]))
    data = np.vstack([np.zeros(4), np.ones(4), rng.normal(size=(3, 4))])
    mask = np.zeros(data.shape, bool)
    mask[1] = mask[2, 1:] = True
    for constraint in (IndividualSparsity(4), AverageSparsity(None, 9)):
        selection = replacement_ols(twice, data, constraint, len(twice), mask=mask)
        assert sorted(selection.indices.tolist()) == list(range(10))
        assert np.isfinite(selection.objective).all()
        assert [len(z) for z in selection.supports[:2]] == [0, 0]
        assert not any(set(z.tolist()) & {4, 5, 6, 7} for z in selection.supports), "of equals the first wins"
    one = replacement_ols(twice, data[4:], IndividualSparsity(1), 1)
    assert len(one.supports) == 1


@pytest.mark.filterwarnings("error")
def test_dependent_atoms_beside_empty_slots():
    rows = np.array([[1, 0, 0, 0], [1, 1e-4, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    data = np.array([[1, 1, 0, 0], [1, 1, 1, 0.0]])
    selection = replacement_ols(ground_set_from_array(rows.T), data, IndividualSparsity(3), 4)
    assert selection.objective[-1] == pytest.approx((data**2).sum() / 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("damage", ["much missing", "almost all missing", "weights"])
@pytest.mark.parametrize("constraint", [IndividualSparsity(5), AverageSparsity(8, 200)])
def test_products_of_observed_entries_alone_are_those_of_all(constraint, damage, dtype):
    """With more atoms than observed entries too, and atoms that are equal or almost so under the mask.

    Complete patches of zeros, which no atom explains, make the difference: then not half is missing.
    """
    rng = np.random.default_rng(4)
    data = planted(rng, STANDARD, 60, 20, 4)[0].astype(dtype)
    missing = (
        rng.random(data.shape) < {"much missing": 0.6, "almost all missing": 0.94, "weights": 0.6}[damage]
    )
    weights = rng.uniform(0.01, 3, data.shape) if damage == "weights" else np.ones(data.shape)
    selection = replacement_ols(STANDARD, data, constraint, 12, mask=missing, weights=weights)
    both = [
        np.concatenate([each, np.full((80, 64), rest)]) for each, rest in ((missing, False), (weights, 1))
    ]
    enlarged = np.concatenate([data, np.zeros((80, 64), dtype)])
    expected = replacement_ols(STANDARD, enlarged, constraint, 12, mask=both[0], weights=both[1])
    np.testing.assert_array_equal(selection.indices, expected.indices)
    accuracy = 1e-5 if dtype is np.float32 else 1e-9
    np.testing.assert_allclose(selection.gains, expected.gains, rtol=accuracy)
    np.testing.assert_allclose(selection.objective, expected.objective, rtol=accuracy)
    for support, other in zip(selection.supports, expected.supports[:60], strict=True):
        np.testing.assert_array_equal(support, other)
    for part, other in zip(selection.coefficients, expected.coefficients[:60], strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-4, atol=accuracy)


def test_wrong_use_is_refused_in_words():
    with pytest.raises(TypeError, match="replacement_ols needs a sparsity constraint"):
        replacement_ols(STANDARD, np.zeros((2, 64)), 5, 3)
