"""A color that is given to mark missing pixels, and how far from it marks are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaint_app.model.areas import Mask
from inpaint_app.model.color import parse_color
from inpaint_app.model.missing import dilate
from inpaint_app.model.picture import Picture, full_scale

#: Formats that mix the colors of pixels.
_LOSSY = ("JPEG", "WebP", "AVIF", "HEIC", "JPEG XL", "JPEG 2000")
#: Range of a color's channels, of 255, from which on hardly anything in photographs has it.
_MIN_CHROMA = 140
#: Tolerances to choose from, of 255: for such colors, and for others. The last one is that of sure marks.
_VIVID, _PLAIN = (96, 80, 64, 48), (32, 24, 16, 12, 8)
#: Pixels from sure marks within which similar pixels are their blurred edges,
_REACH = 2
#: and the part of all found pixels that may lie farther away.
_MAX_FAR = 0.05
#: In a lossless file, marks are exact if they are at least this part of what is like them.
_MIN_EXACT = 0.25
#: Pixels beside marks that are nearly of their color, and the part of those beside that are so many.
_NEARLY, _MAX_NEARLY = 2, 0.1


def choose_tolerance(picture: Picture, key: str) -> float:
    """Return a tolerance for a color that marks missing pixels, in values of the picture.

    0 where marks are exact. Where they were compressed it is as large as it can be without finding pixels
    elsewhere than around marks.
    """
    levels = _levels_from(picture, key)
    if levels is None:
        return 0.0
    is_vivid, is_lossy = (
        _is_vivid(picture, key),
        picture.metadata.source_format in _LOSSY and not picture.metadata.is_lossless,
    )
    tolerances = _VIVID if is_vivid else _PLAIN
    if not is_lossy:
        n_exact, n_like = np.count_nonzero(levels == 0), np.count_nonzero(levels <= tolerances[-1])
        if not is_vivid or n_exact >= _MIN_EXACT * n_like:
            return 0.0
    around = dilate(levels <= tolerances[-1], _REACH)
    for tolerance in tolerances:
        found = levels <= tolerance
        if np.count_nonzero(found & ~around) <= _MAX_FAR * np.count_nonzero(found):
            break
    return float(np.ceil(tolerance * full_scale(picture.pixels.dtype) / 255))


def note_on_neighbors(picture: Picture, key: str, tolerance: float, marked: Mask) -> str:
    """Return a sentence if there is much of nearly a color beside the pixels that it marks; else nothing."""
    levels = _levels_from(picture, key)
    if levels is None or not marked.any():
        return ""
    beside = dilate(marked, 1) & ~marked
    limit = tolerance / full_scale(picture.pixels.dtype) * 255
    nearly = limit + _NEARLY * (_VIVID if _is_vivid(picture, key) else _PLAIN)[-1]
    n_nearly = np.count_nonzero(beside & (levels <= nearly))
    if n_nearly <= _MAX_NEARLY * np.count_nonzero(beside):
        return ""
    return (
        f"Beside pixels of the color {key} there are others of nearly that color, which stay; a tolerance "
        f"above {tolerance:g} marks them too."
    )


def _levels_from(picture: Picture, key: str) -> npt.NDArray[np.int32] | None:
    """Return how far pixels are from a color in any channel, of 255, rounded up, (H, W).

    None for pictures of other numbers than 8 or 16 bits, which are measurements, and for colors in gray.
    """
    wanted = parse_color(key, picture.pixels.dtype)
    if picture.pixels.dtype not in (np.uint8, np.uint16) or picture.n_bands not in (1, 3):
        return None
    if not picture.is_color and len(set(wanted)) > 1:
        return None
    scale, channels = full_scale(picture.pixels.dtype) / 255, np.atleast_3d(picture.pixels)
    levels = np.zeros(channels.shape[:2], np.int32)
    for channel, value in zip(np.moveaxis(channels, 2, 0), wanted, strict=False):
        far = np.ceil(np.abs(channel.astype(np.float32) - value) / np.float32(scale)).astype(np.int32)
        np.maximum(levels, far, out=levels)
    return levels


def _is_vivid(picture: Picture, key: str) -> bool:
    wanted = parse_color(key, picture.pixels.dtype)
    return (max(wanted) - min(wanted)) / full_scale(picture.pixels.dtype) * 255 >= _MIN_CHROMA
