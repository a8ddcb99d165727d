"""The moments of groups of `estimator`, compiled: the same but for the last bits.

Indices are unsigned, and matrices one-dimensional: only then does Numba vectorize all loops.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Ints
from dictsel_core._support.vectors import WIDTH, add, load, multiply, multiply_add, splat, store, subtract

Single = NDArray[np.float32]
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
    mean: Single,
) -> None:
    """Compute the mean and the covariance of each group, and the mean covariance.

    Of covariances there are blocks of `WIDTH` x `WIDTH` entries on the diagonal and above it.

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
    samples : (n', d) ndarray
        Is overwritten with the vectors of a group.
    members : (B, E * L * d) ndarray
        Is overwritten with the first members of each group, less their mean.
    means : (B, L * d) ndarray
        Is overwritten.
    covariances, mean : (B, d * d) and (d * d,) ndarray
        Are overwritten.
    """
    n_samples, d = numbers.shape[1] * means.shape[1] // samples.shape[1], Index(samples.shape[1])
    flat, share = samples.ravel(), splat(np.float32(1 / len(numbers)))
    first, start = members.reshape(-1), _0
    mean[:] = 0
    for b in range(len(numbers)):
        gather(layers, Index(size), numbers[b], Index(means.shape[1]) // d, d, flat)
        _center(flat, Index(numbers.shape[1]), means[b])
        for at in range(_0, Index(members.shape[1]), _8):
            store(first, start + at, load(flat, at))
        start += Index(members.shape[1])
        covariance = covariances[b]
        _covariance(flat, d, np.float32(1 / n_samples), covariance)
        for i in range(d):
            for at in range(i * d + i - i % _8, i * d + d, _8):
                store(mean, at, multiply_add(share, load(covariance, at), load(mean, at)))


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

    The end of each vector, if it is longer, is set to zero.
    """
    flat, height, pitch = layers.reshape(-1), Index(layers.shape[1]), Index(layers.shape[2])
    n_across = pitch - size + _1
    n_per_vector = Index(layers.shape[0]) // n_vectors  # layers
    rest = length - n_per_vector * size * size
    fits = size <= _8 and size + rest >= _8  # what is copied after a row is overwritten
    at = _0
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for channel in range(Index(layers.shape[0])):
            for i in range(size):
                start = (channel * height + row + i) * pitch + column
                if fits and start + _8 <= Index(flat.size):
                    store(patches, at, load(flat, start))
                else:
                    for k in range(size):
                        patches[at + k] = flat[start + k]
                at += size
            if (channel + _1) % n_per_vector == _0:
                for k in range(at, at + rest):
                    patches[k] = 0
                at += rest


@Kernel
def _center(patches: Single, n_patches: np.uintp, mean: Single) -> None:
    """Subtract the mean of patches from each of them."""
    n_values = Index(mean.size)
    part = splat(np.float32(1) / np.float32(n_patches))
    for j in range(_0, n_values, _8):
        even = odd = splat(np.float32(0))
        for at in range(j, n_patches * n_values + j - n_values, _2 * n_values):
            even, odd = add(even, load(patches, at)), add(odd, load(patches, at + n_values))
        if n_patches % _2:
            even = add(even, load(patches, (n_patches - _1) * n_values + j))
        center = multiply(part, add(even, odd))
        store(mean, j, center)
        for at in range(j, n_patches * n_values + j, n_values):
            store(patches, at, subtract(load(patches, at), center))


@Kernel
def _covariance(samples: Single, d: np.uintp, factor: np.float32, covariance: Single) -> None:
    """Set a multiple of the sum of products of samples: of four rows at a time, from the diagonal on."""
    for i in range(_0, d, _4):
        for j in range(i - i % _8, d, _16):
            _set_products(samples, d, Index(i), Index(j), factor, covariance)


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
