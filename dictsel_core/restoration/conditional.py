"""The missing part of Gaussian vectors, given the observed part of each."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools, Floats, Ints

Single = NDArray[np.float32]

#: One inverse for a whole group is faster if fewer than one in this many entries is missing.
_FEW_MISSING = 4


def conditional_means(covariances: Single, deviations: Single, missing: Bools, noise: float) -> Single:
    r"""Return the expected deviation of missing entries from the mean, given the observed ones.

    .. math:: C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o)

    for every vector with its own observed entries o. If few entries are missing, the same is computed
    from the precision matrix :math:`\Lambda = (C + \sigma^2 I)^{-1}` of the group as
    :math:`-\Lambda_{m,m}^{-1} \Lambda_{m,o} (y_o - \mu_o)`.

    Parameters
    ----------
    covariances : (B, d, d) ndarray
        One for each group. The noise is added to them in place.
    deviations : (B, E, L, d) ndarray
        y - mu: L vectors with the same observed entries for each of E members; zero where missing.
    missing : (B, E, d) ndarray of bool
    noise : float
        The variance sigma^2 of what the covariances do not explain.

    Returns
    -------
    (B, E, L, d) ndarray
        Values at observed entries are meaningless.
    """
    n_groups, n_members, n_layers, d = deviations.shape
    flat_missing = missing.reshape(-1, d)
    n_missing = flat_missing.sum(axis=1)
    order = np.argsort(flat_missing, axis=1, kind="stable")  # observed entries first
    right = deviations.reshape(-1, n_layers, d)
    groups = np.repeat(np.arange(n_groups), n_members)
    # The covariances of missing with observed entries do not involve the diagonal.
    covariances.reshape(n_groups, -1)[:, :: d + 1] += np.float32(noise)

    few_missing = _FEW_MISSING * n_missing < d
    dual = np.zeros_like(right)
    for rows in _equal_counts(n_missing, ~few_missing & (n_missing < d)):
        entries = order[rows, : d - n_missing[rows[0]]]
        _solve_parts(covariances, groups[rows], entries, right, dual, rows)
    expected = (dual.reshape(n_groups, -1, d) @ covariances).reshape(right.shape)

    few_missing &= n_missing > 0
    inverted, numbers = np.unique(groups[few_missing], return_inverse=True)
    if inverted.size:
        precisions = np.linalg.inv(covariances[inverted])
        products = np.zeros_like(deviations)
        flat = deviations[inverted].reshape(len(inverted), -1, d)
        products[inverted] = -(flat @ precisions).reshape(-1, *deviations.shape[1:])
        precision_of = np.empty(len(groups), np.intp)
        precision_of[few_missing] = numbers
        for rows in _equal_counts(n_missing, few_missing):
            entries = order[rows, d - n_missing[rows[0]] :]
            _solve_parts(
                precisions, precision_of[rows], entries, products.reshape(right.shape), expected, rows
            )
    return expected.reshape(deviations.shape)


def _equal_counts(counts: Ints, wanted: Bools) -> Iterator[Ints]:
    """Yield the wanted indices in groups of equal count."""
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(counts[rows], kind="stable")]
    if rows.size:
        yield from np.split(rows, np.flatnonzero(np.diff(counts[rows])) + 1)


def _solve_parts(
    matrices: Floats, which: Ints, entries: Ints, right: Floats, solution: Floats, rows: Ints
) -> None:
    """Solve systems on some entries of a matrix each, into the same entries of `solution`.

    Parameters
    ----------
    matrices : (G, d, d) ndarray
    which : (R,) ndarray of int
        The matrix of each system.
    entries : (R, n) ndarray of int
        Its rows and columns that are used.
    right, solution : (N, L, d) ndarray
        Right-hand sides and solutions, L for each system.
    rows : (R,) ndarray of int
        The row of each system in `right` and `solution`.
    """
    d = matrices.shape[1]
    at = which[:, None, None] * d * d + entries[:, :, None] * d + entries[:, None, :]
    layers = np.arange(right.shape[1])
    place = (rows[:, None, None], layers, entries[:, :, None])
    solution[place] = np.linalg.solve(matrices.reshape(-1).take(at), right[place])
