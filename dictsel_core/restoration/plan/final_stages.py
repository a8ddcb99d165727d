"""Stages that refine the planes, and make the restored image of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import ArraySpec, Read, reads_of, within
from dictsel_core.restoration.plan.stage import (
    Blocks,
    PlanesReader,
    PlanStage,
    StageStep,
    StageSteps,
    planes_spec,
)
from dictsel_core.restoration.refinement.density import options_for
from dictsel_core.restoration.refinement.refiner import (
    Place,
    RefinementOptions,
    Refiner,
    grid_offsets,
    round_reach,
)
from dictsel_core.restoration.result import Stage

#: Work of one round of refinement, and of making the image, in units of the coding of all pixels.
_WORK_OF_A_ROUND, _WORK_OF_RENDERING = 1.5, 0.02
#: The array of the restored image.
OUTPUT = "restored"


@dataclass(frozen=True, eq=False)
class RoundStage(PlanStage):
    """A round of refinement, of which the first has the number 0."""

    source: PlanesReader
    number: int
    overwrites: ClassVar[bool] = True

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader, number: int) -> "RoundStage":
        """Return the stage of a round."""
        name = f"round-{number + 1}"
        array = planes_spec(plan, name)
        return cls(plan, name, "refine", _WORK_OF_A_ROUND, (array,), (name,), source, number)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        outer = self._outer(region)
        masks = ("mask", "wide") if self.plan.holes else ("mask",)
        return self.source.reads(outer) + reads_of(outer, *masks)

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        return self.refine(blocks, region)

    def refine(self, blocks: Blocks, region: Region, neighbors: Sequence[Planes] = ()) -> StageSteps:
        """Compute a region as `steps` does, with similar patches of other images too.

        Parameters
        ----------
        blocks : sequence of ndarray
            What `inputs` says.
        region : (slice, slice)
        neighbors : sequence of (h, w, C) ndarray
            Planes of neighboring images of a stack, in the ranges of this one; the same region as in blocks.
        """
        outer, plan = self._outer(region), self.plan
        current, masks = self.source.joined(blocks), self.source.rest(blocks)
        known = np.array(plan.observed_channels)
        # Similar patches tell nothing about a channel that is observed nowhere.
        planes = current if known.all() else np.ascontiguousarray(current[:, :, known])
        others = neighbors if known.all() else [each[:, :, known] for each in neighbors]
        inner = within(region, outer)
        place = Place(outer[0].start, outer[1].start, *plan.spec.shape, inner)
        threads = as_thread_count(plan.settings.threads)
        refiner = Refiner(self._missing(masks), threads, self._options, place=place)
        for fraction in refiner.round(planes, self.number, plan.n_rounds, others):
            yield StageStep(fraction)
        if not known.all():
            current[:, :, known] = planes
            current[:, :, ~known] = planes.mean(axis=2, keepdims=True)
        return (np.ascontiguousarray(current[inner]),)

    def _missing(self, masks: Blocks) -> Bools:
        """Return what is refined: what was copied counts as observed, since estimates would blur it."""
        missing: Bools = masks[0][:, :, :1] if self.plan.shares_mask else masks[0][:, :, self._layers]
        return missing & ~masks[1] if len(masks) > 1 else missing

    @property
    def _layers(self) -> Bools:
        return np.array(self.plan.observed_channels)

    @property
    def _options(self) -> RefinementOptions:
        return options_for(self.plan.damage_density, self.plan.n_rounds)

    def _outer(self, region: Region) -> Region:
        small = not self.plan.shares_mask and sum(self.plan.observed_channels) > 1
        search = self._options.search(self.number, self.plan.n_rounds, small=small)
        offsets = grid_offsets(self.number, search.stride)
        rows, columns = (
            round_reach(part, length, search, offset)
            for part, length, offset in zip(region, self.plan.spec.shape, offsets, strict=True)
        )
        return rows, columns


@dataclass(frozen=True, eq=False)
class RenderStage(PlanStage):
    """Puts restored values into the image."""

    source: PlanesReader

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader) -> "RenderStage":
        """Return the last stage of a plan."""
        array = ArraySpec(OUTPUT, (*plan.spec.shape, plan.spec.n_channels), plan.spec.dtype)
        kind: Stage = "refine" if plan.n_rounds else "code"
        return cls(plan, "render", kind, _WORK_OF_RENDERING, (array,), (), source)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        return reads_of(region, *self.source.names, "image", "mask")

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        yield StageStep(0.0)
        image, mask = self.source.rest(blocks)
        if not self.source.names:
            return (image.copy(),)
        planes: Planes = self.source.joined(blocks)
        keep_observed = self.plan.settings.keep_observed
        return (self.plan.canvas(image, mask).render(planes, keep_observed=keep_observed),)
