"""What is known of the scales of some planes, block by block."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Canvas, Plane, Planes
from dictsel_core.restoration.coding.coder import is_halved, observed_limits
from dictsel_core.restoration.coding.pyramid import halve
from dictsel_core.restoration.plan.regions import halved_shape
from dictsel_core.restoration.plan.scales import LOCAL_LEVELS, Limits, Pyramid, PyramidSource


@dataclass(frozen=True, eq=False)
class LevelStatistics:
    """Number of missing pixels of a scale, and limits of its observed values (C,)."""

    n_missing: int
    low: Plane
    high: Plane

    @classmethod
    def of(cls, planes: Planes, missing: Bools) -> "LevelStatistics":
        """Measure planes (h, w, C)."""
        return cls(int(np.count_nonzero(missing)), *observed_limits(planes, missing))

    def __add__(self, other: "LevelStatistics") -> "LevelStatistics":
        """Return what is known of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return LevelStatistics(self.n_missing + other.n_missing, low, high)

    @property
    def limits(self) -> Limits:
        """Smallest and largest value of each channel."""
        return tuple(map(float, self.low)), tuple(map(float, self.high))


@dataclass(frozen=True, eq=False)
class ScaleStatistics:
    """What is known of the scales of some planes.

    Attributes
    ----------
    levels : tuple of LevelStatistics
        From the image itself on.
    parts : tuple of (int, int, planes, missing)
        First row and column of blocks of the last of these scales, and the blocks.
    """

    levels: tuple[LevelStatistics, ...]
    parts: tuple[tuple[int, int, Planes, Bools], ...]

    @classmethod
    def of(
        cls, source: PyramidSource, canvas: Canvas, region: Region, shape: tuple[int, int], size: int
    ) -> "ScaleStatistics":
        """Measure a block.

        Channels themselves are measured from half their size on; differences of channels, which are made
        coarser only if they are large enough, from the start.

        Parameters
        ----------
        source : PyramidSource
        canvas : Canvas
            The block.
        region : (slice, slice)
            Of the block.
        shape : (int, int)
            Height and width of the image.
        size : int
            Height and width of a patch.
        """
        first = int(source.other is None)
        planes, missing = source.planes(canvas) if first == 0 else source.halved(canvas)
        levels = [LevelStatistics.of(planes, missing)]
        if first:
            levels.insert(0, _unmeasured(planes.shape[2]))
        level = first
        while level < LOCAL_LEVELS and has_coarser(shape, level, size, first):
            planes, missing = halve(planes, missing)
            levels.append(LevelStatistics.of(planes, missing))
            level += 1
        part = region[0].start >> level, region[1].start >> level, planes, missing
        return cls(tuple(levels), (part,))

    def __add__(self, other: "ScaleStatistics") -> "ScaleStatistics":
        """Return what is known of both."""
        levels = tuple(a + b for a, b in zip(self.levels, other.levels, strict=True))
        return ScaleStatistics(levels, self.parts + other.parts)

    def pyramid(self, source: PyramidSource, shape: tuple[int, int], size: int) -> Pyramid:
        """Return how the scales of the whole image are restored."""
        first, limits = int(source.other is None), [self.levels[0].limits]
        planes, missing = self._joined(shape)
        for level in range(1, 64):
            if not has_coarser(shape, level - 1, size, first):
                return Pyramid(source, tuple(limits), tuple(map(float, planes[~missing].mean(axis=0))))
            if level < len(self.levels):
                known = self.levels[level]
            else:
                planes, missing = halve(planes, missing)
                known = LevelStatistics.of(planes, missing)
            if known.n_missing == 0:
                break
            limits.append(known.limits)
        return Pyramid(source, tuple(limits), None)

    def _joined(self, shape: tuple[int, int]) -> tuple[Planes, Bools]:
        """Return the last of the measured scales."""
        if len(self.parts) == 1:
            return self.parts[0][2], self.parts[0][3]
        height, width = halved_shape(shape, len(self.levels) - 1)
        planes = np.zeros((height, width, self.parts[0][2].shape[2]), np.float32)
        missing = np.ones((height, width), bool)
        for top, left, values, unknown in self.parts:
            place = np.s_[top : top + len(values), left : left + values.shape[1]]
            planes[place], missing[place] = values, unknown
        return planes, missing


def _unmeasured(n_channels: int) -> LevelStatistics:
    """Return the statistics of the image itself, whose limits are those of unit range."""
    return LevelStatistics(0, np.zeros(n_channels, np.float32), np.ones(n_channels, np.float32))


def has_coarser(shape: tuple[int, int], level: int, size: int, first: int) -> bool:
    """Return whether there is a coarser scale than this one; see `ScaleStatistics.of`."""
    return level < first or is_halved(halved_shape(shape, level), size)
