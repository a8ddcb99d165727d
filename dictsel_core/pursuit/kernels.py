"""Patches fitted by atoms on the entries that they have: pursuits, supports, and the gains of all atoms.

One Gram-Schmidt serves all: vectors of a patch are made orthogonal one after the other, and the residual to
them. All arrays of a patch stay in the first levels of the cache.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints

Number = float | np.floating[Any]
Index = np.uintp
Indices = NDArray[np.uintp]
Keys = NDArray[np.signedinteger[Any]]
#: Data (T, d); factors of their entries (T or 1, d); atoms as rows (n + 1, d).
FitProblem = tuple[Floats, Floats, Doubles]
#: Weights (B, S), explained energies (B,), and whether the fit is reliable, which alone is written if it is
#: not.
Fitted = tuple[Doubles, Doubles, Bools]
#: Observed entries and their factors; vectors and residual; overlaps, steps and the inverse: see `_append`.
Memory = tuple[Indices, Doubles, Doubles, Doubles, Doubles, Doubles, Doubles]

_0, _1, _2, _3, _4 = (Index(number) for number in range(5))


@Kernel
def pursue(
    dictionary: tuple[Floats, Floats, Floats],
    data: Floats,
    weights: Floats,
    caps: Ints,
    keys: Keys,
    limits: tuple[Number, ...],
    codes: tuple[Ints, Floats, Floats, Floats],
) -> None:
    """Code a chunk of patches.

    The dictionary is the atoms (d, k), their squares, and lower bounds on the squared lengths of what is
    observed of them, infinite for atoms that may not be selected. Data (B, d) are multiplied by the weights
    (B, d), and missing entries not read. Keys (k,) are memory for scores. The limits are those of `_append`
    between the fraction of the energy that is a score of rounding errors and the squared residual at which a
    patch is finished. The codes are supports filled with -1 and coefficients with 0, (B, s), energies of the
    residuals, (B,), and their path (B, s + 1), or (0, 0) if not wanted.
    """
    (n_features, n_atoms), min_lengths = dictionary[0].shape, dictionary[2]
    atoms, squares = dictionary[0].reshape(-1), dictionary[1].reshape(-1)
    supports, coefficients, energies, path = codes
    length, capacity = Index(n_features + 4), supports.shape[1]
    entries, places = np.empty(length, np.uintp), np.empty(length, np.uintp)  # their rows begin at places
    factors = np.empty(length, atoms.dtype)
    products, scores = np.empty(length, atoms.dtype), keys.view(atoms.dtype)
    inverse, correlations = np.empty(n_atoms, atoms.dtype), np.empty(n_atoms, atoms.dtype)
    # The orthogonal vectors, one after the other, and the residual.
    vectors, residual = np.empty(Index(capacity) * length, atoms.dtype), np.empty(length, atoms.dtype)
    overlaps, steps = np.empty((capacity, capacity), atoms.dtype), np.empty((3, capacity), atoms.dtype)
    for row in range(len(data)):
        n = _observe(weights[row], entries, factors)
        for at in range(n + _4):
            places[at] = entries[at] * Index(n_atoms)
        d = (n + _3) // _4 * _4
        _multiply(factors, factors, d, products)
        _combine(squares, places, n, products, inverse)
        for atom in range(len(inverse)):
            inverse[atom] = 1 / max(inverse[atom], min_lengths[atom])
        _gather(data[row], entries, n, d, residual)
        energy = _dot(residual, _0, residual, _0, d)
        min_score, n_steps = energy * limits[0], 0
        if len(path):
            path[row] = energy
        for j in range(min(capacity, caps[row])):
            if not energy > limits[3]:
                break
            _multiply(factors, residual, d, products)
            _combine(atoms, places, n, products, correlations)
            chosen = _choose(correlations, inverse, scores, keys)
            if not scores[chosen] > min_score:
                break
            for at in range(d):
                vectors[Index(j) * d + at] = factors[at] * atoms[places[at] + chosen]
            if not _append(vectors, Index(j), d, residual, inverse[chosen], limits, overlaps[j], steps):
                break
            energy, n_steps = _dot(residual, _0, residual, _0, d), j + 1
            supports[row, j] = chosen
            if len(path):
                path[row, n_steps:] = energy
        _substitute(overlaps, steps[0], n_steps, coefficients[row])
        energies[row] = energy


@Kernel
def append_columns(
    j: int,
    inverse_lengths: Floats,
    limits: tuple[Number, ...],
    taken: Bools,
    residuals: Floats,
    vectors: Floats,
    overlaps: Floats,
    steps: Floats,
) -> None:
    """Append column j, which is in vectors (B, s * d), to the fits of patches that take it."""
    d = Index(residuals.shape[1])
    for row in range(len(taken)):
        own, moves = overlaps[row, j], steps[row]
        if taken[row]:
            taken[row] = _append(
                vectors[row], Index(j), d, residuals[row], inverse_lengths[row], limits, own, moves
            )
        if not taken[row]:
            own[:] = 0
            moves[:, j] = 0


@Kernel
def solve_columns(n_columns: int, overlaps: Floats, steps: Floats, coefficients: Floats) -> None:
    """Write the coefficients (B, s) of the columns that were appended."""
    for row in range(len(coefficients)):
        _substitute(overlaps[row], steps[row, 0], n_columns, coefficients[row])


@Kernel
def fit_columns(
    rows: Ints,
    supports: Ints,
    problem: FitProblem,
    limits: tuple[float, ...],
    residuals: Floats,
    fitted: Fitted,
) -> None:
    """Fit patches by their supports (B, S), with -1 behind the atoms, and write their residuals (T, d)."""
    weights, explained, reliable = fitted
    memory = _memory(supports.shape[1], problem[0].shape[1])
    for b in range(len(rows)):
        n, _, energy, left = _fit(rows[b], supports[b], problem, limits, memory, weights[b])
        reliable[b], explained[b] = left >= 0, energy - left
        if reliable[b]:
            _scatter(memory[3], memory[0], n, residuals[rows[b]])


@Kernel
def fit_with_gains(
    rows: Ints,
    supports: Ints,
    problem: FitProblem,
    candidates: tuple[Floats, Floats, Floats, Ints],
    limits: tuple[float, ...],
    kept: tuple[Floats, Floats, Floats, Doubles],
    fitted: Fitted,
) -> None:
    """Fit patches as `fit_columns` does, and write the gains and costs of their replacements.

    The candidates are all atoms as columns, the squared lengths of what is observed of them (T or 1, n),
    squared correlations up to which they are rounding errors (T,), and duplicates (2, m). The last limit is
    the fraction of its squared length by which an atom lies outside of a support, at least. Kept are
    residuals (T, d), gains (T, n), the largest of each patch, and costs (T, S'), infinite in empty slots.
    """
    atoms, lengths, rounding, duplicates = candidates
    residuals, gains, largest, costs = kept
    weights, explained, reliable = fitted
    memory = _memory(supports.shape[1], problem[0].shape[1])
    entries, scale, vectors, residual, _, steps, _ = memory
    flat, n_atoms = atoms.reshape(-1), Index(atoms.shape[1])
    places, products = np.empty(len(entries), np.uintp), np.empty(len(entries), atoms.dtype)
    inside, combined = np.empty(n_atoms, atoms.dtype), np.empty(n_atoms, atoms.dtype)
    for b in range(len(rows)):
        row = rows[b]
        n, size, energy, left = _fit(row, supports[b], problem, limits, memory, weights[b])
        reliable[b], explained[b] = left >= 0, energy - left
        if not reliable[b]:
            continue
        _scatter(residual, entries, n, residuals[row])
        costs[row] = np.inf
        for s in range(size):
            costs[row, s] = weights[b, s] * weights[b, s] / steps[3, s]
        d = (n + _3) // _4 * _4
        for at in range(d):
            places[at] = entries[at] * n_atoms
        inside[:] = 0
        for s in range(size):
            _multiply(scale, vectors[Index(s) * d : Index(s + 1) * d], d, products)
            _combine(flat, places, n, products, combined)
            unit = atoms.dtype.type(steps[1, s])
            for a in range(len(inside)):
                inside[a] += unit * combined[a] * combined[a]
        _multiply(scale, residual, d, products)
        _combine(flat, places, n, products, gains[row])
        known = lengths[min(row, len(lengths) - 1)]
        _divide(gains[row], known, inside, (limits[3], rounding[row], left))
        largest[row] = _finish(gains[row], duplicates, supports[b, :size])


@PartialKernel
def _memory(capacity: int, n_features: int) -> Memory:
    """Return arrays that are used for one patch after another."""
    n = n_features + 4
    overlaps, steps = np.empty((capacity, capacity)), np.empty((5, capacity))
    inverse, vectors = np.empty((capacity, capacity)), np.empty(capacity * n)
    return np.empty(n, np.uintp), np.empty(n), vectors, np.empty(n), overlaps, steps, inverse


@PartialKernel
def _fit(
    row: int, support: Ints, problem: FitProblem, limits: tuple[float, ...], memory: Memory, weights: Doubles
) -> tuple[np.uintp, int, Number, Number]:
    """Fit a patch; return how many entries and atoms it has, its energy, and that of the residual.

    The latter is -1 if the fit is unreliable: if the squared length of a column times a diagonal entry of the
    inverse Gram matrix, which the fourth row of `steps` becomes, exceeds one over the first limit.
    """
    data, factors, padded_rows = problem
    entries, scale, vectors, residual, overlaps, steps, inverse = memory
    n = _observe(factors[min(row, len(factors) - 1)], entries, scale)
    d = (n + _3) // _4 * _4
    _gather(data[row], entries, n, d, residual)
    energy, size, reliable = _dot(residual, _0, residual, _0, d), 0, True
    weights[:] = 0
    while reliable and size < len(support) and support[size] >= 0:
        column = vectors[Index(size) * d : Index(size + 1) * d]
        _gather(padded_rows[support[size]], entries, n, d, column)
        _multiply(scale, column, d, column)
        steps[4, size] = _dot(column, _0, column, _0, d)
        reliable = _append(
            vectors, Index(size), d, residual, 1 / steps[4, size], limits, overlaps[size], steps
        )
        size += 1
    if reliable:
        _invert(overlaps, steps, size, inverse, weights)
        for s in range(size):
            reliable &= limits[0] * steps[4, s] * steps[3, s] <= 1
    return n, size, energy, _dot(residual, _0, residual, _0, d) if reliable else -1.0


@PartialKernel
def _invert(overlaps: Doubles, steps: Doubles, size: int, inverse: Doubles, weights: Doubles) -> None:
    """Write weights, and the diagonal of the inverse Gram matrix, by the inverse of the unit triangle."""
    steps[3, :size] = 0
    for j in range(size):
        for i in range(j + 1):
            entry = 1.0 if i == j else 0.0
            for k in range(i, j):
                entry -= inverse[k, i] * overlaps[j, k]
            inverse[j, i] = entry
            steps[3, i] += entry * entry * steps[1, j]
            weights[i] += entry * steps[0, j]


@PartialKernel
def _scatter(values: Doubles, entries: Indices, n: np.uintp, out: Floats) -> None:
    """Write values to the observed entries, and zero to all others."""
    out[:] = 0
    for at in range(n):
        out[entries[at]] = values[at]


@PartialKernel
def _observe(weights: Floats, entries: Indices, factors: Floats) -> np.uintp:
    """Write the observed entries and their weights, and return how many there are."""
    n = _0
    for entry in range(Index(len(weights))):
        entries[n], factors[n] = entry, weights[entry]
        n += _1 if weights[entry] > 0 else _0  # no branch, which could not be predicted
    for at in range(n, n + _4):
        entries[at], factors[at] = _0, 0
    return n


@PartialKernel
def _gather(values: Floats, entries: Indices, n: np.uintp, d: np.uintp, out: Floats) -> None:
    """Write the observed values of a patch, then zeros."""
    for at in range(n):
        out[at] = values[entries[at]]
    for at in range(n, d):
        out[at] = 0


@PartialKernel
def _multiply(left: Floats, right: Floats, d: np.uintp, out: Floats) -> None:
    for at in range(d):
        out[at] = left[at] * right[at]


@PartialKernel
def _combine(rows: Floats, places: Indices, n: np.uintp, factors: Floats, out: Floats) -> None:
    """Write the sum of some rows, times factors: four at a time, of which the last ones may be zero."""
    k = Index(len(out))
    for j in range(k):
        out[j] = 0
    for i in range(_0, n, _4):
        at = Index(i)
        one, two, three, four = places[at], places[at + _1], places[at + _2], places[at + _3]
        p, q, u, v = factors[at], factors[at + _1], factors[at + _2], factors[at + _3]
        for j in range(k):
            out[j] += p * rows[one + j] + q * rows[two + j] + (u * rows[three + j] + v * rows[four + j])


@PartialKernel
def _choose(correlations: Floats, inverse: Floats, scores: Floats, keys: Keys) -> np.uintp:
    """Write the scores, and return the first of the atoms with the largest one."""
    for j in range(Index(len(scores))):
        scores[j] = correlations[j] * correlations[j] * inverse[j]
    # Numbers that are not negative have the order of their bits, and the largest integer is found in lanes.
    largest = keys[0]
    for atom in range(len(keys)):  # by numbers, which is faster than by elements
        largest = max(largest, keys[atom])
    last = np.int32(len(keys))
    chosen = last
    for atom in range(len(keys)):
        chosen = min(chosen, np.int32(atom) if keys[atom] == largest else last)
    return Index(chosen)


@PartialKernel
def _append(
    vectors: Floats,
    j: np.uintp,
    d: np.uintp,
    residual: Floats,
    inverse_length: Number,
    limits: tuple[Number, ...],
    overlaps: Floats,
    steps: Floats,
) -> bool:
    """Make the j-th vector orthogonal to the previous ones, and the residual to it; False if it is dependent.

    The overlaps with the previous vectors are in units of their squared lengths. The rows of `steps` are the
    overlaps of the residual, one over the squared lengths, and memory. The limits that count are the
    fractions of the squared length below which a vector is dependent, [1], and made orthogonal a second time,
    [2].
    """
    own = j * d
    overlaps[:j] = 0
    remaining = limits[0]
    for _ in range(2):
        for i in range(j):
            steps[2, i] = _dot(vectors, i * d, vectors, own, d) * steps[1, i]
        for i in range(j):
            overlaps[i] += steps[2, i]
            _subtract(vectors, own, steps[2, i], vectors, i * d, d)
        remaining = _dot(vectors, own, vectors, own, d)
        if j == _0 or not remaining * inverse_length < limits[2]:
            break
    if not remaining * inverse_length > limits[1]:
        return False
    steps[1, j] = 1 / remaining
    steps[0, j] = _dot(vectors, own, residual, _0, d) * steps[1, j]
    _subtract(residual, _0, steps[0, j], vectors, own, d)
    return True


@PartialKernel
def _substitute(overlaps: Floats, steps: Floats, n_steps: int, coefficients: Floats) -> None:
    """Write the coefficients of the atoms, given those of the orthogonal vectors."""
    for j in range(n_steps - 1, -1, -1):
        coefficient = steps[j]
        for i in range(j + 1, n_steps):
            coefficient -= overlaps[i, j] * coefficients[i]
        coefficients[j] = coefficient


@PartialKernel
def _dot(left: Floats, first: np.uintp, right: Floats, second: np.uintp, d: np.uintp) -> Number:
    total = left.dtype.type(0)
    for at in range(d):
        total += left[first + at] * right[second + at]
    return total


@PartialKernel
def _subtract(
    target: Floats, first: np.uintp, factor: Number, vector: Floats, second: np.uintp, d: np.uintp
) -> None:
    """Subtract a multiple of a part of one array from that of another."""
    for at in range(d):
        target[first + at] -= factor * vector[second + at]


@PartialKernel
def _divide(gains: Floats, lengths: Floats, inside: Floats, limits: tuple[float, Number, Number]) -> None:
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
