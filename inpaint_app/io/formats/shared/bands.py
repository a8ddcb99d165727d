"""Pictures in bands of rows: what decoding needs on the way stays small, whatever the size of the picture.

NumPy takes a whole Pillow image in three copies (the image, its bytes in pieces, the pieces joined), and a
file of one megabyte can describe 200 million pixels. So the copies are made of a few rows at a time.
"""

from collections.abc import Iterator

import numpy as np
from PIL import Image

from inpaint_app.model.picture import Array

#: Size of a band, about; at least one row.
BAND_BYTES = 4 * 1024**2


def row_bands(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Yield ranges of rows, each of about `BAND_BYTES`."""
    step = max(1, BAND_BYTES // max(row_bytes, 1))
    for top in range(0, n_rows, step):
        yield slice(top, min(top + step, n_rows))


def image_bands(image: Image.Image, mode: str | None = None) -> Iterator[tuple[slice, Array]]:
    """Yield rows of an image and their samples, (rows, W) or (rows, W, channels), perhaps in another mode."""
    width, height = image.size
    for rows in row_bands(height, 4 * width):
        band = image.crop((0, rows.start, width, rows.stop))
        yield rows, np.asarray(band if mode in (None, band.mode) else band.convert(mode))


def image_array(image: Image.Image) -> Array:
    """Return the samples of an image, (H, W) or (H, W, channels)."""
    whole: Array | None = None
    for rows, band in image_bands(image):
        if whole is None:
            whole = np.empty((image.height, *band.shape[1:]), band.dtype)
        whole[rows] = band
    assert whole is not None, "an image has rows"
    return whole


def pixels_and_alpha(image: Image.Image, mode: str) -> tuple[Array, Array | None]:
    """Return the pixels of an image after conversion to "L", "LA", "RGB" or "RGBA", and its alpha if any."""
    shape, n_bands = (image.height, image.width), {"L": 1, "LA": 1, "RGB": 3, "RGBA": 3}[mode]
    pixels = np.empty(shape if n_bands == 1 else (*shape, n_bands), np.uint8)
    alpha = np.empty(shape, np.uint8) if mode.endswith("A") else None
    for rows, band in image_bands(image, mode):
        if alpha is None:
            pixels[rows] = band
        else:
            pixels[rows], alpha[rows] = band[..., 0] if n_bands == 1 else band[..., :3], band[..., -1]
    return pixels, alpha
