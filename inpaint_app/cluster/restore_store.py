"""Restore a picture of any size, block by block, from one store to another."""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from dictsel_core import PlanStage, RestorePlan, __version__
from inpaint_app.cluster.block_jobs import (
    FinishedBlock,
    PlaneContext,
    finer_rect,
    halve_block,
    parse_plan,
    restore_block,
)
from inpaint_app.cluster.blocks import DEFAULT_BLOCK, check_block, cut_into_blocks, regions, stage_block
from inpaint_app.cluster.executors import Executor, Job, open_executor
from inpaint_app.cluster.planning import SURVEY_SHARE, PlannedPlane, plan_planes
from inpaint_app.cluster.schedule import BlockStage, Schedule
from inpaint_app.cluster.source import DamagedStore, describe_source
from inpaint_app.cluster.stores.store import Store
from inpaint_app.cluster.target import Target, plan_target
from inpaint_app.cluster.workspace import Workspace, open_workspace, recover_replaced
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.files.atomic import write_files
from inpaint_app.files.recipe import recipe_output
from inpaint_app.files.storable import float_range_error
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.control import JobControl, ProgressReporter
from inpaint_app.jobs.export import check_recipe_target
from inpaint_app.jobs.measure import QualityMetrics
from inpaint_app.jobs.restore import STAGES, translate_errors
from inpaint_app.jobs.restore_file import FileRequest, FileResult, loss_notes

#: Of the work on a plane, as far as the progress bar is concerned.
_PYRAMID_SHARE = 0.1
_DESCRIPTIONS = STAGES | {"pyramid": "writing coarser levels"}


@dataclass(frozen=True)
class StoreRequest(FileRequest):
    """A picture on disk to restore block by block; tuning, a reference and the quality have no meaning."""

    scheduler: str | None = None  #: As for `open_executor`.
    block: int = DEFAULT_BLOCK  #: Side of a block in pixels.


@dataclass(frozen=True)
class StoreSummary:
    """Reported when the picture has been opened."""

    path: Path  #: The damaged picture.
    shape: tuple[int, ...]  #: Of a plane.
    dtype: str
    n_planes: int
    n_blocks: int  #: Of all planes.
    is_resumed: bool  #: Whether an earlier run is continued.


def restore_store(request: StoreRequest, control: JobControl) -> FileResult:
    """Restore a picture block by block; reports `Progress` and a `StoreSummary`.

    A run that was interrupted, killed, stopped or cancelled is continued by the next one with the same
    request: blocks that were written are not computed again. The result appears under its name when it is
    complete. Raises `UserError` if it cannot be done.
    """
    start = time.perf_counter()
    check_block(request.block)
    options, output = request.options, request.output
    sources = describe_source(request.path, options.mask_spec, request.block)
    store = sources[0].picture.store
    recover_replaced(output.path)
    target = _checked_target(request, store)
    notes = loss_notes(target.lost(store.properties()), is_strict=options.is_strict)
    with open_workspace(output.path, request.block, _identity(request, sources, target)) as workspace:
        control.report(_summary(request, store, is_resumed=workspace.is_begun))
        with open_executor(request.scheduler, control) as executor:
            run = _Run(request, target, workspace, executor, control)
            try:
                with translate_errors():
                    planes = run.plan(sources)
                    run.restore(planes)
            except OSError as error:
                raise writing_error(error, output.path) from error
        target.publish(workspace, [each.source for each in planes], overwrite=output.overwrite)
        damaged = next(each.plan for each in planes if not each.plan.nothing_missing)
        if request.recipe is not None:
            marks = tuple(name for name in ("mask", "key") if getattr(options.mask_spec, name) is not None)
            recipe = recipe_output(request.recipe, damaged.settings, options.mask_spec, marks)
            write_files([recipe], overwrite=output.overwrite)
        workspace.delete()
    run.seconds["total"] = time.perf_counter() - start
    fraction = sum(each.plan.missing_fraction for each in planes) / len(planes)
    return FileResult(QualityMetrics(), fraction, run.seconds, damaged.settings, output.path, notes)


class _Run:
    """One run: its stages, computed in blocks, with their progress."""

    def __init__(
        self,
        request: StoreRequest,
        target: Target,
        workspace: Workspace,
        executor: Executor,
        control: JobControl,
    ) -> None:
        self._request, self._target, self._workspace = request, target, workspace
        self._executor, self._control, self._survey_share = executor, control, 0.0
        self._threads = executor.threads or request.options.settings.threads
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def plan(self, sources: Sequence[DamagedStore]) -> list[PlannedPlane]:
        """Return the plans of all planes, made now or by an earlier run."""
        if self._workspace.is_begun:
            return [self._stored_plan(source) for source in sources]
        start, self._survey_share = time.perf_counter(), SURVEY_SHARE
        settings = replace(self._request.options.settings, threads=self._threads)
        planes = plan_planes(sources, settings, self._request.block, self._executor, self._control)
        for each in planes:
            self._check_depth(each.plan)
        state = [{"digest": each.plan.digest, "counted": each.source.counted} for each in planes]
        self._workspace.keep_plans([each.plan.to_json() for each in planes], state)
        self.seconds["select"] += time.perf_counter() - start
        return planes

    def restore(self, planes: Sequence[PlannedPlane]) -> None:
        """Compute what is left to do of all stages, and of the pyramid."""
        self._target.create(self._workspace)
        stages = [each for plane in planes for each in self._stages(plane)]
        left = [self._of_plane(each.plane).undone(each.name, each.blocks) for each in stages]
        total = sum(
            each.work * len(rects) / len(each.blocks) for each, rects in zip(stages, left, strict=True)
        )
        reporter = ProgressReporter(self._control, start=self._survey_share, share=1 - self._survey_share)
        schedule, finished, last = Schedule(stages, left), 0.0, time.perf_counter()
        for done in self._executor.run(self._jobs(schedule)):
            self._control.report(done)
            each, released = schedule.finish(done.plane, done.stage, done.rect)
            for plane, name in released:
                self._of_plane(plane).remove(name)
            finished += each.work / len(each.blocks)
            reporter.update(_DESCRIPTIONS[each.kind], min(finished / total, 1.0))
            now = time.perf_counter()
            self.seconds[each.kind] += now - last
            last = now

    def _jobs(self, schedule: Schedule) -> Iterator[Job[FinishedBlock] | None]:
        """Yield the jobs of blocks, once the arrays exist that they write."""
        created: set[BlockStage] = set()
        for block in schedule.blocks():
            if block is None:
                yield None
                continue
            each, rect = block
            if each not in created:
                for spec in each.creates:
                    self._of_plane(each.plane).create(spec.name, spec.shape, spec.dtype, each.block)
                created.add(each)
            yield partial(each.compute, rect)

    def _stages(self, planned: PlannedPlane) -> Iterator[BlockStage]:
        """Yield all stages of a plane in their order."""
        plan, target, plane = planned.plan, self._target, planned.source.plane
        workspace, block, finest = self._of_plane(plane), self._request.block, target.levels[0]
        depth = None if target.dtype == plan.spec.dtype else target.depth
        context = PlaneContext(
            workspace, planned.source, plan.digest, target.axes, finest, self._threads, depth
        )
        for stage in plan.stages:
            creates = tuple(spec for spec in stage.writes if spec.name != plan.output)
            side = stage_block(stage, plan.spec.shape, block)
            yield BlockStage(
                stage.name,
                plane,
                stage.kind,
                stage.work,
                side,
                cut_into_blocks(stage.shape, side),
                partial(restore_block, context, stage.name),
                partial(_stage_reads, stage),
                tuple(spec.name for spec in creates) or (_level_name(finest),),
                creates,
            )
        work = _PYRAMID_SHARE * sum(stage.work for stage in plan.stages)
        for number, (finer, level) in enumerate(pairwise(target.levels), start=1):
            shape, whole = (
                tuple(target.level_shape(at)[axis] for axis in target.axes[:2]) for at in (number, number - 1)
            )
            yield BlockStage(
                f"pyramid-{level}",
                plane,
                "pyramid",
                work / 4**number,
                block,
                cut_into_blocks(shape, block),
                partial(halve_block, workspace, target.axes, finer, level),
                partial(_level_reads, _level_name(finer), whole),
                (_level_name(level),),
            )

    def _check_depth(self, plan: RestorePlan) -> None:
        """Refuse floats that do not fit into integers."""
        depth, is_float = self._request.output.depth, plan.spec.dtype.startswith("float")
        if depth is not None and is_float and any(each.low < 0 or each.high > 1 for each in plan.ranges):
            raise float_range_error(depth)

    def _stored_plan(self, source: DamagedStore) -> PlannedPlane:
        workspace = self._of_plane(source.plane)
        state, text = workspace.state[source.plane], workspace.plan
        assert text is not None, "it is begun"
        plan = parse_plan(text, self._threads)
        if plan.digest != state["digest"]:
            folder = printable_path(workspace.folder)
            raise UserError(f"The plan in {folder} was changed", "delete that folder to start again")
        return PlannedPlane(replace(source, **state["counted"]), plan)

    def _of_plane(self, plane: int) -> Workspace:
        return replace(self._workspace, plane=plane)


def _stage_reads(stage: PlanStage, rect: Rect) -> Iterator[tuple[str, Rect]]:
    return regions(stage.reads(*rect.slices))


def _level_reads(name: str, shape: tuple[int, ...], rect: Rect) -> Iterator[tuple[str, Rect]]:
    yield name, finer_rect(rect, shape)


def _level_name(level: str) -> str:
    """Return what stages call a level of the result."""
    return f"result-{level}"


def _summary(request: StoreRequest, store: Store, *, is_resumed: bool) -> StoreSummary:
    n_planes = store.n_planes
    n_blocks = n_planes * len(cut_into_blocks(store.shape, request.block))
    return StoreSummary(request.path, store.shape, store.dtype.name, n_planes, n_blocks, is_resumed)


def _checked_target(request: StoreRequest, store: Store) -> Target:
    output, protect = request.output, request.sources
    if request.recipe is not None:
        check_recipe_target(request.recipe, protect, overwrite=output.overwrite)
    return plan_target(output.path, store, overwrite=output.overwrite, protect=protect, depth=output.depth)


def _identity(request: StoreRequest, sources: Sequence[DamagedStore], target: Target) -> str:
    """Return everything that the result depends on, as text."""
    settings = asdict(request.options.settings)
    del settings["threads"]
    described = {
        "version": __version__,
        "sources": [asdict(source) for source in sources],
        "settings": settings,
        "block": request.block,
        "shape": target.shape,
        "axes": target.axes,
        "levels": target.levels,
        "dtype": target.dtype,
    }
    return json.dumps(described, sort_keys=True)
