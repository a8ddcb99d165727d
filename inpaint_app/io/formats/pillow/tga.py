"""TGA (Targa): read and write."""

import re
from typing import BinaryIO

from PIL.TgaImagePlugin import TgaImageFile

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import Format
from inpaint_app.io.formats.pillow.codec import load_pixels, open_image, save_by_pillow, to_image
from inpaint_app.model.metadata import Metadata
from inpaint_app.model.picture import Picture

_TARGETS = {"1": "L", "L": "L", "LA": "LA", "P": "RGB", "RGB": "RGB", "RGBA": "RGBA"}


def decode_tga(data: bytes) -> Picture:
    """Return the picture in a TGA file."""
    image = open_image(TgaImageFile, data)
    if image.mode not in _TARGETS:
        raise DamagedError("its header is wrong")
    target = _TARGETS[image.mode]
    if not data[17] & 15:  # a fourth channel of which no bit is said to be alpha is filling
        target = target.removesuffix("A")
    pixels, alpha = load_pixels(image, target)
    notices = {
        "P": ("The palette was converted to RGB.",),
        "1": ("The 1-bit picture was read as 8-bit gray.",),
    }
    return Picture(pixels, alpha, Metadata(source_format="TGA"), notices=notices.get(image.mode, ()))


def encode_tga(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write an 8-bit picture as TGA, with run-length compression."""
    save_by_pillow(to_image(picture), "TGA", picture, file, {"compression": "tga_rle"})


# Files of this format have no signature: their first byte is the length of a text, then follow whether there
# is a palette, the kind of picture, and what is zero without a palette. So it is the last format to be tried.
FORMAT = Format(
    name="TGA",
    suffixes=(".tga",),
    mime_types=("image/x-tga",),
    signature=re.compile(
        rb".(?:\x00[\x02\x03\x0a\x0b]\x00{5}|\x01[\x01\x09].{4}[\x0f\x10\x18\x20]).{8}"
        rb"[\x01\x08\x0f\x10\x18\x20][\x00-\x3f]",
        re.DOTALL,
    ),
    decode=decode_tga,
    encode=encode_tga,
    metadata=frozenset(),
    max_side=65_535,
)
