"""Requests that lead to restored pixels and figures, and the work behind them; no Qt."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core import (
    ConstraintName,
    Restoration,
    RestoreSettings,
    RestoreStep,
    TuneStep,
    Tuning,
    error_map,
    estimate_psnr,
    iter_restore,
    iter_tune,
)
from inpaint_app.errors import UserError
from inpaint_app.formatting import unbroken
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.work import Scores, StoppedError, format_stage, measure, translate_errors
from inpaint_app.window.session.state import Activity, AtomUse, IntermediateImage, Preview, QualityMetrics
from inpaint_app.window.session.task import Task

_NEWS_INTERVAL = 0.05
"""Seconds between two reports of progress: more would only keep the window busy."""


@dataclass(frozen=True, eq=False)
class RestoreRequest:
    """Pixels, what is missing of them, and how to restore them."""

    pixels: Array
    mask: Mask
    settings: RestoreSettings


@dataclass(frozen=True, eq=False)
class RunResult:
    """What a restoration led to; nothing if it was stopped before there was a picture."""

    request: RestoreRequest
    restoration: Restoration | None
    seconds: float
    is_stopped: bool = False


class ProgressReporter:
    """Tells how far some work is, not too often.

    Parameters
    ----------
    task : Task
        Where to tell it.
    kind : str
        Of the `Activity`.
    prefix : str
        What all its stages begin with.
    start, share : float
        Where in the whole work this part begins, and how much of it this is.
    """

    def __init__(
        self, task: Task, kind: str, prefix: str = "", start: float = 0.0, share: float = 1.0
    ) -> None:
        self._task, self._kind, self._prefix = task, kind, prefix
        self._start, self._share = start, share
        self._began, self._told = time.perf_counter(), 0.0

    def tell(self, stage: str, fraction: float) -> None:
        """Report a stage, and the part of this work that is done."""
        now = time.perf_counter()
        if now - self._told < _NEWS_INTERVAL:
            return
        self._told = now
        elapsed = now - self._began
        left = None
        if fraction > 0.03 and elapsed > 0.5:
            rest = 1 - fraction + (1 - self._start - self._share) / self._share
            left = elapsed * rest / fraction
        done = self._start + self._share * fraction
        self._task.report(Activity(self._kind, self._prefix + stage, done, left))


def check_missing(mask: Mask) -> None:
    """Refuse a mask with nothing or everything missing, in the words of the window."""
    if not mask.any():
        raise UserError(
            "No pixel is missing: paint over what is to be restored (P), open a mask, "
            "or simulate damage to try it out."
        )
    if mask.all():
        raise UserError("Every pixel is missing, so there is nothing to restore from; unmark some (E).")


def restore(task: Task, request: RestoreRequest) -> RunResult:
    """Restore; reports `Activity` values, and a `IntermediateImage` where there is a picture to look at.

    If the task is told to stop, the last such picture is the result.
    """
    return _restore(task, request, ProgressReporter(task, "restore"))


def compare(
    task: Task, request: RestoreRequest, constraints: Sequence[ConstraintName]
) -> tuple[RunResult, ...]:
    """Restore under some sparsity constraints, one after the other; fewer results if told to stop."""
    results: list[RunResult] = []
    for place, constraint in enumerate(constraints):
        share = 1 / len(constraints)
        narrator = ProgressReporter(task, "compare", f"{constraint} sparsity: ", place * share, share)
        results.append(_restore(task, with_constraint(request, constraint), narrator))
        if results[-1].is_stopped:
            break
    return tuple(results)


def _restore(task: Task, request: RestoreRequest, narrator: ProgressReporter) -> RunResult:
    check_missing(request.mask)
    start = time.perf_counter()
    last: Restoration | None = None

    def seen(step: RestoreStep) -> None:
        nonlocal last
        narrator.tell(format_stage(step.stage), step.fraction)
        if step.partial is not None:
            last = step.partial
            task.report(IntermediateImage(request.settings.constraint, last.image))

    try:
        with translate_errors():
            run = iter_restore(request.pixels, request.mask, request.settings)
            restoration = task.drain(run, seen)
    except StoppedError:
        return RunResult(request, last, time.perf_counter() - start, is_stopped=True)
    return RunResult(request, restoration, time.perf_counter() - start)


def tune(task: Task, request: RestoreRequest) -> Tuning:
    """Choose settings by held-out pixels; reports `Activity` values."""
    check_missing(request.mask)
    narrator = ProgressReporter(task, "tune")

    def seen(step: TuneStep) -> None:
        narrator.tell(step.message, step.fraction)

    with translate_errors():
        settings = request.settings
        return task.drain(iter_tune(request.pixels, request.mask, settings, seed=settings.seed), seen)


def preview(task: Task, request: RestoreRequest, rows: slice, columns: slice) -> Preview | None:
    """Restore a part of the picture with the settings that the whole would have.

    None where nothing is missing in it, or nothing is left to restore it from. Reports a `Preview` before
    any refinement and after each round of it.
    """
    part = request.mask[rows, columns]
    if not part.any() or part.all():
        return None
    settings = request.settings
    n_candidates = len(settings.bases) * settings.patch_size**2
    observed = 1 - np.count_nonzero(request.mask) / request.mask.size
    resolved = settings.resolved(observed, n_candidates)

    unrefined: Array | None = None

    def seen(step: RestoreStep) -> None:
        nonlocal unrefined
        if step.stage != "refine":
            unrefined = unrefined if step.image is None else step.image
            return
        image, unrefined = unrefined if step.image is None else step.image, None
        if image is not None:
            task.report(Preview(rows, columns, image))

    with translate_errors():
        run = iter_restore(request.pixels[rows, columns], part, resolved)
        return Preview(rows, columns, task.drain(run, seen).image)


def figures(request: RestoreRequest, image: Array, reference: Array | None) -> QualityMetrics:
    """Measure restored pixels against the reference, or estimate their PSNR without one."""
    if reference is not None:
        return QualityMetrics(measure(reference, image, request.mask))
    try:
        value = estimate_psnr(request.pixels, request.mask, request.settings, seed=request.settings.seed)
    except ValueError:  # too little is observed
        return QualityMetrics()
    return QualityMetrics(estimated_psnr=value if math.isfinite(value) else None)


def damage_quality(pixels: Array, mask: Mask, reference: Array) -> QualityMetrics:
    """Measure the damaged picture, its missing pixels black."""
    hidden = mask if mask.ndim == pixels.ndim else mask[..., None]
    scores = measure(reference, np.where(hidden, pixels.dtype.type(0), pixels), None)
    return QualityMetrics(Scores(scores.psnr, None, scores.ssim, None))


def error_picture(reference: Array, image: Array) -> Array:
    """Return absolute errors as (H, W) bytes, 0 = none, 255 = a quarter of the range or more."""
    peak = np.iinfo(reference.dtype).max if np.issubdtype(reference.dtype, np.integer) else 1.0
    scaled = error_map(reference, image) * (4 * 255 / peak)
    return np.minimum(scaled, 255).astype(np.uint8)


def atom_use(request: RestoreRequest, restoration: Restoration, atom: int) -> AtomUse:
    """Return the patches whose support holds an atom, by its place in the dictionary."""
    selection = restoration.selection
    assert selection is not None, "asked for after a complete restoration only"
    index = selection.atoms[atom]
    users = [t for t, support in enumerate(selection.supports) if index in support]
    size, shape = restoration.settings.patch_size, request.mask.shape  # patches may reach beyond the border
    corners = np.unique(restoration.patch_positions[users], axis=0).tolist()
    return AtomUse(atom, tuple(Rect(row, column, size, size).clipped(shape) for row, column in corners))


def advice(tuning: Tuning) -> str:
    """Say what was chosen, and why."""
    chosen, promised = tuning.settings, tuning.estimated_psnr
    if not math.isfinite(promised):
        return "Your settings stay: too little is observed to hold any of it out and try others."
    what = ", ".join(map(unbroken, (f"k = {chosen.n_atoms}", f"s = {chosen.sparsity}")))
    estimated = unbroken(f"{promised:.1f} dB")
    if chosen.constraint == "average":
        what += f", {chosen.budget:g} atoms per patch on average"
    what += f", {chosen.coding_sparsity} atoms per window"
    if chosen == tuning.given:
        return (
            f"Your settings are already the best of {tuning.n_tried} tried on held-out pixels: {what}, "
            f"{estimated} estimated."
        )
    gained = unbroken(f"{promised - tuning.given_psnr:.1f} dB")
    return (
        f"Auto chose {what}, the best of {tuning.n_tried} tried on held-out pixels: {estimated} "
        f"estimated, {gained} more than with your settings."
    )


def with_constraint(request: RestoreRequest, constraint: ConstraintName) -> RestoreRequest:
    """Return the request under another sparsity constraint."""
    return replace(request, settings=replace(request.settings, constraint=constraint))
