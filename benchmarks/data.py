"""Data sets of the benchmarks: the paper's synthetic data, and photographs inside scikit-image."""

import numpy as np
import skimage.data
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dictsel_core import GroundSet

Array = NDArray[np.float64]


def synthetic(
    ground_set: GroundSet, n_points: int, n_atoms: int, sparsity: int, seed: int
) -> tuple[Array, Array]:
    """Return training and test points: sparse Gaussian combinations of one random dictionary."""
    rng = np.random.default_rng(seed)
    atoms = rng.choice(len(ground_set), n_atoms, replace=False)
    data = np.zeros((2 * n_points, ground_set.n_features))
    for t in range(len(data)):
        used = rng.choice(atoms, sparsity, replace=False)
        data[t] = ground_set.atoms[:, used] @ rng.normal(size=sparsity)
    return data[:n_points], data[n_points:]


def image_patches(n_points: int, seed: int) -> Array:
    """Return random 8 x 8 patches of a photograph, of zero mean and unit variance."""
    rng = np.random.default_rng(seed)
    everywhere = sliding_window_view(skimage.data.camera() / 255.0, (8, 8))
    rows, columns = (rng.integers(0, size, 2 * n_points) for size in everywhere.shape[:2])
    patches = everywhere[rows, columns].reshape(-1, 64)
    patches = patches - patches.mean(axis=1, keepdims=True)
    deviations = patches.std(axis=1, keepdims=True)
    usable = deviations[:, 0] > 1e-3
    return np.asarray((patches[usable] / deviations[usable])[:n_points])
