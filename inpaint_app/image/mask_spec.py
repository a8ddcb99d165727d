"""How missing pixels are marked."""

from dataclasses import dataclass
from pathlib import Path

from dictsel_core import DamageKind, Parameter

#: Pixels by which marked regions grow.
GROW = Parameter(name="grow", kind=int, minimum=0, maximum=20, is_optional=True)
#: Of the detection of damage.
SENSITIVITY = Parameter(name="sensitivity", kind=float, minimum=0, maximum=1)
#: Largest difference from a color; in float pictures values may be of any size.
TOLERANCE = Parameter(name="tolerance", kind=float, minimum=0)


@dataclass(frozen=True)
class MaskSpec:
    """How missing pixels are marked, besides alpha = 0 and NaN.

    Attributes
    ----------
    mask : Path or None
        A mask image, white = missing (black with `invert_mask`).
    key : str or None
        A color, found with `tolerance`: the largest difference in any channel.
    grow : int or None
        Pixels by which what a file or a color marks grows; None as `missing.grown` chooses.
    detect : tuple of str
        Kinds of damage to detect, with `sensitivity`; the detected pixels are missing too.
    soft_edges : bool
        Whether partly transparent pixels that border transparent ones are missing too.
    """

    mask: Path | None = None
    invert_mask: bool = False
    key: str | None = None
    tolerance: float = 0.0
    grow: int | None = None
    detect: tuple[DamageKind, ...] = ()
    sensitivity: float = 0.5
    soft_edges: bool = True
