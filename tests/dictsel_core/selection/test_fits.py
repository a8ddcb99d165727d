"""The fit by inner products against the fit by columns, which is tested against LAPACK."""

import numpy as np
import pytest
from synthetic import random_ground_set

from dictsel_core import (
    IndividualSparsity,
    ground_set_from_array,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.selection.engine import gram_state as gram_state_module
from dictsel_core.selection.engine.fits import ColumnFit
from dictsel_core.selection.engine.gram_state import GramState
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem, as_points

N_POINTS, N_ATOMS, N_SLOTS = 40, 12, 4


def ground_set_of(kind, rng):
    if kind == "standard":
        return standard_ground_set()
    if kind == "dependent":
        atoms = rng.normal(size=(9, 4))
        return ground_set_from_array(np.hstack([atoms, -atoms, atoms @ rng.normal(size=(4, 8))]))
    return random_ground_set(rng, 9, 30)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["random", "standard", "dependent"])
def test_inner_products_fit_as_columns_do(kind, dtype):
    rng = np.random.default_rng(1)
    ground_set = ground_set_of(kind, rng)
    data = rng.normal(size=(N_POINTS, ground_set.n_features)).astype(dtype)
    problem = Problem(ground_set, as_points(ground_set, data))
    ours = GramState(problem, N_SLOTS, N_ATOMS)
    reference = SupportState(problem, N_SLOTS, ColumnFit(problem))
    dictionary = rng.choice(len(ground_set), N_ATOMS, replace=False)
    if kind == "standard":
        dictionary[:4] = [0, 64, 128, 192]  # the constant atom of each basis
    rows = rng.permutation(N_POINTS)[: N_POINTS // 2]
    supports = np.full((N_POINTS, N_SLOTS), -1)
    for n_slots in range(1, N_SLOTS + 1):  # atoms come in one after another
        known = dictionary[: N_ATOMS * n_slots // N_SLOTS]
        supports[rows, :n_slots] = [rng.permutation(known)[:n_slots] for _ in rows]
        supports[rows[::3], n_slots // 2 :] = -1
        squares, largest = {}, {}
        for state in (ours, reference):
            state.set_supports(supports)
            squares[state], largest[state] = np.zeros((N_POINTS, len(ground_set)), dtype), np.zeros(N_POINTS)
            state.update_squares(rows, squares[state], largest[state])
        np.testing.assert_allclose(ours.coefficients, reference.coefficients, rtol=1e-8, atol=1e-8)
        assert ours.objective == pytest.approx(reference.objective, rel=1e-8)
        found, wanted = np.sqrt(squares[ours]), np.sqrt(squares[reference])
        np.testing.assert_allclose(found, wanted, atol=1e-5 if dtype is np.float32 else 1e-10)
        np.testing.assert_array_equal(largest[ours], squares[ours].max(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["random", "standard", "dependent"])
def test_fits_by_columns_are_those_of_lapack(kind, dtype):
    rng = np.random.default_rng(3)
    ground_set = ground_set_of(kind, rng)
    shape = (N_POINTS, ground_set.n_features)
    mask, weights = rng.random(shape) < rng.random((N_POINTS, 1)), rng.uniform(0.1, 1, shape)
    data = rng.normal(size=shape).astype(dtype)
    supports = np.array([rng.permutation(len(ground_set))[:N_SLOTS] for _ in data])
    supports[::3, 2:], supports[::5] = -1, -1
    rows = rng.permutation(N_POINTS)
    for points in (as_points(ground_set, data), as_points(ground_set, data, mask, weights)):
        problem = Problem(ground_set, points)
        ours, reference = ColumnFit(problem), ColumnFit(problem)
        reference._max_compiled = 0
        found, expected = ours.refit(rows, supports), reference.refit(rows, supports)
        correlations = []
        for fit, (coefficients, _) in ((ours, found), (reference, expected)):
            correlations.append(np.empty((N_POINTS, len(ground_set)), dtype))
            fit.correlate(rows, supports, coefficients, correlations[-1])
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-6)
        np.testing.assert_allclose(*correlations, atol=1e-5 if dtype is np.float32 else 1e-8)


def test_threads_that_share_patches_do_not_change_the_fit(monkeypatch):
    rng = np.random.default_rng(2)
    ground_set = ground_set_of("dependent", rng)
    data = rng.normal(size=(N_POINTS, ground_set.n_features))
    expected = replacement_omp(ground_set, data, IndividualSparsity(3), N_ATOMS)
    monkeypatch.setattr(gram_state_module, "_CHUNK", 8)
    selection = replacement_omp(ground_set, data, IndividualSparsity(3), N_ATOMS, threads=2)
    np.testing.assert_array_equal(selection.objective, expected.objective)
    for weights, other in zip(selection.coefficients, expected.coefficients, strict=True):
        np.testing.assert_array_equal(weights, other)
