"""One stage of a plan: a function of a block and what is around it."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.runs import GeneratorRun
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.coding.coder import PatchCoder
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.regions import ArraySpec, Read, as_block, check_blocks, reads_of
from dictsel_core.restoration.result import Stage

Blocks = Sequence[NDArray[Any]]
#: Blocks begin at even rows and columns, since every second patch is coded.
_GRID = 2


@dataclass(frozen=True, eq=False)
class StageStep:
    """Fraction of a block that is done; the planes as they are now, if there is something to see."""

    fraction: float
    planes: Planes | None = None


StageSteps = Generator[StageStep, None, tuple[NDArray[Any], ...]]


@dataclass(frozen=True, eq=False)
class PlanStage(ABC):
    """A stage of a plan, which computes blocks of its arrays from regions of others.

    A block is the same whatever the blocks around it, and as in the whole image. Blocks begin at even rows
    and columns.

    Attributes
    ----------
    plan : PlanFacts
    name : str
        Unique in the plan.
    kind : {"coarse", "code", "channels", "texture", "refine"}
        What the stage does, as in `RestoreStep`.
    work : float
        Of the stage on the whole image, in units of the coding of all its pixels.
    writes : tuple of ArraySpec
        The arrays that the stage writes, all of the same height and width.
    shows : tuple of str
        The arrays that hold all channels of the image once the stage is done; none on coarser scales.
    """

    plan: PlanFacts
    name: str
    kind: Stage
    work: float
    writes: tuple[ArraySpec, ...]
    shows: tuple[str, ...]
    #: Whether `steps` overwrites the blocks it is given.
    overwrites: ClassVar[bool] = False
    #: Whether a block costs as much as all of the stage, which then is best computed as a single block.
    is_whole: ClassVar[bool] = False

    @abstractmethod
    def inputs(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""

    @abstractmethod
    def steps(self, blocks: Blocks, region: Region, coder: PatchCoder) -> StageSteps:
        """Compute a region from what was read; yield the progress, and return the blocks of all arrays.

        Blocks of floats may be overwritten.
        """

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the arrays that the stage writes."""
        return self.writes[0].shape[:2]

    @cached_property
    def arrays(self) -> frozenset[str]:
        """Names of all arrays that the stage reads."""
        height, width = self.shape
        return frozenset(each.array for each in self.inputs((slice(0, height), slice(0, width))))

    def reads(self, rows: slice, columns: slice) -> tuple[Read, ...]:
        """Return the regions of other arrays from which a block is computed.

        Parameters
        ----------
        rows, columns : slice
            Of the block. ValueError if it is not inside, or begins at an odd row or column.
        """
        return self.inputs(as_block(rows, columns, self.shape, _GRID))

    def apply(self, blocks: Blocks, rows: slice, columns: slice) -> tuple[NDArray[Any], ...]:
        """Return a block of each array that the stage writes: (h, w, layers), in the order of `writes`.

        Parameters
        ----------
        blocks : sequence of (h, w, layers) ndarray
            What `reads` says, in its order. They stay as they are.
        rows, columns : slice
            Of the block, as for `reads`.
        """
        region = as_block(rows, columns, self.shape, _GRID)
        check_blocks(blocks, self.inputs(region), self.plan.spec)
        given = [np.array(each) if self.overwrites and each.dtype.kind == "f" else each for each in blocks]
        return GeneratorRun(self.steps(given, region, self.plan.coder())).finish()


def planes_spec(plan: PlanFacts, name: str) -> ArraySpec:
    """Return the array of all channels of the image, as planes."""
    return ArraySpec(name, (*plan.spec.shape, plan.spec.n_channels), "float32")


@dataclass(frozen=True)
class PlanesReader:
    """The arrays that hold the current planes, side by side if there is one for each channel."""

    names: tuple[str, ...]

    def reads(self, region: Region) -> tuple[Read, ...]:
        """Return what is read for a region."""
        return reads_of(region, *self.names)

    def joined(self, blocks: Blocks) -> Planes:
        """Return the planes of the first blocks that were read: (h, w, C)."""
        own = blocks[: len(self.names)]
        return own[0] if len(own) == 1 else np.concatenate(own, axis=2)

    def rest(self, blocks: Blocks) -> Blocks:
        """Return the blocks after them."""
        return blocks[len(self.names) :]
