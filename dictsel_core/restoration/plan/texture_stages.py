"""Stages that complete wide holes by example."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dictsel_core._arrays import Region
from dictsel_core._threads import as_thread_count
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
#: Parts of a hole are filled in as many waves; see `HolePart`.
N_WAVES = 4


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
class FillStage(PlanStage):
    """Fills a hole, or a part of a larger one, with texture and structure from around it.

    Its array has the size of the box of that part. A part is filled as a whole, also for some of its pixels.
    """

    source: PlanesReader
    part: "HolePart"
    is_whole: ClassVar[bool] = True

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader, part: "HolePart", number: int) -> "FillStage":
        """Return the stage of a part, which has some number in its wave."""
        name, (height, width) = _part_name(part.wave, number), (each.stop - each.start for each in part.box)
        array = ArraySpec(name, (height, width, plan.spec.n_channels), "float32")
        work = _WORK_OF_FILLING * height * width / sum(_area(each) for each in parts_of(plan, part.wave))
        return cls(plan, name, "texture", work, (array,), (), source, part)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        return self.source.reads(self.part.region) + reads_of(self.part.region, "mask", "wide")

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        planes, (mask, wide) = self.source.joined(blocks).copy(), self.source.rest(blocks)
        settings, part = self.plan.settings, self.part
        observed, threads = np.asarray(~mask.any(axis=2)), as_thread_count(settings.threads)
        blended = settings.fill == "auto"
        for fraction in part.fill(planes, wide[:, :, 0], observed, settings.seed, threads, blended=blended):
            yield StageStep(fraction)
        return (np.ascontiguousarray(planes[within(part.box, part.region)][region]),)


@dataclass(frozen=True, eq=False)
class TextureStage(PlanStage):
    """Puts filled holes, or every fourth part of larger ones, into the planes."""

    source: PlanesReader
    wave: int
    overwrites: ClassVar[bool] = True

    @classmethod
    def of(cls, plan: PlanFacts, source: PlanesReader, wave: int) -> "TextureStage":
        """Return the stage of a wave; see `HolePart`."""
        name = f"texture-{wave + 1}"
        array = planes_spec(plan, name)
        return cls(plan, name, "texture", _WORK_OF_FINDING, (array,), (name,), source, wave)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        parts = self._parts(region)
        reads = self.source.reads(region) + (reads_of(region, "wide") if parts else ())
        return reads + tuple(
            Read(name, *within(_overlap(part.box, region), part.box)) for name, part in parts.items()
        )

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        yield StageStep(0.0)
        result, rest = self.source.joined(blocks), self.source.rest(blocks)
        for part, filled in zip(self._parts(region).values(), rest[1:], strict=True):
            here = within(_overlap(part.box, region), region)
            hole = rest[0][here][:, :, 0]
            result[here][hole] = filled[hole]
        return (np.ascontiguousarray(result),)

    def _parts(self, region: Region) -> "dict[str, HolePart]":
        """Return the parts that overlap a region, by the names of their arrays."""
        parts = enumerate(parts_of(self.plan, self.wave))
        return {_part_name(self.wave, number): part for number, part in parts if part.overlaps(region)}


def parts_of(plan: PlanFacts, wave: int) -> "list[HolePart]":
    """Return the parts of holes that are filled in a wave."""
    from dictsel_core.completion import hole_parts  # noqa: PLC0415  (scipy is slow to import)

    parts = hole_parts(plan.holes, plan.spec.shape, plan.spec.n_channels)
    return [part for part in parts if part.wave == wave]


def _part_name(wave: int, number: int) -> str:
    return f"texture-{wave + 1}-part-{number + 1}"


def _area(part: "HolePart") -> int:
    (top, bottom), (left, right) = ((each.start, each.stop) for each in part.box)
    return int((bottom - top) * (right - left))


def _overlap(box: Region, region: Region) -> Region:
    rows, columns = (
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(box, region, strict=True)
    )
    return rows, columns
