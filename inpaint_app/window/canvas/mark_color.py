"""A color for marks that stands out from a picture."""

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage

from inpaint_app.window.canvas.image_pyramid import as_uint32
from inpaint_app.window.theme.colors import MARKS

_Values = npt.NDArray[np.float32]
#: Hues that are nearer than so many degrees are alike, where both are at least so strong;
_ALIKE, _STRONG = 45.0, 45.0
#: colors that are weaker are alike if both are bright.
_BRIGHT = 90.0
#: Part of a picture that may be like its marks.
_MOST_ALIKE = 0.05
#: How half the brightness, blue against yellow, and red against green are made of red, green and blue.
_TO_OPPONENT = np.array([[0.15, 0.29, 0.06], [-0.17, -0.33, 0.5], [0.5, -0.42, -0.08]], np.float32).T


def mark_color(image: QImage) -> str:
    """Return the first color for marks that hardly any of a picture is like, or else the most unlike one.

    May be called in any thread.

    Parameters
    ----------
    image : QImage
        The picture, reduced.
    """
    pixels = _opponent(as_uint32(image).reshape(-1))
    alike = {}
    for color in MARKS.values():
        alike[color] = _part_alike(pixels, _opponent(np.array([QColor(color).rgba()], np.uint32))[0])
        if alike[color] <= _MOST_ALIKE:
            return color
    return min(alike, key=lambda color: alike[color])


def _part_alike(pixels: _Values, color: _Values) -> float:
    strength, hue = np.hypot(*pixels[:, 1:].T), np.arctan2(pixels[:, 2], pixels[:, 1])
    if np.hypot(*color[1:]) < _STRONG:
        return float(np.mean((strength < _STRONG) & (pixels[:, 0] > _BRIGHT)))
    angle = np.abs(np.angle(np.exp(1j * (hue - np.arctan2(color[2], color[1]))), deg=True))
    return float(np.mean((strength >= _STRONG) & (angle < _ALIKE)))


def _opponent(words: npt.NDArray[np.uint32]) -> _Values:
    channels = np.stack([(words >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.float32)
    return np.asarray(channels @ _TO_OPPONENT, np.float32)
