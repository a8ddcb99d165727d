"""Arrays of pixels as images that Qt can draw."""

from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

from inpaint_app.io.formats.shared.pixels import stretch
from inpaint_app.model.look import Look, color_table
from inpaint_app.model.picture import Array, full_scale
from inpaint_app.window.canvas.screen_color import screen_converter

Bytes = npt.NDArray[np.uint8]
_Words = npt.NDArray[np.uint32]
Range = tuple[float, float]

#: Shade of values that are not finite.
NOT_A_NUMBER = 128

#: Rows that are converted at a time: Qt converts colors while other Python threads wait.
_BAND = 64
_SMALLEST = 256
#: Pixels from which on a picture is kept as it is: in 32 bits, one of 24 megapixels would be 96 MB.
_LARGE = 4 << 20
_CHECK = 8
_CHECKS = (153, 102)


def display_values(pixels: Array, value_range: Range | None = None) -> Bytes:
    """Return 8-bit values of a picture, for the screen.

    Parameters
    ----------
    pixels : ndarray, (H, W) or (H, W, 3), uint8, uint16 or float
        Gray or RGB values.
    value_range : (float, float), optional
        Values of black and white. Without it, those of the dtype.

    Returns
    -------
    ndarray of uint8, shape of `pixels`
        Values beyond the range are clipped; those that are not finite become mid-gray.
    """
    if value_range is None and pixels.dtype.kind == "u":
        return stretch(pixels, int(full_scale(pixels.dtype)), bits=8)
    black, white = value_range or (0.0, full_scale(pixels.dtype))
    scale = 255.0 / (white - black) if white > black else 0.0
    values = (pixels.astype(np.float32) - np.float32(black)) * np.float32(scale)
    values = np.where(np.isfinite(values), values, np.float32(NOT_A_NUMBER))
    shown: Bytes = np.rint(np.clip(values, 0, 255)).astype(np.uint8)
    return shown


def display_range(pixels: Array) -> Range | None:
    """Return the values of black and white for a float picture; None for others."""
    if pixels.dtype.kind != "f":
        return None
    finite = pixels[np.isfinite(pixels)]
    if not finite.size:
        return None
    return min(0.0, float(finite.min())), max(1.0, float(finite.max()))


class Drawing(TypedDict, total=False):
    """How pixels are drawn, besides their range of values."""

    #: Opacity, (H, W): partly transparent pixels are on a checkerboard, transparent ones in their own color.
    alpha: Array | None
    #: The color profile of the pixels; sRGB if none is given,
    icc: bytes | None
    #: and that of what shows them.
    screen: bytes | None
    #: Another range of values, colors for one band, or one channel alone.
    look: Look | None


def to_image(pixels: Array, value_range: Range | None = None, **drawn: Unpack[Drawing]) -> QImage:
    """Return a picture, given as to `display_values`, as a 32-bit QImage of its own memory."""
    return to_32_bits(_view(_shown(pixels, value_range, drawn)))


def to_32_bits(image: QImage) -> QImage:
    """Return an image as it is drawn fastest."""
    return image.convertToFormat(QImage.Format.Format_RGB32)


def _view(values: Bytes) -> QImage:
    """Return 8-bit gray or RGB values, in order, as an image to be used only while they are held."""
    height, width = values.shape[:2]
    kind = QImage.Format.Format_RGB888 if values.ndim == 3 else QImage.Format.Format_Grayscale8
    return QImage(values.data, width, height, values.strides[0], kind)


def _shown(pixels: Array, value_range: Range | None, drawn: Drawing) -> Bytes:
    """Return 8-bit gray or RGB values for the screen: the pixels themselves where they are that.

    They are made band by band, so that other threads run meanwhile.
    """
    look, alpha = drawn.get("look") or Look(), drawn.get("alpha")
    if look.channel is not None and pixels.ndim == 3:
        pixels = pixels[..., look.channel]
    value_range = value_range if look.limits is None else look.limits
    table = None if look.color_map == "gray" or pixels.ndim == 3 else color_table(look.color_map)
    convert = screen_converter(drawn.get("icc"), drawn.get("screen"), is_color=pixels.ndim == 3)
    made: Bytes | None = None
    for top in range(0, len(pixels), _BAND):
        band = slice(top, top + _BAND)
        values = display_values(pixels[band], value_range)
        values = convert(values) if table is None else table[values]
        if alpha is not None:
            values = _on_checkerboard(values, alpha[band], top)
        if made is None and not np.may_share_memory(values, pixels):
            made = np.empty((len(pixels), *values.shape[1:]), np.uint8)
            if top:  # only alpha differs from band to band
                made[:top] = pixels[:top]
        if made is not None:
            made[band] = values
    return np.ascontiguousarray(pixels if made is None else made)


def _on_checkerboard(values: Bytes, alpha: Array, top: int) -> Bytes:
    """Return a band of rows from `top` on, drawn on a checkerboard where they are translucent."""
    opacity = alpha / np.float32(full_scale(alpha.dtype))
    soft = (opacity > 0) & (opacity < 1)
    if not soft.any():
        return values
    rows, columns = np.ogrid[top : top + len(alpha), : alpha.shape[1]]
    is_light = (rows // _CHECK + columns // _CHECK) % 2 == 0
    ground = np.where(is_light, np.float32(_CHECKS[0]), np.float32(_CHECKS[1]))
    shape = (..., None) if values.ndim == 3 else ...
    mixed = values * opacity[shape] + ground[shape] * (1 - opacity[shape])
    shown: Bytes = np.where(soft[shape], np.rint(mixed).astype(np.uint8), values)
    return shown


def as_uint32(image: QImage) -> _Words:
    """Return the memory of a 32-bit image as an array (H, W), to be used only while the image is held."""
    array = np.frombuffer(image.bits(), np.uint32)
    return array.reshape(image.height(), image.bytesPerLine() // 4)


@dataclass(frozen=True, eq=False)
class ImagePyramid:
    """An image and its copies of half, a quarter ... of the size.

    Drawing a large picture reduced takes its pixels from a small copy. QImages are shared, and may be
    made in any thread.
    """

    #: The image itself first. Odd sizes are rounded up, so level n has ceil(W / 2^n) columns.
    images: tuple[QImage, ...]
    #: What the first image is a view of, if it is too large to be kept in 32 bits.
    viewed: Bytes | None = None

    @property
    def width(self) -> int:
        """Columns of the full image."""
        return self.images[0].width()

    @property
    def height(self) -> int:
        """Rows of the full image."""
        return self.images[0].height()

    def best(self, zoom: float) -> int:
        """Return the smallest level with a pixel for every screen pixel, at `zoom` of these per pixel."""
        level = 0
        while level + 1 < len(self.images) and zoom * 2 ** (level + 1) <= 1:
            level += 1
        return level


def build_pyramid(pixels: Array, value_range: Range | None = None, **drawn: Unpack[Drawing]) -> ImagePyramid:
    """Return a picture ready to be drawn, given as to `to_image`; may be called in any thread.

    Of a large one, the pixels must not change from now on.
    """
    shown = _shown(pixels, value_range, drawn)
    is_large = shown.shape[0] * shown.shape[1] >= _LARGE
    images, smaller = [_view(shown) if is_large else to_32_bits(_view(shown))], shown
    while max(smaller.shape[:2]) > _SMALLEST:
        smaller = _halved(smaller)
        images.append(to_32_bits(_view(smaller)))
    return ImagePyramid(tuple(images), shown if is_large else None)


def _halved(values: Bytes) -> Bytes:
    """Return means of 2 x 2 pixels; the last row and column of odd sizes count twice."""
    height, width = values.shape[:2]
    half = np.empty((-(-height // 2), -(-width // 2), *values.shape[2:]), np.uint8)
    for top in range(0, height, 2 * _BAND):
        band = values[top : top + 2 * _BAND]
        odd = [(0, side % 2) for side in band.shape[:2]] + [(0, 0)] * (values.ndim - 2)
        band = np.pad(band, odd, mode="edge") if height % 2 or width % 2 else band
        # Rounding down once and up once keeps the brightness.
        rows = (band[0::2].astype(np.uint16) + band[1::2]) >> 1
        half[top // 2 : top // 2 + _BAND] = (rows[:, 0::2] + rows[:, 1::2] + 1) >> 1
    return half
