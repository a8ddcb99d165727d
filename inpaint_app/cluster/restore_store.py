"""Restore a picture of any size, block by block, from one store to another."""

import functools
import json
import operator
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from dictsel_core import ArraySpec, ImageSpec, PictureSurvey, RestorePlan, RestoreSettings, __version__
from inpaint_app.cluster.block_jobs import (
    CountMarks,
    HalveBlock,
    Measure,
    RestoreBlock,
    Restoring,
    parse_plan,
)
from inpaint_app.cluster.blocks import DEFAULT_BLOCK, check_block, cut_into_blocks
from inpaint_app.cluster.executors import Executor, Job, open_executor
from inpaint_app.cluster.source import DamagedStore, describe_source
from inpaint_app.cluster.target import Target, plan_target
from inpaint_app.cluster.workspace import Workspace, open_workspace
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import check_fraction
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.control import JobControl, ProgressReporter
from inpaint_app.jobs.measure import QualityMetrics
from inpaint_app.jobs.restore import STAGES, translate_errors
from inpaint_app.jobs.restore_file import FileResult

Result = TypeVar("Result")

#: Of the whole work, as far as the progress bar is concerned.
_SURVEY_SHARE = 0.05
_PYRAMID_SHARE = 0.1
_DESCRIPTIONS = STAGES | {"pyramid": "writing coarser levels"}


@dataclass(frozen=True)
class StoreRequest:
    """A picture on disk to restore block by block.

    Attributes
    ----------
    path : Path
        Zarr array, OME-Zarr image, TIFF or NumPy file.
    output : Path
        The restored one, in the format that its name has.
    settings : RestoreSettings
        Of the restoration.
    mask_spec : MaskSpec
        How missing pixels are marked.
    overwrite : bool
        Whether an existing result may be replaced.
    scheduler : str or None
        As for `open_executor`.
    block : int
        Side of a block in pixels.
    """

    path: Path
    output: Path
    settings: RestoreSettings
    mask_spec: MaskSpec
    overwrite: bool = False
    scheduler: str | None = None
    block: int = DEFAULT_BLOCK


@dataclass(frozen=True)
class StoreSummary:
    """Reported when the picture has been opened.

    Attributes
    ----------
    path : Path
        The damaged picture.
    shape, dtype
        Of its pixels.
    n_blocks : int
        Into how many blocks it is cut.
    is_resumed : bool
        Whether an earlier run is continued.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: str
    n_blocks: int
    is_resumed: bool


def restore_store(request: StoreRequest, control: JobControl) -> FileResult:
    """Restore a picture block by block; reports `Progress` and a `StoreSummary`.

    A run that was interrupted or killed is continued by the next one with the same request: blocks that were
    written are not computed again. The result appears under its name when it is complete.

    Raises
    ------
    UserError
        If it cannot be done.
    CancelledError, StoppedError
        If the job was ended; it can be continued.
    """
    start = time.perf_counter()
    check_block(request.block)
    source = describe_source(request.path, request.mask_spec)
    protect = [path for path in (request.path, request.mask_spec.mask) if path is not None]
    store = source.picture.store
    target = plan_target(request.output, store, overwrite=request.overwrite, protect=protect)
    with open_workspace(request.output, request.block, _identity(request, source, target)) as workspace:
        n_blocks = len(cut_into_blocks(source.shape, request.block))
        is_resumed = workspace.is_begun
        control.report(StoreSummary(request.path, source.shape, target.dtype, n_blocks, is_resumed))
        with open_executor(request.scheduler, control) as executor:
            run = _Run(request, target, workspace, executor, control)
            try:
                with translate_errors():
                    source, plan = run.plan(source)
                    run.restore(source, plan)
            except OSError as error:
                raise writing_error(error, request.output) from error
        target.publish(workspace, store.properties(), overwrite=request.overwrite)
        workspace.delete()
    run.seconds["total"] = time.perf_counter() - start
    return FileResult(QualityMetrics(), plan.missing_fraction, run.seconds, plan.settings, request.output)


@dataclass(frozen=True)
class _Pass:
    """One pass over the blocks of an array: a stage of the plan, or a level of the pyramid."""

    name: str
    kind: str
    work: float
    blocks: Sequence[Rect]
    job: Callable[[Rect], Job[bool]]
    arrays: tuple[ArraySpec, ...] = ()
    """That must exist before it."""
    released: tuple[str, ...] = ()
    """Arrays that are not needed after it."""


class _Run:
    """One run: passes over all blocks, with their progress."""

    def __init__(
        self,
        request: StoreRequest,
        target: Target,
        workspace: Workspace,
        executor: Executor,
        control: JobControl,
    ) -> None:
        self._target, self._workspace, self._executor = target, workspace, executor
        self._settings, self._block = request.settings, request.block
        self._control, self._survey_share = control, 0.0
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def plan(self, source: DamagedStore) -> tuple[DamagedStore, RestorePlan]:
        """Return the picture with what had to be found out about its mask, and the plan."""
        threads, stored = self._executor.threads or self._settings.threads, self._workspace.plan
        if stored is not None:
            state = self._workspace.state
            plan = parse_plan(stored, threads)
            if plan.digest != state["digest"]:
                folder = printable_path(self._workspace.folder)
                raise UserError(f"The plan in {folder} was changed", "delete that folder to start again")
            return replace(source, **state["growth"]), plan
        start, self._survey_share = time.perf_counter(), _SURVEY_SHARE
        reporter = ProgressReporter(self._control, share=_SURVEY_SHARE)
        blocks = cut_into_blocks(source.shape, self._block)

        def measured(words: str, jobs: Sequence[Callable[[], Result]], begin: float) -> list[Result]:
            results = []
            for number, result in enumerate(self._executor.run(jobs)):
                reporter.update(words, begin + 0.3 * number / len(jobs))
                results.append(result)
            return results

        if source.needs_growth:
            marks = measured("reading the mask", [CountMarks(source, rect) for rect in blocks], 0.0)
            source = source.with_growth(marks)
        height, width = source.shape[:2]
        spec = ImageSpec(height, width, source.n_channels, self._target.dtype, source.n_layers)
        survey = PictureSurvey(spec, replace(self._settings, threads=threads))
        statistics = measured("measuring", [Measure(source, survey, rect) for rect in blocks], 0.3)
        found = merged(statistics)
        has_mask, has_key = source.mask is not None, source.key is not None
        fraction = sum(found.n_missing) / (found.n_pixels * len(found.n_missing))
        check_fraction(fraction, has_mask=has_mask, has_key=has_key)
        details = survey.details(found)
        more = measured("sampling patches", [Measure(source, details, rect) for rect in blocks], 0.6)
        reporter.update(STAGES["select"], 0.9)
        plan = details.plan(merged(more))
        growth = {"mask_growth": source.mask_growth, "key_growth": source.key_growth}
        self._workspace.keep_plan(plan.to_json(), {"digest": plan.digest, "growth": growth})
        self.seconds["select"] += time.perf_counter() - start
        return source, plan

    def restore(self, source: DamagedStore, plan: RestorePlan) -> None:
        """Compute what is left to do of all stages, and of the pyramid."""
        self._target.create(self._workspace)
        shared = Restoring(
            self._workspace,
            source,
            plan.digest,
            self._target.axes,
            self._target.levels[0],
            self._executor.threads or self._settings.threads,
        )
        left = [each for each in self._passes(shared, plan) if not self._workspace.is_complete(each.name)]
        todo = {each.name: self._workspace.undone(each.name, each.blocks) for each in left}
        total = sum(each.work * len(todo[each.name]) / len(each.blocks) for each in left) or 1.0
        reporter = ProgressReporter(self._control, start=self._survey_share, share=1 - self._survey_share)
        finished = 0.0
        for each in left:
            start, words = time.perf_counter(), _DESCRIPTIONS[each.kind]
            for spec in each.arrays:
                self._workspace.create(spec.name, spec.shape, spec.dtype)
            for _ in self._executor.run([each.job(rect) for rect in todo[each.name]]):
                finished += each.work / len(each.blocks)
                reporter.update(words, min(finished / total, 1.0))
            self._workspace.mark_complete(each.name)
            for name in each.released:
                self._workspace.remove(name)
            self.seconds[each.kind] += time.perf_counter() - start

    def _passes(self, shared: Restoring, plan: RestorePlan) -> Iterator[_Pass]:
        """Yield all passes in their order."""
        workspace, target = self._workspace, self._target
        for stage in plan.stages:
            blocks = cut_into_blocks(stage.shape, self._block)
            job: Callable[[Rect], Job[bool]] = functools.partial(RestoreBlock, shared, stage.name)
            arrays = tuple(spec for spec in stage.writes if spec.name != plan.output)
            released = tuple(plan.released_after(stage))
            yield _Pass(stage.name, stage.kind, stage.work, blocks, job, arrays, released)
        work = _PYRAMID_SHARE * sum(stage.work for stage in plan.stages)
        for number, (finer, level) in enumerate(pairwise(target.levels), start=1):
            shape = [target.level_shape(number)[axis] for axis in target.axes[:2]]
            job = functools.partial(HalveBlock, workspace, target.axes, finer, level)
            yield _Pass(
                f"pyramid-{level}", "pyramid", work / 4**number, cut_into_blocks(shape, self._block), job
            )


def merged(statistics: Sequence[Result]) -> Result:
    """Return the sum of statistics, adding equals to equals so that none is copied often."""
    level = list(statistics)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [operator.add(*pair) for pair in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def _identity(request: StoreRequest, source: DamagedStore, target: Target) -> str:
    """Return everything that the result depends on, as text."""
    settings = asdict(request.settings)
    del settings["threads"]
    described = {
        "version": __version__,
        "source": asdict(source),
        "settings": settings,
        "block": request.block,
        "axes": target.axes,
        "levels": target.levels,
    }
    return json.dumps(described, sort_keys=True)
