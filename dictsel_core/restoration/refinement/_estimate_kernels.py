"""The estimates of `estimator`, compiled: the same but for the last bits.

Indices are unsigned, and matrices one-dimensional: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Floats, Ints
from dictsel_core._support.vectors import WIDTH, load, multiply, multiply_add, splat, store
from dictsel_core.restoration.refinement.conditional import TINY

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

_0, _1, _2, _3, _4, _8, _16 = (Index(number) for number in (0, 1, 2, 3, 4, WIDTH, 2 * WIDTH))


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

    Vectors are patches, or single channels of these. They end in zeros, so that their length d is a multiple
    of `WIDTH`.

    Parameters
    ----------
    layers : (C, h, w) ndarray
        The region of a tile.
    size : int
        Height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members of groups.
    samples : (n', d) ndarray of zeros
        For the vectors of a group.
    members : (B, E * L * d) ndarray
        Is overwritten with the first members of each group, less their mean.
    means : (B, L * d) ndarray
        Is overwritten.
    covariances : (B, d * d) ndarray
        Is overwritten.
    """
    n_samples, d = numbers.shape[1] * means.shape[1] // samples.shape[1], Index(samples.shape[1])
    flat = samples.ravel()
    for b in range(len(numbers)):
        gather(layers, Index(size), numbers[b], Index(means.shape[1]) // d, d, flat)
        _center(flat, Index(numbers.shape[1]), means[b])
        for at in range(members.shape[1]):
            members[b, at] = flat[at]
        _covariance(flat, d, np.float32(1 / n_samples), covariances[b])


@Kernel
def gather(
    layers: Single,
    size: np.uintp,
    numbers: Ints,
    n_vectors: np.uintp,
    length: np.uintp,
    patches: Single,
) -> None:
    """Copy the patches with some numbers (n,) of layers (C, h, w), each to some vectors.

    The end of each vector, if it is longer, stays as it is.
    """
    n_across = Index(layers.shape[2]) - size + _1
    n_per_vector = Index(layers.shape[0]) // n_vectors  # layers
    rest = length - n_per_vector * size * size
    at = _0
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for channel in range(Index(layers.shape[0])):
            for i in range(size):
                for k in range(size):
                    patches[at + k] = layers[channel, row + i, column + k]
                at += size
            if (channel + _1) % n_per_vector == _0:
                at += rest


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
    """Set a multiple of the sum of products of samples: of four rows at a time, from the diagonal on."""
    for i in range(_0, d, _4):
        for j in range(i - i % _8, d, _16):
            _set_products(samples, d, Index(i), Index(j), factor, covariance)
    for i in range(d):
        for j in range(i):
            covariance[i * d + j] = covariance[j * d + i]


@Kernel
def _set_products(
    samples: Single, d: np.uintp, i: np.uintp, j: np.uintp, factor: np.float32, covariance: Single
) -> None:
    """Set four rows of a covariance, two vectors of each if there are two, which stay in registers."""
    x, scale, wide = samples, splat(factor), _8 if j + _16 <= d else _0
    a = b = c = e = f = g = h = k = splat(np.float32(0))
    for at in range(_0, Index(samples.size), d):
        left, right, first = load(x, at + j), load(x, at + j + wide), at + i
        p, q, r, s = splat(x[first]), splat(x[first + _1]), splat(x[first + _2]), splat(x[first + _3])
        a, b = multiply_add(p, left, a), multiply_add(p, right, b)
        c, e = multiply_add(q, left, c), multiply_add(q, right, e)
        f, g = multiply_add(r, left, f), multiply_add(r, right, g)
        h, k = multiply_add(s, left, h), multiply_add(s, right, k)
    to = i * d + j
    store(covariance, to, multiply(scale, a))
    store(covariance, to + wide, multiply(scale, b))
    store(covariance, to + d, multiply(scale, c))
    store(covariance, to + d + wide, multiply(scale, e))
    store(covariance, to + _2 * d, multiply(scale, f))
    store(covariance, to + _2 * d + wide, multiply(scale, g))
    store(covariance, to + _3 * d, multiply(scale, h))
    store(covariance, to + _3 * d + wide, multiply(scale, k))


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
def mean_variances(covariances: Single, length: int, d: int) -> Single:
    """Return the mean of the first d entries of the diagonal of each covariance (B, length * length)."""
    variances = np.empty(len(covariances), np.float32)
    for b in range(len(covariances)):
        total = np.float32(0)
        for i in range(d):
            total += covariances[b, i * length + i]
        variances[b] = total / np.float32(d)
    return variances


@Kernel
def finish_estimates(
    members: Single,
    means: Single,
    center: np.float32,
    noise: np.float32,
    variances: Single,
    values: Single,
    weights: Single,
) -> None:
    """Set estimates of members, and their weights.

    Parameters
    ----------
    members : (B, E, L, d) ndarray
        Deviations from the mean.
    means : (B, L, d) ndarray
        Less the center.
    center, noise : float
        The noise has a weight of 1.
    variances : (B, E, d) ndarray
    values, weights : (B, E, L, d') and (B, E, d') ndarray
        Are overwritten; vectors may end in something else, and then are longer.
    """
    n_groups, n_estimated, n_vectors, d = values.shape
    for b in range(n_groups):
        for e in range(n_estimated):
            for v in range(n_vectors):
                to, member, mean = values[b, e, v], members[b, e, v], means[b, v]
                for j in range(Index(d)):
                    to[j] = member[j] + mean[j] + center
            weight, variance = weights[b, e], variances[b, e]
            for j in range(Index(d)):
                weight[j] = noise / variance[j]


@Kernel
def sum_estimates(
    numbers: Ints,
    values: Single,
    weights: Single,
    size: int,
    pixels: NDArray[np.int32],
    sums: Floats,
    totals: Floats,
) -> None:
    """Add up weighted estimates of some pixels, and their weights, as `TileEstimates.summed` does.

    Parameters
    ----------
    numbers : (N,) ndarray of int
    values : (N, C, size * size) ndarray
    weights : (N, 1 or C, size * size) ndarray
    size : int
        Height and width of a patch.
    pixels : (h, w) ndarray of int
        Where the sums of a pixel are; -1 if they are not wanted.
    sums, totals : (M, C) and (M, 1 or C) ndarray
        Are added to.
    """
    n_across = Index(pixels.shape[1] - size + 1)
    n_channels, n_layers = Index(sums.shape[1]), Index(totals.shape[1])
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for i in range(Index(size)):
            for k in range(Index(size)):
                pixel = pixels[row + i, column + k]
                if pixel < 0:
                    continue
                at = i * Index(size) + k
                for layer in range(n_layers):
                    totals[Index(pixel), layer] += weights[n, layer, at]
                for channel in range(n_channels):
                    weight = weights[n, channel if n_layers > _1 else _0, at]
                    sums[Index(pixel), channel] += values[n, channel, at] * weight


@Kernel
def add_sums(
    pixels: Ints,
    shape: tuple[int, int],
    corner: tuple[int, int],
    tile_sums: tuple[Floats, Floats],
    sums: Floats,
    totals: Floats,
) -> None:
    """Add the sums of pixels of a tile to those of a band, whose rows are in turn those of an image.

    Parameters
    ----------
    pixels : (M,) ndarray of int
        Counted row by row in the tile.
    shape, corner : (int, int)
        Height and width of the tile, and its first row and column.
    tile_sums : (M, C) and (M, c) ndarray
    sums, totals : (h, W, C) and (h, W, c) ndarray
        Are added to.
    """
    for m in range(len(pixels)):
        row = Index((corner[0] + pixels[m] // shape[1]) % len(sums))
        column = Index(corner[1] + pixels[m] % shape[1])
        for channel in range(Index(sums.shape[2])):
            sums[row, column, channel] += tile_sums[0][m, channel]
        for layer in range(Index(totals.shape[2])):
            totals[row, column, layer] += tile_sums[1][m, layer]
