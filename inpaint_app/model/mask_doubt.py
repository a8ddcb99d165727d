"""Whether a mask may be something else than what it is given as: inverted, or a photograph."""

from enum import Enum

import numpy as np

from inpaint_app.model.picture import Array, Mask, Picture

#: An inverted mask marks more of the picture than this,
_MIN_MARKED = 0.5
#: or at least this, if all it leaves is of one color.
_MIN_MARKED_BESIDE_BLANK = 0.25
#: Side of blocks, and the part of them that an inverted mask marks as a whole: scattered pixels leave none.
_BLOCK, _MIN_BLOCKS = 8, 0.2
#: Part of a hole that is of one color, and how far from it values may be, of 255, after compression.
_BLANK, _NEAR = 0.95, 4
#: The same for what is left by a mask; exactly of that color, since paper and sky are nearly so.
_EXACTLY_BLANK = 0.99
#: Photographs have more shades of 32 in so much of their pixels than masks, even soft and compressed ones,
_SHADES, _COVERED = 11, 0.8
#: where they are colorful: their colors do not lie along one line, but spread beside it by this part.
_SHADES_OF_COLORS, _COVERED_BY_COLORS, _SPREAD = 8, 0.9, 0.15
#: Larger pictures are sampled for their colors.
_MAX_SAMPLED = 250_000


class MaskDoubt(Enum):
    """Why a mask may not be meant as it is."""

    INVERTED = "inverted"  #: It seems to mark what is intact.
    PHOTOGRAPH = "photograph"  #: It has as many shades as a photograph, or is the picture itself.


def doubt_about_mask(picture: Picture, mask: Picture | Array, marked: Mask) -> MaskDoubt | None:
    """Return why a mask that marks these pixels of a picture, (H, W), may not be meant so; None if it may."""
    if isinstance(mask, Picture) and (
        np.array_equal(mask.pixels, picture.pixels) or is_photograph(mask)  # dark ones have few shades
    ):
        return MaskDoubt.PHOTOGRAPH
    return MaskDoubt.INVERTED if is_inverted(picture, marked) else None


def is_photograph(mask: Picture) -> bool:
    """Return whether a mask has as many shades and colors as a photograph."""
    step = _step(mask.pixels)
    values = mask.pixels[::step, ::step].astype(np.float64)
    light = values if values.ndim == 2 else values.mean(axis=2)
    low, high = float(light.min()), float(light.max())
    if not np.isfinite(values).all() or low == high:
        return False
    counts = np.sort(np.histogram(light, 32, (low, high))[0])[::-1]
    covered = np.cumsum(counts) / light.size
    if np.searchsorted(covered, _COVERED) >= _SHADES:
        return True
    is_shaded = np.searchsorted(covered, _COVERED_BY_COLORS) >= _SHADES_OF_COLORS
    return values.ndim == 3 and bool(is_shaded) and _color_spread(values) > _SPREAD


def _color_spread(values: Array) -> float:
    """Return how far colors spread beside the line along which they spread most, relative to that."""
    rows = values.reshape(-1, values.shape[2])
    variances = np.sort(np.linalg.eigvalsh(np.cov(rows, rowvar=False)))
    return float(np.sqrt(max(variances[-2], 0) / variances[-1]))


def is_inverted(picture: Picture, marked: Mask) -> bool:
    """Return whether marked pixels look like the intact part of a picture rather than the missing one.

    They do if they are most of it, in wide areas, and hold more than one color; or if what they leave is
    exactly of one color, as holes are.
    """
    fraction = np.count_nonzero(marked) / marked.size
    if fraction < _MIN_MARKED_BESIDE_BLANK or _whole_blocks(marked) < _MIN_BLOCKS:
        return False
    step = _step(picture.pixels)
    pixels, chosen = picture.pixels[::step, ::step], marked[::step, ::step]
    scale = 1 if picture.pixels.dtype == np.uint8 else _spread(pixels) / 255
    if not chosen.any() or chosen.all() or _blank_part(pixels[chosen], _NEAR * scale) > _BLANK:
        return False
    return bool(fraction > _MIN_MARKED) or _blank_part(pixels[~chosen], 0) > _EXACTLY_BLANK


def _step(pixels: Array) -> int:
    """Return at which distance pixels are looked at."""
    return max(1, int(np.sqrt(pixels.shape[0] * pixels.shape[1] / _MAX_SAMPLED)))


def _whole_blocks(marked: Mask) -> float:
    """Return which part of all blocks is marked as a whole."""
    height, width = (side // _BLOCK * _BLOCK for side in marked.shape)
    if 0 in (height, width):
        return 0.0
    blocks = marked[:height, :width].reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK)
    return float(blocks.all(axis=(1, 3)).mean())


def _blank_part(values: Array, near: float) -> float:
    """Return which part of some pixels has their median color, or is near it."""
    rows = values.reshape(len(values), -1).astype(np.float64)
    if not np.isfinite(rows).all():
        rows = np.nan_to_num(rows, posinf=0.0, neginf=0.0)
    return float((np.abs(rows - np.median(rows, axis=0)) <= near).all(axis=1).mean())


def _spread(pixels: Array) -> float:
    known = pixels[np.isfinite(pixels)]
    return float(known.max()) - float(known.min()) if known.size else 0.0
