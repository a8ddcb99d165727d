"""Survey a picture, or all pictures of a stack, block by block, and plan their restoration."""

import operator
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dictsel_core import ImageSpec, PictureStatistics, PictureSurvey, RestorePlan, RestoreSettings
from inpaint_app.cluster.block_jobs import CountMarks, MakePlan, SurveyBlock, parse_plan
from inpaint_app.cluster.blocks import cut_into_blocks
from inpaint_app.cluster.executors import Executor, ThisProcess
from inpaint_app.cluster.source import DamagedStore
from inpaint_app.errors import Remedy, UserError
from inpaint_app.image.missing import check_missing
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.control import JobControl, ProgressReporter
from inpaint_app.jobs.restore import STAGES

Result = TypeVar("Result")


@dataclass(frozen=True)
class PlannedPlane:
    """A picture, with what had to be found out about its mask, and its plan."""

    source: DamagedStore
    plan: RestorePlan


class Planner:
    """Plans the restoration of pictures.

    Parameters
    ----------
    executor : Executor
        Surveys the blocks.
    control : JobControl
        Can end it.
    reporter : ProgressReporter
        Is told how far it is.
    settings : RestoreSettings
        Of the restoration, with the threads that a job may use.
    block : int
        Side of a block.
    """

    def __init__(
        self,
        executor: Executor,
        control: JobControl,
        reporter: ProgressReporter,
        settings: RestoreSettings,
        block: int,
    ) -> None:
        self._executor, self._control, self._reporter = executor, control, reporter
        self._settings, self._block = settings, block

    def plan(self, sources: Sequence[DamagedStore]) -> list[PlannedPlane]:
        """Return the plans of all planes.

        Raises
        ------
        UserError
            If nothing is missing in any plane, or everything in one.
        """
        sources = self._counted(sources)
        surveys: list[Any] = [self._survey(source) for source in sources]
        found: list[PictureStatistics] = self._surveyed("measuring", sources, surveys, 0.3)
        _check_planes(sources, found)
        surveys = [survey.details(each) for survey, each in zip(surveys, found, strict=True)]
        details = self._surveyed("sampling patches", sources, surveys, 0.6)
        jobs = [MakePlan(number, *pair) for number, pair in enumerate(zip(surveys, details, strict=True))]
        self._reporter.update(STAGES["select"], 0.9)
        executor = self._executor if len(jobs) > 1 else ThisProcess(self._control)  # one is not worth a trip
        texts = dict(executor.run(jobs))
        threads = self._settings.threads
        return [
            PlannedPlane(source, parse_plan(texts[number], threads)) for number, source in enumerate(sources)
        ]

    def _counted(self, sources: Sequence[DamagedStore]) -> list[DamagedStore]:
        """Return the sources with what is known once marks are counted."""
        open_ones = [source for source in sources if source.needs_counts]
        marks = self._by_plane("reading the mask", open_ones, CountMarks, 0.0)
        return [
            source.with_counts(marks[source.plane]) if source.needs_counts else source for source in sources
        ]

    def _survey(self, source: DamagedStore) -> PictureSurvey:
        (height, width, *_), dtype = source.shape, source.picture.store.dtype.name
        spec = ImageSpec(height, width, source.n_channels, dtype, source.n_layers)
        return PictureSurvey(spec, self._settings)

    def _surveyed(
        self, words: str, sources: Sequence[DamagedStore], surveys: Sequence[Any], begin: float
    ) -> list[Any]:
        """Return the statistics of each plane."""

        def job(source: DamagedStore, rect: Rect) -> SurveyBlock:
            return SurveyBlock(source, surveys[source.plane], rect)

        found = self._by_plane(words, sources, job, begin)
        return [merged(found[source.plane]) for source in sources]

    def _by_plane(
        self,
        words: str,
        sources: Sequence[DamagedStore],
        make: Callable[[DamagedStore, Rect], Callable[[], tuple[int, Any]]],
        begin: float,
    ) -> dict[int, list[Any]]:
        """Run a job for every block, and return the results by plane."""
        jobs = [
            make(source, rect) for source in sources for rect in cut_into_blocks(source.shape, self._block)
        ]
        results: defaultdict[int, list[Any]] = defaultdict(list)
        for number, (plane, result) in enumerate(self._executor.run(jobs)):
            self._reporter.update(words, begin + 0.3 * number / len(jobs))
            results[plane].append(result)
        return results


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
