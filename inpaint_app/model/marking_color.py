"""A color that somebody has marked damage with, recognized by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.model.missing import Mask
from inpaint_app.model.picture import Array, Picture, full_scale

#: Range of a color's channels, of 255, from which on hardly anything in photographs has it.
_MIN_CHROMA = 140
_MAX_LOW = 90
#: Fractions of the pixels that marks may be.
_MIN_FRACTION, _MAX_FRACTION = 3e-4, 0.1
#: Pixels that differ by less are of the color, and by less than the second where it was compressed.
_SAME, _LIKE = 16, 48
#: Fraction of the like ones that are the same: objects are shaded, marks are not.
_MIN_FLATNESS = 0.25
#: From this fraction on, marks were not compressed,
_EXACT = 0.98
#: and need not grow as far: compression mixes their color into pixels beside.
_GROWTH, _COMPRESSED_GROWTH = 1, 3
#: Marks are strokes: at most this part of them is farther inside than this part of the diagonal.
_MAX_INSIDE, _STROKE = 0.2, 0.02
#: Larger pictures are sampled.
_MAX_SAMPLED = 1_000_000

#: Names by which channels are high: red, green, blue.
_NAMES = {
    (True, False, False): "red",
    (True, True, False): "yellow",
    (False, True, False): "green",
    (False, True, True): "cyan",
    (False, False, True): "blue",
    (True, False, True): "magenta",
}


@dataclass(frozen=True)
class MarkingColor:
    """A color that seems to mark damage."""

    name: str  #: Such as "red".
    spec: MaskSpec  #: How to mark its pixels as missing, with the edges that compression has blurred.


def find_marking_color(picture: Picture) -> MarkingColor | None:
    """Return the one saturated color that strokes are drawn with on a picture; None if there is none.

    Objects of the picture are recognized by their shades and by their width. May be called in any thread.
    """
    if not picture.is_color or picture.is_float:
        return None
    sample = _sampled(picture.pixels)
    high, low = sample.max(axis=2), sample.min(axis=2)
    is_saturated = (high - low >= _MIN_CHROMA) & (low <= _MAX_LOW)
    vivid = sample[is_saturated]
    hues = vivid > ((high + low) // 2)[is_saturated, None]
    best: tuple[int, MarkingColor] | None = None
    for hue, name in _NAMES.items():
        of_hue = vivid[(hues == hue).all(axis=1)]
        if len(of_hue) < _MIN_FRACTION * is_saturated.size:
            continue
        color = np.median(of_hue, axis=0)
        difference = np.abs(sample - color).max(axis=2)
        like = difference <= _LIKE
        n_like = int(np.count_nonzero(like))
        flatness = np.count_nonzero(difference <= _SAME) / max(n_like, 1)
        if flatness >= _MIN_FLATNESS and _are_strokes(like) and (best is None or n_like > best[0]):
            scale = full_scale(picture.pixels.dtype) / 255
            key = "#" + "".join(f"{round(value):02x}" for value in color)
            growth = _GROWTH if flatness >= _EXACT else _COMPRESSED_GROWTH
            best = n_like, MarkingColor(name, MaskSpec(key=key, tolerance=_LIKE * scale, grow=growth))
    return None if best is None else best[1]


def _are_strokes(marked: Mask) -> bool:
    """Return whether pixels are a small part of a picture, and hardly any are far inside."""
    if not _MIN_FRACTION <= np.count_nonzero(marked) / marked.size <= _MAX_FRACTION:
        return False
    far = max(1, round(_STROKE * float(np.hypot(*marked.shape))))
    around = np.pad(marked, far)
    inside = marked.copy()
    for axis in (0, 1):
        for shift in (-far, far):
            inside &= np.roll(around, shift, axis)[far:-far, far:-far]
    return bool(np.count_nonzero(inside) <= _MAX_INSIDE * np.count_nonzero(marked))


def _sampled(pixels: Array) -> Array:
    """Return every so many pixels with 8-bit values, in a type that holds their differences."""
    step = int(np.ceil(np.sqrt(pixels.shape[0] * pixels.shape[1] / _MAX_SAMPLED)))
    part = pixels[::step, ::step].astype(np.int32)
    return np.asarray(part * 255 // int(full_scale(pixels.dtype)), np.int16)
