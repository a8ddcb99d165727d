"""Round numbers along an axis."""

from __future__ import annotations

from math import ceil, floor, log10


def ticks(top: float, *, most: int) -> list[float]:
    """Return round numbers from 0 up to `top`, at equal distances.

    Parameters
    ----------
    top : float
        End of the axis, above 0.
    most : int
        How many of them there is room for, besides 0; at least 2.
    """
    least = top / most
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))
    return [place * step for place in range(ceil(top / step) + 1) if place * step <= top * (1 + 1e-9)]
