"""How missing pixels are marked."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MaskSpec:
    """How missing pixels are marked, besides alpha = 0 and NaN.

    Attributes
    ----------
    mask : Path or None
        A mask image, white = missing (black with `invert_mask`).
    key : str or None
        A colour, found with `tolerance`.
    """

    mask: Path | None = None
    invert_mask: bool = False
    key: str | None = None
    tolerance: float = 0.0
