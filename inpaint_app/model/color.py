"""Colors as a user writes them."""

import re

import numpy as np
import numpy.typing as npt
from PIL import ImageColor

from inpaint_app.errors import UserError
from inpaint_app.model.picture import full_scale

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*)?")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def parse_color(text: str, dtype: npt.DTypeLike) -> tuple[float, float, float]:
    """Return red, green and blue of the color that a text names, in the values of a picture of this dtype.

    That is "#ff00ff" or "#f0f", a CSS name such as "magenta", three values of the picture "255,0,255", or one
    value "0" for all channels. Names and # colors are on the scale of 8 bits, whatever the depth of the
    picture; values are its own (up to 65535 in a 16-bit picture).
    """
    if _NUMBERS.fullmatch(text):
        values = [float(part) for part in text.split(",")]
        red, green, blue = values if len(values) == 3 else values * 3
        return red, green, blue
    name, scale = text.strip().lower(), full_scale(dtype) / 255.0
    if _HEX.fullmatch(name) or name in ImageColor.colormap:
        red, green, blue = (float(np.float32(channel * scale)) for channel in ImageColor.getrgb(name)[:3])
        return red, green, blue
    raise UserError(f"{text[:40]!r} is not a color", "write #ff00ff, 255,0,255 or a name such as magenta")
