"""How missing pixels are marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dictsel_core.damage_kinds import DamageKind
from dictsel_core.restoration import Parameter

#: Pixels by which marked regions grow.
GROW = Parameter(name="grow", kind=int, minimum=0, maximum=20, is_optional=True)
#: Of the detection of damage.
SENSITIVITY = Parameter(name="sensitivity", kind=float, minimum=0, maximum=1)
#: Largest difference from a color; in float pictures values may be of any size.
TOLERANCE = Parameter(name="tolerance", kind=float, minimum=0, is_optional=True)


@dataclass(frozen=True)
class MaskSpec:
    """How missing pixels are marked, besides alpha = 0 and NaN."""

    mask: Path | None = None  #: A mask image, white = missing (black with `invert_mask`).
    invert_mask: bool = False
    key: str | None = None  #: A color, found with `tolerance`: the largest difference in any channel.
    tolerance: float | None = None  #: None as `key_color.choose_tolerance` chooses for the picture.
    #: Pixels by which what a file or a color marks grows; None as `missing.dilate` chooses.
    grow: int | None = None
    #: Kinds of damage to detect, with `sensitivity`; the detected pixels are missing too.
    detect: tuple[DamageKind, ...] = ()
    sensitivity: float = 0.5
    #: Whether partly transparent pixels that border transparent ones are missing too.
    soft_edges: bool = True
    #: Whether the mask is meant as it is, even if it looks inverted or like a photograph.
    trusts_mask: bool = False
