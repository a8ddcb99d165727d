"""Orthogonal matching pursuit by Gram matrices: the quick way for small dictionaries."""

import numpy as np

from dictsel_core._validation import Floats, Ints
from dictsel_core.pursuit import repeated_columns

#: Largest dictionary for which this way is the quicker one.
MAX_ATOMS = 40
#: An atom is dependent on the chosen ones if less than this many epsilons of its squared length are left.
_DEPENDENT = 1e3


class GramPursuit:
    """Codes chunks of patches as `Pursuit` does, with k x k matrices in place of d-dimensional columns.

    The masked Gram matrices of all patches are one matrix product, of the weights with the products of
    all pairs of atoms. Everything after that happens to vectors of k correlations: the atom that is
    chosen is made orthogonal to the earlier ones in the inner product of its patch. The price is
    precision: atoms that are nearly dependent under the mask count as dependent earlier than in
    `Pursuit`. Calls from several threads do not disturb each other.

    Parameters
    ----------
    atoms : (d, k) ndarray
    capacity : int
        Largest sparsity that will be asked for.
    """

    def __init__(self, atoms: Floats, capacity: int) -> None:
        n_features, n_atoms = atoms.shape
        self.atoms = np.ascontiguousarray(atoms)
        self._capacity = min(capacity, *atoms.shape)
        pairs = atoms[:, :, None] * atoms[:, None, :]
        self._pairs = np.ascontiguousarray(pairs.reshape(n_features, n_atoms**2))
        self._usable = ~repeated_columns(self.atoms)
        self._dependent = _DEPENDENT * float(np.finfo(atoms.dtype).eps)

    def __call__(self, data: Floats, weights: Floats, caps: Ints) -> tuple[Ints, Floats]:
        """Code one chunk by weighted least squares.

        Parameters
        ----------
        data : (B, d) ndarray
            Multiplied by the weights: zero at missing entries.
        weights : (B, d) ndarray
            1 where observed, 0 where missing, between for weak observations.
        caps : (B,) ndarray of int
            Sparsity of each patch.

        Returns
        -------
        supports : (B, s) ndarray of int
            Padded with -1.
        coefficients : (B, s) ndarray
            Padded with 0.
        """
        n, n_atoms = len(data), self.atoms.shape[1]
        gram = np.square(weights) @ self._pairs
        lengths = np.ascontiguousarray(gram[:, :: n_atoms + 1])
        gram = gram.reshape(n * n_atoms, n_atoms)
        correlations = (data * weights) @ self.atoms
        hidden = (lengths <= self._dependent) | ~self._usable
        inverse = 1 / np.where(hidden, np.inf, lengths)
        supports = np.full((n, self._capacity), -1)
        coefficients = np.zeros((n, self._capacity), data.dtype)
        # Of the j-th orthogonal vector q_j: its inner products with all k atoms, then what it is made of.
        vectors = np.zeros((self._capacity, n, n_atoms + self._capacity), data.dtype)
        inverse_lengths = np.zeros((self._capacity, n), data.dtype)
        least = np.vecdot(data, data) * self._dependent**2
        active = np.ones(n, bool)
        rows = np.arange(n)
        for j in range(self._capacity):
            scores = np.square(correlations)
            scores *= inverse
            chosen = scores.argmax(axis=1)
            place = rows * n_atoms + chosen  # in (n, k) arrays, laid out flat
            active &= (scores.take(place) > least) & (caps > j)
            if not active.any():
                break
            vector = vectors[j]
            vector[:, :n_atoms] = gram.take(place, axis=0)
            vector[:, n_atoms + j] = 1
            for i in range(j):
                overlap = vectors[i, rows, chosen] * inverse_lengths[i]
                vector -= overlap[:, None] * vectors[i]
            remaining = vector[rows, chosen]  # <q_j, a> = |q_j|^2
            active &= remaining > self._dependent * lengths.take(place)
            np.divide(1, remaining, out=inverse_lengths[j], where=active)
            step = (correlations.take(place) * inverse_lengths[j])[:, None]
            correlations -= step * vector[:, :n_atoms]
            coefficients += step * vector[:, n_atoms:]
            supports[:, j] = np.where(active, chosen, -1)
        return supports, coefficients
