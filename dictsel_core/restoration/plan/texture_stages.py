"""Stages that complete wide holes by example."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Ints
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
        return completion_reach(self.plan.settings, self.plan.spec.dtype)

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
    def of(
        cls, plan: PlanFacts, source: PlanesReader, name: str, part: "HolePart", work: float
    ) -> "FillStage":
        """Return the stage of a part."""
        height, width = (each.stop - each.start for each in part.box)
        array = ArraySpec(name, (height, width, plan.spec.n_channels), "float32")
        return cls(plan, name, "texture", work, (array,), (), source, part)

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        return self.source.reads(self.part.region) + reads_of(self.part.region, "mask", "wide")

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        planes, (mask, wide) = self.source.joined(blocks).copy(), self.source.rest(blocks)
        settings, part = self.plan.settings, self.part
        observed, threads = np.asarray(~mask.any(axis=2)), as_thread_count(settings.threads)
        for fraction in part.fill(planes, wide[:, :, 0], observed, settings.seed, threads):
            yield StageStep(fraction)
        return (np.ascontiguousarray(planes[within(part.box, part.region)][region]),)


@dataclass(frozen=True, eq=False)
class TextureStage(PlanStage):
    """Puts filled holes, or every fourth part of larger ones, into the planes."""

    source: PlanesReader
    parts: "Mapping[str, HolePart]"
    overwrites: ClassVar[bool] = True

    @classmethod
    def of(
        cls, plan: PlanFacts, source: PlanesReader, name: str, parts: "Mapping[str, HolePart]"
    ) -> "TextureStage":
        """Return the stage of some parts, by the names of their arrays."""
        array = planes_spec(plan, name)
        return cls(plan, name, "texture", _WORK_OF_FINDING, (array,), (name,), source, parts)

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
        (top, bottom), (left, right) = ((each.start, each.stop) for each in region)
        boxes, names = self._boxes, list(self.parts)
        overlaps = (boxes[:, 0] < bottom) & (boxes[:, 1] > top) & (boxes[:, 2] < right) & (boxes[:, 3] > left)
        return {names[at]: self.parts[names[at]] for at in np.flatnonzero(overlaps)}

    @cached_property
    def _boxes(self) -> Ints:
        """First and last row and column of each part, (n, 4): there may be thousands of parts."""
        boxes = [part.box for part in self.parts.values()]
        return np.array([(rows.start, rows.stop, columns.start, columns.stop) for rows, columns in boxes])


def texture_stages(plan: PlanFacts, source: PlanesReader) -> list[PlanStage]:
    """Return the stages that fill wide holes; large ones in several waves, see `HolePart`."""
    from dictsel_core.completion import hole_parts  # noqa: PLC0415  (scipy is slow to import)

    parts = hole_parts(plan.holes, plan.spec.shape, plan.spec.n_channels)
    stages: list[PlanStage] = [WideStage.of(plan)] if parts else []
    for wave in sorted({part.wave for part in parts}):
        name = f"texture-{wave + 1}"
        own = [part for part in parts if part.wave == wave]
        named = {f"{name}-part-{number}": part for number, part in enumerate(own, start=1)}
        total = sum(map(_area, own))
        for each, part in named.items():
            work = _WORK_OF_FILLING * _area(part) / total
            stages.append(FillStage.of(plan, source, each, part, work))
        stages.append(TextureStage.of(plan, source, name, named))
        source = PlanesReader((name,))
    return stages


def _area(part: "HolePart") -> int:
    (top, bottom), (left, right) = ((each.start, each.stop) for each in part.box)
    return int((bottom - top) * (right - left))


def _overlap(box: Region, region: Region) -> Region:
    rows, columns = (
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(box, region, strict=True)
    )
    return rows, columns
