"""Mean and covariance of groups of patches, and what these tell of the missing pixels of their members.

Vectors end in zeros, so that their length d is a multiple of `LANES`: loops over whole vectors then have no
remainder.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel, PartialKernel
from dictsel_core._support.validation import Bools, Ints

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

#: Numbers of which the length of a vector is a multiple.
LANES = 8
#: How many steps of conjugate gradients count for the variances, and the part of the squared residual below
#: which they no longer do: the directions of later steps are not conjugate to the first ones in float32.
_VARIANCE_STEPS, _MIN_RESIDUAL = 6, np.float32(1e-4)
_TINY = np.float32(1e-30)
#: Less noise than this is that of float32.
_MIN_NOISE = np.float32(1e-9)
_0, _1, _2, _3, _4, _LANES = (Index(number) for number in (0, 1, 2, 3, 4, LANES))
_ZERO, _ONE = np.float32(0), np.float32(1)


@Kernel
def group_moments(
    layers: Single,
    size: int,
    numbers: Ints,
    samples: Single,
    means: Single,
    covariances: Single,
) -> None:
    """Compute the mean and the covariance of each group, and the mean covariance.

    Of covariances there are entries on the diagonal and above it, and a few below. Vectors are patches, or
    single channels of these.

    Parameters
    ----------
    layers : (C, h, w) ndarray
        The region of a tile.
    size : int
        Height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members of groups.
    samples : (d, n * L) ndarray
        Is overwritten with the vectors of a group, as columns.
    means : (B, L, d) ndarray
        Is overwritten.
    covariances : (B + 1, d * d) ndarray
        Is overwritten; the last one with the mean covariance.
    """
    (n_groups, n_members), (n_vectors, d) = numbers.shape, means.shape[1:]
    flat, length, n_samples = samples.reshape(-1), Index(d), Index(samples.shape[1])
    n_each, share = Index(n_members), _ONE / np.float32(n_groups)
    total = covariances[n_groups]
    total[:] = _ZERO
    for b in range(n_groups):
        _gather(layers, Index(size), numbers[b], Index(n_vectors), flat, n_samples)
        for j in range(length):
            for v in range(Index(n_vectors)):
                start = j * n_samples + v * n_each
                mean = _ZERO
                for n in range(start, start + n_each):
                    mean += flat[n]
                mean /= np.float32(n_members)
                means[b, v, j] = mean
                for n in range(start, start + n_each):
                    flat[n] -= mean
        _set_products(flat, length, n_samples, covariances[b])
        for i in range(length):
            for at in range(i * length + i, i * length + length):
                total[at] += share * covariances[b, at]


@PartialKernel
def _gather(
    layers: Single, size: np.uintp, numbers: Ints, n_vectors: np.uintp, samples: Single, pitch: np.uintp
) -> None:
    """Copy the patches with some numbers (n,) of layers (C, h, w) to columns of samples, vector by vector.

    The entries of a vector are `pitch` apart; with a pitch of 1, vectors of one patch follow each other.
    """
    flat, height, width = layers.reshape(-1), Index(layers.shape[1]), Index(layers.shape[2])
    n_layers, n_across, n_members = Index(layers.shape[0]), width - size + _1, Index(len(numbers))
    n_per_vector = n_layers // n_vectors
    length = Index(samples.size) // n_vectors if pitch == _1 else n_members
    for n in range(n_members):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for layer in range(n_layers):
            at = layer % n_per_vector * size * size * pitch + layer // n_per_vector * length + n
            for i in range(size):
                start = (layer * height + row + i) * width + column
                if pitch == _1:
                    for k in range(size):
                        samples[at + k] = flat[start + k]
                else:
                    for k in range(size):
                        samples[at + k * pitch] = flat[start + k]
                at += size * pitch


@PartialKernel
def _set_products(samples: Single, d: np.uintp, n_samples: np.uintp, covariance: Single) -> None:
    """Set the mean products of the rows of samples, of each with four others at a time."""
    share = _ONE / np.float32(n_samples)
    for i in range(d):
        row = i * n_samples
        for j in range(i - i % _4, d, _4):
            a = j * n_samples
            b, c, e = a + n_samples, a + _2 * n_samples, a + _3 * n_samples
            p = q = u = v = _ZERO
            for n in range(n_samples):
                value = samples[row + n]
                p += value * samples[a + n]
                q += value * samples[b + n]
                u += value * samples[c + n]
                v += value * samples[e + n]
            at = i * d + j
            covariance[at] = share * p
            covariance[at + _1] = share * q
            covariance[at + _2] = share * u
            covariance[at + _3] = share * v


@Kernel
def condition(
    layers: Single,
    moments: tuple[Single, Single],
    model: tuple[np.float32, np.float32, np.float32, np.float32],
    n_steps: int,
    missing: Bools,
    place: tuple[int, int, int, int],
    numbers: Ints,
    estimates: tuple[Single, Single],
) -> None:
    r"""Estimate members of groups, given their observed pixels o, and weigh the estimates by their variances.

    .. math::

        & C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o) \\
        & C_{m,m} + \sigma^2 I - C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} C_{o,m}

    (of the latter the diagonal), by a few steps of conjugate gradients: the covariances of similar patches
    have few large eigenvalues. Each direction p of these steps also tells by how much it reduces the
    variances, :math:`(C_{m,o} p)^2 / p^T (C_{o,o} + \sigma^2 I) p` [1]_; the variances are upper bounds, and
    exact after as many steps as there are observed entries. Members without missing pixels stay as they are.

    Parameters
    ----------
    layers : (C, h, w) ndarray
        The region of a tile, less the center.
    moments : (B, L, d) and (B + 1, d * d) ndarray
        Means of groups, and covariances, as from `group_moments`.
    model : (float, float, float, float)
        Center, noise, relative noise, and fraction of the mean covariance. The noise has a weight of 1.
    n_steps : int
        Of conjugate gradients.
    missing : (H, W, c) ndarray of bool
    place : (int, int, int, int)
        First row and column of the tile; patches in a row of it; height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members, of which the first E are estimated.
    estimates : (B, E, L, d') and (B, E, d') ndarray
        Values and weights; are overwritten. Other vectors may be longer, and end in something else.

    References
    ----------
    .. [1] J. Wenger et al., "Posterior and computational uncertainty in Gaussian processes", NeurIPS 2022.
       :DOI:`10.48550/arXiv.2205.15449`
    """
    n_groups, n_estimated, n_vectors, n_values = estimates[0].shape
    (means, covariances), (center, noise, relative, fraction) = moments, model
    values, weights, centers = estimates[0].reshape(-1), estimates[1].reshape(-1), means.reshape(-1)
    d, n_pixels, n_each, size = Index(means.shape[2]), Index(n_values), Index(n_vectors), Index(place[3])
    matrices, matrix = covariances.reshape(-1), np.empty(d * d, np.float32)
    work, vectors = np.zeros((_1 + _4 * n_each) * d, np.float32), np.zeros(n_each * d, np.float32)
    energies, reductions = np.empty(2 * n_vectors, np.float32), np.empty(d, np.float32)
    rows = np.zeros(d + _4, np.uintp)
    total = Index(n_groups) * d * d
    trace = max(_trace(matrices, total, d), _TINY)
    for b in range(Index(n_groups)):
        share = fraction * _trace(matrices, b * d * d, d) / trace
        _blend(matrices, b * d * d, _ONE - fraction, total, share, d, matrix)
        own = max(min(noise, relative * _trace(matrix, _0, d) / np.float32(n_values)), _MIN_NOISE)
        for i in range(d):
            matrix[i * d + i] += own
        for e in range(Index(n_estimated)):
            number, at = numbers[b, e], b * Index(n_estimated) + e
            n_rows = _observe(missing, place, number, work, rows)
            _gather(layers, size, numbers[b, e : e + _1], n_each, vectors, _1)
            for j in range(d):
                reductions[j] = _ZERO
            if n_rows < n_pixels:
                for j in range(n_each * d):
                    vectors[j] -= centers[b * n_each * d + j]
                _solve(matrix, rows, n_rows, n_steps, vectors, work, energies, reductions)
                for j in range(n_each * d):
                    vectors[j] += centers[b * n_each * d + j]
            for v in range(n_each):
                start = (at * n_each + v) * n_pixels
                for j in range(n_pixels):
                    values[start + j] = vectors[v * d + j] + center
            for j in range(n_pixels):
                weights[at * n_pixels + j] = noise / max(matrix[j * (d + _1)] - reductions[j], own)


@PartialKernel
def _blend(
    matrices: Single,
    one: np.uintp,
    kept: np.float32,
    other: np.uintp,
    share: np.float32,
    d: np.uintp,
    out: Single,
) -> None:
    """Set a whole matrix (d * d): parts of two matrices, of which there are upper halves."""
    for i in range(d):
        for at in range(i * d + i, i * d + d):
            out[at] = kept * matrices[one + at] + share * matrices[other + at]
    for i in range(d):
        for j in range(i):
            out[i * d + j] = out[j * d + i]


@PartialKernel
def _trace(matrices: Single, start: np.uintp, d: np.uintp) -> np.float32:
    """Return the sum of the diagonal of a matrix (d * d)."""
    result = _ZERO
    for i in range(d):
        result += matrices[start + i * (d + _1)]
    return result


@PartialKernel
def _observe(
    missing: Bools, place: tuple[int, int, int, int], number: int, observed: Single, rows: Indices
) -> np.uintp:
    """Set 1 for the observed pixels of a patch, layer by layer, otherwise 0, and where they are.

    Returns how many pixels are observed. After these, `rows` has missing ones, if there are any.
    """
    size = Index(place[3])
    top, left = Index(place[0] + number // place[2]), Index(place[1] + number % place[2])
    at, count, gap = _0, _0, _0
    for layer in range(Index(missing.shape[2])):
        for row in range(top, top + size):
            for column in range(left, left + size):
                is_observed = not missing[row, column, layer]
                observed[at] = is_observed
                rows[count] = at
                gap = gap if is_observed else at
                count += Index(is_observed)
                at += _1
    for n in range(count, count + _3):
        rows[n] = gap
    return count


@PartialKernel
def _solve(
    matrix: Single,
    rows: Indices,
    n_rows: np.uintp,
    n_steps: int,
    vectors: Single,
    work: Single,
    energies: Single,
    reductions: Single,
) -> None:
    """Make steps of conjugate gradients for the systems of the observed entries of some vectors.

    They are replaced by the products of the solutions and the matrix, and reductions of variances by those
    found here where these are larger. The first part of `work` has 1 for entries that are observed, otherwise
    0; the others become, for each vector, the residual, the direction, its product with the matrix, and sums
    of squared products.
    """
    d, n_vectors = Index(reductions.size), Index(energies.size // 2)
    n = n_vectors * d
    residual, direction, product, found = d, d + n, d + _2 * n, d + _3 * n
    for v in range(n_vectors):
        at, energy = v * d, _ZERO
        for j in range(d):
            entry = work[j] * vectors[at + j]
            work[residual + at + j] = entry
            work[direction + at + j] = entry
            energy += entry * entry
        energies[v], energies[n_vectors + v] = energy, _MIN_RESIDUAL * energy
        for j in range(d):
            work[found + at + j] = _ZERO
            vectors[at + j] = _ZERO
    for step in range(n_steps):
        _multiply(matrix, rows, n_rows, d, n_vectors, work)
        for v in range(n_vectors):
            at, curve, before = v * d, _ZERO, energies[v]
            for j in range(d):
                curve += work[direction + at + j] * work[product + at + j]
            curve = _ONE / max(curve, _TINY)
            weight = curve if step < _VARIANCE_STEPS and before > energies[n_vectors + v] else _ZERO
            length, energy = before * curve, _ZERO
            for j in range(d):
                change = work[product + at + j]
                work[found + at + j] += weight * change * change
                vectors[at + j] += length * change
            for j in range(d):
                rest = work[residual + at + j] - length * work[j] * work[product + at + j]
                work[residual + at + j] = rest
                energy += rest * rest
            ratio = energy / max(before, _TINY)
            for j in range(d):
                work[direction + at + j] = ratio * work[direction + at + j] + work[residual + at + j]
            energies[v] = energy
    for v in range(n_vectors):
        for j in range(d):
            reductions[j] = max(reductions[j], work[found + v * d + j])


@PartialKernel
def _multiply(
    matrix: Single, rows: Indices, n_rows: np.uintp, d: np.uintp, n_vectors: np.uintp, work: Single
) -> None:
    """Set the sums of some rows of a matrix (d * d), each times its entry of a direction: four at a time.

    Directions are zero in the rows behind the last one.
    """
    n = n_vectors * d
    for at in range(d + _2 * n, d + _3 * n):
        work[at] = _ZERO
    for k in range(_0, n_rows, _4):
        here = Index(k)
        a, b, c, e = rows[here], rows[here + _1], rows[here + _2], rows[here + _3]
        for v in range(n_vectors):
            direction, product = d + n + v * d, d + _2 * n + v * d
            p, q = work[direction + a], work[direction + b]
            u, w = work[direction + c], work[direction + e]
            for j in range(d):
                left = p * matrix[a * d + j] + q * matrix[b * d + j]
                work[product + j] += left + (u * matrix[c * d + j] + w * matrix[e * d + j])
