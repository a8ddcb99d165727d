"""From a damaged file to a restored one."""

import math
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.control import Event, JobControl, Progress, ProgressReporter, StoppedError
from inpaint_app.engine.export import check_recipe_target, pending_recipe
from inpaint_app.engine.hole_fill import HoleFillFiles
from inpaint_app.engine.measure import QualityMetrics, quality
from inpaint_app.engine.overview import Overview, write_enlarged
from inpaint_app.engine.painted import Retouch
from inpaint_app.engine.restore import restore, tune, with_grain
from inpaint_app.engine.restore_stack import restore_stack
from inpaint_app.engine.source import BYTES_PER_VALUE, Plane, Source, load_pages, memory, with_reference
from inpaint_app.errors import Remedy, TooLargeError, UserError, join_names, printable_path
from inpaint_app.io.atomic import check_distinct, write_files
from inpaint_app.io.paths import is_zarr
from inpaint_app.io.write import Output
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Array, Picture

#: Side of a block in pixels: at this size the halos add about an eighth to the work.
DEFAULT_BLOCK = 1536
#: The sides of blocks are multiples of it.
BLOCK_STEP = 64
_STORE, _READ_IN_PARTS = ".zarr", (".tif", ".tiff", ".npy")


@dataclass(frozen=True)
class FileOptions:
    """How files are restored."""

    settings: RestoreSettings
    mask_spec: MaskSpec = field(default_factory=MaskSpec)
    tunes: bool = False  #: Whether to tune the settings first.
    estimates: bool = True  #: Whether to estimate the PSNR where there is no reference.
    #: Whether to refuse a picture if the result would lose metadata or other contents of its file.
    is_strict: bool = False
    #: How many pages before and after a page help to restore it; None restores every page by itself.
    neighbor_planes: int | None = None
    #: What the PSNR refers to, in the unit of the data; None for the range of the values, 255 for bytes.
    data_range: float | None = None
    #: Whether restored pixels get the grain of those around, which does not count in the quality.
    grain: bool = False
    #: The files that say how wide holes are filled.
    hole_fill: HoleFillFiles = field(default_factory=HoleFillFiles)


@dataclass(frozen=True)
class FileRequest:
    """A file to restore, how, and where the result goes."""

    path: Path  #: The damaged picture.
    output: Output  #: The restored one.
    options: FileOptions
    recipe: Path | None = None  #: Where to write the recipe.
    reference: Path | None = None  #: The undamaged picture.
    #: A Dask cluster, see `blocks.workers.open_workers`; None for this process. With it, or with a side of
    #: blocks in pixels, the picture is restored in blocks in any case.
    scheduler: str | None = None
    block: int | None = None
    #: What is missing in some planes, in place of what the file marks there.
    masks: Mapping[Plane, PackedMask] = field(default_factory=dict)
    #: What is pasted last into some planes.
    retouched: Mapping[Plane, Retouch] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[Path, ...]:
        """Files that must not be overwritten without permission."""
        fill = self.options.hole_fill
        given = (self.path, self.options.mask_spec.mask, self.reference, fill.fill_from, fill.network)
        return tuple(path for path in given if path is not None)


@dataclass(frozen=True, eq=False)
class SourceOpened(Event):
    """Reported when a picture has been read into memory."""

    source: Source


@dataclass(frozen=True)
class StoreOpened(Event):
    """Reported when a picture has been opened that is restored in blocks."""

    path: Path  #: The damaged picture.
    shape: tuple[int, ...]  #: Of a plane.
    dtype: str
    n_planes: int
    n_blocks: int  #: Of all planes.
    is_resumed: bool  #: Whether an earlier run is continued.


@dataclass(frozen=True, eq=False)
class Restored(Event):
    """Reported when a picture in memory has been restored."""

    restoration: Restoration


@dataclass(frozen=True)
class WrittenFile(Event):
    """Reported when the restored picture has been written: what follows only measures it."""

    path: Path


@dataclass(frozen=True)
class FileResult:
    """The result for one file: quality, the settings used, and seconds by stage."""

    quality: QualityMetrics
    missing_fraction: float
    seconds: Mapping[str, float]
    settings: RestoreSettings
    output: Path
    notes: tuple[str, ...] = ()
    """What could not be kept: of files that were replaced, and of the contents of the source."""
    marked_fraction: float | None = None
    """What mask and color mark before that grows; None where it does not grow."""
    found: Mapping[DamageKind, int] = field(default_factory=dict)
    """The number of regions of detected damage, by the kinds that were looked for."""


def restore_file(request: FileRequest, control: JobControl) -> FileResult:
    """Read, restore and write a picture, in memory or, if it is too large for that, in blocks.

    Zarr stores, and requests that name blocks or a cluster, are restored in blocks; see
    `blocks.restore.restore_in_blocks`. Of other files with several pages all are restored, each by itself
    unless they are a stack, and the quality is measured or estimated. Reports `Progress`; `SourceOpened` or
    `StoreOpened`; when it is done `Restored` (of several pages the first one), and `WrittenFile`.

    Raises `UserError` if it cannot be done; then nothing was written, or the sentence names what was. If the
    job is ended before it has written anything, it writes nothing.
    """
    if not needs_blocks(request):
        try:
            return _restore_in_memory(request, control)
        except TooLargeError as error:
            is_another = not error.problem.startswith(f"{printable_path(request.path)} ")  # the mask, say
            if is_another or request.path.suffix.lower() not in _READ_IN_PARTS:
                raise
    from inpaint_app.engine.blocks.restore import restore_in_blocks  # noqa: PLC0415  (seldom needed)

    return restore_in_blocks(request, control)


def restore_painted(
    request: FileRequest, overview: Overview, painted: Mapping[int, PackedMask], control: JobControl
) -> FileResult:
    """Restore a picture that is larger than memory, with what was painted on planes of its overview.

    What the file itself marks is missing too. Raises `UserError` if there is a mask file besides.
    """
    spec = request.options.mask_spec
    if spec.mask is not None:
        raise UserError("There is a mask file, and a painted mask besides", "clear the painted one")
    with tempfile.TemporaryDirectory(prefix="inpaint-mask-") as folder:
        mask = Path(folder) / ("mask.npy" if overview.n_planes == 1 else "mask.tif")
        write_enlarged(mask, overview, painted, control)
        grow = 0 if spec.key is None else spec.grow
        marks = replace(spec, mask=mask, trusts_mask=True, grow=grow)
        options = replace(request.options, mask_spec=marks)
        return restore_file(replace(request, options=options), control)


def needs_blocks(request: FileRequest) -> bool:
    """Return whether a request can be met in blocks only, whatever the size of the picture."""
    names = (request.path.suffix.lower(), request.output.path.suffix.lower())
    is_asked_for = request.scheduler is not None or request.block is not None
    return is_asked_for or _STORE in names or is_zarr(request.path)


def _restore_in_memory(request: FileRequest, control: JobControl) -> FileResult:
    output, options, clock = request.output, request.options, _Clock()
    _check_targets(request)
    largest = memory() / BYTES_PER_VALUE if request.path.suffix.lower() in _READ_IN_PARTS else math.inf
    sources = load_pages(request.path, options.mask_spec, control, max_values=largest, masks=request.masks)
    source = _summary(sources)
    notes = _notes_of(request, source.picture)
    output = output.fitted(source.picture)
    if request.reference is not None:
        if len(sources) > 1:
            raise UserError("A reference is for a picture of one page", "leave it out")
        source = with_reference(source, request.reference)
    output.check_restored(source.picture, source.missing.mask)
    clock.lap("read")
    control.report(SourceOpened(source))
    damaged, settings = [each for each in sources if each.missing.sources], options.settings
    if options.tunes:
        settings = tune(damaged[0].request(settings), control).settings
        clock.lap("tune")
    if options.neighbor_planes is None:
        restorations = _restore_pages(damaged, settings, options.hole_fill, control)
    else:
        restorations = restore_stack(sources, settings, options.neighbor_planes, control)
    for restoration in restorations:
        clock.take(restoration.seconds)
    control.report(Restored(restorations[0]))
    used = restorations[0].settings
    files = [output.pending(_restored(sources, restorations, request))]
    if request.recipe is not None:  # the picture is named last, and so stands for the whole
        files.insert(0, pending_recipe(source, used, request.recipe))
    notes = write_files(files, overwrite=output.overwrite, source=request.path) + notes
    clock.lap("write")
    control.report(WrittenFile(output.path))
    metrics = QualityMetrics()
    if source.reference is not None or (options.estimates and len(sources) == 1):
        stage = "estimate" if source.reference is None else "measure"
        control.report(Progress(f"{stage.removesuffix('e')}ing the PSNR"))
        reference = None if source.reference is None else source.reference.pixels
        metrics = quality(source.request(used), restorations[0].image, reference, options.data_range)
        clock.lap(stage)
    fraction = sum(each.missing.fraction for each in sources) / len(sources)
    marked = None if len(sources) > 1 else source.missing.marked_fraction
    return FileResult(metrics, fraction, clock.seconds(), used, output.path, notes, marked, _found(sources))


def _found(sources: tuple[Source, ...]) -> Counter[DamageKind]:
    """Return the number of regions of damage on all pages."""
    found = Counter[DamageKind]()
    for source in sources:
        found.update(source.found)
    return found


def _notes_of(request: FileRequest, picture: Picture) -> tuple[str, ...]:
    """Return notes about what the result and its report will not hold; see `loss_notes`."""
    output, lost = request.output, request.output.lost(picture)
    if output.fitted(picture) != output:
        lost += ("16 bits per channel",)
    notes = loss_notes(lost, is_strict=request.options.is_strict)
    if picture.depth == 16 and output.depth == 8:  # which was asked for
        notes += ("16 bits per channel were reduced to 8.",)
    if request.options.estimates and picture.more_pages:
        notes += ("The PSNR is not estimated for several pages; restore one of them alone for that.",)
    return notes


def loss_notes(lost: Sequence[str], *, is_strict: bool) -> tuple[str, ...]:
    """Return a note about what will be lost, if anything; raises `UserError` if that is not to be."""
    if lost and is_strict:
        raise UserError(f"{join_names(lost)} would be lost", Remedy.ACCEPT_LOSS)
    return (f"Not kept: {join_names(lost)}.",) if lost else ()


def _check_targets(request: FileRequest) -> None:
    output = request.output
    output.check(request.sources)
    if request.recipe is not None:
        check_recipe_target(request.recipe, request.sources, overwrite=output.overwrite)
        check_distinct([output.path, request.recipe])


def _restored(sources: tuple[Source, ...], restorations: list[Restoration], request: FileRequest) -> Picture:
    """Return all pages, those with missing pixels restored, and retouched last."""
    damaged = [number for number, source in enumerate(sources) if source.missing.sources]
    pages = [source.picture for source in sources]
    for number, each in zip(damaged, restorations, strict=True):
        source, image = sources[number], each.image
        if request.options.grain:
            image = with_grain(source.request(each.settings), image)
        for plane, retouch in request.retouched.items():
            if plane.page == number:
                image = _retouched(image, plane.band, retouch.within(source.missing.mask))
        pages[number] = source.restored(image, source.missing.mask)
    return replace(pages[0], more_pages=tuple(pages[1:]))


def _retouched(image: Array, band: int | None, retouch: Retouch | None) -> Array:
    """Return a page with what was painted by hand on it, or on one of its bands."""
    if retouch is None or band is None:
        return image if retouch is None else retouch.pasted(image)
    pasted = np.array(image)
    pasted[..., band] = retouch.pasted(image[..., band])
    return pasted


def _summary(sources: tuple[Source, ...]) -> Source:
    """Return the first damaged page as the source of the whole file."""
    if len(sources) == 1:
        return sources[0]
    damaged = [source for source in sources if source.missing.sources]
    first, rest = sources[0].picture, tuple(source.picture for source in sources[1:])
    noted = replace(first, more_pages=rest).with_notices(
        f"{len(damaged)} of {len(sources)} pages have missing pixels; the figures are of the first of them."
    )
    return replace(damaged[0], picture=noted)


def _restore_pages(
    sources: list[Source], settings: RestoreSettings, fill: HoleFillFiles, control: JobControl
) -> list[Restoration]:
    """Restore pages one after the other."""
    restorations, share = [], 1 / len(sources)
    for number, source in enumerate(sources):
        prefix = "" if len(sources) == 1 else f"page {number + 1} of {len(sources)}: "
        reporter = ProgressReporter(control, prefix, start=number * share, share=share)
        hole_fill = None if fill == HoleFillFiles() else fill.read(source.picture)
        page = replace(source.request(settings), hole_fill=hole_fill)
        restoration = restore(page, control, reporter).restoration
        control.check()
        if restoration is None:
            raise StoppedError
        restorations.append(restoration)
    return restorations


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
        """Add laps that others measured."""
        for stage, seconds in laps.items():
            self._laps[stage] = self._laps.get(stage, 0.0) + seconds
        self._last = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """Return all laps and the total."""
        return self._laps | {"total": time.perf_counter() - self._start}
