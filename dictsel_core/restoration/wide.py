"""Which missing pixels are completed by example."""

import numpy as np

from dictsel_core._validation import Bools
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.settings import FillName

#: A pixel farther than this from all observed ones is completed by example. By default that is about as far
#: as patches see; "texture" is for those who know that there is some.
_REACH: dict[FillName, int] = {"auto": 8, "texture": 4}


def pixels_to_complete(canvas: Canvas, fill: FillName, among: Bools | None = None) -> Bools:
    """Return the pixels of wide holes that are to be filled with texture: (H, W).

    Where a channel is observed, the others are estimated from it; a hole is where all are missing. With
    `among`, only holes that have one of these pixels (H, W) are returned.
    """
    if fill == "smooth" or (fill == "auto" and canvas.image.dtype.kind == "f"):
        return np.zeros(canvas.shape, bool)
    from dictsel_core.completion import wide_parts  # noqa: PLC0415  (scipy is slow to import)

    wide = wide_parts(np.asarray(canvas.missing.all(axis=2)), _REACH[fill])
    if among is None or not wide.any():
        return wide
    from scipy.ndimage import label  # noqa: PLC0415

    labels, _ = label(wide)
    return np.asarray(wide & np.isin(labels, labels[among]))
