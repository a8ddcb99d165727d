"""Checks at the public edge: kernels below assume what these functions have established."""

import operator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Rows looked at in one go, so that temporary arrays stay in the cache.
_CHECKED_AT_ONCE = 2048

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


def as_count(value: object, name: str, *, least: int = 1) -> int:
    """Return `value` as an int that is at least `least`."""
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}.") from None
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a whole number, not {value!r}.")
    if count < least:
        raise ValueError(f"{name} must be at least {least}, but is {count}.")
    return count


def as_nonnegative(value: object, name: str) -> float:
    """Return `value` as a float that is at least 0."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r}.")
    number = float(value)
    if not number >= 0.0:
        raise ValueError(f"{name} must be at least 0, but is {number}.")
    return number


def as_n_atoms(value: object, n_candidates: int) -> int:
    """Return the dictionary size k, checked against the size of the ground set."""
    count = as_count(value, "n_atoms")
    if count > n_candidates:
        raise ValueError(
            f"n_atoms must be at most the size of the ground set, {n_candidates}, but is {count}."
        )
    return count


def as_counts(value: ArrayLike, name: str, *, least: int = 1) -> Ints:
    """Return `value` as a one-dimensional integer array whose entries are all at least `least`."""
    counts = np.asarray(value)
    if counts.ndim != 1 or not np.issubdtype(counts.dtype, np.integer):
        raise TypeError(f"{name} must be a whole number or a one-dimensional array of whole numbers.")
    if counts.size and counts.min() < least:
        where = int(counts.argmin())
        raise ValueError(
            f"{name} must be at least {least} everywhere, but {name}[{where}] is {counts[where]}."
        )
    return counts.astype(np.intp)


def as_plain_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """Return `value` as an array; refuse a masked one, whose mask would be lost."""
    # Plain arrays come first: NumPy imports its masked ones when they are named.
    if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array; pass its mask as mask=..., True = missing.")
    return np.asarray(value)


def as_matrix(value: ArrayLike, name: str, axes: str) -> Floats:
    """Return `value` as a two-dimensional float32 or float64 array; `axes` names its shape in errors.

    The array is returned as it is where possible: it may be read-only or non-contiguous.
    """
    matrix = as_plain_array(value, name)
    if matrix.dtype == np.bool_ or not (
        np.issubdtype(matrix.dtype, np.integer) or np.issubdtype(matrix.dtype, np.floating)
    ):
        raise TypeError(f"{name} must hold real numbers, but its dtype is {matrix.dtype}.")
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional {axes}, but its shape is {matrix.shape}.")
    if 0 in matrix.shape:
        raise ValueError(f"{name} must not be empty, but its shape is {matrix.shape}.")
    single = np.issubdtype(matrix.dtype, np.floating) and matrix.dtype.itemsize <= 4
    return matrix.astype(np.float32 if single else np.float64, copy=False)


def rounding_level(n_features: int, dtype: np.dtype[Any]) -> float:
    """Return the relative size below which an inner product of that many entries is rounding error."""
    return 8.0 * float(np.sqrt(n_features)) * float(np.finfo(dtype).eps)


def needs_double(array: Floats) -> bool:
    """Tell whether squares of the entries would leave the range of float32."""
    return _leaves_single(float(np.abs(array).max()))


def _leaves_single(size: float) -> bool:
    return size > 1e15 or 0.0 < size < 1e-15


def as_mask(value: ArrayLike | None, shape: tuple[int, ...]) -> Bools | None:
    """Return the mask as a boolean array of `shape`, or None where nothing is missing."""
    if value is None:
        return None
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = missing), but its dtype is {mask.dtype}.")
    if mask.shape != shape:
        raise ValueError(f"mask must have the shape of data, {shape}, but its shape is {mask.shape}.")
    return mask if mask.any() else None


class ObservedData:
    """Data points and their mask, checked but not copied: rows are cleaned as they are asked for.

    Parameters
    ----------
    value : (T, d) array_like
        Data points as rows. Missing entries may hold anything, NaN included.
    mask : (T, d) array_like of bool, optional
        True = missing.
    n_features : int
        The d that the atoms have.

    Attributes
    ----------
    dtype : dtype
        float32 if the data are float32 and of ordinary size, else float64.
    """

    def __init__(self, value: ArrayLike, mask: ArrayLike | None, n_features: int) -> None:
        self._data = as_matrix(value, "data", "(points, features)")
        if self._data.shape[1] != n_features:
            raise ValueError(
                f"data must have as many columns as an atom has entries, {n_features}, "
                f"but its shape is {self._data.shape}."
            )
        self._missing = as_mask(mask, self._data.shape)
        self.dtype: np.dtype[Any] = self._data.dtype
        largest = 0.0
        for start in range(0, len(self), _CHECKED_AT_ONCE):
            largest = max(largest, self._checked_size(start, start + _CHECKED_AT_ONCE))
        if self.dtype == np.float32 and _leaves_single(largest):
            self.dtype = np.dtype(np.float64)

    def __len__(self) -> int:
        """Return the number T of data points."""
        return len(self._data)

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats | None]:
        """Return some rows, zero at missing entries, and 1 where observed, 0 where missing (None: all 1).

        Both are fresh contiguous arrays of `dtype`.
        """
        part = self._data[start:stop]
        if self._missing is None:
            return np.array(part, dtype=self.dtype, order="C"), None
        missing = self._missing[start:stop]
        clean = _zeroed(part, missing).astype(self.dtype, copy=False)
        return clean, np.logical_not(missing).astype(self.dtype, order="C")

    def _checked_size(self, start: int, stop: int) -> float:
        """Return the largest absolute value of some rows; raise ValueError if one is not finite."""
        part = self._data[start:stop]
        clean = part if self._missing is None else _zeroed(part, self._missing[start:stop])
        size = max(-float(clean.min()), float(clean.max()))  # NaN goes through both
        if not np.isfinite(size):
            row, column = np.argwhere(~np.isfinite(clean))[0]
            raise ValueError(
                f"data must be finite where it is observed, but data[{start + row}, {column}] is "
                f"{clean[row, column]}; mark missing entries with mask=True."
            )
        return size


def _zeroed(values: Floats, missing: Bools) -> Floats:
    """Return a copy with zeros where `missing`.

    Done to the bits, which does not mind NaN and, unlike np.where, does not branch on a random mask.
    """
    kind = np.dtype(f"i{values.itemsize}")
    bits = missing.astype(kind, order="C")
    bits -= 1  # all ones where observed
    bits &= values.view(kind)
    clean: Floats = bits.view(values.dtype)
    return clean
