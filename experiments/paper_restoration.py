"""Image restoration as appendix E of the paper describes it, in any dictionary."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dictsel_core import AverageSparsity, constrained_omp
from dictsel_core.pursuit.codes import code_data
from dictsel_core.restoration.coding import median_of_rows
from experiments.data import PATCH, Array

Mask = NDArray[np.bool_]


def adjacent_patches(image: NDArray[np.generic]) -> NDArray[np.generic]:
    """Cut an image whose sides are multiples of 8 into adjacent patches: (T, 64)."""
    height, width = image.shape
    tiles = image.reshape(height // PATCH, PATCH, width // PATCH, PATCH).swapaxes(1, 2)
    return tiles.reshape(-1, PATCH**2)


def observed_patches(image: Array, mask: Mask) -> tuple[Array, Mask]:
    """Return the adjacent patches of an image that have at least four observed pixels, and their masks."""
    patches = adjacent_patches(np.where(mask, 0, image)).astype(np.float64)
    missing = adjacent_patches(mask).astype(bool)
    useful = (~missing).sum(axis=1) >= 4
    return patches[useful], missing[useful]


def restore_in(
    dictionary: Array, image: Array, mask: Mask, sparsity: int, average: float | None = None
) -> Array:
    """Code the patch at every pixel on its observed pixels, and take medians of all patches.

    Parameters
    ----------
    dictionary : (64, k) ndarray
    image : (H, W) ndarray
        Missing pixels may have any value.
    mask : (H, W) ndarray of bool
        True = missing.
    sparsity : int
        Maximum number of atoms per patch.
    average : float, optional
        Number of atoms per patch on average, if all patches share a budget. By default they share none.

    Returns
    -------
    (H, W) ndarray
        Every pixel is an estimate, the observed ones too.
    """
    data = sliding_window_view(image.astype(np.float32), (PATCH, PATCH))
    rows, columns = data.shape[:2]
    missing = sliding_window_view(mask, (PATCH, PATCH)).reshape(-1, PATCH**2)
    points = data.reshape(-1, PATCH**2)
    if average is None:
        codes = code_data(dictionary, points, sparsity, missing)
    else:
        shared = AverageSparsity(sparsity, round(average * len(points)))
        codes = constrained_omp(dictionary, points, shared, mask=missing)
    rebuilt = codes.rebuilt.copy()
    rebuilt[missing.all(axis=1)] = np.nan  # nothing is known about such a patch
    rebuilt = rebuilt.reshape(rows, columns, PATCH, PATCH)
    votes = np.full((*image.shape, PATCH**2), np.nan, np.float32)
    for i in range(PATCH):
        for j in range(PATCH):
            votes[i : i + rows, j : j + columns, i * PATCH + j] = rebuilt[:, :, i, j]
    medians = median_of_rows(votes.reshape(-1, PATCH**2)).reshape(image.shape)
    return np.asarray(np.clip(medians, 0, 1), dtype=np.float64)
