"""What the window knows, as values that never change."""

from dataclasses import dataclass, replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Array


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One restoration of the history."""

    number: int  #: Counts the restorations of a source, from 1 on.
    requested: RestoreSettings  #: The parameters as the user had set them.
    packed_mask: PackedMask  #: What was missing.
    seconds: float  #: How long it took.
    image: Array | None  #: The restored pixels; None where they were released to save memory.
    restoration: Restoration  #: How it came about; its own pixels are released as well.
    figures: QualityMetrics | None = None  #: None while they are being measured.
    is_stopped: bool = False  #: Whether it was stopped before its end.
    n_strokes: int = 0  #: How many strokes of the healing brush are part of it.
    name: str = ""  #: What the user calls it; empty for nothing.
    hole_fill: HoleFill | None = None  #: How the user let wide holes be filled; None for what is usual.

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or f"Run {self.number}"

    @property
    def mask(self) -> Mask:
        """What was missing, unpacked."""
        return self.packed_mask.unpack()

    @property
    def settings(self) -> RestoreSettings:
        """The parameters as used: what was left open is filled in."""
        return self.restoration.settings

    @property
    def n_bytes(self) -> int:
        """Memory that the pixels take."""
        return 0 if self.image is None else int(self.image.nbytes)

    def without_image(self) -> "RunRecord":
        """Return the record without its pixels."""
        return replace(self, image=None, restoration=without_pixels(self.restoration))


def without_pixels(restoration: Restoration) -> Restoration:
    """Return a restoration that takes little memory: without its pixels."""
    return replace(restoration, image=np.zeros((1, 1), np.uint8))


@dataclass(frozen=True, eq=False)
class PackedRequest:
    """The request of a run, in little memory, as it is when the run is started."""

    pixels: Array
    packed_mask: PackedMask
    settings: RestoreSettings
    hole_fill: HoleFill | None = None

    def unpack(self) -> RestoreRequest:
        """Return it for a job; called in another thread, since it takes a while."""
        return RestoreRequest(self.pixels, self.packed_mask.unpack(), self.settings, self.hole_fill)


@dataclass(frozen=True)
class TuningOutcome:
    """What Auto chose in place of what the user had set, and why, in a sentence."""

    settings: RestoreSettings
    sentence: str
    given: RestoreSettings
