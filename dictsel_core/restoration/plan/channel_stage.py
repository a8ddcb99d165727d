"""The stage that estimates a channel from others that are observed at the same pixels."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import ArraySpec, Read, reads_of
from dictsel_core.restoration.plan.scales import PyramidSource
from dictsel_core.restoration.plan.stage import Blocks, PlanStage, StageStep, StageSteps

#: Work of this stage, in units of the coding of all pixels.
_WORK = 0.02


@dataclass(frozen=True, eq=False)
class ChannelStage(PlanStage):
    """Estimates the missing pixels of a channel that are observed in another channel.

    The restored differences to other channels are added to these, and the estimates averaged. Nothing is
    known about a channel that is missing entirely; there all differences are assumed to be zero, which makes
    the image gray.

    Attributes
    ----------
    channel : int
    own : PyramidSource
        Its own estimate.
    differences : tuple of PyramidSource
        Restored differences to other channels.
    """

    channel: int
    own: PyramidSource
    differences: tuple[PyramidSource, ...]

    @classmethod
    def of(
        cls, plan: PlanFacts, channel: int, own: PyramidSource, differences: tuple[PyramidSource, ...]
    ) -> "ChannelStage":
        """Return the stage of a channel."""
        names = tuple(f"combined-{each}" for each in range(plan.spec.n_channels))
        return cls(
            plan,
            f"channel-{channel}",
            "channels",
            _WORK,
            (ArraySpec(names[channel], (*plan.spec.shape, 1), "float32"),),
            names if channel == len(names) - 1 else (),
            channel,
            own,
            differences,
        )

    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        names = [each.array(0) for each in (self.own, *self.differences)]
        return reads_of(region, "image", "mask", *names)

    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region; see `PlanStage.steps`."""
        image, mask, own, *differences = blocks
        canvas, result = self.plan.canvas(image, mask), own[:, :, 0].copy()
        missing = canvas.mask(self.channel)
        total, count = np.zeros(canvas.shape, np.float32), np.zeros(canvas.shape, np.float32)
        for other, difference in self._others(differences):
            helped = missing & ~canvas.mask(other)
            total += np.where(helped, canvas.plane(other) + difference, 0)
            count += helped
        estimates = np.divide(total, np.maximum(count, 1), dtype=np.float32)
        np.copyto(result, np.clip(estimates, 0, 1), where=count > 0)
        yield StageStep(1.0)
        return (result[:, :, None],)

    def _others(self, differences: Blocks) -> "list[tuple[int, np.ndarray | np.float32]]":
        if self.plan.observed_channels[self.channel]:
            pairs = zip(self.differences, differences, strict=True)
            return [(source.other, block[:, :, 0]) for source, block in pairs if source.other is not None]
        others = (each for each in range(self.plan.spec.n_channels) if each != self.channel)
        return [(other, np.float32(0)) for other in others]
