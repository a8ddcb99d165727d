"""How a mask came about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MaskOrigin:
    """What a mask consists of."""

    #: Whether anything of it is left that was found in the picture, a mask file or by a color.
    is_given: bool = True
    is_painted: bool = False  #: Whether it was painted on since.
    is_detected: bool = False  #: Whether damage was detected in the picture, and added.
    is_inverted: bool = False  #: Whether missing and observed pixels were swapped since.
