"""Numbers as text."""

import math

#: Units of sizes: their names, and how many there are to an inch; None for pixels.
UNITS: dict[str, tuple[str, float | None]] = {
    "px": ("pixels", None),
    "cm": ("centimeters", 2.54),
    "in": ("inches", 1.0),
}


def format_size(width: int, height: int, dpi: tuple[float, float] | None, unit: str) -> str:
    """Return a size of so many pixels in a unit, or in pixels where nobody knows how large they are."""
    per_inch = UNITS[unit][1]
    if per_inch is None or dpi is None or min(dpi) <= 0:
        return f"{width} x {height} pixels"
    return f"{width / dpi[0] * per_inch:.1f} x {height / dpi[1] * per_inch:.1f} {unit}"


def format_decibels(value: float) -> str:
    """Return a PSNR as text."""
    if math.isnan(value):
        return "unknown (too few pixels are observed to hold any out)"
    return f"{value:.2f} dB" if math.isfinite(value) else "infinite (no difference)"


def format_value(value: float) -> str:
    """Return a value in the unit of the data, with four digits that matter."""
    return f"{value:.4g}"


def format_percent(fraction: float) -> str:
    """Return a fraction as per cent, never rounded to nothing or to everything."""
    if 0 < fraction < 0.0005:
        return "under 0.1 %"
    if 0.9995 <= fraction < 1:
        return "over 99.9 %"
    return f"{100 * fraction:.1f} %"


def format_duration(seconds: float) -> str:
    """Return a duration as text, rounded to what matters."""
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def unbroken(text: str) -> str:
    """Return text that stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


#: Where there is no estimate: by whether there is a wide hole.
NO_ESTIMATE = {True: "wide hole: invented, no PSNR", False: "too little observed: no estimate"}


def estimated_part(n_invented: int) -> str:
    """Return to which of the missing pixels an estimate refers."""
    if not n_invented:
        return "missing pixels"
    return f"narrow damage, without {n_invented:,} invented pixels of wide holes"


def format_interval(low: float, high: float) -> str:
    """Return an interval of decibels."""
    return f"{low:.1f} to {high:.1f} dB"
