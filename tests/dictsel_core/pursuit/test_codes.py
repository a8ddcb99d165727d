import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import orthogonal_mp

from dictsel_core import omp, standard_ground_set


def literal_omp(dictionary, y, sparsity):
    """The definition, for one patch and unit columns."""
    support, weights, residual = [], np.zeros(0), y
    for _ in range(sparsity):
        correlations = np.abs(dictionary.T @ residual)
        if correlations.max() <= 1e-12 * np.linalg.norm(y):
            break
        support.append(int(correlations.argmax()))
        weights = np.linalg.lstsq(dictionary[:, support], y, rcond=None)[0]
        residual = y - dictionary[:, support] @ weights
    return support, weights


def sample(rng, n_points=40, d=12, k=20, missing=0.4):
    dictionary = rng.normal(size=(d, k))
    dictionary /= np.linalg.norm(dictionary, axis=0)
    return dictionary, rng.normal(size=(n_points, d)), rng.random((n_points, d)) < missing


@given(seed=st.integers(0, 2**32 - 1), sparsity=st.integers(1, 6), missing=st.floats(0, 0.9))
def test_masked_omp_is_omp_on_the_observed_rows_patch_by_patch(seed, sparsity, missing):
    dictionary, data, mask = sample(np.random.default_rng(seed), missing=missing)
    codes = omp(dictionary, data, sparsity, mask=mask)
    for t in range(len(data)):
        observed, n_used = ~mask[t], codes.n_used[t]
        if observed.sum() < 2:  # every atom fits one entry equally well
            assert n_used == observed.sum()
            continue
        lengths = np.linalg.norm(dictionary[observed], axis=0)
        support, weights = literal_omp(dictionary[observed] / lengths, data[t, observed], sparsity)
        assert codes.supports[t, :n_used].tolist() == support[:n_used]
        if n_used < len(support):  # rounding: what is left is nothing
            assert codes.residual_energy[t] < 1e-20 * (data[t] @ data[t])
            continue
        np.testing.assert_allclose(
            codes.coefficients[t, :n_used], weights / lengths[support], rtol=1e-6, atol=1e-8
        )
        assert (codes.supports[t, n_used:] == -1).all()


def test_without_mask_it_equals_scikit_learn():
    rng = np.random.default_rng(3)
    dictionary, data, _ = sample(rng, n_points=200, d=30, k=50)
    codes = omp(dictionary, data, 7)
    expected = orthogonal_mp(dictionary, data.T, n_nonzero_coefs=7)
    dense = np.zeros((200, 50))
    np.put_along_axis(dense, codes.supports, codes.coefficients, axis=1)
    np.testing.assert_array_equal(codes.dense(), dense)
    np.testing.assert_allclose(dense, expected.T, atol=1e-10)
    np.testing.assert_allclose(codes.rebuilt, dense @ dictionary.T, atol=1e-10)


def test_full_support_is_least_squares():
    dictionary, data, mask = sample(np.random.default_rng(4), d=12, k=5, missing=0.3)
    codes = omp(dictionary, data, 5, mask=mask)
    for t in range(len(data)):
        observed = ~mask[t]
        weights = np.linalg.lstsq(dictionary[observed], data[t, observed], rcond=None)[0]
        np.testing.assert_allclose(codes.rebuilt[t], dictionary @ weights, atol=1e-6)


def test_sparse_signals_are_recovered_from_masked_data():
    rng = np.random.default_rng(5)
    dictionary = standard_ground_set(bases=["dct"]).atoms
    data = np.zeros((50, 64))
    for row in data:
        row[...] = dictionary[:, rng.choice(64, 3, replace=False)] @ rng.choice([-1.0, 1.0], 3)
    codes = omp(dictionary, data, 3, mask=rng.random(data.shape) < 0.3)
    recovered = np.abs(codes.rebuilt - data).max(axis=1) < 1e-9
    assert recovered.mean() > 0.9


def test_residual_energy_counts_observed_entries_only():
    dictionary, data, mask = sample(np.random.default_rng(6))
    codes = omp(dictionary, data, 3, mask=mask)
    residual = np.where(mask, 0, data - codes.rebuilt)
    np.testing.assert_allclose(codes.residual_energy, (residual**2).sum(axis=1), atol=1e-12)


def test_missing_entries_are_never_read():
    dictionary, data, mask = sample(np.random.default_rng(7))
    poisoned = np.where(mask, np.nan, data)
    first, second = (omp(dictionary, y, 4, mask=mask).rebuilt for y in (data, poisoned))
    np.testing.assert_array_equal(first, second)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_depend_neither_on_threads_nor_on_which_patches_are_coded_together(dtype):
    rng = np.random.default_rng(8)
    dictionary = standard_ground_set().atoms  # with its duplicates
    data = (rng.normal(size=(5000, 64)) + 5).astype(dtype)
    mask = rng.random(data.shape) < 0.7
    whole = omp(dictionary, data, 5, mask=mask, threads=1)
    parts = [slice(0, 5000), slice(0, 2100), slice(700, 2900), slice(4321, 5000)]  # chunks begin elsewhere
    for threads, part in zip((3, 1, 2, 2), parts, strict=True):
        other = omp(dictionary, data[part], 5, mask=mask[part], threads=threads)
        np.testing.assert_array_equal(whole.supports[part], other.supports)
        np.testing.assert_array_equal(whole.coefficients[part], other.coefficients)
        np.testing.assert_array_equal(whole.residual_energy[part], other.residual_energy)


def test_float32_agrees_with_float64():
    dictionary, data, mask = sample(np.random.default_rng(9), d=40, missing=0.3)
    single = omp(dictionary, data.astype(np.float32), 3, mask=mask)
    double = omp(dictionary, data, 3, mask=mask)
    assert single.coefficients.dtype == single.rebuilt.dtype == np.float32
    np.testing.assert_array_equal(single.supports, double.supports)
    np.testing.assert_allclose(single.rebuilt, double.rebuilt, atol=1e-3)


def test_tolerance_stops_early():
    dictionary, data, _ = sample(np.random.default_rng(10), k=12)
    codes = omp(dictionary, data, 12, tolerance=2.0)
    assert (codes.residual_energy <= 2.0).all()
    one_less = omp(dictionary, data, np.maximum(codes.n_used - 1, 1))
    assert (one_less.residual_energy[codes.n_used > 1] > 2.0).all()


def test_sparsity_may_differ_by_patch():
    dictionary, data, mask = sample(np.random.default_rng(11))
    caps = np.arange(len(data)) % 4 + 1
    codes = omp(dictionary, data, caps, mask=mask)
    for cap in range(1, 5):
        alone = omp(dictionary, data[caps == cap], cap, mask=mask[caps == cap])
        np.testing.assert_allclose(codes.rebuilt[caps == cap], alone.rebuilt, atol=1e-9)


def test_duplicate_zero_and_dependent_atoms_do_no_harm():
    rng = np.random.default_rng(12)
    dictionary = rng.normal(size=(6, 4))
    dictionary = np.hstack([dictionary, dictionary, np.zeros((6, 1)), dictionary @ rng.normal(size=(4, 3))])
    data = rng.normal(size=(30, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it ends early, or all different atoms are in use
        codes = omp(dictionary, data, 12)
    assert np.isfinite(codes.rebuilt).all()
    weights = np.linalg.lstsq(dictionary, data.T, rcond=None)[0]
    np.testing.assert_allclose(codes.rebuilt, (dictionary @ weights).T, atol=1e-8)
    assert (codes.n_used <= 4).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_only_pursuits_that_end_early_are_warned_of(dtype, scale):
    rng = np.random.default_rng(3)
    dictionary = scale * rng.normal(size=(8, 5)).astype(dtype)
    data = (rng.normal(size=(20, 2)) @ dictionary[:, :2].T).astype(dtype)
    assert omp(dictionary, data, 2).n_used.tolist() == [2] * 20, "as many as they may have"
    assert omp(dictionary, data, 5).n_used.max() <= 5, "exact fits"
    omp(dictionary, rng.normal(size=(20, 8)).astype(dtype), 5, tolerance=1e9)
    outside = np.linalg.svd(dictionary.T.astype(float))[2][-1]
    data[3] += scale * outside.astype(dtype)  # no atom has anything of it
    pair = dictionary[:, :2]
    omp(np.hstack([pair, pair]), data, 4)  # copies are never used
    with pytest.warns(RuntimeWarning, match="ended early for 1 of 20 patches"):
        omp(np.hstack([pair, pair.sum(axis=1, keepdims=True)]), data, 3)


def test_empty_constant_and_hidden_patches():
    dictionary = standard_ground_set().atoms
    data = np.stack([np.zeros(64), np.full(64, 7.0), np.arange(64.0)])
    mask = np.zeros((3, 64), bool)
    mask[2] = True
    codes = omp(dictionary, data, 4, mask=mask)
    np.testing.assert_allclose(codes.rebuilt, [np.zeros(64), np.full(64, 7.0), np.zeros(64)], atol=1e-12)
    assert codes.n_used.tolist() == [0, 1, 0]


def test_weak_components_and_tolerances_survive_single_precision():
    weak = omp(np.eye(2), np.float32([[1, 1e-4]]), 2)
    assert weak.n_used.tolist() == [2]
    codes = omp(np.eye(3), np.float32([[1000, 0.1, 0.05]]), 3, tolerance=0.004)
    assert codes.residual_energy[0] <= 0.004
    assert codes.n_used.tolist() == [2]


@pytest.mark.parametrize("size", [1e-30, 1e20])
def test_extreme_sizes_leave_single_precision_unharmed(size):
    dictionary, data, _ = sample(np.random.default_rng(14))
    ordinary = omp(dictionary, data.astype(np.float32), 3)
    scaled = omp(dictionary, (data * size).astype(np.float32), 3)
    np.testing.assert_array_equal(ordinary.supports, scaled.supports)


def test_of_equal_atoms_only_the_first_is_used():
    dictionary, data, mask = sample(np.random.default_rng(15))
    doubled = np.hstack([dictionary, -2 * dictionary])
    codes = omp(doubled, data, 5, mask=mask)
    assert codes.supports.max() < dictionary.shape[1]
    np.testing.assert_array_equal(codes.supports, omp(dictionary, data, 5, mask=mask).supports)


def test_read_only_and_strided_input_is_taken_as_it_is():
    dictionary, data, mask = sample(np.random.default_rng(13))
    strided = np.asfortranarray(np.repeat(data, 2, axis=0))[::2]
    strided.flags.writeable = dictionary.flags.writeable = mask.flags.writeable = False
    before = strided.copy()
    np.testing.assert_array_equal(
        omp(dictionary, strided, 3, mask=mask).rebuilt, omp(dictionary, data, 3, mask=mask).rebuilt
    )
    np.testing.assert_array_equal(strided, before)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"sparsity": 0}, ValueError, "sparsity must be at least 1"),
        ({"sparsity": [1, 2]}, ValueError, "one per patch, 3, but there are 2"),
        ({"tolerance": -1}, ValueError, "tolerance must be at least 0"),
        ({"tolerance": np.nan}, ValueError, "tolerance must be at least 0"),
        ({"tolerance": "a"}, TypeError, "tolerance must be a number"),
        ({"data": np.ones((3, 5))}, ValueError, "as many columns as an atom has entries, 4"),
        ({"data": np.ones(4)}, ValueError, "two-dimensional"),
        ({"data": np.full((3, 4), np.nan)}, ValueError, r"data\[0, 0\] is nan; mark missing entries"),
        ({"dictionary": np.full((4, 2), np.inf)}, ValueError, "dictionary must be finite"),
        ({"dictionary": np.ones((4, 2)) * 1j}, TypeError, "real numbers"),
        ({"mask": np.zeros((3, 4))}, TypeError, "mask must be boolean"),
        ({"mask": np.zeros((4, 3), bool)}, ValueError, "shape of data"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change, error, sentence):
    arguments = {"dictionary": np.eye(4), "data": np.ones((3, 4)), "sparsity": 1} | change
    with pytest.raises(error, match=sentence):
        omp(**arguments)


@pytest.mark.parametrize(
    ("angle", "dtype"),
    [(1, np.float32), (1e-2, np.float32), (1, np.float64), (1e-3, np.float64), (1e-6, np.float64)],
)
@pytest.mark.parametrize("masked", [False, True])
def test_full_supports_are_least_squares_however_close_atoms_are(angle, masked, dtype):
    """One pass of Gram-Schmidt would leave rounding of relative size 1/angle in the new direction."""
    rng = np.random.default_rng(5)
    atoms = rng.normal(size=(12, 4))
    atoms[:, 1] = atoms[:, 0] + angle * atoms[:, 1]
    data = rng.normal(size=(30, 12)).astype(dtype)
    mask = rng.random(data.shape) < 0.3 if masked else np.zeros(data.shape, bool)
    codes = omp(atoms.astype(dtype), data, 4, mask=mask)
    weights = np.zeros((30, 4))
    np.put_along_axis(weights, codes.supports, codes.coefficients, axis=1)
    for y, missing, found in zip(data.astype(float), mask, weights, strict=True):
        columns = atoms.astype(dtype)[~missing].astype(float)
        expected = np.linalg.lstsq(columns, y[~missing], rcond=None)[0]
        accuracy = 1e-9 if dtype is np.float64 else 1e-4
        np.testing.assert_allclose(found, expected, atol=accuracy / angle * np.abs(expected).max())
        residual = columns.T @ (y[~missing] - columns @ found)
        # The weights, which are large where atoms are close, are rounded.
        np.testing.assert_allclose(residual, 0, atol=1e-14 * len(y) / angle if dtype is np.float64 else 1e-3)
