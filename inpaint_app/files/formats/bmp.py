"""Read BMP."""

import io
import re

from PIL.BmpImagePlugin import BmpImageFile

from inpaint_app.errors import DamagedError
from inpaint_app.files.format import Format
from inpaint_app.files.formats.shared.bands import pixels_and_alpha
from inpaint_app.files.limits import check_size
from inpaint_app.image.picture import Picture

_TARGETS = {"1": "L", "L": "L", "P": "RGB", "RGB": "RGB", "RGBA": "RGBA"}


def decode_bmp(data: bytes) -> Picture:
    """Return the picture in a BMP file."""
    try:
        image = BmpImageFile(io.BytesIO(data))
        check_size(*image.size)
        target = _TARGETS[image.mode]
        pixels, alpha = pixels_and_alpha(image, target)
    except (OSError, EOFError, SyntaxError, ValueError, KeyError) as error:
        raise DamagedError("it ends too early or its pixels cannot be unpacked") from error
    notices = ("The palette was converted to RGB.",) if image.mode == "P" else ()
    dpi = image.info.get("dpi")
    return Picture(
        pixels, alpha, dpi=dpi if dpi and min(dpi) > 0 else None, source_format="BMP", notices=notices
    )


FORMAT = Format(
    name="BMP",
    suffixes=(".bmp",),
    mime_types=("image/bmp",),
    signature=re.compile(rb"BM"),
    decode=decode_bmp,
)
