"""What was painted by hand: a layer of pixels that is pasted last, over whatever is restored."""

from dataclasses import dataclass

import numpy as np

from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Array
from inpaint_app.model.rect import Rect


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
