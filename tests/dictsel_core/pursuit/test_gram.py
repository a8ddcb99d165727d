import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictsel_core.pursuit.columns import Pursuit
from dictsel_core.pursuit.gram import GramPursuit


@given(
    seed=st.integers(0, 2**32 - 1),
    sparsity=st.integers(1, 6),
    missing=st.floats(0, 0.8),
    fill_weight=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_it_codes_as_the_pursuit_does(seed, sparsity, missing, fill_weight):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(20, 12))
    atoms /= np.linalg.norm(atoms, axis=0)
    values = rng.normal(size=(30, 20))
    weights = np.where(rng.random(values.shape) < missing, fill_weight, 1.0)
    supports, coefficients = GramPursuit(atoms, sparsity)(values * weights, weights)
    expected, exact, _ = Pursuit(atoms, sparsity, weak=True)(values * weights, weights)
    observed = (weights > 0).sum(axis=1) > 1  # one pixel fits every atom
    np.testing.assert_array_equal(supports[observed], expected[observed])
    np.testing.assert_allclose(coefficients[observed], exact[observed], rtol=1e-5, atol=1e-7)


def test_duplicate_atoms_hidden_patches_and_float32():
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(16, 6)).astype(np.float32)
    atoms = np.hstack([atoms, atoms, np.zeros((16, 1), np.float32)])
    values = rng.normal(size=(10, 16)).astype(np.float32)
    weights = (rng.random(values.shape) < 0.5).astype(np.float32)
    weights[3] = 0
    supports, coefficients = GramPursuit(atoms, 13)(values * weights, weights)
    assert supports.max() < 6
    assert (supports[3] == -1).all()
    assert np.isfinite(coefficients).all()
    assert np.abs(coefficients).max() < 1e3


@pytest.mark.parametrize("weight", [1e-6, 0.01])
def test_weak_observations_count_if_there_are_no_others(weight):
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.normal(size=(16, 8)))[0].astype(np.float32)
    values = (rng.normal(size=(10, 3)) @ atoms[:, 2:5].T).astype(np.float32)
    weights = np.full(values.shape, weight, np.float32)
    supports, coefficients = GramPursuit(atoms, 3)(values * weights, weights)
    expected, exact = GramPursuit(atoms, 3)(values, np.ones_like(values))
    np.testing.assert_array_equal(supports, expected)
    np.testing.assert_allclose(coefficients, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 7, 200])
def test_a_patch_is_coded_alike_in_any_company(rows):
    rng = np.random.default_rng(1)
    atoms = rng.normal(size=(64, 15)).astype(np.float32)
    values = rng.normal(size=(200, 64)).astype(np.float32)
    weights = np.where(rng.random(values.shape) < 0.7, np.float32(0.1), np.float32(1))
    pursuit = GramPursuit(atoms, 5)
    alone = pursuit((values * weights)[:rows], weights[:rows])
    together = pursuit(values * weights, weights)
    np.testing.assert_array_equal(alone[0], together[0][:rows])
    np.testing.assert_allclose(alone[1], together[1][:rows], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kernel", [GramPursuit, Pursuit])
def test_channels_share_the_weights_of_their_patches(kernel):
    rng = np.random.default_rng(2)
    atoms = rng.normal(size=(20, 12))
    weights = np.where(rng.random((30, 20)) < 0.4, 0.1, 1.0)
    channels = rng.normal(size=(3, 30, 20)) * weights
    options = {"weak": True} if kernel is Pursuit else {}
    pursuit = kernel(atoms, 5, **options)
    together = pursuit(channels.reshape(-1, 20), weights)
    apart = [pursuit(channel, weights) for channel in channels]
    np.testing.assert_array_equal(together[0], np.concatenate([each[0] for each in apart]))
    np.testing.assert_allclose(together[1], np.concatenate([each[1] for each in apart]), rtol=1e-9)
