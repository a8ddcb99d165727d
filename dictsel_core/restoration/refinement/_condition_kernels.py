"""The conditional moments of `conditional`, compiled: the same steps, whose rounding the last ones amplify.

Indices are unsigned, and arrays one-dimensional, as vectors need them. Lengths are multiples of `WIDTH`.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import InlinedKernel, Kernel
from dictsel_core._support.validation import Bools, Ints
from dictsel_core._support.vectors import (
    WIDTH,
    Place,
    Vector,
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
from dictsel_core.restoration.refinement.conditional import MIN_NOISE, MIN_RESIDUAL, TINY, VARIANCE_STEPS

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

#: Parts of the memory of conjugate gradients, each as long as a vector.
PARTS = 16
_0, _1, _2, _3, _4, _5, _6, _15, _16 = (Index(number) for number in (0, 1, 2, 3, 4, 5, 6, PARTS - 1, PARTS))
#: Multiples of the width of a vector: what a sum over rows keeps in registers.
_A, _B, _C, _D, _E, _F, _G, _H = (Index(number * WIDTH) for number in range(1, 9))


@Kernel
def condition(
    moments: tuple[Single, Single, Single],
    model: tuple[np.float32, np.float32, np.float32, np.float32],
    n_steps: int,
    missing: Bools,
    place: tuple[int, int, int, int],
    numbers: Ints,
    members: Single,
    estimates: tuple[Single, Single],
) -> None:
    """Estimate members of groups, given their observed pixels: `GaussianEstimator`, up to rounding.

    Only the rows of a covariance that belong to observed pixels are multiplied. Members without missing
    pixels stay as they are.

    Parameters
    ----------
    moments : (B, L * d), (B, d * d) and (d * d,) ndarray
        Means of groups less the center, covariances, and the mean covariance. Of the latter there are blocks
        of `WIDTH` x `WIDTH` entries on the diagonal and above it.
    model : (float, float, float, float)
        Center, noise, relative noise, and fraction of the mean covariance. The noise has a weight of 1.
    n_steps : int
        Of conjugate gradients.
    missing : (H, W, c) ndarray of bool
    place : (int, int, int, int)
        First row and column of the tile; patches in a row of it; height and width of a patch.
    numbers : (B, n) ndarray of int
        Numbers of the members, of which the first E are estimated.
    members : (B, E, L, d) ndarray
        Deviations from the mean; are overwritten.
    estimates : (B, E, L, d') and (B, E, d') ndarray
        Values and weights; are overwritten. Vectors of members may be longer, and end in something else.
    """
    n_groups, n_estimated, n_vectors, d = members.shape
    means, covariances, mean = moments
    (center, noise, relative, fraction), (top, left, n_across, size) = model, place
    values, weights, vectors = estimates[0].reshape(-1), estimates[1].reshape(-1), members.reshape(-1)
    matrix, bounds = np.empty(d * d, np.float32), np.empty(d, np.float32)
    work, rows = np.zeros(PARTS * d, np.float32), np.zeros(d + 1, np.uintp)
    observed, length, n_pixels = work[(PARTS - 1) * d :], Index(d), Index(estimates[1].shape[2])
    trace, to = max(_trace(mean, length), TINY), _0
    for b in range(n_groups):
        share = fraction * _trace(covariances[b], length) / trace
        _blend(covariances[b], np.float32(1) - fraction, mean, share, length, matrix)
        variance = _trace(matrix, length) / np.float32(n_pixels)
        own = max(min(noise, relative * variance), MIN_NOISE)
        for i in range(length):
            matrix[i * length + i] += own
        for e in range(n_estimated):
            row, column = numbers[b, e] // n_across, numbers[b, e] % n_across
            n_rows = _observe(missing, Index(top + row), Index(left + column), Index(size), observed, rows)
            bounds[:] = 0
            start, end = to, to + Index(n_vectors) * length
            while to < end and n_rows < n_pixels:
                n = _3 if to + _3 * length <= end else _1
                if n == _3:
                    _solve_three(matrix, rows, n_rows, n_steps, vectors, to, work)
                else:
                    _solve(matrix, rows, n_rows, n_steps, vectors, to, work)
                for v in range(n):
                    _reduce(bounds, work, (_3 * n + v) * length, length)
                to += n * length
            to = end
            at = Index(b * n_estimated + e) * n_pixels
            for v in range(Index(n_vectors)):
                first = at * Index(n_vectors) + v * n_pixels
                for j in range(n_pixels):
                    values[first + j] = vectors[start + v * length + j] + means[b, v * length + j] + center
            for j in range(n_pixels):
                weights[at + j] = noise / max(matrix[j * (length + _1)] - bounds[j], own)


@Kernel
def _trace(matrix: Single, d: np.uintp) -> np.float32:
    """Return the sum of the diagonal of a matrix (d * d)."""
    result = np.float32(0)
    for i in range(d):
        result += matrix[i * d + i]
    return result


@Kernel
def _blend(
    covariance: Single, kept: np.float32, mean: Single, share: np.float32, d: np.uintp, matrix: Single
) -> None:
    """Set a whole matrix (d * d): some part of a covariance, and some of the mean covariance."""
    factor, other = splat(kept), splat(share)
    for i in range(d):
        for at in range(i * d + i - i % _A, i * d + d, _A):
            own = multiply(factor, load(covariance, at))
            store(matrix, at, multiply_add(other, load(mean, at), own))
    for i in range(d):
        for j in range(i - i % _A):
            matrix[i * d + j] = matrix[j * d + i]


@InlinedKernel
def _reduce(bounds: Single, work: Single, at: Place, d: np.uintp) -> None:
    """Replace reductions of variances by those of a vector where these are larger."""
    for j in range(_0, d, _A):
        known, found = load(bounds, j), load(work, at + j)
        store(bounds, j, where_larger(found, known, found, known))


@Kernel
def _observe(
    missing: Bools, top: np.uintp, left: np.uintp, size: np.uintp, observed: Single, rows: Indices
) -> np.uintp:
    """Set 1 for the observed pixels of a patch, layer by layer, otherwise 0, and where they are.

    Returns how many pixels are observed. After these, `rows` has a missing one, if there is any.
    """
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
    rows[count] = gap
    return count


@Kernel
def _solve(
    matrix: Single,
    rows: Indices,
    n_rows: np.uintp,
    n_steps: int,
    vectors: Single,
    to: np.uintp,
    work: Single,
) -> None:
    """Make steps of conjugate gradients for the system of the observed entries of a vector.

    It is replaced by the product of the solution and the matrix. The last part of `work` has 1 for entries
    that are observed, otherwise 0; the first ones are set to the residual, the direction, its product with
    the matrix, the reductions of variances, and the sum of all products.
    """
    d, zero = Index(work.size) // _16, splat(np.float32(0))
    observed, sums = _15 * d, zero
    for j in range(_0, d, _A):
        sums = _begin(work, j, d, vectors, to + j, load(work, observed + j), sums)
    energy = total(sums)
    least = MIN_RESIDUAL * energy
    for step in range(n_steps):
        curve = np.float32(1) / max(_multiply(matrix, rows, n_rows, d, work), TINY)
        weight = splat(curve if step < VARIANCE_STEPS and energy > least else np.float32(0))
        length, sums = splat(energy * curve), zero
        for j in range(_0, d, _A):
            sums = _advance(work, j, d, load(work, observed + j), weight, length, sums)
        if step + 1 == n_steps:
            break
        before, energy = max(energy, TINY), total(sums)
        ratio = splat(energy / before)
        for j in range(_0, d, _A):
            _turn(work, j, d, ratio)
    for j in range(_0, d, _A):
        store(vectors, to + j, load(work, _4 * d + j))


@Kernel
def _solve_three(
    matrix: Single,
    rows: Indices,
    n_rows: np.uintp,
    n_steps: int,
    vectors: Single,
    to: np.uintp,
    work: Single,
) -> None:
    """Do what `_solve` does for three vectors: while one waits for its sums, others are computed."""
    d, zero = Index(work.size) // _16, splat(np.float32(0))
    n, d2, observed = _3 * d, _2 * d, _15 * d
    p = q = r = zero
    for j in range(_0, d, _A):
        seen, at = load(work, observed + j), to + j
        p = _begin(work, j, n, vectors, at, seen, p)
        q = _begin(work, d + j, n, vectors, at + d, seen, q)
        r = _begin(work, d2 + j, n, vectors, at + d2, seen, r)
    e, f, g = total(p), total(q), total(r)
    least = MIN_RESIDUAL * e, MIN_RESIDUAL * f, MIN_RESIDUAL * g
    for step in range(n_steps):
        a, b, c = _multiply_three(matrix, rows, n_rows, d, work)
        a, b, c = np.float32(1) / max(a, TINY), np.float32(1) / max(b, TINY), np.float32(1) / max(c, TINY)
        early = step < VARIANCE_STEPS
        u = splat(a if early and e > least[0] else np.float32(0))
        v = splat(b if early and f > least[1] else np.float32(0))
        w = splat(c if early and g > least[2] else np.float32(0))
        x, y, z = splat(e * a), splat(f * b), splat(g * c)
        p = q = r = zero
        for j in range(_0, d, _A):
            seen = load(work, observed + j)
            p = _advance(work, j, n, seen, u, x, p)
            q = _advance(work, d + j, n, seen, v, y, q)
            r = _advance(work, d2 + j, n, seen, w, z, r)
        if step + 1 == n_steps:
            break
        a, b, c = max(e, TINY), max(f, TINY), max(g, TINY)
        e, f, g = total(p), total(q), total(r)
        x, y, z = splat(e / a), splat(f / b), splat(g / c)
        for j in range(_0, d, _A):
            _turn(work, j, n, x)
            _turn(work, d + j, n, y)
            _turn(work, d2 + j, n, z)
    for j in range(_0, n, _A):
        store(vectors, to + j, load(work, _4 * n + j))


@InlinedKernel
def _begin(
    work: Single, at: Place, n: np.uintp, vectors: Single, to: Place, seen: Vector, sums: Vector
) -> Vector:
    """Set the residual and the direction to what is observed; add its squares to sums.

    Parts of `work` are n numbers apart.
    """
    residual, zero = multiply(seen, load(vectors, to)), splat(np.float32(0))
    store(work, at, residual)
    store(work, at + n, residual)
    store(work, at + _3 * n, zero)
    store(work, at + _4 * n, zero)
    return multiply_add(residual, residual, sums)


@InlinedKernel
def _advance(
    work: Single, at: Place, n: np.uintp, seen: Vector, weight: Vector, length: Vector, sums: Vector
) -> Vector:
    """Go along the direction for some length; add the squares of the new residual to sums."""
    product, reduction = load(work, at + _2 * n), load(work, at + _3 * n)
    store(work, at + _3 * n, multiply_add(weight, multiply(product, product), reduction))
    product = multiply(length, product)
    store(work, at + _4 * n, add(load(work, at + _4 * n), product))
    residual = subtract(load(work, at), multiply(seen, product))
    store(work, at, residual)
    return multiply_add(residual, residual, sums)


@InlinedKernel
def _turn(work: Single, at: Place, n: np.uintp, ratio: Vector) -> None:
    """Set the next direction."""
    store(work, at + n, multiply_add(ratio, load(work, at + n), load(work, at)))


@Kernel
def _multiply(matrix: Single, rows: Indices, n_rows: np.uintp, d: np.uintp, work: Single) -> np.float32:
    """Set the sum of some rows of a matrix (d * d), each times an entry of the direction.

    Returns the inner product of that sum and the direction.
    """
    m, j, to, sums = matrix, _0, _2 * d, splat(np.float32(0))
    while j + _H <= d:  # sums that stay in registers
        a = b = c = e = f = g = h = k = splat(np.float32(0))
        for n in range(n_rows):
            at, entry = rows[n] * d + j, splat(work[d + rows[n]])
            a, b = multiply_add(entry, load(m, at), a), multiply_add(entry, load(m, at + _A), b)
            c, e = multiply_add(entry, load(m, at + _B), c), multiply_add(entry, load(m, at + _C), e)
            f, g = multiply_add(entry, load(m, at + _D), f), multiply_add(entry, load(m, at + _E), g)
            h, k = multiply_add(entry, load(m, at + _F), h), multiply_add(entry, load(m, at + _G), k)
        sums = _set_four(work, to + j, d + j, a, b, c, e, sums)
        sums = _set_four(work, to + j + _D, d + j + _D, f, g, h, k, sums)
        j += _H
    while j + _D <= d:
        a = b = c = e = splat(np.float32(0))
        for n in range(n_rows):
            at, entry = rows[n] * d + j, splat(work[d + rows[n]])
            a, b = multiply_add(entry, load(m, at), a), multiply_add(entry, load(m, at + _A), b)
            c, e = multiply_add(entry, load(m, at + _B), c), multiply_add(entry, load(m, at + _C), e)
        sums = _set_four(work, to + j, d + j, a, b, c, e, sums)
        j += _D
    while j < d:
        a = b = splat(np.float32(0))
        for n in range(_0, n_rows, _2):  # the last one may be a row with the entry zero
            i, k = rows[Index(n)], rows[Index(n) + _1]
            a = multiply_add(splat(work[d + i]), load(m, i * d + j), a)
            b = multiply_add(splat(work[d + k]), load(m, k * d + j), b)
        sums = _set_one(work, to + j, d + j, add(a, b), sums)
        j += _A
    return total(sums)


@Kernel
def _multiply_three(
    matrix: Single, rows: Indices, n_rows: np.uintp, d: np.uintp, work: Single
) -> tuple[np.float32, np.float32, np.float32]:
    """Do what `_multiply` does for three directions: a row that was loaded is used three times."""
    j, one, two, three, to = _0, _3 * d, _4 * d, _5 * d, _6 * d
    sums = more = most = splat(np.float32(0))
    while j + _D <= d:
        a = b = c = e = f = g = h = k = p = q = r = s = splat(np.float32(0))
        for n in range(n_rows):
            i = rows[n]
            x, y, z = splat(work[one + i]), splat(work[two + i]), splat(work[three + i])
            at = i * d + j
            m = load(matrix, at)
            a, f, p = multiply_add(x, m, a), multiply_add(y, m, f), multiply_add(z, m, p)
            m = load(matrix, at + _A)
            b, g, q = multiply_add(x, m, b), multiply_add(y, m, g), multiply_add(z, m, q)
            m = load(matrix, at + _B)
            c, h, r = multiply_add(x, m, c), multiply_add(y, m, h), multiply_add(z, m, r)
            m = load(matrix, at + _C)
            e, k, s = multiply_add(x, m, e), multiply_add(y, m, k), multiply_add(z, m, s)
        sums = _set_four(work, to + j, one + j, a, b, c, e, sums)
        more = _set_four(work, to + d + j, two + j, f, g, h, k, more)
        most = _set_four(work, to + _2 * d + j, three + j, p, q, r, s, most)
        j += _D
    while j < d:
        a = f = p = b = g = q = splat(np.float32(0))
        for n in range(_0, n_rows, _2):  # the last one may be a row with entries zero
            i, k = rows[Index(n)], rows[Index(n) + _1]
            m, s = load(matrix, i * d + j), load(matrix, k * d + j)
            a, b = multiply_add(splat(work[one + i]), m, a), multiply_add(splat(work[one + k]), s, b)
            f, g = multiply_add(splat(work[two + i]), m, f), multiply_add(splat(work[two + k]), s, g)
            p, q = multiply_add(splat(work[three + i]), m, p), multiply_add(splat(work[three + k]), s, q)
        sums = _set_one(work, to + j, one + j, add(a, b), sums)
        more = _set_one(work, to + d + j, two + j, add(f, g), more)
        most = _set_one(work, to + _2 * d + j, three + j, add(p, q), most)
        j += _A
    return total(sums), total(more), total(most)


@InlinedKernel
def _set_one(work: Single, to: np.uintp, at: np.uintp, product: Vector, sums: Vector) -> Vector:
    """Set a vector of a product, and return sums plus its product with that of the direction."""
    store(work, to, product)
    return multiply_add(product, load(work, at), sums)


@InlinedKernel
def _set_four(
    work: Single, to: np.uintp, at: np.uintp, a: Vector, b: Vector, c: Vector, e: Vector, sums: Vector
) -> Vector:
    """Do what `_set_one` does for four vectors."""
    zero = splat(np.float32(0))
    even = _set_one(work, to + _B, at + _B, c, _set_one(work, to, at, a, sums))
    odd = _set_one(work, to + _C, at + _C, e, _set_one(work, to + _A, at + _A, b, zero))
    return add(even, odd)
