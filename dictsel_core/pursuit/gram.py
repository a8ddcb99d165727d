"""Orthogonal matching pursuit by Gram matrices, which is faster for small dictionaries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Kernel, is_enabled
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.pursuit.batch import duplicate_columns

Number = np.floating[Any]

#: Largest dictionary for which it is faster than `Pursuit`; without compiled code that would be 40.
MAX_ATOMS = 64
#: An atom is dependent on the selected ones if less than this many machine epsilons of its squared length are
#: orthogonal to them.
_DEPENDENCE_EPSILONS = 1e3
#: Patches that the compiled code works on at the same time: enough for the loops over them to be fast, few
#: enough for their vectors to stay in the cache.
_LANES = 64


class GramPursuit:
    """Codes chunks of patches like `Pursuit`, with k x k matrices in place of d-dimensional columns.

    The masked Gram matrices of all patches are one matrix product, of the weights with the products of
    all pairs of atoms. All other operations are on vectors of k correlations: each selected atom is made
    orthogonal to the previous ones in the inner product of its patch. This is less precise than `Pursuit`:
    atoms that are nearly dependent under the mask count as dependent earlier. It may be called from several
    threads.

    Parameters
    ----------
    atoms : (d, k) ndarray
    capacity : int
        Maximum sparsity of any patch.
    """

    def __init__(self, atoms: Floats, capacity: int) -> None:
        n_atoms = atoms.shape[1]
        self.atoms = np.ascontiguousarray(atoms)
        self._capacity = min(capacity, *atoms.shape)
        # Each pair once, and where that of atoms i and j is.
        rows, columns = np.triu_indices(n_atoms)
        self._pairs = np.ascontiguousarray(atoms[:, rows] * atoms[:, columns])
        self._places = np.empty((n_atoms, n_atoms), np.intp)
        self._places[rows, columns] = self._places[columns, rows] = np.arange(len(rows))
        self._usable = ~duplicate_columns(self.atoms)
        self._dependence_threshold = _DEPENDENCE_EPSILONS * float(np.finfo(atoms.dtype).eps)

    def __call__(self, data: Floats, weights: Floats) -> tuple[Ints, Floats]:
        """Code one chunk by weighted least squares.

        Parameters
        ----------
        data : (C * B, d) ndarray
            Multiplied by the weights: zero at missing entries.
        weights : (B, d) ndarray
            1 where observed, 0 where missing, between 0 and 1 for weak observations. They are those of every
            B consecutive rows of the data.

        Returns
        -------
        supports : (C * B, s) ndarray of int
            Padded with -1.
        coefficients : (C * B, s) ndarray
            Padded with 0.
        """
        squares = np.square(weights)
        grams = squares @ self._pairs
        lengths = grams.take(self._places.diagonal(), axis=1)
        # Weak observations are all there is where nothing else is observed.
        visible = self._dependence_threshold * squares.max(axis=1, keepdims=True)
        hidden = (lengths <= visible) | ~self._usable
        inverse = 1 / np.where(hidden, np.inf, lengths).astype(data.dtype, copy=False)
        min_scores = np.vecdot(data, data) * self._dependence_threshold**2
        correlations = (data.reshape(-1, *weights.shape) * weights).reshape(data.shape) @ self.atoms
        supports = np.full((len(data), self._capacity), -1)
        pursue = _pursue_compiled if is_enabled() else _pursue
        threshold = data.dtype.type(self._dependence_threshold)
        return supports, pursue(grams, self._places, inverse, threshold, min_scores, correlations, supports)


def _pursue(
    grams: Floats,
    places: Ints,
    inverse: Floats,
    threshold: Number,
    min_scores: Floats,
    correlations: Floats,
    supports: Ints,
) -> Floats:
    """Write the supports of patches, and return their coefficients.

    Parameters
    ----------
    grams : (B, k (k + 1) / 2) ndarray
        Inner products of pairs of atoms under each mask, which every B consecutive patches have.
    places : (k, k) ndarray of int
        Where the product of two atoms is.
    inverse : (B, k) ndarray
        One over the squared lengths of the atoms; 0 of those that are not used.
    threshold : float
        An atom is dependent if less than this part of its squared length is orthogonal to the others.
    min_scores : (n,) ndarray
        Squared correlations, times `inverse`, which are rounding errors.
    correlations : (n, k) ndarray
        Inner products of the patches with all atoms.
    supports : (n, s) ndarray of int
        Filled with -1.
    """
    (n, n_atoms), capacity, n_masks = correlations.shape, supports.shape[1], len(grams)
    full = grams.take(places.reshape(-1), axis=1).reshape(-1, n_atoms)
    # Of the j-th orthogonal vector q_j: its inner products with all k atoms, then its coefficients.
    width = n_atoms + capacity
    vectors = np.zeros((capacity, n, width), correlations.dtype)
    inverse_lengths = np.zeros((capacity, n), correlations.dtype)
    # The same of the residual.
    rest, scratch = (np.zeros((n, width), correlations.dtype) for _ in range(2))
    rest[:, :n_atoms] = correlations
    by_channel = rest.reshape(-1, n_masks, width)[:, :, :n_atoms]
    active, rows = np.ones(n, bool), np.arange(n)
    for j in range(capacity):
        vector = vectors[j]
        scores = np.square(by_channel)
        scores *= inverse
        chosen = scores.reshape(n, n_atoms).argmax(axis=1)
        active &= scores.reshape(-1).take(rows * n_atoms + chosen) > min_scores
        if not active.any():
            break
        shared = (rows % n_masks) * n_atoms + chosen  # indices in what channels share
        own = rows * width + chosen  # and in their own products
        vector[:, :n_atoms] = full.take(shared, axis=0)
        vector[:, n_atoms + j] = 1
        lengths = vector.reshape(-1).take(own)
        if j:
            overlaps = vectors[:j].reshape(j, -1).take(own, axis=1) * inverse_lengths[:j]
            vector -= np.einsum("jb,jbk->bk", overlaps, vectors[:j], out=scratch)
        remaining = vector.reshape(-1).take(own)  # <q_j, a> = |q_j|^2
        active &= remaining > threshold * lengths
        np.divide(1, remaining, out=inverse_lengths[j], where=active)
        step = rest.reshape(-1).take(own) * inverse_lengths[j]
        rest -= np.multiply(vector, step[:, None], out=scratch)
        supports[:, j] = np.where(active, chosen, -1)
    return -rest[:, n_atoms:]


@Kernel
def _pursue_compiled(
    grams: Floats,
    places: Ints,
    inverse: Floats,
    threshold: Number,
    min_scores: Floats,
    correlations: Floats,
    supports: Ints,
) -> Floats:
    """Do the same as `_pursue`, up to rounding, with a few patches at a time.

    The loops over these are the innermost, as in NumPy, so that a processor computes several at once.
    """
    (n, n_atoms), capacity, n_masks = correlations.shape, supports.shape[1], len(grams)
    width, dtype = n_atoms + capacity, correlations.dtype
    coefficients = np.empty((n, capacity), dtype)
    vectors, inverse_lengths = np.empty((capacity, width, _LANES), dtype), np.empty((capacity, _LANES), dtype)
    rest, weights = np.empty((width, _LANES), dtype), np.empty((n_atoms, _LANES), dtype)
    scores, active = np.empty(_LANES, dtype), np.empty(_LANES, np.bool_)
    chosen, masks, rows = np.empty(_LANES, np.int32), np.empty(_LANES, np.intp), np.empty(_LANES, np.intp)
    for first in range(0, n, _LANES):
        for lane in range(_LANES):  # the channels of a patch together; the last one as often as needed
            patch, channel = divmod(min(first + lane, n - 1), n // n_masks)
            row = rows[lane] = channel * n_masks + patch
            masks[lane], active[lane] = patch, True
            for atom in range(n_atoms):
                rest[atom, lane], weights[atom, lane] = correlations[row, atom], inverse[patch, atom]
        rest[n_atoms:] = 0
        for j in range(capacity):
            _choose(rest, weights, scores, chosen)
            for lane, row in enumerate(rows):
                active[lane] &= scores[lane] > min_scores[row]
            if not active.any():
                break
            for lane in range(_LANES):
                place, gram = places[chosen[lane]], grams[masks[lane]]
                for atom in range(n_atoms):
                    vectors[j, atom, lane] = gram[place[atom]]
            _orthogonalize(j, vectors, inverse_lengths, chosen, threshold, active)
            for lane, row in enumerate(rows):
                scores[lane] = rest[chosen[lane], lane] * inverse_lengths[j, lane]
                supports[row, j] = chosen[lane] if active[lane] else -1
            for i in range(n_atoms + j + 1):
                _subtract(rest[i], scores, vectors[j, i])
        for lane, row in enumerate(rows):
            for j in range(capacity):
                coefficients[row, j] = -rest[n_atoms + j, lane]
    return coefficients


@Kernel
def _choose(rest: Floats, weights: Floats, scores: Floats, chosen: NDArray[np.int32]) -> None:
    """Find the atom with the best score in each lane, the first of equal ones."""
    scores[:] = -1
    for atom in range(len(weights)):
        correlation, weight = rest[atom], weights[atom]
        for lane in range(_LANES):
            score = correlation[lane] * correlation[lane] * weight[lane]
            better = score > scores[lane]
            scores[lane] = score if better else scores[lane]
            chosen[lane] = atom if better else chosen[lane]


@Kernel
def _orthogonalize(
    j: int,
    vectors: Floats,
    inverse_lengths: Floats,
    chosen: NDArray[np.int32],
    threshold: Number,
    active: Bools,
) -> None:
    """Make the j-th vector of each lane orthogonal to the previous ones; end those that depend on them."""
    vector, n_atoms = vectors[j], vectors.shape[1] - len(vectors)
    overlaps, lengths = np.empty((j, _LANES), vectors.dtype), np.empty(_LANES, vectors.dtype)
    for lane in range(_LANES):
        lengths[lane] = vector[chosen[lane], lane]
        for i in range(j):
            overlaps[i, lane] = vectors[i, chosen[lane], lane] * inverse_lengths[i, lane]
    vector[n_atoms:] = 0
    vector[n_atoms + j] = 1
    for row in range(n_atoms + j):  # row by row, each of which stays in the cache
        for i in range(max(0, row - n_atoms), j):
            _subtract(vector[row], overlaps[i], vectors[i, row])
    for lane in range(_LANES):
        remaining = vector[chosen[lane], lane]
        active[lane] &= remaining > threshold * lengths[lane]
        inverse_lengths[j, lane] = 1 / remaining if active[lane] else 0


@Kernel
def _subtract(row: Floats, factors: Floats, other: Floats) -> None:
    """Subtract another row, times one factor for each lane."""
    for lane in range(_LANES):
        row[lane] -= factors[lane] * other[lane]
