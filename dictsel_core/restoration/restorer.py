"""One restoration in progress: all stages of a plan, with the whole image as a single block."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.plan.final_stages import RoundStage
from dictsel_core.restoration.plan.plan import RestorePlan
from dictsel_core.restoration.plan.regions import ImageSpec
from dictsel_core.restoration.plan.stage import PlanStage
from dictsel_core.restoration.plan.survey import PictureSurvey
from dictsel_core.restoration.result import Restoration, RestoreStep, Stage
from dictsel_core.restoration.settings import ResolvedSettings

#: Fraction of the work that is done once there is a plan.
_PLANNED = 0.05
#: Fraction of the coding after which there is a new partial result.
_PARTIAL_INTERVAL = 1 / 8


class Restorer:
    """Restores an image: makes a plan, and goes through its stages with the whole image as a single block.

    Everything happens to float planes of unit range, which are converted to the dtype of the image once, at
    the end or for a partial result.

    Parameters
    ----------
    canvas : Canvas
    settings : ResolvedSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    completed : (H, W) ndarray of bool, optional
        Wide holes without any of these pixels are not completed by example.
    damage_density : float, optional
        In place of that of the mask, for a trial with more damage than is restored in the end.
    """

    _plan: RestorePlan
    _stages: list[PlanStage]
    _dictionary: KnownDictionary
    _coder: PatchCoder

    def __init__(
        self,
        canvas: Canvas,
        settings: ResolvedSettings,
        ground_set: GroundSet,
        known: KnownDictionary | None = None,
        *,
        completed: Bools | None = None,
        damage_density: float | None = None,
    ) -> None:
        self._canvas, self._settings, self._known = canvas, settings, known
        self._completed, self._damage_density = completed, damage_density
        spec = ImageSpec(*canvas.shape, canvas.n_channels, str(canvas.image.dtype), canvas.missing.shape[2])
        self._survey = PictureSurvey(spec, settings, dictionary=known or ground_set)
        image = canvas.image if canvas.image.ndim == 3 else canvas.image[:, :, None]
        self._arrays: dict[str, NDArray[Any]] = {"image": image, "mask": canvas.missing}
        self._n_done = 0
        self._n_rounds = 0
        self._seconds: dict[str, float] = {}

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result: what `first_steps` to `last_steps` do."""
        if not self._canvas.missing.any():
            return self._nothing_missing()
        yield from self.first_steps()
        for _ in range(self.n_rounds):
            yield from self.round_steps()
        return (yield from self.last_steps())

    def first_steps(self) -> Iterator[RestoreStep]:
        """Do everything before the refinement, and yield the progress; something must be missing."""
        yield from self._make_plan()
        *self._stages, _ = self._plan.stages  # the last one renders the image, as `_snapshot` does
        while self._n_done < len(self._stages) and not isinstance(self._stages[self._n_done], RoundStage):
            yield from self._run_next()

    def round_steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[RestoreStep]:
        """Make one of `n_rounds` rounds of refinement, and yield the progress.

        Parameters
        ----------
        neighbors : sequence of (H, W, C) ndarray
            Neighboring images of a stack, whose patches help; in unit range, which is that of this image.
        """
        yield from self._run_next(neighbors)

    def last_steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Do everything after the refinement; yield the progress, and return the result."""
        while self._n_done < len(self._stages):
            yield from self._run_next()
        return self._snapshot(self.planes)()

    @property
    def threads(self) -> int:
        """Number of threads."""
        return as_thread_count(self._settings.threads)

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement, once the first steps are done."""
        return sum(isinstance(stage, RoundStage) for stage in self._stages)

    @property
    def planes(self) -> Planes:
        """The current image in unit range (H, W, C), which the next stage may change."""
        return self._planes(self._stages[self._n_done - 1])

    def _nothing_missing(self) -> Restoration:
        image, none = self._canvas.image.copy(order="K"), np.zeros(0, np.intp)
        return Restoration(
            image,
            self._settings,
            0.0,
            None,
            none.reshape(0, 2),
            none,
            0,
            0,
            self._seconds,
            ranges=self._canvas.ranges,
        )

    def _make_plan(self) -> Iterator[RestoreStep]:
        """Look at the image twice, and select a dictionary."""
        whole = slice(0, self._canvas.shape[0]), slice(0, self._canvas.shape[1])
        with self._timed("select" if self._known is None else "coarse"):
            statistics = self._survey.measure_mask(self._canvas.missing, whole, self._canvas.ranges)
            details = self._survey.details(statistics, self._canvas.ranges)
            blocks = [self._arrays["image"], self._arrays["mask"]]
            run = GeneratorRun(details.planning(details.measure(blocks, *whole)))
            for fraction in run:
                yield RestoreStep("select", _PLANNED * fraction)
        self._plan, self._dictionary = run.result
        if self._completed is not None:
            chosen = [
                box for box in self._plan.holes if self._completed[box[0] : box[2], box[1] : box[3]].any()
            ]
            self._plan = replace(self._plan, holes=tuple(chosen))
        if self._damage_density is not None:
            self._plan = replace(self._plan, damage_density=self._damage_density)
        self._coder = self._plan.coder()

    def _run_next(self, neighbors: Sequence[Planes] = ()) -> Iterator[RestoreStep]:
        """Run the next stage, and yield the progress of the restoration."""
        stage, total = self._stages[self._n_done], sum(stage.work for stage in self._stages)
        done = sum(stage.work for stage in self._stages[: self._n_done])
        for step in self._run_stage(stage, neighbors):
            fraction = (done + stage.work * step.fraction) / total
            yield replace(step, fraction=_PLANNED + (1 - _PLANNED) * fraction)
        self._n_done += 1

    def _run_stage(self, stage: PlanStage, neighbors: Sequence[Planes]) -> Iterator[RestoreStep]:
        """Compute the arrays of a stage, and yield its own progress."""
        region = slice(0, stage.shape[0]), slice(0, stage.shape[1])
        blocks = [self._arrays[each.array][each.rows, each.columns] for each in stage.inputs(region)]
        if isinstance(stage, RoundStage):
            steps = stage.refine(blocks, region, neighbors)
        else:
            steps = stage.steps(blocks, region, self._coder)
        run, shown = GeneratorRun(steps), -1.0
        with self._timed(stage.kind):
            for step in run:
                progress = RestoreStep(stage.kind, step.fraction)
                if stage.shows and step.planes is not None and shown + _PARTIAL_INTERVAL <= step.fraction < 1:
                    kind: Stage = "coarse" if step.fraction == 0 else stage.kind  # nothing is coded yet
                    shown = step.fraction
                    progress = RestoreStep(kind, shown, self._snapshot(step.planes))
                yield progress
        self._arrays.update(zip((each.name for each in stage.writes), run.result, strict=True))
        for name in self._plan.released_after(stage):
            del self._arrays[name]
        self._n_rounds += isinstance(stage, RoundStage)
        yield RestoreStep(stage.kind, 1.0, self._snapshot(self._planes(stage)) if stage.shows else None)

    def _planes(self, stage: PlanStage) -> Planes:
        """Return the planes that a stage has written."""
        planes: list[Planes] = [self._arrays[name] for name in stage.shows]
        return planes[0] if len(planes) == 1 else np.concatenate(planes, axis=2)

    def _snapshot(self, planes: Planes) -> Callable[[], Restoration]:
        """Keep the restored values as they are now, and return what makes a result of them."""
        render = self._canvas.snapshot(planes, keep_observed=self._settings.keep_observed)
        usage, n_coded, seconds = self._coder.usage, self._coder.n_coded_patches, dict(self._seconds)
        n_rounds = self._n_rounds

        def restoration() -> Restoration:
            return Restoration(
                render(),
                self._settings,
                self._canvas.missing_fraction,
                self._dictionary.selection,
                self._dictionary.positions,
                usage,
                n_coded,
                n_rounds,
                seconds,
                self._dictionary.atoms,
                self._canvas.ranges,
            )

        return restoration

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - start
