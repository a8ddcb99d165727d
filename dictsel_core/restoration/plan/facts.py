"""What a plan knows of an image as a whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.coding.coder import PatchCoder, patch_coder
from dictsel_core.restoration.plan.regions import ImageSpec
from dictsel_core.restoration.plan.scales import Pyramid
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.value_range import ValueRange


@dataclass(frozen=True, eq=False)
class ImageFacts:
    """What is known of an image as a whole after the first look at it; see `RestorePlan`."""

    spec: ImageSpec
    settings: ResolvedSettings
    ranges: tuple[ValueRange, ...]
    shares_mask: bool
    observed_channels: tuple[bool, ...]
    missing_fraction: float
    holes: tuple[tuple[int, int, int, int], ...]
    damage_density: float

    @property
    def nothing_missing(self) -> bool:
        """Whether there is nothing to restore."""
        return self.missing_fraction == 0

    def canvas(self, image: NDArray[np.generic], mask: Bools) -> Canvas:
        """Return a block of the image (h, w, C) and of its mask (h, w, c)."""
        return Canvas(image, mask[:, :, :1] if self.shares_mask else mask, self.ranges)


@dataclass(frozen=True, eq=False)
class PlanFacts(ImageFacts):
    """What is known of an image as a whole after the second look at it; see `RestorePlan`."""

    atoms: NDArray[np.float64]
    pyramids: tuple[Pyramid, ...]
    repeats: tuple[tuple[int, int], tuple[int, int]]

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement."""
        return self.settings.rounds or 0

    def coder(self) -> PatchCoder:
        """Return a coder of patches."""
        return patch_coder(self.atoms, self.settings, refined=self.n_rounds > 0)
