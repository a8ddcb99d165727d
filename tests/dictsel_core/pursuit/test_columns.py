"""Many patches of which much is missing are coded one by one, as few are in chunks."""

import numpy as np
import pytest

from dictsel_core import omp

pytestmark = pytest.mark.filterwarnings("ignore:The pursuit ended early")


def problem(dtype=np.float64, n_patches=900, n_features=21, n_atoms=30):
    """Atoms, one twice and one of zeros, data and a mask; of some patches nothing is observed."""
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((n_features, n_atoms)).astype(dtype)
    atoms[:, 7], atoms[:, 9] = -2 * atoms[:, 3], 0
    mask = rng.random((n_patches, n_features)) < 0.6
    mask[::9] = True
    mask[4::9, 1:] = True
    return atoms, rng.standard_normal(mask.shape).astype(dtype), mask


def in_chunks(atoms, data, sparsity, **options):
    """Code a hundred patches at a time; options for each patch are arrays."""
    parts = []
    for start in range(0, len(data), 100):
        rows = slice(start, start + 100)
        own = {name: each[rows] if np.ndim(each) else each for name, each in options.items()}
        cap = sparsity[rows] if np.ndim(sparsity) else sparsity
        parts.append(omp(atoms, data[rows], cap, **own))
    return parts


def assert_same(codes, parts, atol):
    width = codes.supports.shape[1]
    supports = np.concatenate(
        [np.pad(p.supports, ((0, 0), (0, width - p.supports.shape[1])), constant_values=-1) for p in parts]
    )
    same = (codes.supports == supports).all(axis=1)
    assert same.all() if atol < 1e-6 else same.mean() > 0.999
    for name in ("residual_energy", "rebuilt"):
        expected = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_allclose(getattr(codes, name)[same], expected[same], atol=atol)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_patches_are_coded_as_in_chunks(dtype, atol):
    atoms, data, mask = problem(dtype)
    assert_same(omp(atoms, data, 6, mask=mask), in_chunks(atoms, data, 6, mask=mask), atol)


def test_weights_caps_and_tolerance_are_those_of_chunks():
    atoms, data, mask = problem()
    rng = np.random.default_rng(1)
    weights, caps = rng.choice([0.1, 1.0, 4.0], size=data.shape), rng.integers(1, 7, len(data))
    for options in ({"weights": weights}, {"tolerance": 0.7}):
        parts = in_chunks(atoms, data, caps, mask=mask, **options)
        assert_same(omp(atoms, data, caps, mask=mask, **options), parts, 1e-9)


def test_supports_may_be_as_large_as_what_is_observed():
    atoms, data, mask = problem()
    assert_same(omp(atoms, data, 25, mask=mask), in_chunks(atoms, data, 25, mask=mask), 1e-6)


def test_missing_entries_may_have_any_value():
    atoms, data, mask = problem()
    expected = omp(atoms, data, 4, mask=mask)
    for value in (np.nan, np.inf, 1e300):
        found = omp(atoms, np.where(mask, value, data), 4, mask=mask)
        np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    data.flags.writeable = False
    np.testing.assert_array_equal(omp(atoms, data, 4, mask=mask).coefficients, expected.coefficients)


def test_of_equal_scores_the_first_atom_is_selected():
    mask = np.tile([True, False, False, False], (600, 1))
    mask[::2, :3] = True
    codes = omp(np.eye(4), np.ones((600, 4)), 3, mask=mask)
    assert codes.supports[0].tolist() == [3, -1, -1]
    assert codes.supports[1].tolist() == [1, 2, 3]


def test_threads_do_not_change_the_codes():
    atoms, data, mask = problem(np.float32, n_patches=5000)
    one, two = (omp(atoms, data, 3, mask=mask, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.coefficients, two.coefficients)
