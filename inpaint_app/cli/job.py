"""One file from damaged to restored: what `restore` and `batch` have in common."""

import argparse
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dictsel_core import Restoration
from inpaint_app.cli.report import Outcome
from inpaint_app.cli.resolve_options import ResolvedOptions
from inpaint_app.files.atomic import check_distinct, check_target, write_files
from inpaint_app.files.recipe_contents import recipe_output
from inpaint_app.files.write import check_output, picture_output
from inpaint_app.jobs.work import (
    Report,
    Scores,
    Source,
    StoppedError,
    check_restorable,
    estimate,
    load,
    load_reference,
    measure,
    restore_source,
    restored_picture,
    tune_source,
)


@dataclass(frozen=True)
class Job:
    """What to restore, how, and where to put it.

    Attributes
    ----------
    path, output : Path
        The damaged picture and the restored one.
    chosen : ResolvedOptions
        Settings and marks.
    args : argparse.Namespace
        With overwrite, quality, depth and no_estimate.
    recipe : Path or None
        Where to write the recipe.
    reference : Path or None
        The undamaged picture.
    """

    path: Path
    output: Path
    chosen: ResolvedOptions
    args: argparse.Namespace
    recipe: Path | None = None
    reference: Path | None = None

    def check(self) -> None:
        """Refuse names that cannot be written, before anything is read."""
        sources = [
            path for path in (self.path, self.chosen.mask_spec.mask, self.reference) if path is not None
        ]
        overwrite = self.args.overwrite
        check_output(self.output, overwrite=overwrite, protect=sources)
        if self.recipe is not None:
            check_target(self.recipe, overwrite=overwrite)
            check_distinct([self.output, self.recipe])


@dataclass(frozen=True)
class Listener:
    """Who wants to know: of the progress, of what was found and of what was done."""

    progress: Report
    found: Callable[[Source], None] = lambda _source: None
    done: Callable[[Restoration], None] = lambda _restoration: None


def run_job(job: Job, listener: Listener, stop: threading.Event | None = None) -> Outcome:
    """Read, restore, write, then measure or estimate.

    Raises
    ------
    UserError
        If it cannot be done; then nothing was written, or the sentence names what was.
    StoppedError
        If `stop` was set before anything was written.
    """
    job.check()
    clock = _Clock()
    source = load(job.path, job.chosen.mask_spec)
    check_restorable(source, job.output, depth=job.args.depth, quality=job.args.quality)
    reference = None if job.reference is None else load_reference(job.reference, source)
    clock.lap("read")
    listener.found(source)
    settings, estimated, scores = job.chosen.settings, None, Scores()
    if job.chosen.auto:
        tuning = tune_source(source, settings, listener.progress, stop)
        settings, estimated = tuning.settings, tuning.estimated_psnr
        clock.lap("tune")
    restoration = restore_source(source, settings, listener.progress, stop)
    clock.take(restoration.seconds)
    listener.done(restoration)
    if stop is not None and stop.is_set():
        raise StoppedError
    notes = _write(job, source, restoration)
    clock.lap("write")
    if reference is not None:
        scores, estimated = measure(reference.pixels, restoration.image, source.missing.mask), None
        clock.lap("measure")
    elif estimated is None and not job.args.no_estimate:
        listener.progress("estimating the PSNR", None)
        estimated = estimate(source, restoration.settings)
        clock.lap("estimate")
    return Outcome(
        scores,
        estimated,
        restoration.missing_fraction,
        clock.seconds(),
        restoration.settings,
        job.output,
        notes,
    )


def _write(job: Job, source: Source, restoration: Restoration) -> tuple[str, ...]:
    """Write the recipe and, last, the picture; returns notes about files that were replaced."""
    args, outputs = job.args, []
    if job.recipe is not None:
        found = source.missing.sources
        outputs.append(recipe_output(job.recipe, restoration.settings, source.mask_spec, found))
    picture = restored_picture(source, restoration)
    outputs.append(picture_output(picture, job.output, quality=args.quality, depth=args.depth))
    return write_files(outputs, overwrite=args.overwrite)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self._laps: dict[str, float] = {}
        self._last = self._start = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Say what the time since the last lap was spent on."""
        now = time.perf_counter()
        self._laps[stage] = now - self._last
        self._last = now

    def take(self, laps: dict[str, float]) -> None:
        """Take over laps that others measured."""
        self._laps |= laps
        self._last = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """Return all laps and the total."""
        return self._laps | {"total": time.perf_counter() - self._start}
