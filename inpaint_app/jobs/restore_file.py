"""From a damaged file to a restored one."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dictsel_core import RestoreSettings
from inpaint_app.files.atomic import check_distinct, write_files
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.jobs.control import JobControl, Progress, StoppedError
from inpaint_app.jobs.export import Output, check_recipe_target, pending_recipe, restored_picture
from inpaint_app.jobs.measure import QualityMetrics, estimate, quality
from inpaint_app.jobs.restore import RestoreRequest, restore
from inpaint_app.jobs.source import load_source
from inpaint_app.jobs.tune import tune


@dataclass(frozen=True)
class FileRequest:
    """A file to restore, how, and where the result goes.

    Attributes
    ----------
    path : Path
        The damaged picture.
    output : Output
        The restored one.
    settings : RestoreSettings
        Of the restoration.
    mask_spec : MaskSpec
        How missing pixels are marked.
    recipe : Path or None
        Where to write the recipe.
    reference : Path or None
        The undamaged picture.
    tunes, estimates : bool
        Whether to tune the settings first, and to estimate the PSNR where there is no reference.
    """

    path: Path
    output: Output
    settings: RestoreSettings
    mask_spec: MaskSpec
    recipe: Path | None = None
    reference: Path | None = None
    tunes: bool = False
    estimates: bool = True

    @property
    def sources(self) -> tuple[Path, ...]:
        """Files that must not be overwritten without permission."""
        given = (self.path, self.mask_spec.mask, self.reference)
        return tuple(path for path in given if path is not None)


@dataclass(frozen=True)
class FileResult:
    """The result for one file: quality, the settings used, and seconds by stage."""

    quality: QualityMetrics
    missing_fraction: float
    seconds: Mapping[str, float]
    settings: RestoreSettings
    output: Path
    notes: tuple[str, ...] = ()
    """What could not be kept of files that were replaced."""


def restore_file(request: FileRequest, control: JobControl) -> FileResult:
    """Read, restore and write a picture, then measure or estimate its quality.

    Reports `Progress`, the `Source` when it is read and the `Restoration` when it is done.

    Raises
    ------
    UserError
        If it cannot be done; then nothing was written, or the sentence names what was.
    CancelledError, StoppedError
        If the job was ended before anything was written.
    """
    output, clock = request.output, _Clock()
    output.check(request.sources)
    if request.recipe is not None:
        check_recipe_target(request.recipe, request.sources, overwrite=output.overwrite)
        check_distinct([output.path, request.recipe])
    source = load_source(request.path, request.mask_spec, request.reference, control)
    output.check_restored(source)
    clock.lap("read")
    control.report(source)
    restoring = RestoreRequest(source.picture.pixels, source.missing.mask, request.settings)
    if request.tunes:
        tuning = tune(restoring, control)
        restoring = RestoreRequest(restoring.pixels, restoring.mask, tuning.settings)
        clock.lap("tune")
    restoration = restore(restoring, control).restoration
    control.check()
    if restoration is None:
        raise StoppedError
    clock.take(restoration.seconds)
    control.report(restoration)
    files = [output.pending(restored_picture(source, restoration.image, source.missing.mask))]
    if request.recipe is not None:  # the picture is named last, and so stands for the whole
        files.insert(0, pending_recipe(source, restoration.settings, request.recipe))
    notes = write_files(files, overwrite=output.overwrite)
    clock.lap("write")
    restored = RestoreRequest(restoring.pixels, restoring.mask, restoration.settings)
    metrics = QualityMetrics()
    if source.reference is not None:
        metrics = quality(restored, restoration.image, source.reference.pixels)
        clock.lap("measure")
    elif request.estimates:
        control.report(Progress("estimating the PSNR"))
        metrics = QualityMetrics(estimate=estimate(restored))
        clock.lap("estimate")
    return FileResult(
        metrics, restoration.missing_fraction, clock.seconds(), restoration.settings, output.path, notes
    )


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self._laps: dict[str, float] = {}
        self._last = self._start = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Count the time since the last lap to a stage."""
        now = time.perf_counter()
        self._laps[stage] = now - self._last
        self._last = now

    def take(self, laps: Mapping[str, float]) -> None:
        """Take over laps that others measured."""
        self._laps |= laps
        self._last = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """Return all laps and the total."""
        return self._laps | {"total": time.perf_counter() - self._start}
