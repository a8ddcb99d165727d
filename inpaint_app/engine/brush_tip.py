"""The tip of a brush: how much of what it paints is seen, and where."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaint_app.model.missing import Mask
from inpaint_app.model.picture import Array
from inpaint_app.model.rect import Rect

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
