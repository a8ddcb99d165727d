"""Stages that restore planes from coarse to fine."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core.restoration.coding.coder import PatchCoder, code_planes, fill_from
from dictsel_core.restoration.coding.pyramid import halve
from dictsel_core.restoration.coding.rebuilding import CODING_GRID
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import (
    ArraySpec,
    Read,
    coarser_region,
    doubled,
    grown,
    halved_shape,
    reads_of,
    within,
)
from dictsel_core.restoration.plan.scales import Pyramid, PyramidSource
from dictsel_core.restoration.plan.stage import Blocks, PlanStage, StageStep, StageSteps

#: Work of making a coarser scale, relative to coding it.
_WORK_OF_HALVING = 0.05


@dataclass(frozen=True, eq=False)
class HalvingStage(PlanStage):
    """Makes a coarser scale of some planes, and of their mask."""

    source: PyramidSource
    level: int

    @classmethod
    def of(cls, plan: PlanFacts, source: PyramidSource, level: int) -> "HalvingStage":
        """Return the stage that makes a scale."""
        names, shape = source.given(level), halved_shape(plan.spec.shape, level)
        return cls(
            plan,
            f"halve-{source.array(level)}",
            "coarse" if source.other is None else "channels",
            _WORK_OF_HALVING / 4 ** (level - 1),
            (
                ArraySpec(names[0], (*shape, len(source.channels)), "float32"),
                ArraySpec(names[1], (*shape, 1), "bool"),
            ),
            (),
            source,
            level,
        )

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        finer = doubled(region, halved_shape(self.plan.spec.shape, self.level - 1))
        return reads_of(finer, *self.source.given(self.level - 1))

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        given, mask = blocks
        if self.level == 1:
            means, unknown = self.source.halved(self.plan.canvas(given, mask))
        else:
            means, unknown = halve(given, mask[:, :, 0])
        yield StageStep(1.0)
        return means, unknown[:, :, None]


@dataclass(frozen=True, eq=False)
class CodingStage(PlanStage):
    """Restores a scale of some planes from the next coarser one, by coding its patches."""

    pyramid: Pyramid
    level: int

    @classmethod
    def of(cls, plan: PlanFacts, pyramid: Pyramid, level: int) -> "CodingStage":
        """Return the stage that restores a scale."""
        source = pyramid.source
        name, n_channels = source.array(level), len(source.channels)
        array = ArraySpec(name, (*halved_shape(plan.spec.shape, level), n_channels), "float32")
        return cls(
            plan,
            f"code-{name}",
            "channels" if source.other is not None else "coarse" if level else "code",
            n_channels / plan.spec.n_channels / 4**level,
            (array,),
            (name,) if level == 0 and plan.shares_mask else (),
            pyramid,
            level,
        )

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        source, outer = self.pyramid.source, self._outer(region)
        return reads_of(outer, *source.given(self.level)) + tuple(
            Read(name, *self._coarser(outer)) for name in self._coarser_arrays()
        )

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        outer = self._outer(region)
        inner = within(region, outer)
        if self.level == 0:
            planes, missing = self.pyramid.source.planes(self.plan.canvas(blocks[0], blocks[1]))
        else:
            planes, missing = np.array(blocks[0], order="C"), blocks[1][:, :, 0]
        if len(blocks) > 2:
            coarse = self._coarser(outer)
            shift = outer[0].start - 2 * coarse[0].start, outer[1].start - 2 * coarse[1].start
            fill_from(planes, missing, blocks[2], shift)
        else:
            planes[missing] = np.array(self.pyramid.fill, np.float32)
        yield StageStep(0.0, planes[inner])
        wanted = np.zeros_like(missing)
        replaced = self.kind == "code" and not self.plan.settings.keep_observed
        wanted[inner] = True if replaced else missing[inner]
        if wanted.any():
            limits = self.pyramid.limits_of(self.level)
            for fraction in code_planes(planes, missing, wanted, coder, limits):
                yield StageStep(fraction, planes[inner])
        return (np.ascontiguousarray(planes[inner]),)

    def _outer(self, region: Region) -> Region:
        shape = halved_shape(self.plan.spec.shape, self.level)
        return grown(region, self.plan.settings.patch_size - 1, shape, CODING_GRID)

    def _coarser(self, outer: Region) -> Region:
        return coarser_region(outer, halved_shape(self.plan.spec.shape, self.level + 1))

    def _coarser_arrays(self) -> tuple[str, ...]:
        """Return the array of the next coarser scale, if there is one."""
        level = self.level + 1
        if level < self.pyramid.n_levels:
            return (self.pyramid.source.array(level),)
        return () if self.pyramid.fill is not None else self.pyramid.source.given(level)[:1]


def pyramid_stages(plan: PlanFacts, pyramid: Pyramid) -> list[PlanStage]:
    """Return the stages that restore some planes: to the coarsest scale, and back."""
    n_halved = pyramid.n_levels - (pyramid.fill is not None)
    halving = [HalvingStage.of(plan, pyramid.source, level) for level in range(1, n_halved + 1)]
    coding = [CodingStage.of(plan, pyramid, level) for level in reversed(range(pyramid.n_levels))]
    return [*halving, *coding]
