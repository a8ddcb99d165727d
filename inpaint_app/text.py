"""Words and numbers that all front ends share; each fact stands once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dictsel_core.damage_kinds import DamageKind

PRESET_EXPLANATIONS = {
    "paper": "Close to the procedure of the paper: no refinement, and observed pixels are replaced too.",
    "fast": "Refined by similar patches, in two rounds.",
    "balanced": "Four rounds of refinement: better, in about one and a half times the time.",
    "best": "Eight rounds, in about three times the time.",
    "finest": "Thirty-two rounds, for pictures that repeat themselves; in about fourteen times the time.",
}
#: Presets whose title is not their name.
PRESET_TITLES = {"paper": "Paper (2018)"}
CONSTRAINT_EXPLANATIONS = {
    "individual": "Every patch may use up to s atoms, whatever its content.",
    "average": "All patches share a budget: busy ones may use more atoms than plain ones, up to s.",
}
SELECTOR_EXPLANATIONS = {
    "rols": "Replacement OLS, which values an atom after refitting the others.",
    "romp": "The paper's Replacement OMP.",
    "rompd": "The same with decay, the paper's ROMPd.",
}
FILL_EXPLANATIONS = {
    "auto": "Holes wider than 16 pixels, and spots wider than 10 in texture, are filled with texture, except "
    "in pictures of floats.",
    "smooth": "Wide holes are filled smoothly; nothing is invented.",
    "texture": "Holes wider than 8 pixels are filled with texture copied from around them.",
}
#: How missing pixels are marked; the keys are those of `MissingPixels.sources`.
MARK_EXPLANATIONS = {
    "alpha": "transparent",
    "stored mask": "in the mask of the file",
    "soft": "partly transparent at their edges",
    "nan": "NaN",
    "nodata": "without data",
    "mask": "in the mask file",
    "key": "of the chosen color",
    "detected": "detected as damage",
    "simulated": "simulated",
}


#: One piece of damage of each kind, and several.
DAMAGE_WORDS: dict[DamageKind, tuple[str, str]] = {
    "scratches": ("crack or scratch", "cracks and scratches"),
    "dust": ("speck or hair", "specks and hairs"),
    "dead_pixels": ("dead pixel", "dead pixels"),
    "dead_lines": ("dead line", "dead lines"),
    "stamps": ("stamp", "stamps"),
}


def describe_damage(counts: Mapping[DamageKind, int]) -> str:
    """Return how much of each kind of damage was found, in words; empty for nothing."""
    return ", ".join(f"{count} {DAMAGE_WORDS[kind][count > 1]}" for kind, count in counts.items() if count)


def preset_title(preset: str) -> str:
    """Return a preset as a title."""
    return PRESET_TITLES.get(preset, preset.title())


def constraint_title(constraint: str) -> str:
    """Return the title of a picture that was restored under a constraint."""
    return f"{constraint.title()} sparsity"


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
