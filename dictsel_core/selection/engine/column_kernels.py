"""Fits by the columns of supports, patch by patch and on observed entries alone; gains of Replacement OLS.

What `ColumnFit` and `_replacement_ols` do with NumPy, which multiplies missing entries too. The n observed
entries of a patch are padded with zeros to a multiple of `LANES`, so that loops have no remainder.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Floats, Ints

Doubles = NDArray[np.float64]
Number = np.floating[Any]
Index = np.signedinteger[Any]
#: Entries, ones and factors of what is observed; vectors, the inverse of R, and steps: see `_append`.
Memory = tuple[Ints, Doubles, Doubles, Doubles, Doubles, Doubles]

#: Entries whose rows of the ground set are added at the same time.
LANES = 8


@Kernel
def fit_columns(
    rows: Ints,
    supports: Ints,
    problem: tuple[Floats, Floats, Doubles],
    limits: tuple[float, float],
    residuals: Floats,
    fitted: tuple[Doubles, Doubles, Bools],
) -> None:
    """Fit patches by Gram-Schmidt, and write their residuals.

    Parameters
    ----------
    rows : (B,) ndarray of int
    supports : (B, S) ndarray of int
        With -1 behind the atoms of a support.
    problem : tuple of ndarray
        Data (T, d); factors of their entries (T or 1, d); atoms as rows (n + 1, d).
    limits : tuple of float
        Fraction of its squared length below which a column is made orthogonal a second time; strain up to
        which a fit is reliable.
    residuals : (T, d) ndarray
    fitted : tuple of ndarray
        What is written besides: weights (B, S), explained energies (B,), and whether the fit is reliable
        (B,); if it is not, the rest is left as it was or meaningless.
    """
    weights, explained, reliable = fitted
    memory = _memory(supports.shape[1], problem[0].shape[1])
    entries, present, vectors = memory[0], memory[1], memory[3]
    for b in range(len(rows)):
        n, _, energy, strain = _fit(rows[b], supports[b], problem, limits, memory, weights[b])
        reliable[b] = strain <= limits[1]
        if reliable[b]:
            explained[b] = energy - _dot(vectors[-1], vectors[-1], n)
            _scatter(vectors[-1], entries[:n], present, residuals[rows[b]])


@Kernel
def fit_with_gains(
    rows: Ints,
    supports: Ints,
    problem: tuple[Floats, Floats, Doubles],
    candidates: tuple[Floats, Floats, Floats, Ints],
    limits: tuple[float, float, float],
    kept: tuple[Floats, Floats, Floats, Doubles],
    fitted: tuple[Doubles, Doubles, Bools],
) -> None:
    """Fit patches as `fit_columns` does, and write the gains and costs of their replacements.

    Parameters
    ----------
    rows, supports, problem, fitted
        See `fit_columns`.
    candidates : tuple of ndarray
        Atoms as columns (d, n); the squared lengths of what is observed of them (T or 1, n); squared
        correlations up to which they are rounding errors (T,); atoms that equal an earlier one, and these
        (2, m).
    limits : tuple of float
        Those of `fit_columns`; fraction of its squared length that lies outside of a support, at least.
    kept : tuple of ndarray
        What is written for each patch: residuals (T, d), gains (T, n), the largest of them (T,), and costs
        (T, S'), infinite in empty slots.
    """
    atoms, lengths, rounding, duplicates = candidates
    residuals, gains, largest, costs = kept
    weights, explained, reliable = fitted
    memory = _memory(supports.shape[1], problem[0].shape[1])
    entries, present, scale, vectors, _, steps = memory
    products = np.empty((2, atoms.shape[1]), atoms.dtype)
    for b in range(len(rows)):
        row = rows[b]
        n, size, energy, strain = _fit(row, supports[b], problem, limits, memory, weights[b])
        reliable[b] = strain <= limits[1]
        if reliable[b]:
            places, residual = entries[:n], vectors[-1]
            left = _dot(residual, residual, n)
            explained[b] = energy - left
            _scatter(residual, places, present, residuals[row])
            costs[row] = np.inf
            for s in range(size):
                costs[row, s] = weights[b, s] * weights[b, s] / steps[1, s]
            _combine(atoms, places, scale, residual, gains[row])
            _sum_squares(atoms, places, scale, vectors[:size], products)
            known = lengths[min(row, len(lengths) - 1)]
            _divide(gains[row], known, products[0], (limits[2], rounding[row], left))
            largest[row] = _finish(gains[row], duplicates, supports[b, :size])


@PartialKernel
def _memory(capacity: int, n_features: int) -> Memory:
    """Return arrays that are used for one patch after another."""
    n = -(-n_features // LANES) * LANES
    entries, present, scale = np.empty(n + 1, np.intp), np.empty(n + 1), np.empty(n + 1)
    inverse, steps = np.empty((capacity, capacity)), np.empty((3, capacity))
    return entries, present, scale, np.empty((capacity + 1, n)), inverse, steps


@PartialKernel
def _fit(
    row: int,
    support: Ints,
    problem: tuple[Floats, Floats, Doubles],
    limits: tuple[float, ...],
    memory: Memory,
    weights: Doubles,
) -> tuple[int, Index, float, float]:
    """Fit a patch; write an orthonormal basis of its columns, its residual behind, and the weights.

    Returns how many entries there are with padding, the size of the support, the energy of the patch, and the
    strain; the fit is not finished if that exceeds its limit.
    """
    data, factors, padded_rows = problem
    entries, present, scale, vectors, inverse, steps = memory
    n = _observe(factors[min(row, len(factors) - 1)], entries, present, scale)
    _gather(data[row], entries[:n], present, vectors[-1])
    energy = _dot(vectors[-1], vectors[-1], n)
    weights[:] = 0
    size, strain = np.intp(0), 1.0  # of a type of its own, 0 would have helpers compiled twice
    while size < len(support) and support[size] >= 0 and strain <= limits[1]:
        _gather(padded_rows[support[size]], entries[:n], scale, vectors[size])
        strain = _append(vectors, size, n, limits[0], inverse, steps, weights)
        size += 1
    return n, size, energy, strain


@PartialKernel
def _observe(factors: Floats, entries: Ints, present: Doubles, scale: Doubles) -> int:
    """Write the observed entries, ones, and their factors; return how many there are with padding."""
    n = 0
    for entry in range(len(factors)):
        entries[n], present[n], scale[n] = entry, 1, factors[entry]
        n += 1 if factors[entry] > 0 else 0  # no branch, which could not be predicted
    while n % LANES:
        entries[n], present[n], scale[n] = 0, 0, 0
        n += 1
    return n


@PartialKernel
def _gather(values: Floats, places: Ints, scale: Doubles, out: Doubles) -> None:
    """Write the observed values, times factors that are zero for padding."""
    for i in range(len(places)):
        out[i] = scale[i] * values[places[i]]


@PartialKernel
def _scatter(values: Doubles, places: Ints, present: Doubles, out: Floats) -> None:
    """Write values to the observed entries, and zero to all others."""
    out[:] = 0
    for i in range(len(places)):
        if present[i]:
            out[places[i]] = values[i]


@PartialKernel
def _append(
    vectors: Doubles,
    j: Index,
    n: int,
    repeat_below: float,
    inverse: Doubles,
    steps: Doubles,
    weights: Doubles,
) -> float:
    """Make vector j orthonormal to the previous ones, and the last one, the residual, orthogonal to it.

    With V = QR for the columns V of a patch, row j of `inverse` becomes column j of the inverse of R. The
    rows of `steps` are overlaps, the diagonal of the inverse of V^T V, and the squared lengths of columns.
    Weights are updated. Returns the strain, the largest product of that diagonal and the squared lengths.
    """
    overlaps, diagonal, lengths = steps[0], steps[1], steps[2]
    lengths[j] = _dot(vectors[j], vectors[j], n)
    remaining = _orthogonalize(vectors, j, n, repeat_below * lengths[j], overlaps)
    if not remaining > 0:
        return np.inf
    unit = 1 / np.sqrt(remaining)
    for i in range(n):
        vectors[j, i] *= unit
    step = _dot(vectors[j], vectors[-1], n)
    _subtract(vectors[-1], step, vectors[j], n)
    diagonal[j], strain = 0, 0.0
    for i in range(j + 1):
        entry = 1.0 if i == j else 0.0
        for k in range(i, j):
            entry -= inverse[k, i] * overlaps[k]
        inverse[j, i] = entry * unit
        diagonal[i] += inverse[j, i] * inverse[j, i]
        weights[i] += inverse[j, i] * step
        strain = max(strain, lengths[i] * diagonal[i])
    return strain


@PartialKernel
def _orthogonalize(vectors: Doubles, j: Index, n: int, enough: float, overlaps: Doubles) -> float:
    """Make vector j orthogonal to the previous ones, twice unless enough of it remains; return how much."""
    overlaps[:j] = 0
    remaining = 0.0
    for _ in range(2):
        for i in range(j):
            overlap = _dot(vectors[i], vectors[j], n)
            overlaps[i] += overlap
            _subtract(vectors[j], overlap, vectors[i], n)
        remaining = _dot(vectors[j], vectors[j], n)
        if remaining >= enough:
            break
    return remaining


@PartialKernel
def _sum_squares(atoms: Floats, places: Ints, scale: Doubles, vectors: Doubles, out: Floats) -> None:
    """Write the sum over vectors of their squared products with all atoms to the first of two rows."""
    total, products = out[0], out[1]
    total[:] = 0
    for s in range(len(vectors)):
        _combine(atoms, places, scale, vectors[s], products)
        for a in range(len(total)):
            total[a] += products[a] * products[a]


@PartialKernel
def _combine(rows: Floats, places: Ints, scale: Doubles, vector: Doubles, out: Floats) -> None:
    """Write the sum of some rows, times the entries of a vector and their factors: four at a time."""
    number = out.dtype.type
    out[:] = 0
    for i in range(0, len(places), 4):
        p, q = number(scale[i] * vector[i]), number(scale[i + 1] * vector[i + 1])
        u, v = number(scale[i + 2] * vector[i + 2]), number(scale[i + 3] * vector[i + 3])
        one, two, three, four = rows[places[i]], rows[places[i + 1]], rows[places[i + 2]], rows[places[i + 3]]
        for a in range(len(out)):
            out[a] += p * one[a] + q * two[a] + (u * three[a] + v * four[a])


@PartialKernel
def _divide(gains: Floats, lengths: Floats, inside: Floats, limits: tuple[float, Number, float]) -> None:
    """Turn correlations into gains.

    The limits are the fraction of a squared length that lies outside, at least; the squared correlation up to
    which it is a rounding error; and the energy of the residual.
    """
    number = gains.dtype.type
    least, noise, energy = number(limits[0]), limits[1], number(limits[2])
    everything = energy * number(1 - np.sqrt(np.finfo(gains.dtype).eps))
    for a in range(len(gains)):
        outside = max(lengths[a] - inside[a], least * lengths[a])
        square = gains[a] * gains[a]
        gain = square / outside
        gain = energy if gain > everything else gain
        gains[a] = gain if (square > noise) & (outside > 0) else 0


@PartialKernel
def _finish(gains: Floats, duplicates: Ints, support: Ints) -> Number:
    """Make the gains of equal atoms equal, and those of atoms in use zero; return the largest."""
    for m in range(duplicates.shape[1]):
        gains[duplicates[0, m]] = gains[duplicates[1, m]]
    for s in range(len(support)):
        gains[support[s]] = 0
    largest: Number = gains[0]
    for a in range(len(gains)):
        largest = max(largest, gains[a])
    return largest


@PartialKernel
def _dot(left: Doubles, right: Doubles, n: int) -> float:
    """Return an inner product."""
    result = 0.0
    for i in range(n):
        result += left[i] * right[i]
    return result


@PartialKernel
def _subtract(target: Doubles, factor: float, vector: Doubles, n: int) -> None:
    """Subtract a multiple of one vector from another."""
    for i in range(n):
        target[i] -= factor * vector[i]
