"""What is painted by hand: the tip of a brush, healed pictures, a layer pasted over what is restored."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dictsel_core import Restoration
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array, Mask, Rect


@dataclass(frozen=True, eq=False)
class Retouch:
    """Pixels that were copied, or painted softly or in part, as no restoration would."""

    where: PackedMask  #: Which ones, (H, W).
    image: Array  #: The picture that has them.

    def within(self, missing: Mask) -> "Retouch | None":
        """Return what lies on missing pixels: what is no longer marked is the picture's own again."""
        where = self.where.unpack()
        marked = missing if missing.ndim == 2 else missing.any(axis=2)
        kept = where & marked
        if not kept.any():
            return None
        return self if np.array_equal(kept, where) else Retouch(PackedMask.pack(kept), self.image)

    def pasted(self, image: Array, rect: Rect | None = None) -> Array:
        """Return an image, or that of a rectangle, with these pixels in it, in its own type."""
        rect = Rect(0, 0, *self.where.shape) if rect is None else rect
        where, pasted = self.where.part(rect), np.array(image)
        pasted[where] = self.image[rect.slices][where]
        return pasted


Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class BrushTip:
    """A round brush."""

    diameter: int = 1  #: In pixels.
    hardness: float = 1.0  #: Part of the radius, from the center, that is painted in full, 0 to 1.
    opacity: float = 1.0  #: How much of what is painted is seen, 0 to 1.

    @property
    def is_plain(self) -> bool:
        """Whether what it paints is seen in full wherever it paints."""
        return self.hardness >= 1 and self.opacity >= 1

    def weights(self, covered: Mask, rect: Rect, shape: tuple[int, ...]) -> Weights:
        """Return how much of a stroke is seen, from 0 at its rim to 1, whatever the opacity.

        `covered` are the pixels of a rectangle that it covers, in a picture of that shape; the border of the
        picture is no rim.
        """
        from scipy import ndimage  # noqa: PLC0415  (slow to import)

        width = (1 - self.hardness) * self.diameter / 2
        if width < 1:
            return covered.astype(np.float32)
        rims = (
            (rect.row > 0, rect.row + rect.height < shape[0]),
            (rect.column > 0, rect.column + rect.width < shape[1]),
        )
        inside = np.pad(covered, 1, mode="edge")
        for axis, ends in enumerate(rims):
            for place, is_rim in zip((0, -1), ends, strict=True):
                if is_rim:
                    np.moveaxis(inside, axis, 0)[place] = False
        depth = ndimage.distance_transform_edt(inside)[1:-1, 1:-1] - 0.5
        part = np.clip(depth / width, 0, 1)
        weights: Weights = (part * part * (3 - 2 * part)).astype(np.float32)
        return weights


def blended(below: Array, above: Array, weights: "Weights | float") -> Array:
    """Return pixels of which one part is above, and the rest below, in their own type.

    What lies below pixels that are seen in full need be no number: nothing is known where pixels are missing.
    """
    if isinstance(weights, np.ndarray) and below.ndim == 3:
        weights = weights[..., None]
    with np.errstate(invalid="ignore"):
        mixed = below.astype(np.float64) * (1 - weights) + above.astype(np.float64) * weights
    mixed = np.where(np.less(weights, 1), mixed, above)
    if below.dtype.kind in "iu":
        mixed = np.rint(mixed)
    return mixed.astype(below.dtype)


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
