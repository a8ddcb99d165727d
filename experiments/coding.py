"""Quality of a dictionary: the residual variance of OMP on test data."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core import AverageSparsity, constrained_omp
from dictsel_core.pursuit.codes import code_data
from experiments.data import Array


def residual_variance(
    dictionary: Array, data: Array, sparsity: int, mask: NDArray[np.bool_] | None = None
) -> float:
    """Return the squared residual over the energy; codes use observed entries only, the residual all.

    No point counts for more than without a code. This matters with masks alone: a point coded by an atom that
    its mask all but hides can leave a residual that outweighs all the others.
    """
    rebuilt = code_data(dictionary, data, sparsity, mask).rebuilt
    energies = np.square(data).sum(axis=1)
    return float(np.minimum(np.square(data - rebuilt).sum(axis=1), energies).sum() / energies.sum())


def average_residual_variance(dictionary: Array, data: Array, sparsity: int, budget: int) -> float:
    """Return the same if all points share a budget of atoms, with at most `sparsity` for each.

    See `constrained_omp`.
    """
    left = constrained_omp(dictionary, data, AverageSparsity(sparsity, budget)).residual_energy
    return float(left.sum() / np.square(data).sum())


def residuals_of_rounds(dictionaries: Array, data: Array, sparsity: int) -> Array:
    """Return the squared OMP residual of each point in its own dictionary.

    Parameters
    ----------
    dictionaries : (T, d, k) ndarray
        Unit columns; columns of zeros where a dictionary is smaller.
    data : (T, d) ndarray
    sparsity : int
    """
    rows = np.ascontiguousarray(dictionaries.transpose(0, 2, 1))
    residual = data.copy()
    support = np.zeros((len(data), 0), dtype=np.intp)
    for size in range(1, sparsity + 1):
        scores = np.square(np.matvec(rows, residual))
        np.put_along_axis(scores, support, -1.0, axis=1)
        support = np.hstack([support, scores.argmax(axis=1)[:, None]])
        columns = np.take_along_axis(rows, support[:, :, None], axis=1)
        gram = columns @ columns.transpose(0, 2, 1) + 1e-10 * np.eye(size)
        weights = np.linalg.solve(gram, np.matvec(columns, data)[:, :, None])[:, :, 0]
        residual = data - np.vecmat(weights, columns)
    return np.asarray(np.square(residual).sum(axis=1))
