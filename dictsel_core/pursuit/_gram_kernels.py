"""The pursuit of `gram`, compiled: the same up to rounding.

A vector holds one number of each of `WIDTH` patches, the lanes, so that all of these are coded at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core._support.vectors import WIDTH, load, multiply, splat, store, subtract, where_larger

Single = NDArray[np.float32]
Index = np.uintp
Number = np.floating[Any]

_0, _1, _LANES = Index(0), Index(1), Index(WIDTH)


@Kernel
def pursue(
    grams: Floats,
    places: Ints,
    inverse: Floats,
    threshold: Number,
    min_scores: Floats,
    correlations: Floats,
    supports: Ints,
) -> Floats:
    """Write the supports of patches, of single precision, and return coefficients; see `gram._pursue`."""
    (n, n_atoms), capacity, n_masks = correlations.shape, supports.shape[1], len(grams)
    width, dtype = n_atoms + capacity, np.float32
    coefficients = np.empty((n, capacity), dtype)
    # Of each lane: orthogonal vectors, the residual, one over squared lengths of atoms, and of the vectors.
    vectors, rest = np.empty(capacity * width * WIDTH, dtype), np.empty(width * WIDTH, dtype)
    weights, inverse_lengths = np.empty(n_atoms * WIDTH, dtype), np.empty((capacity, WIDTH), dtype)
    scores, atoms, active = np.empty(WIDTH, dtype), np.empty(WIDTH, dtype), np.empty(WIDTH, np.bool_)
    chosen, masks, rows = np.empty(WIDTH, np.intp), np.empty(WIDTH, np.intp), np.empty(WIDTH, np.intp)
    for first in range(0, n, WIDTH):
        for lane in range(WIDTH):  # the channels of a patch together; the last one as often as needed
            patch, channel = divmod(min(first + lane, n - 1), n // n_masks)
            row = rows[lane] = channel * n_masks + patch
            masks[lane], active[lane] = patch, True
            for atom in range(n_atoms):
                at = Index(atom * WIDTH + lane)
                rest[at], weights[at] = correlations[row, atom], inverse[patch, atom]
        rest[n_atoms * WIDTH :] = 0
        for j in range(capacity):
            _choose(rest, weights, Index(n_atoms), scores, atoms)
            for lane in range(WIDTH):
                chosen[lane] = np.intp(atoms[lane])
                active[lane] &= scores[lane] > min_scores[rows[lane]]
            if not active.any():
                break
            for lane in range(WIDTH):
                place, gram, start = places[chosen[lane]], grams[masks[lane]], Index(j * width * WIDTH + lane)
                for atom in range(Index(n_atoms)):
                    vectors[start + atom * _LANES] = gram[Index(place[atom])]
            _orthogonalize(Index(j), n_atoms, vectors, inverse_lengths, chosen, threshold, active)
            for lane in range(WIDTH):
                scores[lane] = rest[chosen[lane] * WIDTH + lane] * inverse_lengths[j, lane]
                supports[rows[lane], j] = chosen[lane] if active[lane] else -1
            _subtract(rest, scores, vectors, Index(j * width), Index(n_atoms + j + 1))
        for lane in range(WIDTH):
            for j in range(capacity):
                coefficients[rows[lane], j] = -rest[(n_atoms + j) * WIDTH + lane]
    return coefficients


@Kernel
def _choose(rest: Single, weights: Single, n_atoms: np.uintp, scores: Single, chosen: Single) -> None:
    """Find the atom with the best score in each lane, the first of equal ones."""
    best, atoms = splat(np.float32(-1)), splat(np.float32(0))
    for atom in range(n_atoms):
        correlation = load(rest, atom * _LANES)
        score = multiply(multiply(correlation, correlation), load(weights, atom * _LANES))
        atoms = where_larger(score, best, splat(np.float32(atom)), atoms)
        best = where_larger(score, best, score, best)
    store(scores, _0, best)
    store(chosen, _0, atoms)


@Kernel
def _orthogonalize(
    j: np.uintp,
    n_atoms: int,
    vectors: Single,
    inverse_lengths: Single,
    chosen: Ints,
    threshold: Number,
    active: Bools,
) -> None:
    """Make the j-th vector of each lane orthogonal to the previous ones; end those that depend on them."""
    width = Index(n_atoms + len(inverse_lengths))
    overlaps, lengths = np.empty((int(j) + 1) * WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for lane in range(WIDTH):
        at = Index(chosen[lane] * WIDTH + lane)
        lengths[lane] = vectors[j * width * _LANES + at]
        for i in range(j):
            overlaps[i * _LANES + Index(lane)] = vectors[i * width * _LANES + at] * inverse_lengths[i, lane]
    for atom in range(n_atoms):
        _project(j, Index(atom), _0, width, overlaps, vectors)
    for i in range(j):
        row = Index(n_atoms) + Index(i)
        store(vectors, (j * width + row) * _LANES, splat(np.float32(0)))
        _project(j, row, Index(i), width, overlaps, vectors)
    store(vectors, (j * width + Index(n_atoms) + j) * _LANES, splat(np.float32(1)))
    for lane in range(WIDTH):
        remaining = vectors[j * width * _LANES + Index(chosen[lane] * WIDTH + lane)]
        active[lane] &= remaining > threshold * lengths[lane]
        inverse_lengths[j, lane] = 1 / remaining if active[lane] else 0


@Kernel
def _project(
    j: np.uintp, row: np.uintp, first: np.uintp, width: np.uintp, overlaps: Single, vectors: Single
) -> None:
    """Subtract from a row of the j-th vector those of previous vectors, times their overlaps."""
    value = load(vectors, (j * width + row) * _LANES)
    for i in range(first, j):
        other = load(vectors, (Index(i) * width + row) * _LANES)
        value = subtract(value, multiply(load(overlaps, Index(i) * _LANES), other))
    store(vectors, (j * width + row) * _LANES, value)


@Kernel
def _subtract(rest: Single, steps: Single, vectors: Single, start: np.uintp, n_rows: np.uintp) -> None:
    """Subtract rows of a vector, times the step of each lane."""
    step = load(steps, _0)
    for row in range(n_rows):
        value = multiply(step, load(vectors, (start + row) * _LANES))
        store(rest, row * _LANES, subtract(load(rest, row * _LANES), value))
