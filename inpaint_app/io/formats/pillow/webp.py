"""WebP: read and write."""

import re
import struct

from PIL.WebPImagePlugin import WebPImageFile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import USUAL_METADATA, Format, check_packed_size
from inpaint_app.io.formats.pillow.codec import OTHER_FRAMES, load_pixels, lossy_encoder, open_image
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture

_LOSSLESS = b"VP8L"
_FRAME_HEADER_BYTES = 16


def decode_webp(data: bytes) -> Picture:
    """Return the picture in a WebP file, or the first frame of an animation."""
    chunks = _read_chunks(data)
    size = _read_size(data)
    check_packed_size(*size, len(data))  # the decoder allocates when it is made
    if b"ANMF" in chunks and _frame_size(chunks[b"ANMF"]) != size:  # else a few bytes could ask for any size
        raise UnsupportedError(
            "its first frame does not fill the animation", "export that frame as PNG first"
        )
    image = open_image(WebPImageFile, data)
    pixels, alpha = load_pixels(image)
    is_animation = getattr(image, "n_frames", 1) > 1
    return Picture(
        pixels,
        alpha,
        Metadata(
            exif=chunks.get(b"EXIF"),
            icc=chunks.get(b"ICCP"),
            source_format="WebP",
            is_lossless=_is_lossless(chunks),
            lost=(OTHER_FRAMES.name,) if is_animation else (),
            blocks=(MetadataBlock(MetadataKind.XMP, chunks[b"XMP "]),) if b"XMP " in chunks else (),
        ),
        notices=(OTHER_FRAMES.notice,) if is_animation else (),
    )


def _read_chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the parts that are needed; refuse a file that is shorter than it says."""
    end = struct.unpack_from("<I", data, 4)[0] + 8 if len(data) >= 30 else len(data) + 1
    if end > len(data):
        raise DamagedError("it is truncated")
    chunks: dict[bytes, bytes] = {}
    position = 12
    while position + 8 <= end:
        name, length = struct.unpack_from("<4sI", data, position)
        if position + 8 + length > end:
            raise DamagedError("it is truncated")
        if name in (b"EXIF", b"ICCP", b"XMP ", b"ANMF", _LOSSLESS) and name not in chunks:
            chunks[name] = data[position + 8 : position + 8 + length]
        position += 8 + length + length % 2
    return chunks


def _read_size(data: bytes) -> tuple[int, int]:
    """Return width and height from the first chunk."""
    name = data[12:16]
    if name == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if name == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if name == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise DamagedError("its header is wrong")


def _is_lossless(chunks: dict[bytes, bytes]) -> bool:
    """Return whether the pixels, those of the first frame in an animation, are stored without loss."""
    return _LOSSLESS in chunks or chunks.get(b"ANMF", b"").startswith(_LOSSLESS, _FRAME_HEADER_BYTES)


def _frame_size(frame: bytes) -> tuple[int, int]:
    """Return width and height of a frame of an animation."""
    return 1 + int.from_bytes(frame[6:9], "little"), 1 + int.from_bytes(frame[9:12], "little")


FORMAT = Format(
    name="WebP",
    suffixes=(".webp",),
    mime_types=("image/webp",),
    signature=re.compile(rb"RIFF....WEBP", re.DOTALL),
    decode=decode_webp,
    encode=lossy_encoder("WEBP", lambda quality: {"lossless": quality == 100, "exact": True}),
    metadata=USUAL_METADATA - {MetadataKind.RESOLUTION} | {MetadataKind.XMP},
    is_lossy=True,
    is_lossless_at_100=True,
    max_side=16_383,
)
