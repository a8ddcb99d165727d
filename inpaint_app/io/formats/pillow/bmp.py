"""Read BMP."""

import re

from PIL.BmpImagePlugin import BmpImageFile

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import Format
from inpaint_app.io.formats.pillow.codec import load_pixels, open_image
from inpaint_app.model.metadata import Metadata
from inpaint_app.model.picture import Picture

_TARGETS = {"1": "L", "L": "L", "P": "RGB", "RGB": "RGB", "RGBA": "RGBA"}


def decode_bmp(data: bytes) -> Picture:
    """Return the picture in a BMP file."""
    image = open_image(BmpImageFile, data)
    if image.mode not in _TARGETS:
        raise DamagedError("its header is wrong")
    pixels, alpha = load_pixels(image, _TARGETS[image.mode])
    notices = ("The palette was converted to RGB.",) if image.mode == "P" else ()
    dpi = image.info.get("dpi")
    return Picture(
        pixels,
        alpha,
        Metadata(dpi=dpi if dpi and min(dpi) > 0 else None, source_format="BMP"),
        notices=notices,
    )


FORMAT = Format(
    name="BMP",
    suffixes=(".bmp",),
    mime_types=("image/bmp",),
    signature=re.compile(rb"BM"),
    decode=decode_bmp,
)
