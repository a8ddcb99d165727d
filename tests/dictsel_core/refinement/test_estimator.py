import numpy as np
import pytest
from blocks import refine
from moments import shrunk_covariances

from dictsel_core.refinement.gaussian import BlockEstimates
from dictsel_core.refinement.rounds import pixel_sums


@pytest.mark.parametrize("n_layers", [1, 2])
def test_estimates_are_summed_where_their_patches_are(n_layers):
    rng = np.random.default_rng(0)
    height, width, size, n_channels = 9, 7, 3, 2
    numbers = rng.integers(0, (height - size + 1) * (width - size + 1), 20)
    values = rng.random((20, n_channels, size * size)).astype(np.float32)
    weights = rng.random((20, n_layers, size * size)).astype(np.float32)
    sums, totals = pixel_sums(BlockEstimates(numbers, values, size, weights), (height, width))
    expected, expected_totals = np.zeros((n_channels, height, width)), np.zeros((n_layers, height, width))
    for number, value, weight in zip(numbers, values, weights, strict=True):
        row, column = divmod(number, width - size + 1)
        place = np.s_[:, row : row + size, column : column + size]
        expected[place] += (weight * value).reshape(n_channels, size, size)
        expected_totals[place] += weight.reshape(n_layers, size, size)
    np.testing.assert_allclose(sums, expected, atol=1e-5)
    np.testing.assert_allclose(totals, expected_totals, atol=1e-5)


def test_shrinking_keeps_the_variance_of_each_group():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(4, 30, 5)).astype(np.float32) * np.arange(1, 5)[:, None, None]
    samples = samples.astype(np.float32)
    own = samples.swapaxes(1, 2) @ samples / 30
    np.testing.assert_allclose(shrunk_covariances(samples, 0.0), own, rtol=1e-4, atol=1e-5)
    shrunk = shrunk_covariances(samples, 0.3)
    np.testing.assert_allclose(np.trace(shrunk, axis1=1, axis2=2), np.trace(own, axis1=1, axis2=2), rtol=1e-5)
    mean = shrunk_covariances(samples, 1.0)
    scaled = mean / np.trace(mean, axis1=1, axis2=2)[:, None, None]
    np.testing.assert_allclose(scaled, np.broadcast_to(scaled[0], scaled.shape), atol=1e-6)


class _Constant:
    """Estimates every patch as a constant, with weights that differ by patch."""

    def __init__(self, value, other, weight):
        self.value, self.other, self.weight = value, other, weight

    def estimate(self, planes, missing, block, search):
        n_patches = block.vertical.n_patches * block.horizontal.n_patches
        numbers = np.repeat(np.arange(n_patches), 2)
        values = np.empty((2 * n_patches, planes.shape[2], search.size**2), np.float32)
        values[::2], values[1::2] = self.value, self.other
        weights = np.ones((2 * n_patches, 1, search.size**2), np.float32)
        weights[1::2] = self.weight
        return BlockEstimates(numbers, values, search.size, weights)


@pytest.mark.parametrize("n_layers", [1, 3])
def test_a_round_moves_missing_pixels_to_the_weighted_mean_of_any_estimator(n_layers):
    planes = np.full((40, 30, n_layers), 0.5, np.float32)
    missing = np.random.default_rng(0).random((40, 30, n_layers)) < 0.5
    refine(planes, missing, 1, 2, estimator=_Constant(0.0, 1.0, 3.0))
    np.testing.assert_allclose(planes[missing], 0.75, atol=1e-5)
    assert (planes[~missing] == 0.5).all()
