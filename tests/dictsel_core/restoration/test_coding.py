from typing import NamedTuple

import numpy as np
import pytest

from dictsel_core import omp, standard_ground_set
from dictsel_core.restoration.coding import MirroredPatches, SparseCoder
from dictsel_core.restoration.scales import double_at, halve


class Planes(NamedTuple):
    """With a first estimate of every missing pixel."""

    values: np.ndarray
    missing: np.ndarray
    patches: MirroredPatches


def planes(missing, n_channels=2, size=8, shape=(21, 26), seed=0):
    """Noise on a gradient, with random missing pixels, and one patch without any other."""
    rng = np.random.default_rng(seed)
    values = np.add.outer(np.linspace(0, 0.5, shape[0]), np.linspace(0, 0.5, shape[1]))[:, :, None]
    values = (values + rng.normal(0, 0.1, (*shape, n_channels))).astype(np.float32)
    mask = rng.random(shape) < missing
    mask[:size, :size] = True
    return Planes(values, mask, MirroredPatches(shape, size))


def dictionary(size=8, *, constant=True):
    """Some atoms of all bases, of which one is there twice."""
    atoms = standard_ground_set((size, size)).atoms[:, not constant :: max(size**2 // 5, 1)]
    return np.concatenate([atoms, atoms[:, 2:3]], axis=1)


def rebuilt(coder, given, rows, columns):
    out = np.full((given.values.shape[2], len(rows) + 3, given.patches.size**2), 7, np.float32)
    usage = coder.rebuild(*given, rows, columns, out, 2)
    assert (out[:, :2] == 7).all()  # only what is asked for is written
    assert (out[:, -1] == 7).all()
    return out[:, 2:-1], usage


def every_patch(given):
    height, width = (length + given.patches.size - 1 for length in given.missing.shape)
    return [each.ravel() for each in np.indices((height, width))]


def literally_rebuilt(atoms, sparsity, fill_weight, given, rows, columns):
    """Patches rebuilt by `omp` in float64, and how many use each atom."""
    pixels = given.patches.pixels(rows, columns)
    hidden = given.missing.reshape(-1)[pixels]
    squares = np.where(hidden, fill_weight**2, 1.0)
    has_constant = (np.abs(atoms.sum(axis=0)) > 0.999 * given.patches.size).any()
    patches, usage = [], np.zeros(atoms.shape[1], int)
    for channel in given.values.reshape(-1, given.values.shape[2]).T:
        values = channel[pixels].astype(np.float64)
        means = np.zeros((len(rows), 1))
        if not has_constant:
            means = (values * squares).sum(axis=1, keepdims=True)
            means /= np.maximum(squares.sum(axis=1, keepdims=True), 1e-6)
        codes = omp(atoms, values - means, sparsity, weights=squares, threads=1)
        usage += np.bincount(codes.supports[codes.supports >= 0], minlength=len(usage))
        patches.append(codes.rebuilt + means)
    result = np.array(patches)
    if fill_weight == 0:
        result[:, (~hidden).sum(axis=1) < 4] = np.nan
    return result, usage


@pytest.mark.parametrize("missing", [0.05, 0.8])
@pytest.mark.parametrize("fill_weight", [0.0, 0.1, 1.0])
@pytest.mark.parametrize(("size", "constant"), [(8, True), (8, False), (4, True)])
def test_patches_are_rebuilt_from_the_codes_of_omp(missing, fill_weight, size, constant):
    coder = SparseCoder(dictionary(size, constant=constant), 5, fill_weight)
    given = planes(missing, size=size)
    rows, columns = every_patch(given)
    ours, our_usage = rebuilt(coder, given, rows, columns)
    expected, usage = literally_rebuilt(
        dictionary(size, constant=constant), 5, fill_weight, given, rows, columns
    )
    assert (np.isnan(ours) == np.isnan(expected)).all()
    assert np.isnan(ours).any() == (fill_weight == 0)
    close = np.isclose(ours, expected, rtol=1e-3, atol=1e-3, equal_nan=True).all(axis=2)
    assert close.mean() > 0.95  # a rounding error may choose another atom
    assert np.abs(our_usage - usage).sum() <= 0.1 * usage.sum()


def test_a_patch_has_the_same_bits_in_any_company():
    coder, given = SparseCoder(dictionary(), 5, 0.1), planes(0.6)
    rows, columns = every_patch(given)
    together, _ = rebuilt(coder, given, rows, columns)
    some = np.random.default_rng(1).choice(len(rows), 45, replace=False)
    apart, _ = rebuilt(coder, given, rows[some], columns[some])
    assert (apart == together[:, some]).all()


def test_patches_of_a_large_dictionary():
    """More atoms than the Gram matrices are made for."""
    atoms = standard_ground_set().atoms[:, :80]
    given = planes(0.3)
    rows, columns = every_patch(given)
    patches, usage = rebuilt(SparseCoder(atoms, 64, 0.0), given, rows, columns)
    pixels = given.patches.pixels(rows, columns)
    observed = ~given.missing.reshape(-1)[pixels]
    values = given.values.reshape(-1, 2).T[:, pixels]
    known = observed.sum(axis=1) >= 4
    assert np.isnan(patches[:, ~known]).all()
    assert np.abs(patches - values)[:, known][:, observed[known]].max() < 1e-2
    assert usage.sum() > 0


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 8), (7, 3)])
def test_halving_takes_means_of_observed_pixels(shape):
    rng = np.random.default_rng(0)
    plane, missing = rng.random(shape).astype(np.float32), rng.random(shape) < 0.5
    plane[missing] = 0
    planes, half_missing = halve(np.dstack([plane, 1 - plane]) * ~missing[:, :, None], missing)
    half = planes[:, :, 0]
    assert half.shape == half_missing.shape == tuple(-(-length // 2) for length in shape)
    for row, column in np.ndindex(half.shape):
        block = np.s_[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        seen = plane[block][~missing[block]]
        assert half_missing[row, column] == (seen.size == 0)
        if seen.size:
            assert half[row, column] == pytest.approx(seen.mean(), rel=1e-6)
            assert planes[row, column, 1] == pytest.approx(1 - seen.mean(), rel=1e-5)


def double(plane, shape):
    return double_at(plane[:, :, None], np.arange(shape[0] * shape[1]), shape[1]).reshape(shape)


@pytest.mark.parametrize("shape", [(2, 2), (7, 10), (8, 9)])
def test_doubling_keeps_constants_and_ramps(shape):
    small = tuple(-(-length // 2) for length in shape)
    assert (double(np.full(small, 0.25, np.float32), shape) == 0.25).all()
    ramp = np.add.outer(np.arange(small[0]), np.arange(small[1])).astype(np.float32)
    large = double(ramp, shape)
    assert large.shape == shape
    np.testing.assert_allclose(np.diff(large[1:-1], axis=0), 0.5)
    np.testing.assert_allclose(np.diff(large[:, 1:-1], axis=1), 0.5)
