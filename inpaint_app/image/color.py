"""Colors as a user writes them."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import ImageColor

from inpaint_app.errors import UserError
from inpaint_app.image.picture import full_scale

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*)?")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


@dataclass(frozen=True)
class Color:
    """A color to look for."""

    channels: tuple[float, float, float]  #: Red, green, blue.
    #: Whether the channels are values of the picture itself; else they run from 0 to 255 and are meant on the
    #: picture's scale.
    own_values: bool = False

    def in_values_of(self, dtype: npt.DTypeLike) -> tuple[float, float, float]:
        """Return the channels in the values of a picture: 0..255, 0..65535, or 0..1 for float."""
        if self.own_values:
            return self.channels
        scale = full_scale(dtype) / 255.0
        red, green, blue = (float(np.float32(channel * scale)) for channel in self.channels)
        return red, green, blue


def parse_color(text: str) -> Color:
    """Return the color that a text names.

    That is "#ff00ff" or "#f0f", a CSS name such as "magenta", three values of the picture "255,0,255", or one
    value "0" for all channels. Names and # colors are on the scale of 8 bits, whatever the depth of the
    picture; values are its own (up to 65535 in a 16-bit picture).
    """
    if _NUMBERS.fullmatch(text):
        values = [float(part) for part in text.split(",")]
        red, green, blue = values if len(values) == 3 else values * 3
        return Color((red, green, blue), own_values=True)
    name = text.strip().lower()
    if _HEX.fullmatch(name) or name in ImageColor.colormap:
        channels = ImageColor.getrgb(name)
        return Color((channels[0], channels[1], channels[2]))
    raise UserError(f"{text[:40]!r} is not a color", "write #ff00ff, 255,0,255 or a name such as magenta")
