"""Stages that complete wide holes by example."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dictsel_core._arrays import Region
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Ints
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import ArraySpec, Read, grown, reads_of, within
from dictsel_core.restoration.plan.stage import (
    Blocks,
    PlanesReader,
    PlanStage,
    StageStep,
    StageSteps,
    planes_spec,
)
from dictsel_core.restoration.wide import completion_reach, pixels_to_complete

if TYPE_CHECKING:
    from dictsel_core.completion import HolePart

#: Work of finding wide holes, and of filling them, in units of the coding of all pixels.
_WORK_OF_FINDING, _WORK_OF_FILLING = 0.05, 1.0


@dataclass(frozen=True, eq=False)
class WideStage(PlanStage):
    """Finds the pixels that are completed by example, which are those of wide holes."""

    @classmethod
    def of(cls, plan: PlanFacts) -> "WideStage":
        """Return the stage of a plan."""
        array = ArraySpec("wide", (*plan.spec.shape, 1), "bool")
        return cls(plan, "wide", "texture", _WORK_OF_FINDING, (array,), ())

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        return reads_of(self._outer(region), "mask")

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        yield StageStep(0.0)
        wide = pixels_to_complete(blocks[0], self._reach)
        return (wide[within(region, self._outer(region))][:, :, None],)

    @property
    def _reach(self) -> int:
        return completion_reach(self.plan.settings.fill, self.plan.spec.dtype)

    def _outer(self, region: Region) -> Region:
        from dictsel_core.completion import wide_margin  # noqa: PLC0415  (scipy is slow to import)

        return grown(region, wide_margin(self._reach), self.plan.spec.shape)


@dataclass(frozen=True, eq=False)
class TextureStage(PlanStage):
    """Fills holes, or every fourth part of larger ones, with texture and structure from around them.

    A part is filled as a whole, also if only some of it is in a block.
    """

    source: PlanesReader
    wave: int
    overwrites: ClassVar[bool] = True

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader, wave: int) -> "TextureStage":
        """Return the stage of a wave; see `HolePart`."""
        name = f"texture-{wave + 1}"
        array = planes_spec(plan, name)
        return cls(plan, name, "texture", _WORK_OF_FILLING, (array,), (name,), source, wave)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        reads = self.source.reads(region)
        for part in self._parts(region):
            reads += self.source.reads(part.region) + reads_of(part.region, "mask", "wide")
        return reads

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        result, blocks = self.source.joined(blocks), self.source.rest(blocks)
        settings, parts = self.plan.settings, self._parts(region)
        filled: list[tuple[Ints, Ints, Planes]] = []  # no part depends on another
        for number, part in enumerate(parts):
            planes, (mask, wide, *_) = self.source.joined(blocks).copy(), self.source.rest(blocks)
            blocks = self.source.rest(blocks)[2:]
            observed, hole = np.asarray(~mask.any(axis=2)), wide[:, :, 0]
            threads, blended = as_thread_count(settings.threads), settings.fill == "auto"
            for fraction in part.fill(planes, hole, observed, settings.seed, threads, blended=blended):
                yield StageStep((number + fraction) / len(parts))
            at = np.nonzero(part.hole(hole))
            filled.append((at[0] + part.region[0].start, at[1] + part.region[1].start, planes[at]))
        for rows, columns, values in filled:
            _put(values, rows, columns, result, region)
        return (np.ascontiguousarray(result),)

    def _parts(self, region: Region) -> "list[HolePart]":
        from dictsel_core.completion import hole_parts  # noqa: PLC0415  (scipy is slow to import)

        spec = self.plan.spec
        return [
            part
            for part in hole_parts(self.plan.holes, spec.shape, spec.n_channels)
            if part.wave == self.wave and part.overlaps(region)
        ]


def _put(values: Planes, rows: Ints, columns: Ints, block: Planes, region: Region) -> None:
    """Put the values of some pixels of an image into a block of it, as far as they are in it."""
    down, across = rows - region[0].start, columns - region[1].start
    inside = (down >= 0) & (down < len(block)) & (across >= 0) & (across < block.shape[1])
    block[down[inside], across[inside]] = values[inside]
