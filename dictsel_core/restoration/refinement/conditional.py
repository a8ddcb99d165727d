"""The missing part of Gaussian vectors, given the observed part of each."""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.refinement._workspace import reused

Single = NDArray[np.float32]

#: Vectors longer than this, of channels with masks of their own, take so many more steps.
_LONG, _MORE_STEPS = 64, 10
#: How many of these steps count for the variances, and the part of the squared residual below which they no
#: longer do: the directions of later steps are not conjugate to the first ones in float32.
VARIANCE_STEPS, MIN_RESIDUAL = 6, np.float32(1e-4)
TINY = np.float32(1e-30)
#: Less noise than this is that of float32.
MIN_NOISE = np.float32(1e-9)


def conditional_moments(
    covariances: Single, deviations: Single, missing: Bools, noise: Single, n_steps: int = 8
) -> tuple[Single, Single]:
    r"""Return expected deviations of missing entries from the mean, given the observed ones, and variances.

    .. math::

        & C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o) \\
        & C_{m,m} + \sigma^2 I - C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} C_{o,m}

    (of the latter the diagonal) for every vector with its own observed entries o. The systems are solved by
    a fixed number of steps of conjugate gradients, whose products with a covariance are shared by all vectors
    of a group. Each direction p of these steps also tells by how much it reduces the variances,
    :math:`(C_{m,o} p)^2 / p^T (C_{o,o} + \sigma^2 I) p` [1]_, so that variances cost next to nothing; they
    are upper bounds, and exact after as many steps as there are observed entries. The result of a group does
    not depend on the other groups.

    Parameters
    ----------
    covariances : (B, d, d) ndarray
        One for each group. The noise is added to them in place.
    deviations : (B, E, L, d) ndarray
        y - mu: L vectors with the same observed entries for each of E members; zero where missing.
    missing : (B, E, d) ndarray of bool
    noise : (B,) ndarray
        The variance sigma^2 of what the covariance of each group does not explain.
    n_steps : int
        Of conjugate gradients. The covariances of similar patches have few large eigenvalues, so a few are
        enough, and fewer where there is much noise (docs/refinement.md).

    Returns
    -------
    means : (B, E, L, d) ndarray
    variances : (B, E, d) ndarray
        At least the noise; of L bounds the least. Values at observed entries are meaningless.

    References
    ----------
    .. [1] J. Wenger et al., "Posterior and computational uncertainty in Gaussian processes", NeurIPS 2022.
       :DOI:`10.48550/arXiv.2205.15449`
    """
    n_groups, _, _, d = deviations.shape
    # The covariances of missing with observed entries do not involve the diagonal.
    covariances.reshape(n_groups, -1)[:, :: d + 1] += noise[:, None]
    observed = reused("observed", deviations.shape)
    observed[...] = ~missing[:, :, None]
    flat = (n_groups, -1, d)
    means, reductions = _conjugate_gradients(
        covariances, deviations.reshape(flat), observed.reshape(flat), n_steps_for(d, n_steps)
    )
    variances = covariances.reshape(n_groups, 1, -1)[:, :, :: d + 1] - reductions.reshape(
        deviations.shape
    ).max(axis=2)
    return means.reshape(deviations.shape), np.maximum(variances, noise[:, None, None], out=variances)


def n_steps_for(d: int, n_steps: int) -> int:
    """Return the number of steps of conjugate gradients for vectors of length d."""
    return n_steps + _MORE_STEPS * (d > _LONG)


def _conjugate_gradients(
    matrices: Single, right: Single, observed: Single, n_steps: int
) -> tuple[Single, Single]:
    """Solve positive definite systems on the observed entries, approximately; also reduce variances.

    Returns the products of the solutions with the matrices (B, R, d), and by how much the variance of every
    entry is reduced (B, R, d).

    Parameters
    ----------
    matrices : (B, d, d) ndarray
    right : (B, R, d) ndarray
        Right-hand sides, R for each matrix; zero where not observed.
    observed : (B, R, d) ndarray
        1 for the rows and columns of a matrix that belong to a system, otherwise 0.
    n_steps : int
    """
    names = ("residual", "direction", "product", "change", "sum", "reduction")
    residual, direction, product, change, total, reduction = (reused(name, right.shape) for name in names)
    residual[...] = direction[...] = right
    total[...] = reduction[...] = 0
    energy = np.vecdot(residual, residual)
    least = MIN_RESIDUAL * energy
    for step in range(n_steps):
        np.matmul(direction, matrices, out=product)
        curvature = np.maximum(np.vecdot(direction, product), TINY)
        if step < VARIANCE_STEPS:
            np.square(product, out=change)
            reduction += np.multiply(change, ((energy > least) / curvature)[:, :, None], out=change)
        product *= (energy / curvature)[:, :, None]
        total += product
        if step == n_steps - 1:
            break
        product *= observed
        residual -= product
        before, energy = energy, np.vecdot(residual, residual)
        direction *= (energy / np.maximum(before, TINY))[:, :, None]
        direction += residual
    return total, reduction
