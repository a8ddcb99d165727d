"""The pipeline: a tile of an image, or the whole of it, from its observed pixels to all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.channels import restore_channels
from dictsel_core.restoration.coding.coder import CODED_FROM, restore_planes
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.refinement.density import options_for
from dictsel_core.restoration.refinement.refiner import Refiner
from dictsel_core.restoration.repeats import equalize
from dictsel_core.restoration.result import Stage
from dictsel_core.restoration.wide import pixels_to_complete

#: Work of completing wide holes, and of a round of refinement, in units of the coding of all pixels.
_WORK_OF_COMPLETION, _WORK_OF_A_ROUND = 1.0, 1.5


def restore_tile(
    image: Canvas, plan: Plan, *, origin: tuple[int, int] = (0, 0), neighbors: Sequence[Planes] = ()
) -> Planes:
    """Return all pixels of a tile in unit range: (H, W, C).

    Parameters
    ----------
    image : Canvas
        The tile, in the ranges of the plan.
    plan : Plan
        Of the image.
    origin : (int, int)
        First row and column of the tile in the image.
    neighbors : sequence of (H, W, C) ndarray
        The same tile of neighboring images of a stack, whose patches help to refine.
    """
    restorer = TileRestorer(image, plan, origin)
    for _ in restorer.steps(neighbors):
        pass
    return restorer.planes


@dataclass(frozen=True, eq=False)
class TileStep:
    """Progress of a tile.

    Attributes
    ----------
    stage : str
        As in `RestoreStep`.
    fraction : float
        Of all work.
    is_visible : bool
        Whether all pixels have an estimate.
    is_last : bool
        Whether the stage, or a round of it, ends here.
    """

    stage: Stage
    fraction: float
    is_visible: bool = False
    is_last: bool = False


class TileRestorer:
    """Restores a tile: codes its patches from coarse to fine, completes wide holes, refines.

    `steps` does all of it. For images that help each other, `first_steps`, as many `round_steps` as
    `plan.n_rounds`, and `last_steps` do the same.

    Parameters
    ----------
    image, plan, origin
        As for `restore_tile`.

    Attributes
    ----------
    planes : (H, W, C) ndarray
        The current image in unit range, which the next step changes.
    n_rounds : int
        Rounds of refinement that were made.
    """

    def __init__(self, image: Canvas, plan: Plan, origin: tuple[int, int] = (0, 0)) -> None:
        self._image, self._plan, self._origin = image, plan, origin
        self._coder = plan.coder()
        self._wide = pixels_to_complete(image.missing, plan.reach)
        works = [1.0, _WORK_OF_COMPLETION if self._wide.any() else 0.0, plan.n_rounds * _WORK_OF_A_ROUND]
        self._work, self._done = sum(works), 0.0
        self.planes: Planes = np.empty((*image.shape, image.n_channels), np.float32)
        self.n_rounds = 0

    @property
    def usage(self) -> Ints:
        """How many of the coded patches use each atom of the dictionary: (k,)."""
        return self._coder.usage

    @property
    def n_coded_patches(self) -> int:
        """How many patches were coded."""
        return self._coder.n_coded_patches

    def steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Do everything, and yield the progress."""
        yield from self.first_steps()
        for _ in range(self._plan.n_rounds):
            yield from self.round_steps(neighbors)
        yield from self.last_steps()

    def first_steps(self) -> Iterator[TileStep]:
        """Do everything before the refinement, and yield the progress."""
        yield from self._code()
        if self._wide.any():
            yield from self._complete()

    def round_steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Make the next round of refinement, and yield the progress."""
        plan, known = self._plan, np.array(self._plan.observed_channels)
        # Similar patches tell nothing about a channel that is observed nowhere.
        planes = self.planes if known.all() else np.ascontiguousarray(self.planes[:, :, known])
        others = neighbors if known.all() else [each[:, :, known] for each in neighbors]
        options = options_for(plan.damage_density, plan.n_rounds)
        refiner = Refiner(self._refined(known), as_thread_count(plan.settings.threads), options)
        for fraction in refiner.round(planes, self.n_rounds, plan.n_rounds, others):
            yield self._step("refine", _WORK_OF_A_ROUND * fraction)
        if not known.all():
            self.planes[:, :, known] = planes
            self.planes[:, :, ~known] = planes.mean(axis=2, keepdims=True)
        self.n_rounds += 1
        self._done += _WORK_OF_A_ROUND
        yield self._end("refine")

    def last_steps(self) -> Iterator[TileStep]:
        """Do everything after the refinement, and yield the progress."""
        if self._plan.is_enlarged and self._plan.settings.keep_observed:
            equalize(self.planes, self._image, self._plan.repeats, self._origin)
            yield TileStep("refine" if self.n_rounds else "code", 1.0, is_visible=True)

    def _code(self) -> Iterator[TileStep]:
        """Estimate missing pixels by sparse coding, from coarse to fine."""
        image, plan, coder = self._image, self._plan, self._coder
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
        self._done += 1
        yield self._end("code" if plan.shares_mask else "channels")

    def _complete(self) -> Iterator[TileStep]:
        """Fill wide holes with texture and structure from around them."""
        from dictsel_core.completion import fill_wide_parts  # noqa: PLC0415  (scipy is slow to import)

        settings = self._plan.settings
        observed = np.asarray(~self._image.missing.any(axis=2))
        threads = as_thread_count(settings.threads)
        for fraction in fill_wide_parts(self.planes, self._wide, observed, settings.seed, threads):
            yield self._step("texture", _WORK_OF_COMPLETION * fraction)
        self._done += _WORK_OF_COMPLETION
        yield self._end("texture")

    def _refined(self, known: Bools) -> Bools:
        """Return what is refined: what was copied counts as observed, since estimates would blur it."""
        missing = self._image.missing
        return (missing if missing.shape[2] == 1 else missing[:, :, known]) & ~self._wide[:, :, None]

    def _end(self, stage: Stage) -> TileStep:
        return TileStep(stage, self._done / self._work, is_visible=True, is_last=True)

    def _step(self, stage: Stage, work: float = 0.0, *, is_visible: bool = False) -> TileStep:
        return TileStep(stage, (self._done + work) / self._work, is_visible)
