"""Round numbers along an axis, and numbers as text."""

from math import ceil, floor, log10


def ticks(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers of an axis, at equal distances.

    Parameters
    ----------
    low, high : float
        Where the axis begins and ends.
    most : int
        How many of them there is room for, besides the first; at least 2.
    """
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def log_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers for a logarithmic axis: powers of ten, or also 2 and 5 times these.

    Parameters
    ----------
    low, high : float
        Ends of the axis, above 0 and at least a factor of ten apart.
    most : int
        How many of them there is room for; at least 2.
    """
    first, last = floor(log10(low)), ceil(log10(high))
    inside = [
        [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
        for factors in ((1,), (1, 2, 5))
    ]
    powers, fine = ([tick for tick in each if low <= tick <= high] for each in inside)
    chosen = fine if len(fine) <= most or len(powers) < 2 else powers
    every = ceil(len(chosen) / most)
    return chosen[(len(chosen) - 1) % every :: every]


def format_number(value: float) -> str:
    """Return a number with about three digits, and commas where it is large: 45,900; 31.2; 0.00124."""
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.2e}".replace("e+0", "e").replace("e-0", "e-")
    if abs(value) < 999.5:
        return f"{value:.3g}"
    digits = len(str(int(abs(value)))) - 3
    return f"{round(value, -digits):,.0f}"
