"""How missing pixels are marked."""

from dataclasses import dataclass
from pathlib import Path

from dictsel_core import Parameter

TOLERANCE = Parameter(name="tolerance", kind=float, minimum=0)
"""Largest difference from a colour; in float pictures values may be of any size."""


@dataclass(frozen=True)
class MaskSpec:
    """How missing pixels are marked, besides alpha = 0 and NaN.

    Attributes
    ----------
    mask : Path or None
        A mask image, white = missing (black with `invert_mask`).
    key : str or None
        A colour, found with `tolerance`: the largest difference in any channel.
    soft_edges : bool
        Whether partly transparent pixels that border transparent ones are missing too.
    """

    mask: Path | None = None
    invert_mask: bool = False
    key: str | None = None
    tolerance: float = 0.0
    soft_edges: bool = True
