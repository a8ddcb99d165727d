"""Which missing pixels are completed by example."""

import numpy as np

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.settings import FillName

#: A pixel farther than this from all observed ones is completed by example. By default that is about as far
#: as patches see; "texture" is for those who know that there is some.
REACH: dict[FillName, int] = {"auto": 8, "texture": 4}


def completion_reach(fill: FillName, dtype: str) -> int:
    """Return how far from all observed pixels those are that are completed by example; 0 if none are."""
    if fill == "smooth" or (fill == "auto" and np.dtype(dtype).kind == "f"):
        return 0
    return REACH[fill]


def pixels_to_complete(missing: Bools, reach: int) -> Bools:
    """Return the pixels of wide holes that are to be filled with texture: (H, W).

    Where a channel is observed, the others are estimated from it; a hole is where all are missing.

    Parameters
    ----------
    missing : (H, W, c) ndarray of bool
    reach : int
    """
    if not reach:
        return np.zeros(missing.shape[:2], bool)
    from dictsel_core.completion import wide_parts  # noqa: PLC0415  (scipy is slow to import)

    return wide_parts(np.asarray(missing.all(axis=2)), reach)
