"""Orthogonal matching pursuit patch by patch, on the entries that a patch has: what `Pursuit` does.

All arrays of a patch stay in the first levels of the cache. Entries are in blocks of `LANES`, the last one
padded with zeros, and the number of atoms is a multiple of it, so that loops have no remainder.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import InlinedKernel, Kernel
from dictsel_core._support.validation import Floats, Ints

Number = np.floating[Any]
Index = np.signedinteger[Any]
Keys = NDArray[Index]

#: Entries of a block, whose rows of the dictionary are added at the same time.
LANES = 8


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

    Parameters
    ----------
    dictionary : tuple of ndarray
        Atoms (d, k), where k is a multiple of `LANES`, their squares, and lower bounds on the squared lengths
        of what is observed of them (k,): infinity if an atom may not be selected.
    data : (n, d) ndarray
        Multiplied by the weights; missing entries are not read.
    weights : (n / C, d) ndarray
        Those of every n / C consecutive rows of the data, between 0 and 1.
    caps : (n,) ndarray of int
    keys : (k,) ndarray of int
        Memory for the scores, in integers of the same size.
    limits : tuple of float
        Fraction of the energy of a patch that is a score of rounding errors; fractions of the squared length
        of an atom below which it is dependent, and below which it is made orthogonal a second time; squared
        residual at which a patch is finished.
    codes : tuple of ndarray
        What is written: supports (n, s), which are filled with -1, coefficients (n, s), filled with 0, the
        energies of the residuals (n,), and their path (n, s + 1) after every step, or (0, 0) if not wanted.
    """
    atoms, squares, min_lengths = dictionary[0].copy(), dictionary[1].copy(), dictionary[2]  # aligned
    supports, coefficients, energies, path = codes
    n_masks, n_blocks, capacity = len(weights), -(-atoms.shape[0] // LANES), supports.shape[1]
    entries, factors = np.empty((n_blocks + 1, LANES), np.intp), np.empty((n_blocks + 1, LANES), atoms.dtype)
    products = np.empty((n_blocks, LANES), atoms.dtype)
    inverse, correlations = np.empty(atoms.shape[1], atoms.dtype), np.empty(atoms.shape[1], atoms.dtype)
    scores = keys.view(atoms.dtype)
    memory = np.empty((capacity + 1) * n_blocks * LANES, atoms.dtype)
    overlaps, steps = np.empty((capacity, capacity), atoms.dtype), np.empty((3, capacity), atoms.dtype)
    for mask in range(n_masks):
        n = _observe(weights[mask], entries.reshape(-1), factors.reshape(-1))
        places, scale, scaled = entries[:n], factors[:n], products[:n]
        vectors = memory[: (capacity + 1) * n * LANES].reshape(capacity + 1, n, LANES)
        residual = vectors[capacity]
        _multiply(scale, scale, scaled)
        _combine(squares, places, scaled, inverse)
        for atom in range(len(inverse)):
            inverse[atom] = 1 / max(inverse[atom], min_lengths[atom])
        for row in range(mask, len(data), n_masks):
            _gather(data[row], places, scale, residual)
            energy = _dot(residual, residual)
            min_score, n_steps = energy * limits[0], 0
            if len(path):
                path[row] = energy
            for j in range(min(capacity, caps[row])):
                if not energy > limits[3]:
                    break
                _multiply(scale, residual, scaled)
                _combine(atoms, places, scaled, correlations)
                chosen = _choose(correlations, inverse, scores, keys)
                if not scores[chosen] > min_score:
                    break
                _take(atoms, chosen, places, scale, vectors[j])
                if not _append(vectors, j, inverse[chosen], limits, overlaps[j], steps):
                    break
                energy, n_steps, supports[row, j] = _dot(residual, residual), j + 1, chosen
                if len(path):
                    path[row, n_steps:] = energy
            _substitute(overlaps, steps[0], n_steps, coefficients[row])
            energies[row] = energy


@InlinedKernel
def _observe(weights: Floats, entries: Ints, factors: Floats) -> Index:
    """Write the observed entries and their weights, and return the number of their blocks."""
    n, one, none = np.uint64(0), np.uint64(1), np.uint64(0)  # without a sign, as an index needs no check
    for entry in range(len(weights)):
        entries[n], factors[n] = entry, weights[entry]
        n += one if weights[entry] > 0 else none  # no branch, which could not be predicted
    while n % np.uint64(LANES):
        entries[n], factors[n] = 0, 0
        n += one
    return np.intp(n) // LANES


@InlinedKernel
def _gather(values: Floats, places: Ints, scale: Floats, out: Floats) -> None:
    """Write the observed values of a patch; those of padding are zero."""
    for block in range(len(places)):
        for lane in range(LANES):
            observed = scale[block, lane] > 0
            out[block, lane] = values[places[block, lane]] if observed else 0


@InlinedKernel
def _take(atoms: Floats, atom: Index, places: Ints, scale: Floats, out: Floats) -> None:
    """Write what is observed of an atom, times the weights."""
    for block in range(len(places)):
        for lane in range(LANES):
            out[block, lane] = scale[block, lane] * atoms[places[block, lane], atom]


@InlinedKernel
def _multiply(left: Floats, right: Floats, out: Floats) -> None:
    """Write products of blocks."""
    for block in range(len(out)):
        for lane in range(LANES):
            out[block, lane] = left[block, lane] * right[block, lane]


@InlinedKernel
def _combine(rows: Floats, places: Ints, factors: Floats, out: Floats) -> None:
    """Write the sum of some rows, times factors."""
    out[:] = 0
    for block in range(len(places)):
        i, f = places[block], factors[block]
        row0, row1, row2, row3 = rows[i[0]], rows[i[1]], rows[i[2]], rows[i[3]]
        row4, row5, row6, row7 = rows[i[4]], rows[i[5]], rows[i[6]], rows[i[7]]
        f0, f1, f2, f3, f4, f5, f6, f7 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
        for atom in range(len(out)):
            half = out[atom] + f0 * row0[atom] + f1 * row1[atom] + f2 * row2[atom] + f3 * row3[atom]
            out[atom] = half + f4 * row4[atom] + f5 * row5[atom] + f6 * row6[atom] + f7 * row7[atom]


@InlinedKernel
def _choose(correlations: Floats, inverse: Floats, scores: Floats, keys: Keys) -> Index:
    """Write the scores, and return the first of the atoms with the largest one."""
    for atom in range(len(scores)):
        scores[atom] = correlations[atom] * correlations[atom] * inverse[atom]
    # Numbers that are not negative have the order of their bits, and the largest integer is found in lanes.
    largest = keys[0]
    for atom in range(len(keys)):  # by numbers, which is faster than by elements
        largest = max(largest, keys[atom])
    last = np.int32(len(keys))
    chosen = last
    for atom in range(len(keys)):
        chosen = min(chosen, np.int32(atom) if keys[atom] == largest else last)
    return chosen


@InlinedKernel
def _append(
    vectors: Floats,
    j: int,
    inverse_length: Number,
    limits: tuple[Number, ...],
    overlaps: Floats,
    steps: Floats,
) -> bool:
    """Make the j-th vector orthogonal to the previous ones, and the last one, the residual, to it.

    Overlaps with the previous vectors are in units of their squared lengths. The rows of `steps` are the
    overlaps of the residual, one over the squared lengths, and memory. Returns whether the vector is
    independent.
    """
    vector, residual = vectors[j], vectors[-1]
    overlaps[:j] = 0
    remaining = limits[0]
    for _ in range(2):
        for i in range(j):
            steps[2, i] = _dot(vectors[i], vector) * steps[1, i]
        for i in range(j):
            overlaps[i] += steps[2, i]
            _subtract(vector, steps[2, i], vectors[i])
        remaining = _dot(vector, vector)
        if j == 0 or not remaining * inverse_length < limits[2]:
            break
    if not remaining * inverse_length > limits[1]:
        return False
    steps[1, j] = 1 / remaining
    steps[0, j] = _dot(vector, residual) * steps[1, j]
    _subtract(residual, steps[0, j], vector)
    return True


@InlinedKernel
def _substitute(overlaps: Floats, steps: Floats, n_steps: int, coefficients: Floats) -> None:
    """Write the coefficients of the atoms, given those of the orthogonal vectors."""
    for j in range(n_steps - 1, -1, -1):
        coefficient = steps[j]
        for i in range(j + 1, n_steps):
            coefficient -= overlaps[i, j] * coefficients[i]
        coefficients[j] = coefficient


@InlinedKernel
def _dot(left: Floats, right: Floats) -> Number:
    """Return an inner product, summed by lanes."""
    sum0 = sum1 = sum2 = sum3 = sum4 = sum5 = sum6 = sum7 = left.dtype.type(0)
    for block in range(len(left)):
        x, y = left[block], right[block]
        sum0 += x[0] * y[0]
        sum1 += x[1] * y[1]
        sum2 += x[2] * y[2]
        sum3 += x[3] * y[3]
        sum4 += x[4] * y[4]
        sum5 += x[5] * y[5]
        sum6 += x[6] * y[6]
        sum7 += x[7] * y[7]
    return ((sum0 + sum4) + (sum2 + sum6)) + ((sum1 + sum5) + (sum3 + sum7))


@InlinedKernel
def _subtract(target: Floats, factor: Number, blocks: Floats) -> None:
    """Subtract a multiple of one vector from another."""
    for block in range(len(target)):
        for lane in range(LANES):
            target[block, lane] -= factor * blocks[block, lane]
