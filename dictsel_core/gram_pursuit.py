"""Orthogonal matching pursuit by Gram matrices, which is faster for small dictionaries."""

import numpy as np

from dictsel_core._validation import Floats, Ints
from dictsel_core.pursuit import duplicate_columns

#: Largest dictionary for which it is faster than `Pursuit`.
MAX_ATOMS = 40
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
        n_features, n_atoms = atoms.shape
        self.atoms = np.ascontiguousarray(atoms)
        self._capacity = min(capacity, *atoms.shape)
        pairs = atoms[:, :, None] * atoms[:, None, :]
        self._pairs = np.ascontiguousarray(pairs.reshape(n_features, n_atoms**2))
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
        n, n_atoms, shape = len(data), self.atoms.shape[1], (-1, *weights.shape)
        squares = np.square(weights)
        gram = squares @ self._pairs
        lengths = np.ascontiguousarray(gram[:, :: n_atoms + 1])
        gram = gram.reshape(-1, n_atoms)
        # Weak observations are all there is where nothing else is observed.
        visible = self._dependence_threshold * squares.max(axis=1, keepdims=True)
        hidden = (lengths <= visible) | ~self._usable
        inverse = 1 / np.where(hidden, np.inf, lengths)
        min_score = np.vecdot(data, data) * self._dependence_threshold**2
        # Of the j-th orthogonal vector q_j: its inner products with all k atoms, then its coefficients.
        width = n_atoms + self._capacity
        vectors = np.zeros((self._capacity, n, width), data.dtype)
        inverse_lengths = np.zeros((self._capacity, n), data.dtype)
        # The same of the residual.
        rest, scratch = np.zeros((n, width), data.dtype), np.empty((n, width), data.dtype)
        rest[:, :n_atoms] = (data.reshape(shape) * weights).reshape(data.shape) @ self.atoms
        correlations = rest.reshape(-1, len(weights), width)[:, :, :n_atoms]
        supports = np.full((n, self._capacity), -1)
        active, rows = np.ones(n, bool), np.arange(n)
        for j in range(self._capacity):
            vector = vectors[j]
            scores = np.square(correlations)
            scores *= inverse
            chosen = scores.reshape(n, n_atoms).argmax(axis=1)
            active &= scores.reshape(-1).take(rows * n_atoms + chosen) > min_score
            if not active.any():
                break
            shared = (rows % len(weights)) * n_atoms + chosen  # indices in what channels share
            own = rows * width + chosen  # and in their own products
            vector[:, :n_atoms] = gram.take(shared, axis=0)
            vector[:, n_atoms + j] = 1
            if j:
                overlaps = vectors[:j].reshape(j, -1).take(own, axis=1) * inverse_lengths[:j]
                vector -= np.einsum("jb,jbk->bk", overlaps, vectors[:j], out=scratch)
            remaining = vector.reshape(-1).take(own)  # <q_j, a> = |q_j|^2
            active &= remaining > self._dependence_threshold * lengths.take(shared)
            np.divide(1, remaining, out=inverse_lengths[j], where=active)
            step = rest.reshape(-1).take(own) * inverse_lengths[j]
            rest -= np.multiply(vector, step[:, None], out=scratch)
            supports[:, j] = np.where(active, chosen, -1)
        return supports, -rest[:, n_atoms:]
