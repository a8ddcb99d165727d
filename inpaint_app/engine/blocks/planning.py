"""Survey a picture, or all pictures of a stack, tile by tile, and plan their restoration."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dictsel_core import RestoreSettings
from dictsel_core.restoration import Mosaic, Plan, Survey
from inpaint_app.engine.blocks.cutting import cut_into_blocks
from inpaint_app.engine.blocks.executors import Executor, Job, ThisProcess
from inpaint_app.engine.blocks.source import DamagedStore
from inpaint_app.engine.blocks.tile_jobs import count_marks, make_plan, parse_plan, survey_tile
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.restore import STAGES
from inpaint_app.errors import Remedy, UserError
from inpaint_app.model.missing import check_missing
from inpaint_app.model.rect import Rect

#: Of the whole work, as far as the progress bar is concerned.
SURVEY_SHARE = 0.05


@dataclass(frozen=True)
class PlannedPlane:
    """A picture, with what had to be found out about its mask, how it is cut into tiles, and its plan."""

    source: DamagedStore
    mosaic: Mosaic
    stored: bytes  #: The plan, as it is stored.
    plan: Plan


def plan_planes(
    given: Sequence[DamagedStore],
    settings: RestoreSettings,
    block: int,
    executor: Executor,
    control: JobControl,
) -> list[PlannedPlane]:
    """Return the plans of all planes, surveyed in tiles with this side; reports `Progress`.

    The settings have the threads that a job may use. Raises `UserError` if nothing is missing in any plane,
    or everything in one.
    """
    reporter = ProgressReporter(control, share=SURVEY_SHARE)

    def run(words: str, begin: float, jobs: Sequence[Job[tuple[int, Any]]]) -> dict[int, list[Any]]:
        return _by_plane(executor, jobs, lambda done: reporter.update(words, begin + 0.4 * done))

    blocks = [(source.plane, rect) for source in given for rect in cut_into_blocks(source.shape, block)]
    uncounted = [partial(count_marks, given[at], rect) for at, rect in blocks if given[at].needs_counts]
    marks = run("reading the mask", 0.0, uncounted)
    sources = [each.with_counts(marks[each.plane]) if each.needs_counts else each for each in given]
    mosaics = [mosaic_of(source, settings, block) for source in sources]
    looks = [
        partial(survey_tile, source, mosaic, tile)
        for source, mosaic in zip(sources, mosaics, strict=True)
        for tile in mosaic.tiles()
    ]
    found = run("measuring", 0.4, looks)
    # In the order of tiles, whatever the order in which they were surveyed.
    surveys = [[survey for _, survey in sorted(found[each.plane], key=_place)] for each in sources]
    _check_planes(sources, surveys)
    jobs = [partial(make_plan, *each) for each in zip(sources, mosaics, surveys, strict=True)]
    reporter.update(STAGES["select"], 0.9)
    planner = executor if len(jobs) > 1 else ThisProcess(control)  # one is not worth a trip
    plans = dict(planner.run(jobs))
    return [
        PlannedPlane(source, mosaic, plans[source.plane], parse_plan(plans[source.plane], settings.threads))
        for source, mosaic in zip(sources, mosaics, strict=True)
    ]


def mosaic_of(source: DamagedStore, settings: RestoreSettings, block: int) -> Mosaic:
    """Return how a picture is cut into tiles with this side."""
    shape = source.shape[0], source.shape[1], source.n_channels
    return Mosaic(shape, source.picture.store.dtype.name, settings, block)


def _place(found: tuple[Rect, Survey]) -> tuple[int, int]:
    return found[0].row, found[0].column


def _by_plane(
    executor: Executor, jobs: Sequence[Job[tuple[int, Any]]], on_progress: Callable[[float], None]
) -> dict[int, list[Any]]:
    """Run jobs that return a plane and something about it; returns the latter by plane."""
    results: defaultdict[int, list[Any]] = defaultdict(list)
    for number, (plane, result) in enumerate(executor.run(jobs)):
        on_progress(number / len(jobs))
        results[plane].append(result)
    return results


def _check_planes(sources: Sequence[DamagedStore], surveys: Sequence[Sequence[Survey]]) -> None:
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
