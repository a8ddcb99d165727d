"""Orthogonal matching pursuit patch by patch, on the entries that a patch has.

All arrays of a patch stay in the first levels of the cache.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Floats, Ints

Number = np.floating[Any]
Index = np.uintp
Indices = NDArray[np.uintp]
Keys = NDArray[np.signedinteger[Any]]

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

    Parameters
    ----------
    dictionary : tuple of ndarray
        Atoms (d, k), their squares, and lower bounds on the squared lengths
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
    (n_features, n_atoms), min_lengths = dictionary[0].shape, dictionary[2]
    atoms, squares = dictionary[0].reshape(-1), dictionary[1].reshape(-1)
    supports, coefficients, energies, path = codes
    n_masks, length, capacity = len(weights), Index(n_features + 4), supports.shape[1]
    entries, places = np.empty(length, np.uintp), np.empty(length, np.uintp)  # their rows begin at places
    factors = np.empty(length, atoms.dtype)
    products, scores = np.empty(length, atoms.dtype), keys.view(atoms.dtype)
    inverse, correlations = np.empty(n_atoms, atoms.dtype), np.empty(n_atoms, atoms.dtype)
    # The orthogonal vectors, one after the other, and the residual.
    vectors, residual = np.empty(Index(capacity) * length, atoms.dtype), np.empty(length, atoms.dtype)
    overlaps, steps = np.empty((capacity, capacity), atoms.dtype), np.empty((3, capacity), atoms.dtype)
    for mask in range(n_masks):
        n = _observe(weights[mask], entries, factors)
        for at in range(n + _4):
            places[at] = entries[at] * Index(n_atoms)
        d = (n + _3) // _4 * _4
        _multiply(factors, factors, d, products)
        _combine(squares, places, n, products, inverse)
        for atom in range(len(inverse)):
            inverse[atom] = 1 / max(inverse[atom], min_lengths[atom])
        for row in range(mask, len(data), n_masks):
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
                _take(atoms, chosen, places, factors, d, vectors, Index(j) * d)
                if not _append(vectors, Index(j), d, residual, inverse[chosen], limits, overlaps[j], steps):
                    break
                energy, n_steps = _dot(residual, _0, residual, _0, d), j + 1
                supports[row, j] = chosen
                if len(path):
                    path[row, n_steps:] = energy
            _substitute(overlaps, steps[0], n_steps, coefficients[row])
            energies[row] = energy


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
def _take(
    atoms: Floats,
    atom: np.uintp,
    places: Indices,
    factors: Floats,
    d: np.uintp,
    vectors: Floats,
    start: np.uintp,
) -> None:
    """Write what is observed of an atom, times the weights."""
    for at in range(d):
        vectors[start + at] = factors[at] * atoms[places[at] + atom]


@PartialKernel
def _multiply(left: Floats, right: Floats, d: np.uintp, out: Floats) -> None:
    """Write products."""
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
    """Make the j-th vector orthogonal to the previous ones, and the residual to it.

    Overlaps with the previous vectors are in units of their squared lengths. The rows of `steps` are the
    overlaps of the residual, one over the squared lengths, and memory. Returns whether the vector is
    independent.
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
    """Return the inner product of parts of two arrays, which begin somewhere."""
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
