"""The scales of planes that share a mask, as a plan describes them."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Canvas, Plane, Planes
from dictsel_core.restoration.coding.pyramid import halve

Limits = tuple[tuple[float, ...], tuple[float, ...]]

#: Scales of a block that are made without the blocks around it, and the multiples at which blocks begin.
LOCAL_LEVELS = 6
SURVEY_GRID = 1 << LOCAL_LEVELS


@dataclass(frozen=True)
class PyramidSource:
    """Channels that share a mask, or the difference of two channels.

    Attributes
    ----------
    name : str
    channels : tuple of int
    other : int or None
        The channel that is subtracted.
    """

    name: str
    channels: tuple[int, ...]
    other: int | None = None

    def planes(self, canvas: Canvas) -> tuple[Planes, Bools]:
        """Return the planes of a canvas, zero where missing, and their mask: (H, W, C) and (H, W)."""
        first = self.channels[0]
        missing = canvas.mask(first)
        if self.other is not None:
            unknown = np.asarray(missing | canvas.mask(self.other))
            difference = canvas.plane(first) - canvas.plane(self.other)
            return np.where(unknown, np.float32(0), difference)[:, :, None], unknown
        if len(self.channels) == canvas.n_channels:
            return canvas.planes(), missing
        return canvas.plane(first)[:, :, None], missing

    def halved(self, canvas: Canvas) -> tuple[Planes, Bools]:
        """Return the planes and their mask at half size; see `halve`."""
        return halve(*self.planes(canvas))

    def array(self, level: int) -> str:
        """Return the name of the restored planes of a scale."""
        return f"{self.name}-{level}"

    def given(self, level: int) -> tuple[str, str]:
        """Return the names of the planes of a scale before their restoration, and of their mask."""
        return (
            ("image", "mask")
            if level == 0
            else (f"{self.name}-{level}-planes", f"{self.name}-{level}-missing")
        )


@dataclass(frozen=True)
class Pyramid:
    """How the scales of some planes are restored.

    Attributes
    ----------
    source : PyramidSource
    limits : tuple of (low, high)
        Of each scale that is coded, the finest first: what its estimates are clipped to, by channel.
    fill : tuple of float or None
        First estimate of all missing pixels of the coarsest of these; None if the next coarser scale misses
        no pixel.
    """

    source: PyramidSource
    limits: tuple[Limits, ...]
    fill: tuple[float, ...] | None

    @property
    def n_levels(self) -> int:
        """Number of scales that are coded."""
        return len(self.limits)

    def limits_of(self, level: int) -> tuple[Plane, Plane]:
        """Return the limits of a scale: (C,) each."""
        low, high = self.limits[level]
        return np.array(low, np.float32), np.array(high, np.float32)
