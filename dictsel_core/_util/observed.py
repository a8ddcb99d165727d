"""Data points with missing entries and weights, as selectors and pursuits need them."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.validation import (
    SMALLEST_SINGLE,
    Bools,
    Floats,
    Ints,
    as_bool_mask,
    as_matrix,
    as_real_array,
    leaves_single,
)

#: Rows checked at once, so that temporary arrays stay in the cache.
_ROWS_PER_CHECK = 2048


class ObservedData:
    """Data points, their mask and weights, checked but not copied; rows are zeroed and weighted on request.

    The squared error of entry i counts c v_i times, where c is the largest weight of its point. The square
    root of c is the scale of the point, and that of v_i, at most 1, a factor of the entry. Rows are
    multiplied by both; their code in atoms multiplied by the factors is that of the points, times the scale.

    Parameters
    ----------
    value : (T, d) array_like
        Data points as rows. Missing entries may have any value, NaN included.
    mask : (T, d) array_like of bool, optional
        True = missing.
    n_features : int
        The dimension d of the atoms.
    weights : (T, d) or (T,) array_like, optional
        Of each entry or point; an entry of weight 0 is missing. Default is 1.

    Attributes
    ----------
    dtype : dtype
        float32 if the data are float32 and their squares are within its range, else float64.
    scales : (T,) ndarray or None
        Square roots of the largest weights of the points; None if all are 1.
    """

    def __init__(
        self,
        value: ArrayLike,
        mask: ArrayLike | None,
        n_features: int,
        weights: ArrayLike | None = None,
    ) -> None:
        self._data = as_matrix(value, "data", "(points, features)")
        if self._data.shape[1] != n_features:
            raise ValueError(
                f"data must have as many columns as an atom has entries, {n_features}, "
                f"but its shape is {self._data.shape}."
            )
        missing = None if mask is None else as_bool_mask(mask, shape=self._data.shape)
        self._missing = missing if missing is not None and missing.any() else None
        self.scales: Floats | None = None
        self._factors: Floats | None = None
        self._weigh(_as_weights(weights, self._data.shape))
        self.dtype: np.dtype[Any] = self._data.dtype
        largest = 0.0
        for start in range(0, len(self), _ROWS_PER_CHECK):
            largest = max(largest, self._checked_size(start, start + _ROWS_PER_CHECK))
        if (leaves_single(largest, "data") or self._fades) and self.dtype == np.float32:
            self.dtype = np.dtype(np.float64)

    def __len__(self) -> int:
        """Return the number T of data points."""
        return len(self._data)

    @property
    def has_partial_weights(self) -> bool:
        """Whether some factors lie between 0 and 1."""
        return self._factors is not None

    @property
    def _fades(self) -> bool:
        """Whether some points have so little weight that their squares vanish in float32."""
        return self.scales is not None and float(self.scales.min()) < SMALLEST_SINGLE

    @property
    def missing_fraction(self) -> float:
        """The fraction of all entries that is missing."""
        return 0.0 if self._missing is None else np.count_nonzero(self._missing) / self._missing.size

    def rows(
        self, start: int, stop: int, *, weighted: bool = True, zeroed: bool = True
    ) -> tuple[Floats, Floats | None]:
        """Return some rows, zero at missing entries, and their factors (None: all 1).

        The rows are multiplied by their scales and factors, if weighted. Both are new contiguous arrays of
        `dtype`; rows that are not zeroed may be the data themselves, with any values at missing entries.
        """
        part = self._data[start:stop]
        if not zeroed and self.scales is None and self._factors is None and self._missing is not None:
            missing = self._missing[start:stop]
            observed = np.logical_not(missing).astype(self.dtype, order="C")
            return np.require(part, self.dtype, ["C", "A", "W"]), observed
        if self._missing is None:
            clean, factors = np.array(part, dtype=self.dtype, order="C"), None
        else:
            missing = self._missing[start:stop]
            clean = _zeroed(part, missing).astype(self.dtype, copy=False)
            factors = np.logical_not(missing).astype(self.dtype, order="C")
        if self._factors is not None:
            factors = self._factors[start:stop].astype(self.dtype, order="C")
        if weighted and self._factors is not None:
            clean *= factors
        if weighted and self.scales is not None:
            clean *= self.scales[start:stop, None].astype(self.dtype)
        return clean, factors

    def reordered(self, order: Ints) -> "ObservedData":
        """Return the points in another order."""
        other = copy(self)
        other._data = self._data[order]
        other._missing = None if self._missing is None else self._missing[order]
        other._factors = None if self._factors is None else self._factors[order]
        other.scales = None if self.scales is None else self.scales[order]
        return other

    def _weigh(self, weights: Floats | None) -> None:
        """Separate weights into scales of points and factors of entries."""
        if weights is None:
            return
        if self._missing is not None:
            weights = np.where(self._missing, 0.0, weights)
        if (weights == 0).any():
            self._missing = np.broadcast_to(weights == 0, self._data.shape)
        largest = weights.max(axis=1)
        largest[largest == 0] = 1.0
        if (largest != 1).any():
            self.scales = np.sqrt(largest)
        relative = weights / largest[:, None]
        if ((relative > 0) & (relative < 1)).any():
            self._factors = np.sqrt(relative)

    def _checked_size(self, start: int, stop: int) -> float:
        """Return the largest absolute value of some rows; raise ValueError if one is not finite."""
        part = self._data[start:stop]
        clean = part if self._missing is None else _zeroed(part, self._missing[start:stop])
        size = max(-float(clean.min()), float(clean.max()))  # both propagate NaN
        if not np.isfinite(size):
            row, column = np.argwhere(~np.isfinite(clean))[0]
            raise ValueError(
                f"data must be finite where it is observed, but data[{start + row}, {column}] is "
                f"{clean[row, column]}; mark missing entries with mask=True."
            )
        if self.scales is None:
            return size
        return float((np.abs(clean).max(axis=1) * self.scales[start:stop]).max())


def _zeroed(values: Floats, missing: Bools) -> Floats:
    """Return a copy with zeros where `missing`.

    Done on the bits, which handles NaN and, unlike np.where, does not branch on a random mask.
    """
    kind = np.dtype(f"i{values.itemsize}")
    bits = missing.astype(kind, order="C")
    bits -= 1  # all ones where observed
    bits &= values.view(kind)
    clean: Floats = bits.view(values.dtype)
    return clean


def _as_weights(value: ArrayLike | None, shape: tuple[int, int]) -> Floats | None:
    """Return weights as an array (T, d) or (T, 1), or None if there are none."""
    if value is None:
        return None
    weights = as_real_array(value, "weights")
    if weights.shape not in (shape, shape[:1]):
        raise ValueError(
            f"weights must be one per entry, {shape}, or one per point, {shape[:1]}, "
            f"but their shape is {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and at least 0.")
    return weights.astype(np.float64).reshape(shape[0], -1)
