"""Restore pixels: a whole picture, the part in view, the same picture under several constraints; and tune."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings, RestoreStep, iter_restore, psnr
from dictsel_core.evaluation import Tuning, iter_tune, observed_range
from dictsel_core.grain import match_grain
from dictsel_core.restoration import ConstraintName
from inpaint_app.engine.control import Event, JobControl, ProgressReporter, StoppedError
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.painted import Retouch
from inpaint_app.errors import UserError, clause
from inpaint_app.model.missing import check_missing
from inpaint_app.model.picture import Array, Mask, Rect, channel_axis

STAGES = {
    "select": "selecting the dictionary",
    "coarse": "filling coarser scales",
    "code": "coding patches",
    "channels": "predicting channels from each other",
    "texture": "filling wide holes with texture",
    "refine": "refining with similar patches",
}

#: Least time between two intermediate images, as a multiple of what rendering one takes.
_IMAGE_PAUSE = 10.0


@dataclass(frozen=True, eq=False)
class RestoreRequest:
    """Pixels, their mask, and how to restore them."""

    pixels: Array
    mask: Mask
    settings: RestoreSettings
    hole_fill: HoleFill | None = None  #: How wide holes are filled; None leaves that to the settings.
    retouch: Retouch | None = None  #: What is pasted last, where it is missing.

    @property
    def channel_axis(self) -> int | None:
        """The axis of the channels, for the library."""
        return channel_axis(self.pixels)

    @property
    def missing_fraction(self) -> float:
        """Fraction of the values that are missing, 0 to 1."""
        return np.count_nonzero(self.mask) / self.mask.size


@dataclass(frozen=True, eq=False)
class RunResult:
    """The result of a run; no restoration if it was stopped before there was a picture."""

    request: RestoreRequest
    restoration: Restoration | None
    seconds: float
    is_stopped: bool = False
    grainy: Array | None = None  #: The restored picture with grain, which is not measured; None without.
    retouch: Retouch | None = None  #: What is pasted into both.


@dataclass(frozen=True, eq=False)
class IntermediateImage(Event):
    """The current picture of a run in progress, and its constraint."""

    constraint: ConstraintName
    image: Array


@dataclass(frozen=True, eq=False)
class Preview(Event):
    """A restored part of the picture: where it is, its pixels, and the PSNR where it can be known."""

    rect: Rect
    image: Array
    psnr: float | None = None
    run_psnr: float | None = None  #: The same of the run that is shown, on the same pixels.


def restore(
    request: RestoreRequest, control: JobControl, reporter: ProgressReporter | None = None
) -> RunResult:
    """Restore a picture; reports `Progress` and `IntermediateImage`.

    If the job is stopped, the last intermediate image is the result. `reporter` is for a part of a job.
    """
    return _retouched(_restore(request, control, reporter))


def _restore(request: RestoreRequest, control: JobControl, reporter: ProgressReporter | None) -> RunResult:
    reporter = reporter or ProgressReporter(control)
    check_missing(request.missing_fraction)
    start = time.perf_counter()
    last: RestoreStep | None = None
    next_image = start
    retouch = None if request.retouch is None else request.retouch.within(request.mask)

    def on_step(step: RestoreStep) -> None:
        nonlocal last, next_image
        reporter.update(STAGES[step.stage], step.fraction)
        if step.make_partial is None:
            return
        last, now = step, time.perf_counter()
        if now >= next_image and (image := step.image) is not None:
            shown = image if retouch is None else retouch.pasted(image)
            control.report(IntermediateImage(request.settings.constraint, shown))
            rendered = time.perf_counter()
            next_image = rendered + _IMAGE_PAUSE * (rendered - now)

    fill = request.hole_fill
    settings = request.settings if fill is None else replace(request.settings, fill="smooth")
    try:
        with translate_errors():
            run = iter_restore(request.pixels, request.mask, settings, channel_axis=request.channel_axis)
            restoration = control.drain(run, on_step)
            if fill is not None:
                asked = replace(restoration.settings, fill=request.settings.fill)
                image = fill.fill(restoration.image, request.mask, asked, control, reporter)
                restoration = replace(restoration, image=image, settings=asked)
    except StoppedError:
        partial = None if last is None else last.partial
        return RunResult(request, partial, time.perf_counter() - start, is_stopped=True, retouch=retouch)
    return RunResult(request, restoration, time.perf_counter() - start, retouch=retouch)


def _retouched(result: RunResult) -> RunResult:
    """Return a result with what was painted by hand pasted into it."""
    restoration, retouch, grainy = result.restoration, result.retouch, result.grainy
    if restoration is None or retouch is None:
        return result
    return replace(
        result,
        restoration=replace(restoration, image=retouch.pasted(restoration.image)),
        grainy=None if grainy is None else retouch.pasted(grainy),
    )


def restore_with_grain(request: RestoreRequest, control: JobControl) -> RunResult:
    """Restore a picture, and match the grain of restored pixels with that around; see `restore`."""
    result = _restore(request, control, None)
    if result.restoration is not None:
        result = replace(result, grainy=with_grain(request, result.restoration.image))
    return _retouched(result)


def compare(
    request: RestoreRequest, constraints: Sequence[ConstraintName], control: JobControl
) -> tuple[RunResult, ...]:
    """Restore a picture under several constraints, one after the other; fewer results if stopped."""
    results: list[RunResult] = []
    share = 1 / max(len(constraints), 1)
    for number, constraint in enumerate(constraints):
        reporter = ProgressReporter(control, f"{constraint} sparsity: ", start=number * share, share=share)
        settings = replace(request.settings, constraint=constraint)
        results.append(restore(replace(request, settings=settings), control, reporter))
        if results[-1].is_stopped:
            break
    return tuple(results)


def preview(
    request: RestoreRequest,
    rect: Rect,
    control: JobControl,
    reference: Array | None = None,
    current: Array | None = None,
) -> Preview | None:
    """Restore a part of a picture with the settings that the whole would have.

    With a reference it is measured, and so are the pixels of the current result there.

    None where nothing is missing in it, or nothing is left to restore it from. Reports a `Preview` as soon as
    patches are coded, before any refinement, and after each round of it.
    """
    part = request.mask[rect.slices]
    if not part.any() or part.all():
        return None
    settings = request.settings
    n_candidates = len(settings.bases) * settings.patch_size**2
    data_range = None if reference is None else observed_range(reference)

    def quality_of(image: Array | None) -> float | None:
        if reference is None or image is None:
            return None
        return psnr(reference[rect.slices], image, data_range=data_range)

    run_psnr = None if current is None else quality_of(current[rect.slices])
    retouch = None if request.retouch is None else request.retouch.within(request.mask)

    def made_of(image: Array) -> Preview:
        image = image if retouch is None else retouch.pasted(image, rect)
        return Preview(rect, image, quality_of(image), run_psnr)

    def on_step(step: RestoreStep) -> None:
        if step.stage not in ("select", "coarse") and (image := step.image) is not None:
            control.report(made_of(image))

    with translate_errors():
        resolved = settings.resolved(1 - request.missing_fraction, n_candidates)
        pixels = request.pixels[rect.slices]
        fill = request.hole_fill
        settings = resolved if fill is None else replace(resolved, fill="smooth")
        run = iter_restore(pixels, part, settings, channel_axis=request.channel_axis)
        image = control.drain(run, on_step).image
        if fill is not None:
            whole = request.pixels.copy()
            whole[rect.slices] = image
            reporter = ProgressReporter(control)
            image = fill.fill(whole, request.mask, resolved, control, reporter, rect)[rect.slices]
        return made_of(image)


def with_grain(request: RestoreRequest, image: Array) -> Array:
    """Return a restored picture with the grain of its surroundings in restored pixels."""
    return match_grain(image, request.mask, channel_axis=request.channel_axis, rng=request.settings.seed)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn exceptions of the library about its arguments into a `UserError`."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"Invalid settings: {clause(error)}", "change the settings") from error
    except MemoryError as error:
        raise UserError("There is not enough memory for this picture", "scale it down first") from error


def tune(request: RestoreRequest, control: JobControl) -> Tuning:
    """Return the settings that restore held-out pixels best; reports `Progress`."""
    check_missing(request.missing_fraction)
    reporter, settings = ProgressReporter(control), request.settings
    with translate_errors():
        run = iter_tune(
            request.pixels, request.mask, settings, channel_axis=request.channel_axis, rng=settings.seed
        )
        return control.drain(run, lambda step: reporter.update(step.message, step.fraction))
