import numpy as np
import pytest

from dictsel_core import omp
from dictsel_core.pursuit import batch
from dictsel_core.pursuit.by_patch import PatchPursuit
from dictsel_core.pursuit.columns import Pursuit


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _problem(rng, n_patches=60, n_features=21, n_atoms=30, n_channels=1):
    """Return atoms, one twice and one of zeros, data, and weights; of some patches nothing is observed."""
    atoms = rng.standard_normal((n_features, n_atoms))
    atoms[:, 7], atoms[:, 9] = -2 * atoms[:, 3], 0
    weights = rng.integers(0, 2, (n_patches, n_features)).astype(float)
    weights[::9] = 0
    weights[4::9, 1:] = 0
    data = rng.standard_normal((n_channels, n_patches, n_features)) * weights
    return atoms, data.reshape(-1, n_features), weights


def _assert_equal(ours, expected):
    np.testing.assert_array_equal(ours[0], expected[0])
    for mine, numpys in zip(ours[1:], expected[1:], strict=True):
        np.testing.assert_allclose(mine, numpys, atol=1e-9)


@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize("weak", [False, True])
def test_patches_are_coded_as_in_chunks(rng, n_channels, weak):
    atoms, data, weights = _problem(rng, n_channels=n_channels)
    if weak:
        factors = rng.choice([0.3, 1], weights.shape)
        weights *= factors
        data *= np.tile(factors, (n_channels, 1))
    kinds = (kind(atoms, 25, weak=weak) for kind in (PatchPursuit, Pursuit))
    _assert_equal(*(kind(data, weights) for kind in kinds))


def test_caps_tolerance_and_path_are_those_of_chunks(rng):
    atoms, data, weights = _problem(rng)
    caps = rng.integers(0, 6, len(data))
    paths = np.empty((2, len(data), 6))
    kinds = (kind(atoms, 5, 0.7) for kind in (PatchPursuit, Pursuit))
    codes = [kind(data, weights, caps, path=path) for kind, path in zip(kinds, paths, strict=True)]
    _assert_equal(*codes)
    np.testing.assert_allclose(*paths, atol=1e-12)


def test_missing_entries_may_have_any_value(rng):
    atoms, data, weights = _problem(rng)
    pursuit = PatchPursuit(atoms, 4)
    _assert_equal(pursuit(np.where(weights > 0, data, np.nan), weights), pursuit(data, weights))


def test_of_equal_scores_the_first_atom_is_selected():
    data = np.ones((1, 4))
    supports, _, _ = PatchPursuit(np.eye(4), 3)(data, np.array([[0.0, 1.0, 1.0, 1.0]]))
    assert supports.tolist() == [[1, 2, 3]]


def test_rules_and_complete_chunks_are_left_to_chunks(rng):
    atoms, data, weights = _problem(rng)

    def first_ten(scores, _):
        scores[:, 10:] = 0

    for arguments, rule in (((data, weights), first_ten), ((data, None), None)):
        _assert_equal(*(kind(atoms, 3)(*arguments, rule=rule) for kind in (PatchPursuit, Pursuit)))


def test_many_patches_of_which_much_is_missing_are_coded_one_by_one(rng, monkeypatch):
    data = rng.standard_normal((3000, 16)).astype(np.float32)
    mask = rng.random(data.shape) < 0.6
    dictionary = rng.standard_normal((16, 20)).astype(np.float32)

    def code(threads=2):
        return omp(dictionary, np.where(mask, np.nan, data), 2, mask=mask, threads=threads)

    ours = code()
    with monkeypatch.context() as patch:
        patch.setattr(batch, "PatchPursuit", Pursuit)
        expected = code()
    np.testing.assert_allclose(ours.residual_energy, expected.residual_energy, atol=1e-4)
    assert (ours.supports == expected.supports).mean() > 0.999
    np.testing.assert_array_equal(ours.coefficients, code(threads=1).coefficients)
    data.flags.writeable = False
    np.testing.assert_array_equal(ours.coefficients, omp(dictionary, data, 2, mask=mask).coefficients)
    monkeypatch.setattr(
        batch, "PatchPursuit", None
    )  # few patches, and few missing entries, are coded in chunks
    omp(dictionary, data[:100], 2, mask=mask[:100])
    omp(dictionary, data, 2, mask=np.pad(mask[:, :8], ((0, 0), (8, 0))))
