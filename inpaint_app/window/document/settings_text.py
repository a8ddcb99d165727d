"""Parameters as text, and what distinguishes runs; no Qt."""

from collections.abc import Sequence
from dataclasses import replace

from dictsel_core import RestoreSettings
from dictsel_core.restoration import CONSTRAINTS, PRESETS
from inpaint_app.text.explanations import constraint_title, preset_title
from inpaint_app.window.document.runs import RunRecord

#: Parameters that are always said.
_MAIN = ("constraint", "n_atoms", "sparsity", "mean_sparsity", "rounds")


def preset_of(settings: RestoreSettings) -> str | None:
    """Return the name of the preset that settings are; None if they are the user's own."""
    return next((name for name in PRESETS if RestoreSettings.preset(name) == settings), None)


def format_settings(used: RestoreSettings, asked: RestoreSettings) -> str:
    """Return parameters as a short text; different parameters give different texts.

    Parameters
    ----------
    used : RestoreSettings
        Those of a run, with what was left open filled in.
    asked : RestoreSettings
        As the user has set them: a preset is named, and what differs from all presets as well.
    """
    said = parameter_texts(used)
    words = [said[name] for name in _MAIN if said[name]]
    preset = preset_of(asked)
    if preset is not None:
        return f"{preset_title(preset)}: {', '.join(words)}"
    texts, usual = parameter_texts(asked), parameter_texts(RestoreSettings())
    minor = [name for name in texts if name not in _MAIN and texts[name] != usual[name]]
    return ", ".join([*words, *(texts[name] for name in minor)])


def comparison_titles(records: Sequence[RunRecord]) -> list[str]:
    """Return titles of runs that stand side by side: what they are called, and what distinguishes them."""
    masks = list(dict.fromkeys(record.packed_mask for record in records))
    constraints = {record.requested.constraint for record in records}
    others = {replace(record.requested, constraint=CONSTRAINTS[0]) for record in records}
    if len(constraints) == len(records) and len(others) < 2 and len(masks) < 2:
        return [record.name or constraint_title(record.requested.constraint) for record in records]
    presets = [preset_of(record.requested) for record in records]
    differing = _differing([record.settings for record in records])
    titles = []
    for record, preset in zip(records, presets, strict=True):
        if all(presets) and len(set(presets)) > 1:
            words = [preset_title(f"{preset}")]
        else:
            words = [
                text for name, text in parameter_texts(record.settings).items() if name in differing and text
            ]
        if len(masks) > 1:
            words.append(f"mask {masks.index(record.packed_mask) + 1}")
        titles.append(f"{record.title}: {', '.join(words)}" if words else record.title)
    return titles


def _differing(settings: Sequence[RestoreSettings]) -> list[str]:
    """Return the names of parameters that are not the same in all of these."""
    texts = [parameter_texts(each) for each in settings]
    return [name for name in texts[0] if len({each[name] for each in texts}) > 1]


def parameter_texts(settings: RestoreSettings) -> dict[str, str]:
    """Return every parameter as text, by its name; empty where it has no effect."""
    size, rounds = settings.patch_size, settings.rounds
    return {
        "constraint": settings.constraint,
        "n_atoms": f"k = {settings.n_atoms or 'auto'}",
        "sparsity": f"s = {settings.sparsity}",
        "mean_sparsity": f"s'/T = {settings.mean_sparsity:g}" if settings.uses_budget else "",
        "rounds": "" if rounds == 0 else f"rounds {'auto' if rounds is None else rounds}",
        "coding_sparsity": f"{settings.coding_sparsity} atoms per coded patch",
        "patch_size": f"patches {size} x {size}",
        "bases": " + ".join(settings.bases),
        "selector": f"{settings.selector}".upper(),
        "keep_observed": f"observed pixels {'kept' if settings.keep_observed else 'replaced'}",
        "fill_weight": f"fill {settings.fill_weight:g}",
        "fill": f"{settings.fill} fill",
        "literal": "as published" if settings.literal else "not as published",
        "seed": f"seed {settings.seed}",
    }
