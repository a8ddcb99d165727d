"""A color for marks that stands out from a picture."""

import numpy as np
from PySide6.QtGui import QColor, QImage

from inpaint_app.window.canvas.image_pyramid import as_uint32
from inpaint_app.window.theme.looks import MARKS

#: Part of the pixels, the most similar ones, by which a color is judged,
_MOST_SIMILAR = 0.05
#: and how far from these it is to be: half a turn of the hue of a saturated color is about 250.
_FAR_ENOUGH = 90.0
#: How brightness and the two differences of colors are made of red, green and blue; brightness counts half.
_TO_OPPONENT = np.array([[0.15, 0.29, 0.06], [-0.17, -0.33, 0.5], [0.5, -0.42, -0.08]], np.float32).T


def mark_color(image: QImage) -> str:
    """Return the first of the colors for marks that no part of a picture comes near, or the one farthest off.

    May be called in any thread.

    Parameters
    ----------
    image : QImage
        The picture, reduced.
    """
    pixels = _opponent(as_uint32(image).reshape(-1))
    nearness = {}
    for color in MARKS.values():
        wanted = _opponent(np.array([QColor(color).rgba()], np.uint32))
        distances = np.sqrt(((pixels - wanted) ** 2).sum(axis=1))
        nearness[color] = float(np.quantile(distances, _MOST_SIMILAR))
        if nearness[color] >= _FAR_ENOUGH:
            return color
    return max(nearness, key=lambda color: nearness[color])


def _opponent(words: np.ndarray) -> np.ndarray:
    """Return colors as brightness, blue against yellow, and red against green."""
    channels = np.stack([(words >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.float32)
    return channels @ _TO_OPPONENT
