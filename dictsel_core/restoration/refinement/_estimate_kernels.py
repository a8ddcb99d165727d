"""The estimates of `estimator`, compiled: the same but for the last bits.

Indices are unsigned, and matrices one-dimensional: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.restoration.refinement.conditional import MIN_RESIDUAL, TINY, VARIANCE_STEPS

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

#: Rows of a matrix in one expression; numbers of vectors and their lengths are multiples of it.
STEP = 8
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

    Vectors are patches, or single channels of these. They end in zeros, so that their length d is a multiple
    of `STEP`.

    Parameters
    ----------
    layers : (C, h, w) ndarray
        The region of a tile.
    size : int
        Height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members of groups.
    samples : (n', d) ndarray of zeros
        For the vectors of a group, and more, so that n' is a multiple of `STEP`.
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
    """Set a multiple of the sum of products of samples, of which there are a multiple of `STEP`."""
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
def condition(
    covariances: Single,
    noises: Single,
    n_steps: int,
    missing: Bools,
    places: Ints,
    size: int,
    members: Single,
    variances: Single,
) -> None:
    """Estimate members of groups, given their observed pixels: `conditional_moments`, but for the last bits.

    Only the rows of a covariance that belong to observed pixels are multiplied. Members without missing
    pixels stay as they are.

    Parameters
    ----------
    covariances : (B, d * d) ndarray
        The noise is added to them.
    noises : (B,) ndarray
    n_steps : int
        Of conjugate gradients.
    missing : (H, W, c) ndarray of bool
    places : (B, E, 2) ndarray of int
        Row and column of each member.
    size : int
        Height and width of a patch.
    members : (B, E, L, d) ndarray
        Deviations from the mean; replaced by those that are expected.
    variances : (B, E, d) ndarray
        Is overwritten.
    """
    n_groups, n_estimated, n_vectors, d = members.shape
    observed = np.zeros(d, np.float32)
    rows, entries = np.zeros(d + STEP, np.uintp), np.zeros(d + STEP, np.uintp)
    work = np.zeros((5, 3, d + STEP), np.float32)
    for b in range(n_groups):
        for i in range(d):
            covariances[b, i * d + i] += noises[b]
        for e in range(n_estimated):
            row, column = Index(places[b, e, 0]), Index(places[b, e, 1])
            n_missing = _observe(missing, row, column, Index(size), observed)
            for j in range(d):
                variances[b, e, j] = 0
            if n_missing == 0:
                variances[b, e, :] = noises[b]
                continue
            n_rows = _nonzero(observed, rows, entries)
            start = 0
            while start < n_vectors:
                stop = start + (3 if n_vectors - start >= 3 else 1)
                vectors = members[b, e, start:stop]
                _solve(covariances[b], vectors, observed, rows, entries, n_rows, n_steps, work)
                for v in range(stop - start):
                    for j in range(d):
                        variances[b, e, j] = max(variances[b, e, j], work[3, v, j])
                start = stop
            for j in range(d):
                variances[b, e, j] = max(covariances[b, j * d + j] - variances[b, e, j], noises[b])


@Kernel
def _observe(missing: Bools, top: np.uintp, left: np.uintp, size: np.uintp, observed: Single) -> int:
    """Set 1 for the observed pixels of a patch, layer by layer, otherwise 0; return how many are missing."""
    at, count = _0, 0
    for layer in range(Index(missing.shape[2])):
        for row in range(top, top + size):
            for column in range(left, left + size):
                is_missing = missing[row, column, layer]
                observed[at] = not is_missing
                count += is_missing
                at += _1
    return count


@Kernel
def _nonzero(values: Single, rows: Indices, entries: Indices) -> np.uintp:
    """Set the indices of values that are not zero, twice; return how many there are.

    The first ones are followed by row 0, the others by an entry beyond the last one, which is 0.
    """
    count = _0
    for j in range(Index(values.size)):
        rows[count] = entries[count] = j
        count += Index(values[j] != 0)
    for at in range(count, count + _8):
        rows[at] = 0
        entries[at] = values.size
    return count


@Kernel
def _solve(  # noqa: PLR0912  (a call for each vector and step takes a fifth more)
    matrix: Single,
    vectors: Single,
    observed: Single,
    rows: Indices,
    entries: Indices,
    n_rows: np.uintp,
    n_steps: int,
    work: Single,
) -> None:
    """Make steps of conjugate gradients for systems of the observed entries: one, or three.

    Replaces vectors by the products of solutions and the matrix. `work` has residuals, directions, products
    of these with the matrix, by how much variances are reduced, and squares of residuals: now and at first.
    """
    d = Index(vectors.shape[1])
    residuals, directions, products, reductions, energies = work[0], work[1], work[2], work[3], work[4, 0]
    for v in range(len(vectors)):  # one array for each loop: they are short, but vectorized
        for j in range(d):
            residuals[v, j] = observed[j] * vectors[v, j]
        for j in range(d):
            directions[v, j] = residuals[v, j]
        for j in range(d):
            vectors[v, j] = 0
        for j in range(d):
            reductions[v, j] = 0
        energies[v] = energies[v + 3] = _dot(residuals[v], residuals[v])
    for step in range(n_steps):
        if len(vectors) == 3:
            _multiply_three(matrix, d, rows, entries, n_rows, directions, products)
        else:
            _multiply(matrix, d, rows, entries, n_rows, directions[0], products[0])
        for v in range(len(vectors)):
            energy, curvature = energies[v], max(_dot(directions[v], products[v]), TINY)
            counts = step < VARIANCE_STEPS and energy > MIN_RESIDUAL * energies[v + 3]
            weight = np.float32(1) / curvature if counts else np.float32(0)
            length = energy / curvature
            for j in range(d):
                reductions[v, j] += weight * (products[v, j] * products[v, j])
            for j in range(d):
                vectors[v, j] += length * products[v, j]
            for j in range(d):
                residuals[v, j] -= observed[j] * (length * products[v, j])
            energies[v] = _dot(residuals[v], residuals[v])
            ratio = energies[v] / max(energy, TINY)
            for j in range(d):
                directions[v, j] = ratio * directions[v, j] + residuals[v, j]


@Kernel
def _multiply(
    matrix: Single,
    d: np.uintp,
    rows: Indices,
    entries: Indices,
    n_rows: np.uintp,
    direction: Single,
    product: Single,
) -> None:
    """Set the sum of some rows of a matrix (d * d), each times an entry of a direction."""
    m, f = matrix, direction
    for j in range(d):
        product[j] = 0
    for n in range(_0, n_rows, _8):
        a, b, c, e = rows[n] * d, rows[n + _1] * d, rows[n + _2] * d, rows[n + _3] * d
        g, h, i, k = rows[n + _4] * d, rows[n + _5] * d, rows[n + _6] * d, rows[n + _7] * d
        p, q, r, s = f[entries[n]], f[entries[n + _1]], f[entries[n + _2]], f[entries[n + _3]]
        t, u, v, w = f[entries[n + _4]], f[entries[n + _5]], f[entries[n + _6]], f[entries[n + _7]]
        for j in range(d):
            product[j] += (
                p * m[a + j] + q * m[b + j] + r * m[c + j] + s * m[e + j]
                + t * m[g + j] + u * m[h + j] + v * m[i + j] + w * m[k + j]
            )  # fmt: skip


@Kernel
def _multiply_three(
    matrix: Single,
    d: np.uintp,
    rows: Indices,
    entries: Indices,
    n_rows: np.uintp,
    directions: Single,
    products: Single,
) -> None:
    """Set what `_multiply` does for three directions: a row that was loaded is used three times."""
    m = matrix
    f, g, h = directions[0], directions[1], directions[2]
    x, y, z = products[0], products[1], products[2]
    for j in range(d):
        x[j] = y[j] = z[j] = 0
    for n in range(_0, n_rows, _4):
        a, b, c, e = rows[n] * d, rows[n + _1] * d, rows[n + _2] * d, rows[n + _3] * d
        p, q, r, s = entries[n], entries[n + _1], entries[n + _2], entries[n + _3]
        f0, f1, f2, f3 = f[p], f[q], f[r], f[s]
        g0, g1, g2, g3 = g[p], g[q], g[r], g[s]
        h0, h1, h2, h3 = h[p], h[q], h[r], h[s]
        for j in range(d):
            t, u, v, w = m[a + j], m[b + j], m[c + j], m[e + j]
            x[j] += f0 * t + f1 * u + f2 * v + f3 * w
            y[j] += g0 * t + g1 * u + g2 * v + g3 * w
            z[j] += h0 * t + h1 * u + h2 * v + h3 * w


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
