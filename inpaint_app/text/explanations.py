"""What presets, constraints, selectors, fills, marks and damage are, in words that all front ends share."""

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
