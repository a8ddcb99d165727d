"""The range of observed values, and the exact conversion to and from unit range."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How many values a 64-bit integer has.
_WORDS = 1 << 64


@dataclass(frozen=True)
class ValueRange:
    """Smallest and largest value of a channel, exactly. In unit range they are 0 and 1."""

    low: int | float
    high: int | float

    @property
    def span(self) -> float:
        """The difference of both; 1 if there is none."""
        return float(self.high - self.low) or 1.0

    def to_unit(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return values in unit range; those outside this range are below 0 or above 1."""
        if values.dtype.kind == "f":
            above = values.astype(np.float64) - self.low
        else:  # Differences of 64-bit integers are exact modulo 2**64; floats would round them.
            whole, low = values.astype(np.uint64), np.uint64(self.low % _WORDS)
            above, below = (whole - low).astype(np.float64), values < self.low
            if below.any():
                above[below] = -(low - whole[below]).astype(np.float64)
        return above / self.span

    def table(self, dtype: np.dtype[Any]) -> NDArray[np.float32]:
        """Return all values of an unsigned integer in unit range, in single precision."""
        return self.to_unit(np.arange(1 << 8 * dtype.itemsize, dtype=dtype)).astype(np.float32)

    def from_unit(self, unit: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values in unit range in this range; clipped, and rounded if they are integers."""
        above = np.clip(unit.astype(np.float64), 0, 1) * float(self.high - self.low)
        if dtype.kind == "f":
            return np.clip(above + self.low, self.low, self.high).astype(dtype)
        if max(-self.low, self.high) <= 1 << 53:  # exact in float64
            return (np.rint(above) + self.low).astype(dtype)
        # The largest difference itself may not be representable as a float.
        whole = np.minimum(np.rint(above), np.nextafter(float(_WORDS), 0)).astype(np.uint64)
        whole = np.where(above >= float(self.high - self.low), np.uint64(self.high - self.low), whole)
        return (whole + np.uint64(self.low % _WORDS)).astype(dtype)


def common_range(ranges: list[ValueRange]) -> ValueRange:
    """Return the smallest range that holds all of these."""
    return ValueRange(min(each.low for each in ranges), max(each.high for each in ranges))
