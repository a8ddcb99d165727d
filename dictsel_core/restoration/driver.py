"""One image as a run: plan it, restore it as a single tile, and report the progress."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dictsel_core._support.runs import GeneratorRun
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.planning import plan_image
from dictsel_core.restoration.result import Restoration, RestoreStep, Stage
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.tile import TileRestorer, TileStep

#: Fraction of the work that is done once there is a plan.
_PLANNED = 0.05
#: Fraction of the work after which there is a new partial result.
_PARTIAL_INTERVAL = 1 / 16


class ImageRestorer:
    """Restores an image as a single tile.

    `steps` does all of it. If images of a stack help each other, `first_steps`, `round_steps` for each of
    `n_rounds`, and `last_steps` do.

    Parameters
    ----------
    image : Canvas
    settings : ResolvedSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    plan : Plan, optional
        Used in place of a new one.
    origin : (int, int), optional
        First row and column, if this is a part of an image, which is what the plan is of.
    """

    _plan: Plan
    _tile: TileRestorer

    def __init__(
        self,
        image: Canvas,
        settings: ResolvedSettings,
        ground_set: GroundSet,
        known: KnownDictionary | None = None,
        *,
        plan: Plan | None = None,
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        self._origin = origin
        self._image, self._settings, self._ground_set = image, settings, ground_set
        self._known, self._given = known, plan
        self._seconds: dict[str, float] = {}
        self._shown = 0.0

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result."""
        if not self._image.missing.any():
            return _unchanged(self._image, self._settings)
        yield from self.first_steps()
        for _ in range(self.n_rounds):
            yield from self.round_steps()
        return (yield from self.last_steps())

    def first_steps(self) -> Iterator[RestoreStep]:
        """Plan, and do everything before the refinement; something must be missing."""
        start = time.perf_counter()
        if self._given is None:
            given = self._image, self._settings, self._ground_set, self._known, self._origin
            run = GeneratorRun(plan_image(*given))
            for fraction in run:
                yield RestoreStep("select", _PLANNED * fraction)
        self._plan = self._given or run.result
        self._count("select" if self._known is None else "coarse", start)
        self._tile = TileRestorer(self._image, self._plan, self._origin)
        yield from self._timed(self._tile.first_steps())

    def round_steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[RestoreStep]:
        """Make one of `n_rounds` rounds of refinement, with the help of neighboring images of a stack."""
        yield from self._timed(self._tile.round_steps(neighbors))

    def last_steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Do everything after the refinement, and return the result."""
        yield from self._timed(self._tile.last_steps())
        return self._snapshot()()

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement, once there is a plan."""
        return self._plan.n_rounds

    @property
    def planes(self) -> Planes:
        """The current image in unit range (H, W, C), which the next step may change."""
        return self._tile.planes

    def _timed(self, steps: Iterator[TileStep]) -> Iterator[RestoreStep]:
        """Yield the progress of the tile as that of the restoration, and count its time by stage."""
        start = time.perf_counter()
        for step in steps:
            start = self._count(step.stage, start)
            fraction = _PLANNED + (1 - _PLANNED) * step.fraction
            is_new = fraction - self._shown >= (0 if step.is_last else _PARTIAL_INTERVAL)
            is_shown = step.is_visible and is_new and fraction > self._shown
            if is_shown:
                self._shown = fraction
            yield RestoreStep(step.stage, fraction, self._snapshot() if is_shown else None)
            start = time.perf_counter()

    def _count(self, stage: Stage, start: float) -> float:
        now = time.perf_counter()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + now - start
        return now

    def _snapshot(self) -> Callable[[], Restoration]:
        """Keep the restored values as they are now, and return what makes a result of them."""
        plan, tile, seconds = self._plan, self._tile, dict(self._seconds)
        render = self._image.snapshot(tile.planes, keep_observed=plan.settings.keep_observed)
        usage, n_coded, n_rounds = tile.usage, tile.n_coded_patches, tile.n_rounds

        settings, dictionary = replace(plan.settings, rounds=self._settings.rounds), plan.dictionary

        def restoration() -> Restoration:
            return Restoration(
                render(),
                settings,
                plan.missing_fraction,
                dictionary.selection,
                dictionary.positions,
                usage,
                n_coded,
                n_rounds,
                seconds,
                dictionary.atoms,
                plan=plan,
            )

        return restoration


def _unchanged(image: Canvas, settings: ResolvedSettings) -> Restoration:
    """Return the restoration of an image in which nothing is missing."""
    none = np.zeros(0, np.intp)
    return Restoration(image.image.copy(order="K"), settings, 0.0, None, none.reshape(0, 2), none, 0, 0, {})
