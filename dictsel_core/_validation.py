"""Checks at the public edge: kernels below assume what these functions have established."""

import operator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def as_matrix(value: ArrayLike, name: str, axes: str) -> Floats:
    """Return `value` as a two-dimensional float32 or float64 array; `axes` names its shape in errors.

    The array is returned as it is where possible: it may be read-only or non-contiguous.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array; pass its mask as mask=..., True = missing.")
    matrix = np.asarray(value)
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


def needs_double(*arrays: Floats) -> bool:
    """Tell whether squares of the entries would leave the range of float32."""
    largest = [float(np.abs(array).max()) for array in arrays]
    return any(size > 1e15 or 0.0 < size < 1e-15 for size in largest)


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


def as_observed_data(
    value: ArrayLike, mask: ArrayLike | None, n_features: int
) -> tuple[Floats, Bools | None]:
    """Return data with zeros at its missing entries, and the mask of observed entries (None: all).

    Parameters
    ----------
    value : (T, d) array_like
        Data points as rows. Missing entries may hold anything, NaN included.
    mask : (T, d) array_like of bool, optional
        True = missing.
    n_features : int
        The d that the atoms have.

    Returns
    -------
    data : (T, d) ndarray
        A fresh, contiguous array; zero at missing entries. float32 if given so and of ordinary size.
    observed : (T, d) ndarray of bool or None
        The complement of the mask; None where every entry is observed.
    """
    data = as_matrix(value, "data", "(points, features)")
    if data.shape[1] != n_features:
        raise ValueError(
            f"data must have as many columns as an atom has entries, {n_features}, "
            f"but its shape is {data.shape}."
        )
    missing = as_mask(mask, data.shape)
    clean = np.array(data, order="C") if missing is None else np.where(missing, 0, data)
    if not np.isfinite(clean).all():
        row, column = np.argwhere(~np.isfinite(clean))[0]
        raise ValueError(
            f"data must be finite where it is observed, but data[{row}, {column}] is {clean[row, column]}; "
            "mark missing entries with mask=True."
        )
    if clean.dtype == np.float32 and needs_double(clean):
        clean = clean.astype(np.float64)
    return clean, None if missing is None else ~missing
