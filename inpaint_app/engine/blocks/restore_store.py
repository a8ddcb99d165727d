"""Restore a picture of any size, block by block, from one store to another."""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from dictsel_core import RestoreSettings, __version__
from inpaint_app.engine.blocks.cutting import DEFAULT_BLOCK, check_block, cut_into_blocks
from inpaint_app.engine.blocks.executors import Executor, Job, open_executor
from inpaint_app.engine.blocks.planning import SURVEY_SHARE, PlannedPlane, mosaic_of, plan_planes
from inpaint_app.engine.blocks.source import DamagedStore, describe_source
from inpaint_app.engine.blocks.target import Target, plan_target
from inpaint_app.engine.blocks.tile_jobs import (
    FILLING,
    RESTORING,
    FinishedBlock,
    PlaneContext,
    fill_hole,
    halve_block,
    parse_plan,
    rect_of,
    restore_tile,
)
from inpaint_app.engine.blocks.workspace import Workspace, open_workspace, recover_replaced
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.export import check_recipe_target
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import STAGES, translate_errors
from inpaint_app.engine.restore_file import FileRequest, FileResult, loss_notes
from inpaint_app.errors import writing_error
from inpaint_app.io.atomic import write_files
from inpaint_app.io.chunked.store import Store
from inpaint_app.io.recipe import recipe_output
from inpaint_app.io.write import float_range_error
from inpaint_app.model.rect import Rect

#: Of a part of a wide hole, and of a block of a level of the pyramid, in units of a tile.
_WORK_OF_A_HOLE, _WORK_OF_A_PYRAMID = 0.5, 0.1
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
    notes = loss_notes(target.lost(store), is_strict=options.is_strict)
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
        damaged = next(each.plan for each in planes if each.plan.missing_fraction)
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
        settings = replace(self._request.options.settings, threads=self._threads)
        if self._workspace.is_begun:
            return [self._stored_plan(source, settings) for source in sources]
        start, self._survey_share = time.perf_counter(), SURVEY_SHARE
        planes = plan_planes(sources, settings, self._request.block, self._executor, self._control)
        for each in planes:
            self._check_depth(each)
        digest = self._workspace.digest
        state = [{"digest": digest(each.stored), "counted": each.source.counted} for each in planes]
        self._workspace.keep_plans([each.stored for each in planes], state)
        self.seconds["select"] += time.perf_counter() - start
        return planes

    def restore(self, planes: Sequence[PlannedPlane]) -> None:
        """Do what is left to do: fill wide holes, restore tiles, and write the levels of the pyramid."""
        self._target.create(self._workspace)
        phases = [phase for phase in self._phases(planes) if phase.jobs]
        total = sum(phase.work for phase in phases)
        reporter = ProgressReporter(self._control, start=self._survey_share, share=1 - self._survey_share)
        before, last = 0.0, time.perf_counter()
        for phase in phases:
            for number, done in enumerate(self._executor.run(phase.jobs), start=1):
                self._control.report(done)
                fraction = (before + phase.work * number / len(phase.jobs)) / total
                reporter.update(_DESCRIPTIONS[phase.kind], min(fraction, 1.0))
                now = time.perf_counter()
                self.seconds[phase.kind] += now - last
                last = now
            before += phase.work

    def _phases(self, planes: Sequence[PlannedPlane]) -> Iterator["_Phase"]:
        """Yield what is left to do, one after the other."""
        contexts = [self._context(each) for each in planes]
        holes = [(each, hole) for each in contexts for hole in each.mosaic.holes(each.plan)]
        for wave in sorted({hole.wave for _, hole in holes}):
            jobs = [
                partial(fill_hole, each, hole)
                for each, hole in holes
                if hole.wave == wave and self._is_left(each, FILLING, rect_of(hole.part.box))
            ]
            yield _Phase("texture", len(jobs) * _WORK_OF_A_HOLE, jobs)
        tiles = [
            partial(restore_tile, each, tile)
            for each in contexts
            for tile in each.mosaic.tiles()
            if self._is_left(each, RESTORING, rect_of(tile.region))
        ]
        yield _Phase("refine" if contexts[0].plan.n_rounds else "code", len(tiles), tiles)
        target, block = self._target, self._request.block
        for number, (finer, level) in enumerate(pairwise(target.levels), start=1):
            shape = tuple(target.level_shape(number)[axis] for axis in target.axes[:2])
            jobs = [
                partial(halve_block, each.workspace, target.axes, finer, level, rect)
                for each in contexts
                for rect in cut_into_blocks(shape, block)
                if self._is_left(each, f"pyramid-{level}", rect)
            ]
            yield _Phase("pyramid", _WORK_OF_A_PYRAMID * len(jobs), jobs)

    def _is_left(self, context: PlaneContext, stage: str, rect: Rect) -> bool:
        return not context.workspace.is_done(stage, rect)

    def _context(self, planned: PlannedPlane) -> PlaneContext:
        target, workspace = self._target, self._of_plane(planned.source.plane)
        workspace.prepare_marks()
        depth = None if target.dtype == planned.mosaic.dtype else target.depth
        digest = workspace.digest(planned.stored)
        return PlaneContext(
            workspace,
            planned.source,
            planned.mosaic,
            digest,
            target.axes,
            target.levels[0],
            self._threads,
            depth,
        )

    def _check_depth(self, planned: PlannedPlane) -> None:
        """Refuse floats that do not fit into integers."""
        depth, is_float = self._request.output.depth, planned.mosaic.dtype.startswith("float")
        if (
            depth is not None
            and is_float
            and any(each.low < 0 or each.high > 1 for each in planned.plan.ranges)
        ):
            raise float_range_error(depth)

    def _stored_plan(self, source: DamagedStore, settings: RestoreSettings) -> PlannedPlane:
        workspace = self._of_plane(source.plane)
        state, stored = workspace.state[source.plane], workspace.plan
        assert stored is not None, "it is begun"
        if workspace.digest(stored) != state["digest"]:
            raise workspace.changed("The plan")
        counted = replace(source, **state["counted"])
        mosaic = mosaic_of(counted, settings, self._request.block)
        return PlannedPlane(counted, mosaic, stored, parse_plan(stored, self._threads))

    def _of_plane(self, plane: int) -> Workspace:
        return replace(self._workspace, plane=plane)


@dataclass(frozen=True)
class _Phase:
    """Jobs that do not depend on each other; those of the next phase may depend on them."""

    kind: str  #: For the progress.
    work: float  #: Of all jobs, in units of a tile.
    jobs: Sequence[Job[FinishedBlock]]


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
