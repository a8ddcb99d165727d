"""M and what happens to repeated atoms: options that the selectors share."""

import numpy as np
import pytest
from synthetic import planted

from dictsel_core import (
    AverageSparsity,
    IndividualSparsity,
    replacement_ols,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.selection import (
    chunked_replacement_omp,
    iter_chunked_replacement_omp,
    replacement_greedy,
    stochastic_replacement_omp,
)

GROUND_SET = standard_ground_set((4, 4))
DATA, _ = planted(np.random.default_rng(3), GROUND_SET, 60, 20, 3)
SELECTORS = {
    "whole": replacement_omp,
    "chunked": lambda ground_set, data, *others, **options: chunked_replacement_omp(
        ground_set, np.array_split(data, 3), *others, **options
    ),
    "sampled": lambda *given, **options: stochastic_replacement_omp(*given, sample=len(DATA), **options),
}


@pytest.mark.parametrize("kind", ["chunked", "sampled"])
@pytest.mark.parametrize("smoothness", [None, 1.0, 0.5])
@pytest.mark.parametrize("repeats", ["extra", "steps", "none"])
def test_chunks_and_samples_have_the_options_of_the_whole(kind, smoothness, repeats):
    problem = GROUND_SET, DATA, IndividualSparsity(3), 20
    options = {"smoothness": smoothness, "repeats": repeats}
    whole, other = (SELECTORS[each](*problem, **options) for each in ("whole", kind))
    np.testing.assert_array_equal(other.indices, whole.indices)
    np.testing.assert_allclose(other.objective, whole.objective)
    np.testing.assert_allclose(other.gains, whole.gains, atol=1e-9)


def test_a_shared_budget_in_chunks_knows_the_options():
    problem = GROUND_SET, DATA, AverageSparsity(4, 150), 20
    options = {"smoothness": 1.0, "repeats": "steps"}
    whole, chunked = (SELECTORS[each](*problem, **options) for each in ("whole", "chunked"))
    np.testing.assert_array_equal(chunked.indices, whole.indices)
    np.testing.assert_allclose(chunked.objective, whole.objective)


def test_m_is_by_default_that_of_the_ground_set():
    problem = GROUND_SET, DATA, IndividualSparsity(3), 12
    given = replacement_omp(*problem, smoothness=GROUND_SET.smoothness)
    np.testing.assert_array_equal(given.objective, replacement_omp(*problem).objective)
    assert replacement_omp(*problem, smoothness=0.5).indices.tolist() != given.indices.tolist()


@pytest.mark.parametrize("select", [replacement_omp, replacement_ols, replacement_greedy])
def test_repeats_as_steps_leave_fewer_atoms(select):
    problem = GROUND_SET, DATA, IndividualSparsity(3), 30
    literal, ours, new = (select(*problem, repeats=each) for each in ("steps", "extra", "none"))
    assert len(literal.gains) == 30 and len(literal.indices) < 30
    assert len(ours.indices) == len(new.indices) == 30
    assert ours.objective[-1] >= literal.objective[-1] * (1 - 1e-9)


@pytest.mark.parametrize("name", SELECTORS)
def test_wrong_options_are_refused(name):
    problem = GROUND_SET, DATA, IndividualSparsity(3), 3
    with pytest.raises(ValueError, match="repeats must be one of extra, steps, none, not 'twice'"):
        SELECTORS[name](*problem, repeats="twice")
    with pytest.raises(ValueError, match="smoothness must be positive and finite"):
        SELECTORS[name](*problem, smoothness=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_values_are_worked_out_again_in_chunks(dtype):
    """Sums that are kept up to date tell which atom is best, but for rounding."""
    ground_set = standard_ground_set()
    data, _ = planted(np.random.default_rng(0), ground_set, 400, 40, 5)
    noisy = (data + 0.1 * np.random.default_rng(1).normal(size=data.shape)).astype(dtype)
    run = iter_chunked_replacement_omp(ground_set, np.array_split(noisy, 3), IndividualSparsity(5), 40)
    counts = [step.n_exact for step in run]
    whole = replacement_omp(ground_set, noisy, IndividualSparsity(5), 40)
    np.testing.assert_array_equal(run.result.indices, whole.indices)
    assert max(counts) <= 8
