"""The missing part of Gaussian vectors, given the observed part of each."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools
from dictsel_core.restoration._workspace import reused

Single = NDArray[np.float32]

#: Steps of conjugate gradients. The covariances of similar patches have few large eigenvalues, so as many
#: as these are enough (docs/refinement.md). Vectors longer than this, of channels with masks of their own,
#: take twice as many.
N_STEPS, _LONG = 8, 64
_TINY = np.float32(1e-30)


def conditional_means(covariances: Single, deviations: Single, missing: Bools, noise: float) -> Single:
    r"""Return the expected deviation of missing entries from the mean, given the observed ones.

    .. math:: C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o)

    for every vector with its own observed entries o. The systems are solved by a fixed number of steps of
    conjugate gradients, whose products with a covariance are shared by all vectors of a group. The result of
    a group does not depend on the other groups.

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
    n_groups, _, _, d = deviations.shape
    # The covariances of missing with observed entries do not involve the diagonal.
    covariances.reshape(n_groups, -1)[:, :: d + 1] += np.float32(noise)
    observed = reused("observed", deviations.shape)
    observed[...] = ~missing[:, :, None]
    flat = (n_groups, -1, d)
    dual = _conjugate_gradients(covariances, deviations.reshape(flat), observed.reshape(flat))
    return (dual @ covariances).reshape(deviations.shape)


def _conjugate_gradients(matrices: Single, right: Single, observed: Single) -> Single:
    """Solve positive definite systems on the observed entries, approximately: (B, R, d).

    Parameters
    ----------
    matrices : (B, d, d) ndarray
    right : (B, R, d) ndarray
        Right-hand sides, R for each matrix; zero where not observed.
    observed : (B, R, d) ndarray
        1 for the rows and columns of a matrix that belong to a system, otherwise 0.
    """
    names = ("residual", "direction", "product", "change", "solution")
    residual, direction, product, change, solution = (reused(name, right.shape) for name in names)
    residual[...] = direction[...] = right
    solution[...] = 0
    energy = np.vecdot(residual, residual)
    n_steps = N_STEPS if right.shape[2] <= _LONG else 2 * N_STEPS
    for step in range(n_steps):
        np.matmul(direction, matrices, out=product)
        product *= observed
        length = (energy / np.maximum(np.vecdot(direction, product), _TINY))[:, :, None]
        solution += np.multiply(direction, length, out=change)
        if step == n_steps - 1:
            break
        residual -= np.multiply(product, length, out=change)
        before, energy = energy, np.vecdot(residual, residual)
        direction *= (energy / np.maximum(before, _TINY))[:, :, None]
        direction += residual
    return solution
