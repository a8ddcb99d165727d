"""Checks of user input, and data points that are checked: kernels assume that it has been done."""

import operator
import sys
from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Larger caps have no effect, and would not fit into an integer array.
LARGEST_COUNT = int(np.iinfo(np.intp).max)
#: Range of the largest absolute value in which sums of squares neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-150, 1e150
#: The same for float32, so that squares keep their precision; its inverse is the largest.
SMALLEST_SINGLE = 1e-15
#: Rows checked at once, so that temporary arrays stay in the cache.
_ROWS_PER_CHECK = 2048

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


def as_count(value: object, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int that is at least `minimum`."""
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}.") from None
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a whole number, not {value!r}.")
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but is {count}.")
    return count


def as_nonnegative(value: object, name: str) -> float:
    """Return `value` as a finite float that is at least 0."""
    number = _as_number(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name} must be at least 0, but is {number}.")
    if number == np.inf:
        raise ValueError(f"{name} must be finite, but is {number}.")
    return number


def as_positive(value: object, name: str, *, most: float = np.inf) -> float:
    """Return `value` as a finite float above 0."""
    number = _as_number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive and finite, but is {number}.")
    if number > most:
        raise ValueError(f"{name} must be at most {most:g}, but is {number}.")
    return number


def _as_number(value: object, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r}.")
    try:
        return float(value)
    except OverflowError:  # an int of more than 300 digits
        raise ValueError(f"{name} must be finite, but is beyond the range of float64.") from None


def as_generator(rng: object) -> np.random.Generator:
    """Return a random generator: the given one, or one seeded with the given number, by default 0."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and (not hasattr(rng, "__index__") or isinstance(rng, bool | np.bool_)):
        raise TypeError(f"rng must be a numpy.random.Generator or a seed such as 0, not {rng!r}.")
    return np.random.default_rng(0 if rng is None else as_count(rng, "rng", minimum=0))


def as_n_atoms(value: object, n_candidates: int) -> int:
    """Return the dictionary size k, checked against the size of the ground set."""
    count = as_count(value, "n_atoms")
    if count > n_candidates:
        raise ValueError(
            f"n_atoms must be at most the size of the ground set, {n_candidates}, but is {count}."
        )
    return count


def as_counts(value: ArrayLike, name: str, *, minimum: int = 1) -> Ints:
    """Return `value` as a one-dimensional integer array whose entries are all at least `minimum`."""
    counts = as_plain_array(value, name)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a one-dimensional array of whole numbers.")
    if counts.size and counts.min() < minimum:
        where = int(counts.argmin())
        raise ValueError(
            f"{name} must be at least {minimum} everywhere, but {name}[{where}] is {counts[where]}."
        )
    if counts.dtype == np.uint64:
        counts = np.minimum(counts, np.uint64(LARGEST_COUNT))
    return counts.astype(np.intp)


def as_caps(value: int | ArrayLike, name: str, *, minimum: int = 1) -> int | Ints:
    """Return caps, checked: a single one, or an array."""
    caps = as_plain_array(value, name)
    if caps.ndim == 0:
        return min(as_count(value, name, minimum=minimum), LARGEST_COUNT)
    return as_counts(caps, name, minimum=minimum)


def as_each(caps: int | Ints, count: int, kind: str = "patch") -> Ints:
    """Return a cap for each patch, or for each of another kind, given one for all or one for each."""
    if not isinstance(caps, int) and len(caps) != count:
        raise ValueError(f"sparsity must be one cap or one per {kind}, {count}, but there are {len(caps)}.")
    return np.full(count, caps)


def masked_entries(value: ArrayLike) -> Bools | None:
    """Return the mask of a masked array; None for anything else."""
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray):  # else there is none
        return np.ma.getmaskarray(value)
    return None


def as_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """Return `value` as an array; what a masked array hides is shown."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array, but its rows differ in length.") from None


def as_plain_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """Return `value` as an array; refuse a masked array, whose mask would be lost."""
    if masked_entries(value) is not None:
        remedy = "fill what it hides" if name == "mask" else "pass its mask as mask=..., True = missing"
        raise TypeError(f"{name} must be a plain array; {remedy}.")
    return as_array(value, name)


def as_real_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """Return `value` as an array of integers or floats."""
    array = as_plain_array(value, name)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, but the dtype is {array.dtype}.")
    return array


def as_bool_mask(
    value: ArrayLike, name: str = "mask", shape: tuple[int, ...] | None = None, of: str = "data"
) -> Bools:
    """Return a mask as booleans: True, or 1 or 255 in a mask that holds nothing else but 0, is missing.

    This is the rule for all masks. If a shape is given, it is that of the data, or of what else it is a mask.
    """
    mask = as_plain_array(value, name)
    if shape is not None and mask.shape != shape:
        raise ValueError(f"{name} must have the shape of {of}, {shape}, but its shape is {mask.shape}.")
    if mask.dtype == np.bool_:
        # Kernels add bytes up, which are neither 0 nor 1 in ``integers.view(bool)``.
        return mask != 0 if mask.view(np.uint8).max(initial=0) > 1 else mask
    if mask.dtype.kind not in "iu":
        remedy = f"; pass {name} > 0" if mask.dtype.kind == "f" else ""
        raise TypeError(f"{name} must be boolean (True = missing), but its dtype is {mask.dtype}{remedy}.")
    chosen: Bools = mask != 0
    largest = int(mask.max(initial=0))
    if largest not in (0, 1, 255) or not (mask[chosen] == largest).all():
        raise ValueError(
            f"{name} must be boolean (True = missing), or hold only 0 and 1, or only 0 and 255, where 0 is "
            f"observed; this one ranges from {int(mask.min())} to {largest}."
        )
    return chosen


def as_matrix(value: ArrayLike, name: str, axes: str) -> Floats:
    """Return `value` as a two-dimensional float32 or float64 array; `axes` describes its shape in errors.

    It is not copied if possible, and may be read-only or non-contiguous.
    """
    matrix = as_real_array(value, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional {axes}, but its shape is {matrix.shape}.")
    if 0 in matrix.shape:
        raise ValueError(f"{name} must not be empty, but its shape is {matrix.shape}.")
    single = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    with np.errstate(over="ignore"):  # infinity is refused later
        return matrix.astype(np.float32 if single else np.float64, copy=False)


def rounding_level(n_features: int, dtype: np.dtype[Any]) -> float:
    """Return the relative size below which an inner product of that many entries is rounding error."""
    return 8.0 * float(np.sqrt(n_features)) * float(np.finfo(dtype).eps)


def leaves_single(size: float, name: str) -> bool:
    """Return whether squares of numbers up to a size leave the range of float32; refuse float64's."""
    if size > _LARGEST or 0.0 < size < _SMALLEST:
        raise ValueError(
            f"{name} must be scaled by a constant: its largest absolute value is {size:.3g}, and squares of "
            f"numbers beyond {_LARGEST:g}, or all below {_SMALLEST:g}, leave the range of float64."
        )
    return size > 1 / SMALLEST_SINGLE or 0.0 < size < SMALLEST_SINGLE


class ObservedData:
    """Data points, their mask and weights, checked but not copied; rows are zeroed and weighted on request.

    The squared error of entry i counts c v_i times, where c is the largest weight of its point. The square
    root of c is the scale of the point, and that of v_i, at most 1, a factor of the entry. Rows are
    multiplied by both; their code in atoms multiplied by the factors is that of the points, times the scale.

    Missing entries may have any value, NaN included; weights are those of entries or points. `dtype` is
    float32 if the data are, and their squares within its range, else float64; `scales` is None if all are 1.
    """

    def __init__(
        self, value: ArrayLike, mask: ArrayLike | None, n_features: int, weights: ArrayLike | None = None
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
    def are_sparse(self) -> bool:
        """Whether at least half of the entries are missing."""
        missing = self._missing
        return missing is not None and 2 * int(np.count_nonzero(missing)) >= missing.size

    def rows(self, start: int, stop: int, *, weighted: bool = True) -> tuple[Floats, Floats | None]:
        """Return some rows, zero at missing entries, and their factors (None: all 1).

        The rows are multiplied by their scales and factors, if weighted. Both are new contiguous arrays of
        `dtype`.
        """
        part, factors = self._data[start:stop], None
        if self._missing is None:
            clean = np.array(part, dtype=self.dtype, order="C")
        else:
            missing = self._missing[start:stop]
            factors = np.logical_not(missing).astype(self.dtype, order="C")
            clean = _zeroed(part, missing).astype(self.dtype, copy=False)
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
