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
Range = tuple[float, float]

#: Shade of values that are not finite.
NOT_A_NUMBER = 128

#: Rows that are converted at a time: Qt converts colors while other Python threads wait.
_BAND = 64
_SMALLEST = 256
_OPAQUE = 255
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
    """Return a picture, given as to `display_values`, as a QImage of its own memory.

    It is filled band by band, so that other threads run meanwhile.
    """
    look, alpha = drawn.get("look") or Look(), drawn.get("alpha")
    if look.channel is not None and pixels.ndim == 3:
        pixels = pixels[..., look.channel]
    value_range = value_range if look.limits is None else look.limits
    table = None if look.color_map == "gray" or pixels.ndim == 3 else color_table(look.color_map)
    height, width = pixels.shape[:2]
    image = QImage(width, height, QImage.Format.Format_RGB32)
    target = as_uint32(image).view(np.uint8).reshape(height, width, 4)
    blue_green_red = [0, 1, 2] if np.little_endian else [3, 2, 1]
    convert = screen_converter(drawn.get("icc"), drawn.get("screen"), is_color=pixels.ndim == 3)
    for top in range(0, height, _BAND):
        band = slice(top, top + _BAND)
        shown = display_values(pixels[band], value_range)
        values = convert(shown) if table is None else table[shown]
        if alpha is not None:
            values = _on_checkerboard(values, alpha[band], top)
        for place, channel in zip(blue_green_red, (2, 1, 0), strict=True):
            target[band, :, place] = values[..., channel] if values.ndim == 3 else values
        target[band, :, 3 if np.little_endian else 0] = _OPAQUE
    return image


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


def as_uint32(image: QImage) -> npt.NDArray[np.uint32]:
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
    """Return a picture ready to be drawn, given as to `to_image`; may be called in any thread."""
    images = [to_image(pixels, value_range, **drawn)]
    while max(images[-1].width(), images[-1].height()) > _SMALLEST:
        images.append(_halved(images[-1]))
    return ImagePyramid(tuple(images))


def _halved(image: QImage) -> QImage:
    source = as_uint32(image)
    half = QImage(-(-image.width() // 2), -(-image.height() // 2), QImage.Format.Format_RGB32)
    target = as_uint32(half)
    for top in range(0, half.height(), _BAND):
        rows = source[2 * top : 2 * (top + _BAND)]
        upper, lower = rows[0::2], rows[1::2]
        if len(lower) < len(upper):
            lower = np.concatenate((lower, upper[-1:]))
        rows = _mean_down(upper, lower)
        left, right = rows[:, 0::2], rows[:, 1::2]
        target[top : top + _BAND, : right.shape[1]] = _mean_up(left[:, : right.shape[1]], right)
        target[top : top + _BAND, right.shape[1] :] = left[:, right.shape[1] :]
    return half


# The four bytes of a pixel are averaged at once; rounding down once and up once keeps the brightness.
_HIGH_BITS = np.uint32(0xFEFEFEFE)
_ONE = np.uint32(1)
_Words = npt.NDArray[np.uint32]


def _mean_down(a: _Words, b: _Words) -> _Words:
    return (a & b) + (((a ^ b) & _HIGH_BITS) >> _ONE)


def _mean_up(a: _Words, b: _Words) -> _Words:
    return (a | b) - (((a ^ b) & _HIGH_BITS) >> _ONE)
