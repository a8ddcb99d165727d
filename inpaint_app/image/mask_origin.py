"""How a mask came about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MaskOrigin:
    """What a mask consists of.

    Attributes
    ----------
    is_given : bool
        Whether anything of it is left that was found in the picture, a mask file or by a color.
    is_painted : bool
        Whether it was painted on since.
    is_detected : bool
        Whether damage was detected in the picture, and added.
    is_inverted : bool
        Whether missing and observed pixels were swapped since.
    """

    is_given: bool = True
    is_painted: bool = False
    is_detected: bool = False
    is_inverted: bool = False
