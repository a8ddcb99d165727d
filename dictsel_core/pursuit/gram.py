"""Orthogonal matching pursuit by Gram matrices, which is faster for small dictionaries."""

from typing import Any

import numpy as np

from dictsel_core._support.validation import Floats, Ints
from dictsel_core.pursuit.columns import duplicate_columns

Number = np.floating[Any]

#: Largest dictionary for which it is faster than `Pursuit`; without compiled code that would be 40.
MAX_ATOMS = 64
#: An atom is dependent on the selected ones if less than this many machine epsilons of its squared length are
#: orthogonal to them.
_DEPENDENCE_EPSILONS = 1e3


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
        self.capacity = min(capacity, *atoms.shape)
        # Each pair once, and where that of atoms i and j is.
        rows, columns = np.triu_indices(n_atoms)
        self.pairs = np.ascontiguousarray(atoms[:, rows] * atoms[:, columns])
        self.places = np.empty((n_atoms, n_atoms), np.intp)
        self.places[rows, columns] = self.places[columns, rows] = np.arange(len(rows))
        self.usable = ~duplicate_columns(self.atoms)
        self.dependence_threshold = _DEPENDENCE_EPSILONS * float(np.finfo(atoms.dtype).eps)

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
        grams = squares @ self.pairs
        lengths = grams.take(self.places.diagonal(), axis=1)
        # Weak observations are all there is where nothing else is observed.
        visible = self.dependence_threshold * squares.max(axis=1, keepdims=True)
        hidden = (lengths <= visible) | ~self.usable
        inverse = 1 / np.where(hidden, np.inf, lengths).astype(data.dtype, copy=False)
        min_scores = np.vecdot(data, data) * self.dependence_threshold**2
        correlations = (data.reshape(-1, *weights.shape) * weights).reshape(data.shape) @ self.atoms
        supports = np.full((len(data), self.capacity), -1)
        threshold = data.dtype.type(self.dependence_threshold)
        return supports, _pursue(grams, self.places, inverse, threshold, min_scores, correlations, supports)


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
