"""JPEG XL by pillow-jxl-plugin."""

import re
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.format import USUAL_METADATA, Format, PlugIn
from inpaint_app.files.formats.pillow.reader import load_pixels, open_image, picture_of_image
from inpaint_app.files.formats.pillow.writer import save_by_pillow, to_image
from inpaint_app.files.formats.shared.bands import image_array
from inpaint_app.files.limits import check_size
from inpaint_app.image.metadata import MetadataKind
from inpaint_app.image.picture import Picture

_BARE = b"\xff\x0a"
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))


def decode_jpeg_xl(data: bytes) -> Picture:
    """Return the picture in a JPEG XL file."""
    from pillow_jxl.JpegXLImagePlugin import JXLImageFile  # noqa: PLC0415  (a plug-in)

    check_size(*_read_size(data))  # the plug-in unpacks when it opens
    image = open_image(JXLImageFile, data)
    notices: tuple[str, ...] = ()
    if image.mode == "I;16":
        pixels, alpha = image_array(image).astype(np.uint16, copy=False), None
        notices = ("16 bits per channel are kept.",)
    elif image.mode in ("L", "LA", "RGB", "RGBA"):
        pixels, alpha = load_pixels(image)
    else:
        raise UnsupportedError(
            f"its pixels ({image.mode}) are not read by pillow-jxl-plugin", "convert it to PNG or TIFF first"
        )
    return picture_of_image(image, "JPEG XL", pixels, alpha).with_notices(*notices)


def _read_size(data: bytes) -> tuple[int, int]:
    """Return width and height from the first bits of the coded picture."""
    start = 0 if data.startswith(_BARE) else data.find(_BARE, 12, 4096)
    if start < 0:
        raise DamagedError("its header is wrong")
    header = _Bits(data[start + 2 : start + 16])
    is_small = bool(header.take(1))
    height = header.take_side(is_small=is_small)
    ratio = header.take(3)
    if ratio:
        across, down = _RATIOS[ratio - 1]
        return height * across // down, height
    return header.take_side(is_small=is_small), height


class _Bits:
    """Numbers of a few bits, one after the other, low bits first."""

    def __init__(self, data: bytes) -> None:
        self._bits = int.from_bytes(data, "little")

    def take(self, n_bits: int) -> int:
        """Return the next number."""
        number, self._bits = self._bits & (1 << n_bits) - 1, self._bits >> n_bits
        return number

    def take_side(self, *, is_small: bool) -> int:
        """Return a width or height: a multiple of 8 where small, else one of four lengths of number."""
        return 8 * (1 + self.take(5)) if is_small else 1 + self.take((9, 13, 18, 30)[self.take(2)])


def encode_jpeg_xl(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write a picture as JPEG XL; it is lossless at quality 100."""
    import pillow_jxl  # noqa: F401, PLC0415  (registers itself)

    options: dict[str, Any] = {"lossless": True} if quality == 100 else {"quality": quality}
    if picture.exif is not None:
        options["exif"] = picture.exif
    save_by_pillow(to_image(picture), "JXL", picture, file, options)


FORMAT = Format(
    name="JPEG XL",
    suffixes=(".jxl",),
    mime_types=("image/jxl",),
    signature=re.compile(rb"\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n"),
    decode=decode_jpeg_xl,
    encode=encode_jpeg_xl,
    gray_depths=(16,),
    metadata=USUAL_METADATA - {MetadataKind.RESOLUTION},
    is_lossy=True,
    is_lossless_at_100=True,
    plug_in=PlugIn("pillow_jxl", "pillow-jxl-plugin"),
)
