"""Parameters, captions of pictures and entries of lists as text; no Qt."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dictsel_core import RestoreSettings
from dictsel_core.evaluation import QualityEstimate, Tuning
from dictsel_core.restoration import CONSTRAINTS, PRESETS
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import Preview
from inpaint_app.engine.source import Source
from inpaint_app.errors import printable_path
from inpaint_app.model.masks import MaskOrigin, PackedMask
from inpaint_app.model.picture import Array
from inpaint_app.text import (
    MARK_EXPLANATIONS,
    NO_ESTIMATE,
    constraint_title,
    estimated_part,
    format_decibels,
    format_duration,
    format_interval,
    format_percent,
    format_value,
    preset_title,
    unbroken,
)
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import Region

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


_GAP = "   "
#: The data range of bytes, which need not be told.
_BYTES = 255
_N_FORMS = 3
Forms = tuple[str, str, str]
"""The same in fewer and fewer words, for less and less room."""


def damaged_caption(missing: float, figures: QualityMetrics | None, has_reference: bool) -> Forms:
    """Return the caption of the damaged picture."""
    what = f"{format_percent(missing)} missing" if missing else "nothing missing"
    if not has_reference:
        return what, what, what
    return _joined((what, *_scores(figures, form)) for form in range(_N_FORMS))


def restored_caption(record: RunRecord) -> Forms:
    """Return the caption of a restored picture."""
    rest = (
        format_seconds(record.seconds),
        *(("stopped early",) if record.is_stopped else ()),
        *((format_strokes(record),) if record.n_strokes else ()),
    )
    return _joined((*_scores(record.figures, form), *rest) for form in range(_N_FORMS))


def format_strokes(record: RunRecord) -> str:
    """Return how many strokes were healed in a record."""
    return f"{record.n_strokes} stroke{'s' * (record.n_strokes > 1)} healed"


def preview_caption(preview: Preview, record: RunRecord | None) -> Forms:
    """Return the caption of a preview, and of the run around it if there is one."""
    quality = "" if preview.psnr is None else format_decibels(preview.psnr)
    around = "" if record is None else f"run {record.number}"
    same = "" if preview.run_psnr is None else format_decibels(preview.run_psnr)
    forms = (
        (
            quality and f"preview: PSNR {quality}",
            f"{around} in the square: {same}" if same else around and f"around it: {around}",
        ),
        (quality and f"PSNR {quality}", f"{around}: {same}" if same else around),
        (quality,),
    )
    return _joined(filter(None, parts) for parts in forms)


def _joined(forms: Iterable[Iterable[str]]) -> Forms:
    full, shorter, shortest = (_GAP.join(parts) for parts in forms)
    return full, shorter, shortest


def _scores(figures: QualityMetrics | None, form: int) -> list[str]:
    """Return figures as text; the higher the form, the shorter."""
    if figures is None:
        return ["measuring …"]
    scores, names = figures.scores, ("PSNR ", "SSIM ") if form < _N_FORMS - 1 else ("", "")
    if scores.psnr is not None:
        parts = [f"{names[0]}{format_decibels(scores.psnr)}"]
        if scores.psnr_missing is not None and form == 0:
            parts[0] += f" (missing pixels {format_decibels(scores.psnr_missing)})"
        if (
            form == 0
            and scores.rmse is not None
            and scores.data_range is not None
            and scores.data_range != _BYTES
        ):
            parts[0] += f", RMSE {format_value(scores.rmse)} of a range of {format_value(scores.data_range)}"
    elif figures.estimate is not None:
        parts = [_estimated(figures.estimate, names[0], form)]
    else:
        parts = ["PSNR not known"] if form == 0 else []
    if scores.ssim is not None:
        parts.append(f"{names[1]}{scores.ssim:.4f}")
    return parts


def _estimated(estimate: QualityEstimate, name: str, form: int) -> str:
    if not estimate.is_known:
        return NO_ESTIMATE[estimate.has_wide_hole]
    value = f"{name}≈ {format_decibels(estimate.psnr)}"
    if form == 0:
        known = "" if estimate.data_range == _BYTES else f"; RMSE {format_value(estimate.rmse)}"
        interval = format_interval(estimate.low, estimate.high)
        return f"{value} at {estimated_part(estimate.n_invented)} ({interval}{known})"
    return value


def short_quality(record: RunRecord) -> str:
    """Return the PSNR for a narrow column; a dash where it is not known."""
    figures = record.figures
    if figures is None:
        return "–" if record.image is None else "…"
    if figures.scores.psnr is not None:
        return format_decibels(figures.scores.psnr)
    return "–" if figures.estimated_psnr is None else f"≈ {format_decibels(figures.estimated_psnr)}"


def format_region(region: Region | None, number: int) -> str:
    """Return the PSNR of a run in the region that is measured; empty where there is none."""
    if region is None:
        return ""
    return format_decibels(region.psnr[number]) if number in region.psnr else "–"


def format_seconds(value: float) -> str:
    """Return a time in seconds for a caption."""
    return f"{value:.1f} s" if value < 60 else format_duration(value)


def format_sources(source: Source, mask: PackedMask) -> str:
    """Return how the missing pixels of a source are marked."""
    origin = mask.origin
    marks = list(source.missing.sources) if origin.is_given else []
    if origin.is_detected and "detected" not in marks:
        marks.append("detected")
    known = [MARK_EXPLANATIONS[each] for each in marks]
    if origin.is_painted:
        known.append("painted by hand")
    if origin.is_inverted:
        known.append("inverted")
    growth = source.missing.growth
    if growth is not None and origin == MaskOrigin():
        known[-1] += f" ({format_percent(growth.marked)} marked, grown by {growth.pixels} px)"
    return ", ".join(known)


def format_mask(history: RunHistory, record: RunRecord) -> str:
    """Return how much was missing in a run; masks that differ have different texts."""
    masks, mask = history.masks, record.packed_mask
    number = f" (mask {masks.index(mask) + 1})" if len(masks) > 1 else ""
    return format_percent(mask.fraction) + number


def short_paths(paths: Sequence[Path]) -> list[str]:
    """Return the names of files, with as much of their folders as is needed to tell them apart."""
    labels = []
    for path in paths:
        others = [other.parts for other in paths if other != path]
        n_parts = 1
        while any(parts[-n_parts:] == path.parts[-n_parts:] for parts in others):
            n_parts += 1
        labels.append(printable_path(Path(*path.parts[-n_parts:])))
    return labels


def format_activity(activity: Activity) -> str:
    """Return the work in progress, and the time it will take."""
    progress = activity.progress
    stage = progress.stage[:1].upper() + progress.stage[1:]
    if progress.seconds_left is None:
        return stage
    return f"{stage}   {format_duration(progress.seconds_left)} left"


def format_pixel(pixels: Array, row: int, column: int) -> str:
    """Return the values of a pixel."""
    values = np.atleast_1d(pixels[row, column])
    if values.dtype.kind == "f":
        return " ".join("NaN" if not np.isfinite(value) else f"{value:.4g}" for value in values)
    return " ".join(str(int(value)) for value in values)


def format_advice(tuning: Tuning) -> str:
    """Return what Auto chose, and why."""
    chosen, estimate = tuning.settings, tuning.estimated_psnr
    if not math.isfinite(estimate):
        return "Your settings are kept: too few pixels are observed to hold any out and try others."
    what = ", ".join(map(unbroken, (f"k = {chosen.n_atoms}", f"s = {chosen.sparsity}")))
    estimated = unbroken(f"{estimate:.1f} dB")
    if chosen.uses_budget:
        what += f", {chosen.mean_sparsity:g} atoms per patch on average"
    what += f", {chosen.coding_sparsity} atoms when coding a patch"
    if chosen == tuning.given:
        return (
            f"Your settings are already the best of {tuning.n_tried} tried on held-out pixels: {what}, "
            f"{estimated} estimated."
        )
    gained = unbroken(f"{estimate - tuning.given_psnr:.1f} dB")
    return (
        f"Auto chose {what}, the best of {tuning.n_tried} tried on held-out pixels: {estimated} "
        f"estimated, {gained} more than with your settings."
    )
