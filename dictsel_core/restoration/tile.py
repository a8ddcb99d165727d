"""The pipeline: a tile of an image, or the whole of it, from its observed pixels to all of them."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core._util.parallel import as_thread_count
from dictsel_core._util.runs import GeneratorRun
from dictsel_core._util.validation import Bools
from dictsel_core.refinement.rounds import options_for, refine_round
from dictsel_core.restoration.channels import restore_channels
from dictsel_core.restoration.coding import CODED_FROM, Coarsest, SparseCoder, restore_planes
from dictsel_core.restoration.dictionary import Dictionary
from dictsel_core.restoration.image import Image, Planes, ValueRange
from dictsel_core.restoration.repeats import NOT_ENLARGED, Repeat, equalize
from dictsel_core.restoration.result import Restoration, Stage
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.wide import wide_pixels

#: Work of completing wide holes, and of a round of refinement, in units of the coding of all pixels.
_WORK_OF_COMPLETION, _WORK_OF_A_ROUND = 1.0, 1.5


@dataclass(frozen=True, eq=False)
class Plan:
    """Decisions that hold for all tiles of an image, made before any of them is restored.

    Attributes
    ----------
    settings : ResolvedSettings
        Nothing is left open; `rounds` has a value too.
    ranges : tuple of ValueRange
        Of the observed values, one for each channel: the unit range of its plane.
    dictionary : Dictionary
    missing_fraction : float
    shares_mask : bool
        Whether all channels miss the same pixels.
    observed_channels : tuple of bool
        Whether anything is observed of each channel.
    damage_density : float
        Mean fraction of missing pixels around a missing one.
    differences : tuple of (int, int)
        Pairs of channels whose difference helps to estimate the first of them.
    repeats : ((int, int), (int, int))
        How often rows and columns are repeated in an enlarged image, once if it is not, and where the first
        repetition begins.
    reach : int
        Pixels farther than this from all observed ones are completed by example; 0 if none are.
    holes : tuple of (top, left, bottom, right)
        Where there are such pixels, if the image has several tiles.
    level : int
        How often `coarse` was halved.
    coarse : (h, w, C) ndarray, optional
        The restored planes of a coarse scale of the image. None if the image is a single tile, or if nothing
        is missing on that scale.
    """

    settings: ResolvedSettings
    ranges: tuple[ValueRange, ...]
    dictionary: Dictionary
    missing_fraction: float
    shares_mask: bool
    observed_channels: tuple[bool, ...]
    damage_density: float = 0.0
    differences: tuple[tuple[int, int], ...] = ()
    repeats: tuple[Repeat, Repeat] = NOT_ENLARGED
    reach: int = 0
    holes: tuple[tuple[int, int, int, int], ...] = ()
    level: int = 0
    coarse: Planes | None = None

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement."""
        return self.settings.rounds or 0

    def with_rounds(self, rounds: int) -> "Plan":
        """Return the plan with another number of rounds."""
        return replace(self, settings=replace(self.settings, rounds=rounds))

    def coder(self) -> SparseCoder:
        """Return a coder of half of the patches, or of a quarter if their estimates are refined."""
        settings = self.settings
        return SparseCoder(
            self.dictionary.atoms.atoms,
            settings.coding_sparsity,
            settings.fill_weight,
            thinning=1 if settings.every_patch else 4 if self.n_rounds else 2,
            threads=as_thread_count(settings.threads),
        )

    def coarsest(self, origin: tuple[int, int], shape: tuple[int, int]) -> Coarsest | None:
        """Return the coarse scale of a tile, which begins at a multiple of ``2 ** level``."""
        if self.coarse is None:
            return None
        rows, columns = (
            slice(start >> self.level, -(-(start + length) >> self.level))
            for start, length in zip(origin, shape, strict=True)
        )
        limits = self.coarse.min(axis=(0, 1)), self.coarse.max(axis=(0, 1))
        return Coarsest(self.level, self.coarse[rows, columns], limits)


def restore_tile(
    image: Image, plan: Plan, *, origin: tuple[int, int] = (0, 0), neighbors: Sequence[Planes] = ()
) -> Planes:
    """Return all pixels of a tile in unit range: (H, W, C).

    Parameters
    ----------
    image : Image
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
    seconds : dict of str to float
        Time spent in each stage.
    """

    def __init__(self, image: Image, plan: Plan, origin: tuple[int, int] = (0, 0)) -> None:
        self.image, self.plan, self._origin = image, plan, origin
        self.planes: Planes = np.empty(image.pixels.shape, np.float32)
        self.seconds: dict[str, float] = {}
        self._coder = plan.coder()
        self._wide = wide_pixels(image.missing, plan.reach)
        self._has_wide = bool(self._wide.any())
        self._work = 1 + _WORK_OF_COMPLETION * self._has_wide + _WORK_OF_A_ROUND * plan.n_rounds
        self._done, self._n_rounds = 0.0, 0

    def steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Do everything, and yield the progress."""
        yield from self.first_steps()
        for _ in range(self.plan.n_rounds):
            yield from self.round_steps(neighbors)
        yield from self.last_steps()

    def first_steps(self) -> Iterator[TileStep]:
        """Do everything before the refinement, and yield the progress."""
        yield from self._timed(self._code())
        if self._has_wide:
            yield from self._timed(self._complete())

    def round_steps(self, neighbors: Sequence[Planes] = ()) -> Iterator[TileStep]:
        """Make the next round of refinement, and yield the progress."""
        yield from self._timed(self._refine(neighbors))

    def last_steps(self) -> Iterator[TileStep]:
        """Do everything after the refinement, and yield the progress."""
        if self.plan.repeats != NOT_ENLARGED and self.plan.settings.keep_observed:
            equalize(self.planes, self.image, self.plan.repeats, self._origin)
            yield TileStep("refine" if self._n_rounds else "code", 1.0, is_visible=True)

    def snapshot(self, rounds: int | None) -> Callable[[], Restoration]:
        """Keep the tile as it is now, and return what makes a result of it; as many rounds were asked for."""
        plan, seconds, n_rounds = self.plan, dict(self.seconds), self._n_rounds
        render = self.image.snapshot(self.planes, keep_observed=plan.settings.keep_observed)
        usage, n_coded = self._coder.usage, self._coder.n_coded_patches
        return lambda: Restoration(
            render(),
            replace(plan.settings, rounds=rounds),
            plan.missing_fraction,
            plan.dictionary.selection,
            plan.dictionary.positions,
            usage,
            n_coded,
            n_rounds,
            seconds,
            plan.dictionary.atoms,
            plan=plan,
        )

    def _code(self) -> Iterator[TileStep]:
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

    def _complete(self) -> Iterator[TileStep]:
        """Fill wide holes with texture and structure from around them."""
        from dictsel_core.completion import fill_wide_parts  # noqa: PLC0415  (scipy is slow to import)

        settings = self.plan.settings
        observed = np.asarray(~self.image.missing.any(axis=2))
        threads = as_thread_count(settings.threads)
        run = GeneratorRun(fill_wide_parts(self.planes, self._wide, observed, settings.seed, threads))
        for fraction in run:
            yield self._step("texture", _WORK_OF_COMPLETION * fraction, is_visible=True)
        self._wide = run.result
        yield self._end("texture", _WORK_OF_COMPLETION)

    def _refine(self, neighbors: Sequence[Planes]) -> Iterator[TileStep]:
        """Make a round of refinement, of the channels of which something is observed."""
        plan, known = self.plan, np.array(self.plan.observed_channels)
        # Similar patches tell nothing about a channel that is observed nowhere.
        planes = self.planes if known.all() else np.ascontiguousarray(self.planes[:, :, known])
        others = neighbors if known.all() else [each[:, :, known] for each in neighbors]
        options, threads = options_for(plan.damage_density, plan.n_rounds), plan.settings.threads
        for fraction in refine_round(
            planes,
            self._refined(known),
            self._n_rounds,
            plan.n_rounds,
            threads=as_thread_count(threads),
            options=options,
            neighbors=others,
        ):
            yield self._step("refine", _WORK_OF_A_ROUND * fraction)
        if not known.all():
            self.planes[:, :, known] = planes
            self.planes[:, :, ~known] = planes.mean(axis=2, keepdims=True)
        self._n_rounds += 1
        yield self._end("refine", _WORK_OF_A_ROUND)

    def _refined(self, known: Bools) -> Bools:
        """Return what is refined: what was copied counts as observed, since estimates would blur it."""
        missing = self.image.missing
        return (missing if self.image.shares_mask else missing[:, :, known]) & ~self._wide[:, :, None]

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
