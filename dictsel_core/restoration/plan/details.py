"""The second look at an image, block by block: sampled patches, scales, and differences of channels."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Plane
from dictsel_core.restoration.coding.detail import detail_sum
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.coding.sampling import PatchChoice, PatchGrid, PatchSample, select_dictionary
from dictsel_core.restoration.plan.facts import ImageFacts
from dictsel_core.restoration.plan.plan import RestorePlan
from dictsel_core.restoration.plan.regions import Read, as_block, check_blocks, grown, reads_of, within
from dictsel_core.restoration.plan.repeats import Changes, changes_of, joint_changes, repeat_of
from dictsel_core.restoration.plan.scale_statistics import ScaleStatistics
from dictsel_core.restoration.plan.scales import SURVEY_GRID, Pyramid, PyramidSource
from dictsel_core.restoration.plan.trial import Crop, cut_crops, trial_rounds
from dictsel_core.restoration.refinement.refiner import DEFAULT_OPTIONS

#: Around a block, the detail of as many pixels is needed.
_DETAIL_MARGIN = 2
#: Fraction of the planning that is done once a dictionary has been selected.
_SELECTED = 0.5
#: First estimate of a channel of which nothing is observed.
_UNKNOWN = 0.5


@dataclass(frozen=True, eq=False)
class DetailStatistics:
    """What else is known of some blocks of an image; the sum of all blocks is needed for a plan.

    Attributes
    ----------
    n_pixels : int
    numbers : (n,) ndarray of int
        Numbers of the sampled patches that begin in these blocks.
    data, mask : (n, d) ndarray
        Their values and missing pixels.
    scales : mapping of str to ScaleStatistics
        By the name of their source.
    details : mapping of str to (int, int)
        Detail of differences of channels, and of the first of these channels.
    changes : (frozenset of int, frozenset of int)
        Rows and columns in which pixels differ from those before; see `changes_of`.
    crops : tuple of Crop
        Parts of the image on which a trial is made, if there is one.
    """

    n_pixels: int
    numbers: Ints
    data: Plane
    mask: Bools
    scales: Mapping[str, ScaleStatistics]
    details: Mapping[str, tuple[int, int]]
    changes: tuple[Changes, Changes]
    crops: tuple[Crop, ...] = ()

    def __add__(self, other: "DetailStatistics") -> "DetailStatistics":
        """Return what is known of the blocks of both."""
        return DetailStatistics(
            self.n_pixels + other.n_pixels,
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.data, other.data]),
            np.concatenate([self.mask, other.mask]),
            {name: each + other.scales[name] for name, each in self.scales.items()},
            {
                name: (each[0] + other.details[name][0], each[1] + other.details[name][1])
                for name, each in self.details.items()
            },
            (
                joint_changes(self.changes[0], other.changes[0]),
                joint_changes(self.changes[1], other.changes[1]),
            ),
            self.crops + other.crops,
        )


@dataclass(frozen=True, eq=False)
class DetailSurvey(ImageFacts):
    """The second of two looks at all blocks of an image; see `PictureSurvey.details`."""

    helped: frozenset[tuple[int, int]]
    ground_set: GroundSet
    known: KnownDictionary | None
    choice: PatchChoice | None
    crops: tuple[Region, ...]

    @property
    def _patches(self) -> PatchGrid:
        return PatchGrid(*self.spec.shape, self.settings.patch_size)

    def reads(self, rows: slice, columns: slice) -> tuple[Read, ...]:
        """Return the regions of "image" and "mask" that a block needs; see `PictureSurvey.reads`."""
        return reads_of(self._outer(as_block(rows, columns, self.spec.shape, SURVEY_GRID)), "image", "mask")

    def measure(self, blocks: Sequence[NDArray[Any]], rows: slice, columns: slice) -> DetailStatistics:
        """Return what else is known of a block; see `PictureSurvey.measure`."""
        region = as_block(rows, columns, self.spec.shape, SURVEY_GRID)
        check_blocks(blocks, self.reads(rows, columns), self.spec)
        outer, (image, mask) = self._outer(region), blocks
        canvas = self.canvas(image, mask)
        inner = within(region, outer)
        numbers = np.zeros(0, np.intp) if self.choice is None else self.choice.inside(region)
        data, unknown = np.zeros((0, 0), np.float32), np.zeros((0, 0), bool)
        if self.choice is not None:
            origin = outer[0].start, outer[1].start
            data, unknown = self._patches.cut(canvas, self.choice, numbers, origin)
        own = replace(canvas, image=image[inner], missing=canvas.missing[inner])
        return DetailStatistics(
            own.shape[0] * own.shape[1],
            numbers,
            data,
            unknown,
            {each.name: self._scales(each, own, region) for each in self._sources()},
            {each.name: _details(each, canvas, inner) for each in self._sources() if each.other is not None},
            (
                changes_of(image, canvas.missing, inner, region[0].start, 0),
                changes_of(image, canvas.missing, inner, region[1].start, 1),
            ),
            cut_crops(self.crops, own, region),
        )

    def plan(self, statistics: DetailStatistics) -> RestorePlan:
        """Select the dictionary, and return the plan.

        Parameters
        ----------
        statistics : DetailStatistics
            The sum of all blocks; ValueError if some are not there, or there twice.
        """
        return GeneratorRun(self.planning(statistics)).finish()[0]

    def planning(
        self, statistics: DetailStatistics
    ) -> Generator[float, None, tuple[RestorePlan, KnownDictionary]]:
        """Yield the fraction of the work that is done, and return the plan and its dictionary."""
        order, n_patches = (
            np.argsort(statistics.numbers),
            0 if self.choice is None else len(self.choice.channels),
        )
        is_complete = np.array_equal(statistics.numbers[order], np.arange(n_patches))
        if statistics.n_pixels != self.spec.height * self.spec.width or not is_complete:
            raise ValueError("Statistics of all blocks of the image are needed, each of them once.")
        dictionary = self.known
        if dictionary is None and self.choice is not None:
            sample = PatchSample(statistics.data[order], statistics.mask[order], self.choice.positions)
            run = select_dictionary(sample, self.settings, self.ground_set)
            for _ in run:
                yield _SELECTED * len(run.steps) / run.n_atoms
            dictionary = KnownDictionary.selected(run.result, sample.positions)
        elif dictionary is None:  # nothing is missing
            dictionary = KnownDictionary(self.ground_set)
        rounds = self.settings.rounds
        if self.nothing_missing or min(self.spec.shape) < DEFAULT_OPTIONS.last_size:
            rounds = 0
        facts = {each.name: getattr(self, each.name) for each in fields(ImageFacts)}
        facts["settings"] = replace(self.settings, rounds=rounds)
        rows, columns = statistics.changes
        plan = RestorePlan(
            **facts,
            atoms=dictionary.atoms.atoms,
            pyramids=self._pyramids(statistics),
            repeats=(repeat_of(rows), repeat_of(columns)),
        )
        if plan.settings.rounds is None:
            trial = GeneratorRun(trial_rounds(plan, self.crops, statistics.crops))
            for fraction in trial:
                yield _SELECTED + (1 - _SELECTED) * fraction
            plan = replace(plan, settings=replace(plan.settings, rounds=trial.result))
        return plan, dictionary

    def _outer(self, region: Region) -> Region:
        return grown(region, max(self.settings.patch_size, _DETAIL_MARGIN), self.spec.shape, 2)

    def _sources(self) -> list[PyramidSource]:
        """Return the planes whose scales are measured: none if nothing is missing."""
        if self.nothing_missing:
            return []
        channels = range(self.spec.n_channels)
        if self.shares_mask:
            return [PyramidSource("image", tuple(channels))]
        known = [each for each in channels if self.observed_channels[each]]
        return [PyramidSource(f"channel-{c}", (c,)) for c in known] + [
            PyramidSource(f"difference-{c}-{other}", (c,), other)
            for c in known
            for other in known
            if (c, other) in self.helped
        ]

    def _scales(self, source: PyramidSource, canvas: Canvas, region: Region) -> ScaleStatistics:
        return ScaleStatistics.of(source, canvas, region, self.spec.shape, self.settings.patch_size)

    def _pyramids(self, statistics: DetailStatistics) -> tuple[Pyramid, ...]:
        """Return the pyramids that are restored; differences of channels only if they have less detail."""
        pyramids = [
            statistics.scales[source.name].pyramid(source, self.spec.shape, self.settings.patch_size)
            for source in self._sources()
            if source.other is None or statistics.details[source.name][0] < statistics.details[source.name][1]
        ]
        unknown = [
            Pyramid(PyramidSource(f"channel-{c}", (c,)), (((0.0,), (1.0,)),), (_UNKNOWN,))
            for c, observed in enumerate(self.observed_channels)
            if not observed
        ]
        return (*pyramids, *unknown)


def _details(source: PyramidSource, canvas: Canvas, inner: Region) -> tuple[int, int]:
    """Return the detail of a difference of channels, and of the first of them, where both are observed."""
    channel, other = source.channels[0], source.other or 0
    unknown = np.asarray(canvas.mask(channel) | canvas.mask(other))
    plane = canvas.plane(channel)
    return (
        detail_sum(plane - canvas.plane(other), unknown, inner),
        detail_sum(plane, unknown, inner),
    )
