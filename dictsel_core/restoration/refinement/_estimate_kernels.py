"""The estimates of `estimator`, compiled: the same but for the last bits.

Indices are unsigned, and matrices one-dimensional: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._compiled import Kernel
from dictsel_core._validation import Floats, Ints
from dictsel_core.restoration.refinement.conditional import MIN_RESIDUAL, TINY, VARIANCE_STEPS

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

#: Rows of a matrix in one expression, and their numbers.
ROWS = 8
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (Index(number) for number in range(9))


@Kernel
def group_moments(
    layers: Single,
    size: int,
    numbers: Ints,
    samples: Single,
    members: Single,
    means: Single,
    covariances: Single,
) -> None:
    """Compute the mean and the covariance of each group.

    Parameters
    ----------
    layers : (C, h, w) ndarray
        The region of a tile.
    size : int
        Height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members of groups.
    samples : (n' * d,) ndarray of zeros
        For the n' vectors of a group, of which there are a multiple of `ROWS`. Vectors are patches, or single
        channels of these.
    members : (B, E * L * d) ndarray
        Is overwritten with the first members of each group, less their mean.
    means : (B, L * d) ndarray
        Is overwritten.
    covariances : (B, d * d) ndarray
        Is overwritten.
    """
    d = Index(np.sqrt(covariances.shape[1]))
    n_samples = numbers.shape[1] * means.shape[1] // d
    for b in range(len(numbers)):
        gather(layers, Index(size), numbers[b], samples)
        _center(samples, Index(numbers.shape[1]), means[b])
        for at in range(members.shape[1]):
            members[b, at] = samples[at]
        _covariance(samples, d, np.float32(1 / n_samples), covariances[b])


@Kernel
def gather(layers: Single, size: np.uintp, numbers: Ints, patches: Single) -> None:
    """Copy the patches with some numbers (n,) of layers (C, h, w): (n * C * size * size,)."""
    n_across = Index(layers.shape[2]) - size + _1
    at = _0
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for channel in range(Index(layers.shape[0])):
            for i in range(size):
                for k in range(size):
                    patches[at + k] = layers[channel, row + i, column + k]
                at += size


@Kernel
def _center(patches: Single, n_patches: np.uintp, mean: Single) -> None:
    """Subtract the mean of patches from each of them."""
    n_values = Index(mean.size)
    for j in range(n_values):
        mean[j] = 0
    for n in range(n_patches):
        for j in range(n_values):
            mean[j] += patches[n * n_values + j]
    for j in range(n_values):
        mean[j] /= np.float32(n_patches)
    for n in range(n_patches):
        for j in range(n_values):
            patches[n * n_values + j] -= mean[j]


@Kernel
def _covariance(samples: Single, d: np.uintp, factor: np.float32, covariance: Single) -> None:
    """Set a multiple of the sum of products of samples, of which there are a multiple of `ROWS`."""
    x = samples
    for at in range(d * d):
        covariance[at] = 0
    for start in range(_0, Index(samples.size), _8 * d):
        a, b, c, e = start, start + d, start + _2 * d, start + _3 * d
        f, g, h, k = start + _4 * d, start + _5 * d, start + _6 * d, start + _7 * d
        for i in range(d):
            p, q, r, s = factor * x[a + i], factor * x[b + i], factor * x[c + i], factor * x[e + i]
            t, u, v, w = factor * x[f + i], factor * x[g + i], factor * x[h + i], factor * x[k + i]
            for j in range(d):
                covariance[i * d + j] += (
                    p * x[a + j] + q * x[b + j] + r * x[c + j] + s * x[e + j]
                    + t * x[f + j] + u * x[g + j] + v * x[h + j] + w * x[k + j]
                )  # fmt: skip


@Kernel
def shrink(covariances: Single, d: int, fraction: float) -> None:
    """Shrink covariances (B, d * d) towards their mean scaled to the variance of each."""
    n_groups, n_entries = covariances.shape
    mean = np.zeros(n_entries, np.float32)
    for b in range(n_groups):
        for at in range(n_entries):
            mean[at] += covariances[b, at]
    for at in range(n_entries):
        mean[at] /= np.float32(n_groups)
    trace = max(_trace(mean, d), TINY)
    kept = np.float32(1 - fraction)
    for b in range(n_groups):
        share = np.float32(fraction) * _trace(covariances[b], d) / trace
        for at in range(n_entries):
            covariances[b, at] = kept * covariances[b, at] + share * mean[at]


@Kernel
def _trace(matrix: Single, d: int) -> np.float32:
    """Return the sum of the diagonal of a matrix (d * d)."""
    total = np.float32(0)
    for i in range(d):
        total += matrix[i * d + i]
    return total


@Kernel
def condition(
    covariances: Single,
    observed: Single,
    noises: Single,
    n_steps: int,
    members: Single,
    variances: Single,
) -> None:
    """Estimate members of groups, given their observed pixels: `conditional_moments`, but for the last bits.

    Only the rows of a covariance that belong to observed pixels are multiplied.

    Parameters
    ----------
    covariances : (B, d * d) ndarray
        The noise is added to them.
    observed : (B, E, d) ndarray
        1 where an entry is observed, otherwise 0.
    noises : (B,) ndarray
    n_steps : int
        Of conjugate gradients.
    members : (B, E, L, d) ndarray
        Deviations from the mean; replaced by those that are expected.
    variances : (B, E, d) ndarray
        Is overwritten.
    """
    n_groups, n_estimated, n_vectors, d = members.shape
    rows = np.zeros(d + ROWS, np.uintp)
    work = np.zeros((5, (d + ROWS - 1) // ROWS * ROWS + ROWS), np.float32)
    for b in range(n_groups):
        for i in range(d):
            covariances[b, i * d + i] += noises[b]
        for e in range(n_estimated):
            n_rows = _nonzero(observed[b, e], rows)
            for j in range(d):
                variances[b, e, j] = 0
            for vector in range(n_vectors):
                _solve(covariances[b], members[b, e, vector], observed[b, e], rows, n_rows, n_steps, work)
                for j in range(d):
                    variances[b, e, j] = max(variances[b, e, j], work[4, j])
            for j in range(d):
                variances[b, e, j] = max(covariances[b, j * d + j] - variances[b, e, j], noises[b])


@Kernel
def _nonzero(values: Single, indices: Indices) -> np.uintp:
    """Set the indices of values that are not zero, followed by `ROWS` zeros; return how many there are."""
    count = _0
    for j in range(Index(values.size)):
        indices[count] = j
        count += Index(values[j] != 0)
    for at in range(count, count + _8):
        indices[at] = 0
    return count


@Kernel
def _solve(
    matrix: Single,
    vector: Single,
    observed: Single,
    rows: Indices,
    n_rows: np.uintp,
    n_steps: int,
    work: Single,
) -> None:
    """Make steps of conjugate gradients for the system of the observed entries.

    Replaces the vector by the product of the solution and the matrix. The rows of `work` are residual,
    direction, its observed entries, its product with the matrix, and by how much variances are reduced.
    """
    d = Index(vector.size)
    residual, direction, packed, product, reduction = work[0], work[1], work[2], work[3], work[4]
    for j in range(d):
        residual[j] = direction[j] = observed[j] * vector[j]
        vector[j] = reduction[j] = 0
    energy = _dot(residual, residual)
    least = MIN_RESIDUAL * energy
    for step in range(n_steps):
        for n in range(n_rows + _8):
            packed[n] = direction[rows[n]] if n < n_rows else np.float32(0)
        _multiply(matrix, d, rows, n_rows, packed, product)
        curvature = max(_dot(direction, product), TINY)
        length = energy / curvature
        weight = np.float32(1) / curvature if step < VARIANCE_STEPS and energy > least else np.float32(0)
        for j in range(d):
            reduction[j] += weight * (product[j] * product[j])
            product[j] *= length
            vector[j] += product[j]
            residual[j] -= observed[j] * product[j]
        before, energy = energy, _dot(residual, residual)
        ratio = energy / max(before, TINY)
        for j in range(d):
            direction[j] = ratio * direction[j] + residual[j]


@Kernel
def _multiply(
    matrix: Single, d: np.uintp, rows: Indices, n_rows: np.uintp, factors: Single, product: Single
) -> None:
    """Set the sum of some rows of a matrix (d * d), each times a factor."""
    m, f = matrix, factors
    for j in range(d):
        product[j] = 0
    for n in range(_0, n_rows, _8):
        a, b, c, e = rows[n] * d, rows[n + _1] * d, rows[n + _2] * d, rows[n + _3] * d
        g, h, i, k = rows[n + _4] * d, rows[n + _5] * d, rows[n + _6] * d, rows[n + _7] * d
        p, q, r, s = f[n], f[n + _1], f[n + _2], f[n + _3]
        t, u, v, w = f[n + _4], f[n + _5], f[n + _6], f[n + _7]
        for j in range(d):
            product[j] += (
                p * m[a + j] + q * m[b + j] + r * m[c + j] + s * m[e + j]
                + t * m[g + j] + u * m[h + j] + v * m[i + j] + w * m[k + j]
            )  # fmt: skip


@Kernel
def _dot(left: Single, right: Single) -> np.float32:
    """Return the inner product of two vectors, whose length is a multiple of 8."""
    a = b = c = d = e = f = g = h = np.float32(0)
    for j in range(_0, Index(left.size), _8):
        a += left[j] * right[j]
        b += left[j + _1] * right[j + _1]
        c += left[j + _2] * right[j + _2]
        d += left[j + _3] * right[j + _3]
        e += left[j + _4] * right[j + _4]
        f += left[j + _5] * right[j + _5]
        g += left[j + _6] * right[j + _6]
        h += left[j + _7] * right[j + _7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@Kernel
def sum_estimates(
    numbers: Ints, values: Single, weights: Single, size: int, sums: Floats, totals: Floats
) -> None:
    """Add up weighted estimates and their weights, as `TileEstimates.summed` does.

    Parameters
    ----------
    numbers : (N,) ndarray of int
    values : (N, C, size * size) ndarray
    weights : (N, 1 or C, size * size) ndarray
    size : int
        Height and width of a patch.
    sums, totals : (C, h, w) and (1 or C, h, w) ndarray
        Are added to.
    """
    n_across = Index(sums.shape[2] - size + 1)
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for layer in range(len(totals)):
            for i in range(Index(size)):
                for k in range(Index(size)):
                    totals[layer, row + i, column + k] += weights[n, layer, i * Index(size) + k]
        for channel in range(len(sums)):
            layer = min(channel, len(totals) - 1)
            for i in range(Index(size)):
                for k in range(Index(size)):
                    at = i * Index(size) + k
                    sums[channel, row + i, column + k] += values[n, channel, at] * weights[n, layer, at]
