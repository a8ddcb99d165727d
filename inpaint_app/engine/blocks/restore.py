"""Restore a picture of any size, block by block, from one store to another."""

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from dictsel_core import RestoreSettings, __version__
from dictsel_core.restoration import Mosaic, Plan, Survey
from inpaint_app.engine.blocks.jobs import (
    FinishedBlock,
    PlaneContext,
    count_marks,
    fill_hole,
    halve_block,
    make_plan,
    parse_plan,
    rect_of,
    restore_tile,
    survey_tile,
)
from inpaint_app.engine.blocks.source import DamagedStore, check_block, cut_into_blocks, describe_source
from inpaint_app.engine.blocks.target import Target, plan_target
from inpaint_app.engine.blocks.workers import Job, Workers, open_workers
from inpaint_app.engine.blocks.workspace import Workspace, open_workspace, recover_replaced
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.export import check_recipe_target
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import STAGES, translate_errors
from inpaint_app.engine.restore_file import (
    DEFAULT_BLOCK,
    FileRequest,
    FileResult,
    StoreOpened,
    loss_notes,
)
from inpaint_app.errors import Remedy, UserError, writing_error
from inpaint_app.io.atomic import write_files
from inpaint_app.io.chunked.store import Store
from inpaint_app.io.recipe import recipe_output
from inpaint_app.io.write import float_range_error
from inpaint_app.model.missing import check_missing
from inpaint_app.model.picture import Rect

#: Of planning, as a part of the whole work; of a part of a wide hole, and of a block of a level of the
#: pyramid, in units of a tile.
_PLANNING, _HOLE, _PYRAMID = 0.05, 0.5, 0.1
_DESCRIPTIONS = STAGES | {"pyramid": "writing coarser levels"}


@dataclass(frozen=True)
class _Plane:
    """A picture, with what had to be found out about its mask, how it is cut into tiles, and its plan."""

    source: DamagedStore
    mosaic: Mosaic
    stored: bytes  #: The plan, as it is stored.
    plan: Plan


def restore_in_blocks(request: FileRequest, control: JobControl) -> FileResult:
    """Restore a picture block by block; reports `Progress`, `StoreOpened` and every `FinishedBlock`.

    A run that was interrupted, killed, stopped or cancelled is continued by the next one with the same
    request: blocks that were written are not computed again. The result appears under its name when it is
    complete. Raises `UserError` if it cannot be done.
    """
    start, block = time.perf_counter(), request.block or DEFAULT_BLOCK
    check_block(block)
    _refuse_options(request)
    options, output = request.options, request.output
    sources = describe_source(request.path, options.mask_spec, block)
    store = sources[0].picture.store
    recover_replaced(output.path)
    if request.recipe is not None:
        check_recipe_target(request.recipe, request.sources, overwrite=output.overwrite)
    target = plan_target(
        output.path, store, overwrite=output.overwrite, protect=request.sources, depth=output.depth
    )
    notes = loss_notes(target.lost(store), is_strict=options.is_strict)
    with open_workspace(output.path, block, _identity(options.settings, block, sources, target)) as workspace:
        control.report(_opened(request, store, block, is_resumed=workspace.can_resume))
        with open_workers(request.scheduler, control) as workers:
            run = _Run(request, target, workspace, workers, control)
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


def _refuse_options(request: FileRequest) -> None:
    """Raise `UserError` if something is asked for that needs the picture as a whole."""
    options, fill = request.options, request.options.hole_fill
    refused = (
        (request.reference, "A reference", "compare the results with 'inpaint score', part by part"),
        (
            options.neighbor_planes,
            "Help of neighboring planes",
            "leave it out: planes are restored one by one",
        ),
        (options.grain, "Grain", "leave it out: it is measured in the picture as a whole"),
        (fill.fill_from, "A mask of what to copy", "leave it out: holes are filled from what is around them"),
        (fill.network, "A network", "fill wide holes in another way"),
        (options.tunes, "Tuning", "run 'inpaint tune' on a part of the picture, and use its recipe"),
    )
    for given, what, remedy in refused:
        if given:
            raise UserError(f"{what} is not for pictures that are restored in blocks", remedy)


class _Run:
    """One run: its stages, computed in blocks, with their progress."""

    def __init__(
        self,
        request: FileRequest,
        target: Target,
        workspace: Workspace,
        workers: Workers,
        control: JobControl,
    ) -> None:
        self._request, self._target, self._workspace = request, target, workspace
        self._workers, self._control, self._planned = workers, control, 0.0
        threads = workers.threads or request.options.settings.threads
        self._settings = replace(request.options.settings, threads=threads)
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def plan(self, sources: Sequence[DamagedStore]) -> list[_Plane]:
        """Return the plans of all planes, made now or by an earlier run.

        Raises `UserError` if nothing is missing in any plane, or everything in one.
        """
        if self._workspace.can_resume:
            return [self._stored_plan(source) for source in sources]
        start, self._planned = time.perf_counter(), _PLANNING
        planes = self._make_plans(sources)
        digest = self._workspace.digest
        state = [{"digest": digest(each.stored), "counted": each.source.counted} for each in planes]
        self._workspace.keep_plans([each.stored for each in planes], state)
        self.seconds["select"] += time.perf_counter() - start
        return planes

    def _make_plans(self, given: Sequence[DamagedStore]) -> list[_Plane]:
        """Survey all planes tile by tile, and select their dictionaries."""
        reporter, block = ProgressReporter(self._control, share=_PLANNING), self._workspace.block

        def by_plane(words: str, begin: float, jobs: Sequence[Job[tuple[int, Any]]]) -> dict[int, list[Any]]:
            results: defaultdict[int, list[Any]] = defaultdict(list)
            for number, (plane, result) in enumerate(self._workers.run(jobs)):
                reporter.update(words, begin + 0.4 * number / len(jobs))
                results[plane].append(result)
            return results

        uncounted = [
            partial(count_marks, source, rect)
            for source in given
            if source.needs_counts
            for rect in cut_into_blocks(source.shape, block)
        ]
        marks = by_plane("reading the mask", 0.0, uncounted)
        sources = [each.with_counts(marks[each.plane]) if each.needs_counts else each for each in given]
        mosaics = [self._mosaic(source) for source in sources]
        looks = [
            partial(survey_tile, source, mosaic, tile)
            for source, mosaic in zip(sources, mosaics, strict=True)
            for tile in mosaic.tiles()
        ]
        found = by_plane("measuring", 0.4, looks)
        # In the order of tiles, whatever the order in which they were surveyed.
        surveys = [[survey for _, survey in sorted(found[each.plane], key=_place)] for each in sources]
        _check_planes(sources, surveys)
        reporter.update(STAGES["select"], 0.9)
        jobs = [partial(make_plan, *each) for each in zip(sources, mosaics, surveys, strict=True)]
        planner = self._workers if len(jobs) > 1 else Workers(self._control)  # one is not worth a trip
        plans = dict(planner.run(jobs))
        planes = [
            self._plane(source, mosaic, plans[source.plane])
            for source, mosaic in zip(sources, mosaics, strict=True)
        ]
        for plane in planes:
            self._check_depth(plane)
        return planes

    def _mosaic(self, source: DamagedStore) -> Mosaic:
        shape = source.shape[0], source.shape[1], source.n_channels
        return Mosaic(shape, source.picture.store.dtype.name, self._settings, self._workspace.block)

    def _plane(self, source: DamagedStore, mosaic: Mosaic, stored: bytes) -> _Plane:
        return _Plane(source, mosaic, stored, parse_plan(stored, self._settings.threads))

    def _stored_plan(self, source: DamagedStore) -> _Plane:
        workspace = replace(self._workspace, plane=source.plane)
        state, stored = workspace.state[source.plane], workspace.plan
        assert stored is not None, "it is begun"
        if workspace.digest(stored) != state["digest"]:
            raise workspace.changed("The plan")
        counted = replace(source, **state["counted"])
        return self._plane(counted, self._mosaic(counted), stored)

    def _check_depth(self, plane: _Plane) -> None:
        """Refuse floats that do not fit into integers."""
        depth, is_float = self._request.output.depth, plane.mosaic.dtype.startswith("float")
        if (
            depth is not None
            and is_float
            and any(each.low < 0 or each.high > 1 for each in plane.plan.ranges)
        ):
            raise float_range_error(depth)

    def restore(self, planes: Sequence[_Plane]) -> None:
        """Do what is left to do: fill wide holes, restore tiles, and write the levels of the pyramid."""
        self._target.create(self._workspace)
        phases = [phase for phase in self._phases([self._context(each) for each in planes]) if phase[2]]
        total = sum(work * len(jobs) for _, work, jobs in phases)
        reporter = ProgressReporter(self._control, start=self._planned, share=1 - self._planned)
        done, last = 0.0, time.perf_counter()
        for kind, work, jobs in phases:
            for finished in self._workers.run(jobs):
                self._control.report(finished)
                done += work
                reporter.update(_DESCRIPTIONS[kind], min(done / total, 1.0))
                now = time.perf_counter()
                self.seconds[kind] += now - last
                last = now

    def _phases(
        self, contexts: Sequence[PlaneContext]
    ) -> Iterator[tuple[str, float, Sequence[Job[FinishedBlock]]]]:
        """Yield what is left to do: its kind, the work of a job, and jobs independent of each other."""
        holes = [(each, hole) for each in contexts for hole in each.mosaic.holes(each.plan)]
        for wave in sorted({hole.wave for _, hole in holes}):
            yield (
                "texture",
                _HOLE,
                [
                    partial(fill_hole, each, hole)
                    for each, hole in holes
                    if hole.wave == wave and not each.workspace.has_fill(hole.part.box)
                ],
            )
        tiles = [
            partial(restore_tile, each, tile)
            for each in contexts
            for tile in each.mosaic.tiles()
            if not each.image.has_block(rect_of(tile.region))
        ]
        yield "refine" if contexts[0].plan.n_rounds else "code", 1.0, tiles
        target = self._target
        for number, (finer, level) in enumerate(pairwise(target.levels), start=1):
            shape = tuple(target.level_shape(number)[axis] for axis in target.axes[:2])
            yield (
                "pyramid",
                _PYRAMID,
                [
                    partial(halve_block, each.workspace, target.axes, finer, level, rect)
                    for each in contexts
                    for rect in cut_into_blocks(shape, self._workspace.block)
                    if not each.workspace.result_image(target.axes, level).has_block(rect)
                ],
            )

    def _context(self, plane: _Plane) -> PlaneContext:
        target, workspace = self._target, replace(self._workspace, plane=plane.source.plane)
        return PlaneContext(
            workspace,
            plane.source,
            plane.mosaic,
            workspace.digest(plane.stored),
            target.axes,
            target.levels[0],
            self._settings.threads,
            None if target.dtype == plane.mosaic.dtype else target.depth,
        )


def _place(found: tuple[Rect, Survey]) -> tuple[int, int]:
    return found[0].row, found[0].column


def _check_planes(sources: Sequence[DamagedStore], surveys: Iterable[Sequence[Survey]]) -> None:
    fractions = []
    for found in surveys:
        n_missing = sum(sum(each.n_missing) for each in found)
        fractions.append(n_missing / sum(each.n_pixels * len(each.n_missing) for each in found))
    if len(fractions) > 1 and 1 in fractions:
        number = fractions.index(1) + 1
        raise UserError(
            f"Every pixel of plane {number} of {len(fractions)} is marked as missing", Remedy.MARK_LESS
        )
    has_mask, has_key = sources[0].mask is not None, sources[0].key is not None
    check_missing(max(fractions), has_mask=has_mask, has_key=has_key)


def _opened(request: FileRequest, store: Store, block: int, *, is_resumed: bool) -> StoreOpened:
    n_blocks = store.n_planes * len(cut_into_blocks(store.shape, block))
    return StoreOpened(request.path, store.shape, store.dtype.name, store.n_planes, n_blocks, is_resumed)


def _identity(settings: RestoreSettings, block: int, sources: Sequence[DamagedStore], target: Target) -> str:
    """Return everything that the result depends on, as text."""
    described = {
        "version": __version__,
        "sources": [asdict(source) for source in sources],
        "settings": asdict(settings) | {"threads": None},
        "block": block,
        "shape": target.shape,
        "axes": target.axes,
        "levels": target.levels,
        "dtype": target.dtype,
    }
    return json.dumps(described, sort_keys=True)
