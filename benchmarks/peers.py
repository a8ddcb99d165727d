"""Other restorations of missing pixels: each takes picture and mask and returns a picture."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from benchmarks.pictures import Image, Mask


def hidden(image: Image, mask: Mask) -> Image:
    """Return a picture, gray or color, with its missing pixels black."""
    return np.where(mask if image.ndim == 2 else mask[:, :, None], 0, image).astype(np.uint8)


def biharmonic(image: Image, mask: Mask) -> NDArray[Any]:
    """Return a picture restored by scikit-image."""
    values = hidden(image, mask) / 255.0
    options = {"channel_axis": None if image.ndim == 2 else 2}
    try:
        result = inpaint_biharmonic(values, mask, **options)
    except ValueError:  # scikit-image 0.26 fails at times
        result = inpaint_biharmonic(values, mask, split_into_regions=True, **options)
    return np.asarray(255 * result).clip(0, 255).round()


def xphoto(image: Image, mask: Mask, *, kind: str) -> NDArray[Any]:
    """Return a picture restored by OpenCV's xphoto: "FSR_FAST", "FSR_BEST" or "SHIFTMAP"."""
    import cv2

    known = np.where(mask, 0, 255).astype(np.uint8)  # 255 = observed
    result = np.zeros_like(image)
    cv2.xphoto.inpaint(hidden(image, mask), known, result, getattr(cv2.xphoto, f"INPAINT_{kind}"))
    return result
