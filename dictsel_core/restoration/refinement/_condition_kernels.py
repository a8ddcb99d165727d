"""The conditional moments of `conditional`, compiled: the same but for the last bits.

Indices are unsigned, and arrays one-dimensional, as vectors need them. Lengths are multiples of `WIDTH`.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core._support.vectors import (
    WIDTH,
    add,
    load,
    multiply,
    multiply_add,
    splat,
    store,
    subtract,
    total,
    where_larger,
)
from dictsel_core.restoration.refinement.conditional import MIN_RESIDUAL, TINY, VARIANCE_STEPS

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

_0, _1, _2, _3 = (Index(number) for number in range(4))
#: Multiples of the width of a vector: what a sum over rows keeps in registers.
_A, _B, _C, _D, _E, _F, _G, _H = (Index(number * WIDTH) for number in range(1, 9))


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
    observed, rows = np.zeros(d, np.float32), np.zeros(d + 1, np.uintp)
    work = np.zeros((4, 3 * d), np.float32)
    for b in range(n_groups):
        for i in range(d):
            covariances[b, i * d + i] += noises[b]
        for e in range(n_estimated):
            row, column = Index(places[b, e, 0]), Index(places[b, e, 1])
            n_rows = _observe(missing, row, column, Index(size), observed, rows)
            variance = variances[b, e]
            if n_rows == Index(missing.shape[2] * size * size):
                variance[:] = noises[b]
                continue
            variance[:] = 0
            start = 0
            while start < n_vectors:
                stop = start + (3 if n_vectors - start >= 3 else 1)
                vectors = members[b, e, start:stop].reshape(-1)
                _solve(covariances[b], observed, rows[:n_rows], n_steps, vectors, variance, work)
                start = stop
            for j in range(d):
                variance[j] = max(covariances[b, j * d + j] - variance[j], noises[b])


@Kernel
def _observe(
    missing: Bools, top: np.uintp, left: np.uintp, size: np.uintp, observed: Single, rows: Indices
) -> np.uintp:
    """Set 1 for the observed pixels of a patch, layer by layer, otherwise 0, and where they are.

    Returns how many pixels are observed.
    """
    at, count = _0, _0
    for layer in range(Index(missing.shape[2])):
        for row in range(top, top + size):
            for column in range(left, left + size):
                is_observed = not missing[row, column, layer]
                observed[at] = is_observed
                rows[count] = at
                count += Index(is_observed)
                at += _1
    return count


@Kernel
def _solve(
    matrix: Single,
    observed: Single,
    rows: Indices,
    n_steps: int,
    vectors: Single,
    reductions: Single,
    work: Single,
) -> None:
    """Make steps of conjugate gradients for systems of the observed entries: one, or three.

    Replaces vectors by the products of solutions and the matrix, and reductions of variances by larger ones.
    """
    d = Index(observed.size)
    residuals, directions, products, changes = work[0], work[1], work[2], work[3]
    energies = np.zeros(3, np.float32)
    n_vectors, zero = Index(vectors.size) // d, splat(np.float32(0))
    for v in range(n_vectors):
        energy = zero
        for j in range(_0, d, _A):
            at = v * d + Index(j)
            residual = multiply(load(observed, j), load(vectors, at))
            energy = multiply_add(residual, residual, energy)
            store(residuals, at, residual)
            store(directions, at, residual)
            store(vectors, at, zero)
            store(changes, at, zero)
        energies[v] = total(energy)
    least = MIN_RESIDUAL * energies
    for step in range(n_steps):
        if n_vectors == _3:
            _multiply_three(matrix, d, rows, directions, products)
        else:
            _multiply(matrix, d, rows, directions, products)
        for v in range(n_vectors):
            start, stop, energy = v * d, (v + _1) * d, energies[v]
            curvature = max(_dot(directions, products, start, stop), TINY)
            counts = step < VARIANCE_STEPS and energy > least[v]
            weight = splat(np.float32(1) / curvature if counts else np.float32(0))
            length, sums = splat(energy / curvature), zero
            for k in range(start, stop, _A):
                product = load(products, k)
                store(changes, k, multiply_add(weight, multiply(product, product), load(changes, k)))
                product = multiply(length, product)
                store(vectors, k, add(load(vectors, k), product))
                residual = subtract(load(residuals, k), multiply(load(observed, k - start), product))
                store(residuals, k, residual)
                sums = multiply_add(residual, residual, sums)
            energies[v] = total(sums)
            ratio = splat(energies[v] / max(energy, TINY))
            for k in range(start, stop, _A):
                store(directions, k, multiply_add(ratio, load(directions, k), load(residuals, k)))
    for v in range(n_vectors):
        for j in range(_0, d, _A):
            known, change = load(reductions, j), load(changes, v * d + Index(j))
            store(reductions, j, where_larger(change, known, change, known))


@Kernel
def _dot(left: Single, right: Single, start: np.uintp, stop: np.uintp) -> np.float32:
    """Return the inner product of parts of two arrays."""
    even = odd = splat(np.float32(0))
    at = start
    while at + _B <= stop:
        even = multiply_add(load(left, at), load(right, at), even)
        odd = multiply_add(load(left, at + _A), load(right, at + _A), odd)
        at += _B
    if at < stop:
        even = multiply_add(load(left, at), load(right, at), even)
    return total(add(even, odd))


@Kernel
def _multiply(matrix: Single, d: np.uintp, rows: Indices, direction: Single, product: Single) -> None:
    """Set the sum of some rows of a matrix (d * d), each times an entry of a direction."""
    m, j = matrix, _0
    while j + _H <= d:  # sums that stay in registers
        a = b = c = e = f = g = h = k = splat(np.float32(0))
        for n in range(Index(rows.size)):
            at, entry = rows[n] * d + j, splat(direction[rows[n]])
            a, b = multiply_add(entry, load(m, at), a), multiply_add(entry, load(m, at + _A), b)
            c, e = multiply_add(entry, load(m, at + _B), c), multiply_add(entry, load(m, at + _C), e)
            f, g = multiply_add(entry, load(m, at + _D), f), multiply_add(entry, load(m, at + _E), g)
            h, k = multiply_add(entry, load(m, at + _F), h), multiply_add(entry, load(m, at + _G), k)
        store(product, j, a)
        store(product, j + _A, b)
        store(product, j + _B, c)
        store(product, j + _C, e)
        store(product, j + _D, f)
        store(product, j + _D + _A, g)
        store(product, j + _D + _B, h)
        store(product, j + _D + _C, k)
        j += _H
    while j + _D <= d:
        a = b = c = e = splat(np.float32(0))
        for n in range(Index(rows.size)):
            at, entry = rows[n] * d + j, splat(direction[rows[n]])
            a, b = multiply_add(entry, load(m, at), a), multiply_add(entry, load(m, at + _A), b)
            c, e = multiply_add(entry, load(m, at + _B), c), multiply_add(entry, load(m, at + _C), e)
        store(product, j, a)
        store(product, j + _A, b)
        store(product, j + _B, c)
        store(product, j + _C, e)
        j += _D
    while j < d:
        a = splat(np.float32(0))
        for n in range(Index(rows.size)):
            a = multiply_add(splat(direction[rows[n]]), load(m, rows[n] * d + j), a)
        store(product, j, a)
        j += _A


@Kernel
def _multiply_three(matrix: Single, d: np.uintp, rows: Indices, directions: Single, products: Single) -> None:
    """Set what `_multiply` does for three directions: a row that was loaded is used three times."""
    j, second, third = _0, d, _2 * d
    while j + _D <= d:
        a = b = c = e = f = g = h = k = p = q = r = s = splat(np.float32(0))
        for n in range(Index(rows.size)):
            i = rows[n]
            x, y, z = splat(directions[i]), splat(directions[second + i]), splat(directions[third + i])
            at = i * d + j
            m = load(matrix, at)
            a, f, p = multiply_add(x, m, a), multiply_add(y, m, f), multiply_add(z, m, p)
            m = load(matrix, at + _A)
            b, g, q = multiply_add(x, m, b), multiply_add(y, m, g), multiply_add(z, m, q)
            m = load(matrix, at + _B)
            c, h, r = multiply_add(x, m, c), multiply_add(y, m, h), multiply_add(z, m, r)
            m = load(matrix, at + _C)
            e, k, s = multiply_add(x, m, e), multiply_add(y, m, k), multiply_add(z, m, s)
        store(products, j, a)
        store(products, j + _A, b)
        store(products, j + _B, c)
        store(products, j + _C, e)
        store(products, second + j, f)
        store(products, second + j + _A, g)
        store(products, second + j + _B, h)
        store(products, second + j + _C, k)
        store(products, third + j, p)
        store(products, third + j + _A, q)
        store(products, third + j + _B, r)
        store(products, third + j + _C, s)
        j += _D
    while j < d:
        a = f = p = splat(np.float32(0))
        for n in range(Index(rows.size)):
            i = rows[n]
            m = load(matrix, i * d + j)
            a = multiply_add(splat(directions[i]), m, a)
            f = multiply_add(splat(directions[second + i]), m, f)
            p = multiply_add(splat(directions[third + i]), m, p)
        store(products, j, a)
        store(products, second + j, f)
        store(products, third + j, p)
        j += _A
