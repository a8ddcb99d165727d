"""The pipeline: a tile of an image, or the whole of it, from its observed pixels to all of them.

Patches are coded from coarse to fine, wide holes are filled with texture, and rounds of refinement follow.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dictsel_core import completion
from dictsel_core._util.parallel import GeneratorRun
from dictsel_core._util.validation import Bools
from dictsel_core.refinement.rounds import refine_round
from dictsel_core.restoration.damaged import wide_pixels
from dictsel_core.restoration.image import Image, Planes
from dictsel_core.restoration.result import Restoration, Stage
from dictsel_core.restoration.scales import (
    CODED_FROM,
    NOT_ENLARGED,
    equalize,
    restore_channels,
    restore_planes,
)

if TYPE_CHECKING:
    from dictsel_core.restoration.plan import Plan

#: Work of filling wide holes, and of a round of refinement, in units of the coding of all pixels.
_WORK_OF_FILLING, _WORK_OF_A_ROUND = 1.0, 1.5


def restore_tile(
    image: Image, plan: "Plan", *, origin: tuple[int, int] = (0, 0), neighbors: Sequence[Planes] = ()
) -> Planes:
    """Return all pixels of a tile in unit range: (H, W, C).

    `plan` belongs to the full image; `image` is the tile at `origin`, in the value ranges of the full image.
    Neighbors are the same tile of other images of a stack, whose patches help to refine.
    """
    tile = TileRestorer(image, plan, origin)
    for _ in tile.steps(neighbors):
        pass
    return tile.planes


@dataclass(frozen=True, eq=False)
class TileStep:
    """Progress of a tile: stage, and fraction of all work.

    From the first visible step on, all pixels have an estimate. `is_last` marks the end of a stage or round.
    """

    stage: Stage
    fraction: float
    is_visible: bool = False
    is_last: bool = False


class TileRestorer:
    """Restores a tile, `planes` (H, W, C) in unit range, step by step, as `restore_tile` does.

    `steps` does all of it. For images that help each other, `first_steps`, as many `round_steps` as
    `plan.n_rounds`, and `last_steps` do the same. `seconds` is the time spent in each stage.
    """

    def __init__(self, image: Image, plan: "Plan", origin: tuple[int, int] = (0, 0)) -> None:
        self.image, self.plan, self._origin = image, plan, origin
        self.planes: Planes = np.empty(image.pixels.shape, np.float32)
        self.seconds: dict[str, float] = {}
        self._coder = plan.coder()
        self._wide = wide_pixels(image.missing, plan.fill_reach)
        self._has_wide = bool(self._wide.any())
        self._work = 1 + _WORK_OF_FILLING * self._has_wide + _WORK_OF_A_ROUND * plan.n_rounds
        self._done, self._n_rounds = 0.0, 0

    def steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Code, fill and refine, and yield the progress."""
        yield from self.first_steps()
        for _ in range(self.plan.n_rounds):
            yield from self.round_steps(neighbors)
        yield from self.last_steps()

    def first_steps(self) -> Iterator[TileStep]:
        """Code, and fill wide holes, and yield the progress."""
        yield from self._timed(self._coding())
        if self._has_wide:
            yield from self._timed(self._filling())

    def round_steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Make the next round of refinement, and yield the progress."""
        yield from self._timed(self._refining(neighbors))

    def last_steps(self) -> Iterator[TileStep]:
        """Make enlarged pixels equal again, and yield the progress."""
        if self.plan.repeats != NOT_ENLARGED and self.plan.settings.keep_observed:
            equalize(self.planes, self.image, self.plan.repeats, self._origin)
            yield TileStep("refine" if self._n_rounds else "code", 1.0, is_visible=True)

    def _coding(self) -> Iterator[TileStep]:
        """Estimate missing pixels by sparse coding, from coarse to fine."""
        image, plan, coder = self.image, self.plan, self._coder
        coarsest = plan.coarsest(self._origin, image.shape)
        if not plan.shares_mask:
            arguments = plan.observed_channels, plan.differences, coder, coarsest, self.planes
            for fraction in restore_channels(image, *arguments):
                yield self._step("channels", fraction)
        else:
            self.planes, missing = image.planes(), image.mask(0)
            wanted = missing if plan.settings.keep_observed else np.ones_like(missing)
            limits = np.zeros(image.n_channels, np.float32), np.ones(image.n_channels, np.float32)
            for fraction in restore_planes(
                self.planes, missing, coder, wanted=wanted, limits=limits, coarsest=coarsest
            ):
                stage: Stage = "coarse" if fraction <= CODED_FROM else "code"
                yield self._step(stage, fraction, is_visible=fraction >= CODED_FROM)
        yield self._end("code" if plan.shares_mask else "channels", 1.0)

    def _filling(self) -> Iterator[TileStep]:
        """Fill wide holes with texture and structure from around them."""
        plan, observed = self.plan, np.asarray(~self.image.missing.any(axis=2))
        run = GeneratorRun(
            completion.fill_wide_parts(self.planes, self._wide, observed, plan.settings.seed, plan.threads)
        )
        for fraction in run:
            yield self._step("texture", _WORK_OF_FILLING * fraction, is_visible=True)
        self._wide = run.result
        yield self._end("texture", _WORK_OF_FILLING)

    def _refining(self, neighbors: Sequence[Planes]) -> Iterator[TileStep]:
        """Make a round of refinement, of the channels of which something is observed."""
        plan, known = self.plan, np.array(self.plan.observed_channels)
        # Similar patches tell nothing about a channel that is observed nowhere.
        planes = self.planes if known.all() else np.ascontiguousarray(self.planes[:, :, known])
        others = neighbors if known.all() else [each[:, :, known] for each in neighbors]
        for fraction in refine_round(
            planes,
            self._refined(known),
            self._n_rounds,
            plan.n_rounds,
            threads=plan.threads,
            options=plan.refinement,
            neighbors=others,
        ):
            yield self._step("refine", _WORK_OF_A_ROUND * fraction)
        if not known.all():
            self.planes[:, :, known] = planes
            self.planes[:, :, ~known] = planes.mean(axis=2, keepdims=True)
        self._n_rounds += 1
        yield self._end("refine", _WORK_OF_A_ROUND)

    def _refined(self, known: Bools) -> Bools:
        """Return what is refined: what was filled counts as observed, since estimates would blur it."""
        missing = self.image.missing
        return (missing if self.image.shares_mask else missing[:, :, known]) & ~self._wide[:, :, None]

    def snapshot(self, rounds: int | None) -> Callable[[], Restoration]:
        """Keep the tile as it is now, and return a function that builds the result.

        `rounds` is the number that was asked for; None if the plan decided.
        """
        plan, found = self.plan, self.figures()
        render = self.image.snapshot(self.planes, keep_observed=plan.settings.keep_observed)
        return lambda: plan.result(rounds, image=render(), plan=plan, **found)

    def figures(self) -> dict[str, Any]:
        """Return fields of a `Restoration` as they are now."""
        usage, n_coded, seconds = self._coder.usage, self._coder.n_coded_patches, dict(self.seconds)
        return {"usage": usage, "n_coded_patches": n_coded, "n_rounds": self._n_rounds, "seconds": seconds}

    def _step(self, stage: Stage, work: float, *, is_visible: bool = False) -> TileStep:
        return TileStep(stage, (self._done + work) / self._work, is_visible)

    def _end(self, stage: Stage, work: float) -> TileStep:
        self._done += work
        return TileStep(stage, self._done / self._work, is_visible=True, is_last=True)

    def _timed(self, steps: Iterator[TileStep]) -> Iterator[TileStep]:
        """Yield steps, and count the time between them by stage."""
        start = time.perf_counter()
        for step in steps:
            now = time.perf_counter()
            self.seconds[step.stage] = self.seconds.get(step.stage, 0.0) + now - start
            yield step
            start = time.perf_counter()
