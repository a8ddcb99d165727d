"""A picture of which some pixels are restored, and rectangles of it that are put in and taken back."""

from dataclasses import dataclass, replace

import numpy as np

from dictsel_core import Restoration
from inpaint_app.engine.brush_tip import blended
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Array
from inpaint_app.model.rect import Rect


@dataclass(frozen=True, eq=False)
class HealedPicture:
    """A picture of which some missing pixels are restored."""

    image: Array  #: All its pixels.
    filled: PackedMask  #: The restored ones.
    #: The last restoration of the whole picture, or of the first stroke; None before that.
    restoration: Restoration | None = None
    #: Pixels, (H, W), that were painted as no restoration would: strokes beside them leave them alone.
    touched: PackedMask | None = None


@dataclass(frozen=True, eq=False)
class HealedRect:
    """Pixels of a rectangle, and which of them are restored, and which touched."""

    rect: Rect
    pixels: Array
    filled: Mask
    touched: Mask  #: (H, W)


def faded(before: HealedRect, full: HealedRect, fades: Mask, strength: float) -> HealedRect:
    """Return a healed rectangle of which some pixels have another opacity, 0 to 1."""
    if strength >= 1:
        return full
    weights = np.where(fades, np.float32(strength), np.float32(1))
    pixels = blended(before.pixels, full.pixels, weights)
    return replace(full, pixels=pixels, touched=full.touched | fades)


def rect_of(picture: HealedPicture, rect: Rect) -> HealedRect:
    """Return the pixels of a rectangle."""
    touched = picture.touched
    is_touched = (
        np.zeros((rect.height, rect.width), np.bool_) if touched is None else touched.unpack()[rect.slices]
    )
    filled = picture.filled.unpack()[rect.slices].copy()
    return HealedRect(rect, picture.image[rect.slices].copy(), filled, is_touched)


def put_rect(picture: HealedPicture, healed: HealedRect) -> HealedPicture:
    """Return the picture with other pixels in a rectangle."""
    place = healed.rect.slices
    image, filled = picture.image.copy(), picture.filled.unpack()
    image[place], filled[place] = healed.pixels, healed.filled
    touched = picture.touched
    if touched is not None or healed.touched.any():
        pixels = np.zeros(image.shape[:2], np.bool_) if touched is None else touched.unpack()
        pixels[place] = healed.touched
        touched = PackedMask.pack(pixels) if pixels.any() else None
    return HealedPicture(image, PackedMask.pack(filled, picture.filled.origin), picture.restoration, touched)


def hand_painted(picture: HealedPicture, old: HealedRect, new: HealedRect) -> HealedRect:
    """Return a rectangle of a picture in which what was painted by hand is new, and all else as it is.

    `old` and `new` are the same rectangle before and after a stroke of an earlier result.
    """
    now, where = rect_of(picture, new.rect), old.touched | new.touched
    each = where if now.pixels.ndim == 2 else where[..., None]
    filled = np.where(where if now.filled.ndim == 2 else where[..., None], new.filled, now.filled)
    touched = np.where(where, new.touched, now.touched)
    return HealedRect(new.rect, np.where(each, new.pixels, now.pixels), filled, touched)
