"""Sparse representations of patches in a dictionary."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import map_chunks
from dictsel_core._util.validation import Floats, Ints

__all__ = ["SparseCodes"]

#: Rows per chunk: enough to amortize a NumPy call, few enough to stay in the cache.
CHUNK = 2048


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Sparse representations of T patches in a dictionary of k atoms, in read-only arrays.

    Attributes
    ----------
    dictionary : (d, k) ndarray
        A copy of the given one.
    supports : (T, S) ndarray of int
        Columns of the dictionary in the order of selection, padded with -1; S is the largest
        sparsity, but at most d and at most k.
    coefficients : (T, S) ndarray
        Least-squares weights on the observed entries, padded with 0.
    residual_energy : (T,) ndarray
        Squared length of the residual on the observed entries, weighted as the data.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import omp
    >>> codes = omp(np.eye(4), [[3.0, 0.0, 1.0, 0.0]], 2)
    >>> codes.supports.tolist(), codes.rebuilt.tolist()
    ([[0, 2]], [[3.0, 0.0, 1.0, 0.0]])
    """

    dictionary: Floats
    supports: Ints
    coefficients: Floats
    residual_energy: Floats

    def __repr__(self) -> str:
        """Summarize: the arrays would fill the screen."""
        return (
            f"SparseCodes({len(self.supports)} patches in {self.dictionary.shape[1]} atoms, "
            f"using {self.n_used.mean():.3g} each)"
        )

    @cached_property
    def rebuilt(self) -> Floats:
        """The patches rebuilt from their codes, including missing entries: (T, d)."""
        chunks = map_chunks(
            lambda start, stop: self._dense(start, stop) @ self.dictionary.T,
            len(self.supports),
            CHUNK,
            threads=1,
        )
        return read_only(np.concatenate(list(chunks)))

    @property
    def n_used(self) -> Ints:
        """How many atoms each patch uses: (T,)."""
        counts: Ints = (self.supports >= 0).sum(axis=1)
        return counts

    def _dense(self, start: int, stop: int) -> Floats:
        codes = np.zeros((stop - start, self.dictionary.shape[1]), self.coefficients.dtype)
        scatter_codes(codes, self.supports[start:stop], self.coefficients[start:stop])
        return codes


def scatter_codes(codes: Floats, supports: Ints, coefficients: Floats) -> None:
    """Write padded codes into the dense, zeroed array `codes` (B, k)."""
    rows, slots = np.nonzero(supports >= 0)
    codes[rows, supports[rows, slots]] = coefficients[rows, slots]
