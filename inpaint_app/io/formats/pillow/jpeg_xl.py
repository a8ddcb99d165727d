"""JPEG XL by pillow-jxl-plugin."""

import re
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import USUAL_METADATA, Format, PlugIn, check_packed_size
from inpaint_app.io.formats.pillow.codec import (
    load_pixels,
    open_image,
    picture_of_image,
    save_by_pillow,
    to_image,
)
from inpaint_app.io.formats.pillow.jpeg2000 import read_boxes
from inpaint_app.io.formats.shared.pixels import image_array
from inpaint_app.model.picture import MetadataKind, Picture

_BARE, _WHOLE, _PART = b"\xff\x0a", b"jxlc", b"jxlp"
_HEADER_BYTES = 4096
#: Kinds of channels beyond the colors.
_ALPHA, _SPOT_COLOR, _COLOR_FILTER = 0, 2, 5
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))


def decode_jpeg_xl(data: bytes) -> Picture:
    """Return the picture in a JPEG XL file."""
    from pillow_jxl.JpegXLImagePlugin import JXLImageFile  # noqa: PLC0415  (a plug-in)

    header = _Bits(_header_bytes(data))
    check_packed_size(*_read_size(header), len(data))  # the plug-in unpacks when it opens
    image = open_image(JXLImageFile, data)
    notices: tuple[str, ...] = ()
    if image.mode == "I;16":
        pixels, alpha = image_array(image).astype(np.uint16, copy=False), None
        notices = ("The picture has 16 bits per channel.",)
    elif image.mode in ("L", "LA", "RGB", "RGBA"):
        pixels, alpha = load_pixels(image)
    else:
        raise UnsupportedError(
            f"its pixels ({image.mode}) are not read by pillow-jxl-plugin", "convert it to PNG or TIFF first"
        )
    picture = picture_of_image(image, "JPEG XL", pixels, alpha).with_notices(*notices)
    return picture.with_metadata(is_lossless=_is_lossless(header))


def _header_bytes(data: bytes) -> bytes:
    """Return the first bytes of the coded picture, which may lie in several boxes."""
    coded = data if data.startswith(_BARE) else _join_parts(data)
    if not coded.startswith(_BARE):
        raise DamagedError("its header is wrong")
    return coded[2 : 2 + _HEADER_BYTES]


def _join_parts(data: bytes) -> bytes:
    """Return the beginning of the coded picture in a file of boxes."""
    coded = b""
    for name, start, end in read_boxes(data):
        if name in (_WHOLE, _PART) and len(coded) <= _HEADER_BYTES:
            first = start + 4 if name == _PART else start  # parts begin with their number
            coded += data[first : min(end, first + _HEADER_BYTES + 2)]
    return coded


def _read_size(header: "_Bits") -> tuple[int, int]:
    """Return width and height, with which the header begins."""
    is_small = bool(header.take(1))
    height = header.take_side(is_small=is_small)
    ratio = header.take(3)
    if ratio:
        across, down = _RATIOS[ratio - 1]
        return height * across // down, height
    return header.take_side(is_small=is_small), height


def _is_lossless(header: "_Bits") -> bool:
    """Return whether what follows the size says that the pixels are stored without loss.

    They are if their colors are their own, not those of the space XYB. False also for the rare headers that
    hold a preview, an animation or another size to show.
    """
    if header.take(1):  # all of it is as usual
        return False
    if header.take(1):
        header.take(3)  # orientation
        if header.take(3):
            return False
    _skip_depth(header)
    header.take(1)  # whether 16 bits suffice to unpack it
    for _ in range(header.choose((0, 0), (1, 0), (2, 4), (1, 12))):
        _skip_extra_channel(header)
    return not header.take(1)


def _skip_depth(header: "_Bits") -> None:
    if header.take(1):  # floats
        header.choose((32, 0), (16, 0), (24, 0), (1, 6))
        header.take(4)
    else:
        header.choose((8, 0), (10, 0), (12, 0), (1, 6))


def _skip_extra_channel(header: "_Bits") -> None:
    """Skip what is said about alpha, or about another channel beyond the colors."""
    if header.take(1):  # alpha, as usual
        return
    kind = header.choose((0, 0), (1, 0), (2, 4), (18, 6))
    _skip_depth(header)
    header.choose((0, 0), (3, 0), (4, 0), (1, 3))  # how much smaller it is
    header.take(8 * header.choose((0, 0), (0, 4), (16, 5), (48, 10)))  # its name
    if kind == _ALPHA:
        header.take(1)
    elif kind == _SPOT_COLOR:
        header.take(4 * 16)
    elif kind == _COLOR_FILTER:
        header.choose((1, 0), (0, 2), (3, 4), (19, 8))


class _Bits:
    """Numbers of a few bits, one after the other, low bits first."""

    def __init__(self, data: bytes) -> None:
        self._bits = int.from_bytes(data, "little")

    def take(self, n_bits: int) -> int:
        """Return the next number."""
        number, self._bits = self._bits & (1 << n_bits) - 1, self._bits >> n_bits
        return number

    def choose(self, *numbers: tuple[int, int]) -> int:
        """Return one of four numbers: what it begins at, plus as many bits as it has."""
        first, n_bits = numbers[self.take(2)]
        return first + self.take(n_bits)

    def take_side(self, *, is_small: bool) -> int:
        """Return a width or height: a multiple of 8 where small, else one of four lengths of number."""
        return 8 * (1 + self.take(5)) if is_small else 1 + self.take((9, 13, 18, 30)[self.take(2)])


def encode_jpeg_xl(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write a picture as JPEG XL; it is lossless at quality 100."""
    import pillow_jxl  # noqa: F401, PLC0415  (registers itself)

    options: dict[str, Any] = {"lossless": True} if quality == 100 else {"quality": quality}
    if picture.metadata.exif is not None:
        options["exif"] = picture.metadata.exif
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
