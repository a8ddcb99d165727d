"""Dictionary, codes and residuals while a dictionary is being learned."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.validation import Bools, Ints, ObservedData, as_count, as_generator, as_matrix
from dictsel_core.pursuit.batch import code_data

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]

#: A patch whose squared residual is below this fraction of its energy is explained.
_EXPLAINED = 1e-12


class LearningState:
    """The state that both learners share: the coding of patches, and the replacement of unused atoms.

    Attributes
    ----------
    dictionary : (d, k) ndarray
        Unit columns.
    data, residual : (T, d) ndarray
        Zero at missing entries.
    observed : (T, d) ndarray or None
        1.0 where observed and 0.0 where missing; None if nothing is missing.
    supports : (T, S) ndarray of int
        Columns of the dictionary, padded with -1.
    coefficients : (T, S) ndarray
        Padded with 0.
    """

    def __init__(self, data: Array, observed: Array | None, dictionary: Array, sparsity: int) -> None:
        self.data, self.observed, self.dictionary = data, observed, dictionary
        self._missing: Bools | None = None if observed is None else observed == 0
        self._sparsity = sparsity
        self.residual = data.copy()
        self.supports = np.full((len(data), min(sparsity, *dictionary.shape)), -1)
        self.coefficients = np.zeros(self.supports.shape)
        self.energy = float(np.vecdot(data, data).sum()) / 2

    @property
    def objective(self) -> float:
        """Sum of |y_t|^2/2 - |r_t|^2/2 on the observed entries."""
        return self.energy - float(np.vecdot(self.residual, self.residual).sum()) / 2

    def code(self) -> None:
        """Code all patches by OMP; a patch keeps its old code if that is better.

        This makes learning monotone (Aharon, Elad and Bruckstein 2006, section IV.C): OMP alone may
        find worse supports than those to which the atoms were just fitted.
        """
        codes = code_data(self.dictionary, self.data, self._sparsity, self._missing)
        better = codes.residual_energy < np.vecdot(self.residual, self.residual)
        self.supports[better] = codes.supports[better]
        self.coefficients[better] = codes.coefficients[better]
        self.refresh_residual()

    def refresh_residual(self) -> None:
        """Compute the residual of all patches from their codes."""
        self.residual = self.data - self.codes() @ self.dictionary.T
        if self.observed is not None:
            self.residual *= self.observed

    def codes(self) -> "csr_array":
        """Return the codes as a sparse matrix (T, k)."""
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

        used = self.supports >= 0
        ends = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        shape = (len(self.data), self.dictionary.shape[1])
        return csr_array((self.coefficients[used], self.supports[used], ends), shape=shape)

    def set_atoms(self, dictionary: Array) -> None:
        """Set new atoms of any length, and scale the codes such that the products stay the same.

        An atom of length zero keeps its old direction, and its weights become zero.
        """
        lengths = np.linalg.norm(dictionary, axis=0)
        alive = lengths > 0
        self.dictionary = np.where(alive, dictionary / np.where(alive, lengths, 1), self.dictionary)
        self.coefficients *= np.where(self.supports >= 0, lengths[self.supports], 0)
        self.refresh_residual()

    def replace_unused(self) -> bool:
        """Replace unused atoms by the patches with the largest residuals; return whether there were any."""
        unused = np.flatnonzero(np.bincount(self.supports[self.supports >= 0], minlength=self.n_atoms) == 0)
        if not unused.size:
            return False
        left: Array = np.square(self.residual).sum(axis=1)
        worst = np.argsort(-left, kind="stable")[: len(unused)]
        worst = worst[left[worst] > _EXPLAINED * np.square(self.data[worst]).sum(axis=1)]
        patches = self.data[worst].T
        self.dictionary[:, unused[: len(worst)]] = patches / np.linalg.norm(patches, axis=0)
        return bool(worst.size)

    @property
    def n_atoms(self) -> int:
        """The dictionary size k."""
        return int(self.dictionary.shape[1])

    def fitted(self) -> tuple[list[Ints], list[Array]]:
        """Return one index array and one weight array per patch."""
        used = self.supports >= 0
        ends = np.cumsum(used.sum(axis=1))[:-1]
        return np.split(self.supports[used], ends), np.split(self.coefficients[used], ends)


def learning_state(
    data: ArrayLike,
    n_atoms: int,
    sparsity: int,
    mask: ArrayLike | None,
    initial: ArrayLike | None,
    rng: np.random.Generator | int | None,
) -> LearningState:
    """Check the input of a learner, and return its initial state."""
    count, cap = as_count(n_atoms, "n_atoms"), as_count(sparsity, "sparsity")
    given = as_matrix(data, "data", "(points, features)")
    points = ObservedData(given, mask, given.shape[1])
    rows, observed = points.rows(0, len(points))
    clean: Array = rows.astype(np.float64)
    weights: Array | None = None if observed is None else observed.astype(np.float64)
    if initial is None:
        dictionary = _random_patches(clean, count, as_generator(rng))
    else:
        dictionary = _unit_columns(as_matrix(initial, "initial", "(features, atoms)").astype(np.float64))
        if dictionary.shape != (clean.shape[1], count):
            raise ValueError(
                f"initial must have the shape (features, atoms), {(clean.shape[1], count)}, "
                f"but its shape is {dictionary.shape}."
            )
    return LearningState(clean, weights, dictionary, cap)


def _random_patches(data: Array, n_atoms: int, rng: np.random.Generator) -> Array:
    """Return k different nonzero patches, drawn at random, as unit columns."""
    usable = np.flatnonzero(np.vecdot(data, data) > 0)
    if len(usable) < n_atoms:
        raise ValueError(
            f"n_atoms is {n_atoms}, but there are only {len(usable)} nonzero patches to draw atoms from; "
            "give an initial dictionary as initial=..."
        )
    return _unit_columns(data[rng.choice(usable, n_atoms, replace=False)].T)


def _unit_columns(columns: Array) -> Array:
    largest = np.abs(columns).max(axis=0)
    if not (np.isfinite(largest).all() and largest.all()):
        raise ValueError("Every column of initial must be finite and nonzero.")
    columns = columns / largest  # so that squares neither vanish nor overflow
    return np.ascontiguousarray(columns / np.linalg.norm(columns, axis=0))
