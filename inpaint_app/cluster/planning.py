"""Survey a picture, or all pictures of a stack, block by block, and plan their restoration."""

import operator
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from dictsel_core import ImageSpec, PictureStatistics, PictureSurvey, RestorePlan, RestoreSettings
from inpaint_app.cluster.block_jobs import count_marks, make_plan, parse_plan, survey_block
from inpaint_app.cluster.blocks import cut_into_blocks
from inpaint_app.cluster.executors import Executor, Job, ThisProcess
from inpaint_app.cluster.source import DamagedStore
from inpaint_app.errors import Remedy, UserError
from inpaint_app.image.missing import check_missing
from inpaint_app.jobs.control import JobControl, ProgressReporter
from inpaint_app.jobs.restore import STAGES

#: Of the whole work, as far as the progress bar is concerned.
SURVEY_SHARE = 0.05

Result = TypeVar("Result")


@dataclass(frozen=True)
class PlannedPlane:
    """A picture, with what had to be found out about its mask, and its plan."""

    source: DamagedStore
    plan: RestorePlan


def plan_planes(
    given: Sequence[DamagedStore],
    settings: RestoreSettings,
    block: int,
    executor: Executor,
    control: JobControl,
) -> list[PlannedPlane]:
    """Return the plans of all planes, surveyed in blocks with this side; reports `Progress`.

    The settings have the threads that a job may use. Raises `UserError` if nothing is missing in any plane,
    or everything in one.
    """
    reporter = ProgressReporter(control, share=SURVEY_SHARE)

    def run(words: str, begin: float, jobs: Sequence[Job[tuple[int, Any]]]) -> dict[int, list[Any]]:
        return _by_plane(executor, jobs, lambda done: reporter.update(words, begin + 0.3 * done))

    def surveyed(words: str, begin: float, surveys: Sequence[Any]) -> list[Any]:
        jobs = [partial(survey_block, sources[at], surveys[at], rect) for at, rect in blocks]
        found = run(words, begin, jobs)
        return [merged(found[source.plane]) for source in sources]

    blocks = [(source.plane, rect) for source in given for rect in cut_into_blocks(source.shape, block)]
    uncounted = [partial(count_marks, given[at], rect) for at, rect in blocks if given[at].needs_counts]
    marks = run("reading the mask", 0.0, uncounted)
    sources = [each.with_counts(marks[each.plane]) if each.needs_counts else each for each in given]
    surveys = [PictureSurvey(_spec(source), settings) for source in sources]
    found: list[PictureStatistics] = surveyed("measuring", 0.3, surveys)
    _check_planes(sources, found)
    details = [survey.details(each) for survey, each in zip(surveys, found, strict=True)]
    sampled = surveyed("sampling patches", 0.6, details)
    jobs = [partial(make_plan, at, *pair) for at, pair in enumerate(zip(details, sampled, strict=True))]
    reporter.update(STAGES["select"], 0.9)
    planner = executor if len(jobs) > 1 else ThisProcess(control)  # one is not worth a trip
    texts = dict(planner.run(jobs))
    return [PlannedPlane(source, parse_plan(texts[source.plane], settings.threads)) for source in sources]


def _by_plane(
    executor: Executor, jobs: Sequence[Job[tuple[int, Any]]], on_progress: Callable[[float], None]
) -> dict[int, list[Any]]:
    """Run jobs that return a plane and something about it; returns the latter by plane."""
    results: defaultdict[int, list[Any]] = defaultdict(list)
    for number, (plane, result) in enumerate(executor.run(jobs)):
        on_progress(number / len(jobs))
        results[plane].append(result)
    return results


def _spec(source: DamagedStore) -> ImageSpec:
    height, width = source.shape[:2]
    return ImageSpec(height, width, source.n_channels, source.picture.store.dtype.name, source.n_layers)


def merged(statistics: Sequence[Result]) -> Result:
    """Return the sum of statistics, adding equals to equals so that none is copied often."""
    level = list(statistics)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [operator.add(*pair) for pair in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def _check_planes(sources: Sequence[DamagedStore], found: Sequence[PictureStatistics]) -> None:
    fractions = [sum(each.n_missing) / (each.n_pixels * len(each.n_missing)) for each in found]
    if len(fractions) > 1 and 1 in fractions:
        number = fractions.index(1) + 1
        raise UserError(
            f"Every pixel of plane {number} of {len(fractions)} is marked as missing", Remedy.MARK_LESS
        )
    has_mask, has_key = sources[0].mask is not None, sources[0].key is not None
    check_missing(max(fractions), has_mask=has_mask, has_key=has_key)
