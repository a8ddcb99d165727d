"""Read PNG at 1 to 16 bits per channel."""

import struct
import zlib
from dataclasses import dataclass, field

from inpaint_app.errors import DamagedError
from inpaint_app.io.formats.pillow.reader import OTHER_FRAMES
from inpaint_app.io.formats.png.pixels import (
    GRAY,
    GRAY_ALPHA,
    PALETTE,
    RGB,
    RGB_ALPHA,
    Header,
    read_pixels,
)
from inpaint_app.io.limits import MAX_OTHER_BYTES, MAX_PROFILE_BYTES, check_size
from inpaint_app.model.metadata import MetadataBlock, MetadataKind
from inpaint_app.model.picture import Picture

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_TEXTS = 10_000

_DEPTHS = {
    GRAY: (1, 2, 4, 8, 16),
    RGB: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GRAY_ALPHA: (8, 16),
    RGB_ALPHA: (8, 16),
}
_TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
_COLORS = frozenset({b"gAMA", b"cHRM", b"sRGB", b"cICP"})
_SRGB = {
    b"gAMA": struct.pack(">I", 45455),
    b"cHRM": struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000),
}
XMP = b"XML:com.adobe.xmp"
# Other chunks are not kept: a file can hold millions of them under different names.
_USED = frozenset({b"IHDR", b"PLTE", b"tRNS", b"acTL", b"eXIf", b"iCCP", b"pHYs"})


@dataclass
class _Chunks:
    """Chunks by name; the image data separately. Ancillary chunks with a wrong checksum are left out."""

    first: dict[bytes, bytes] = field(default_factory=dict)
    image: bytearray = field(default_factory=bytearray)
    n_damaged: int = 0
    blocks: list[MetadataBlock] = field(default_factory=list)
    n_block_bytes: int = 0
    lost: tuple[str, ...] = ()

    def add_other(self, name: bytes, content: bytes) -> None:
        """Take text, XMP or a description of the colors."""
        self.n_block_bytes += len(content)
        packet = _xmp(content) if name == b"iTXt" else None
        if self.n_block_bytes > MAX_OTHER_BYTES or len(self.blocks) > _MAX_TEXTS:
            self.lost = ("more text than any program writes",)
        elif packet is not None:
            self.blocks.append(MetadataBlock(MetadataKind.XMP, packet))
        elif name in _TEXTS:
            self.blocks.append(MetadataBlock(MetadataKind.PNG_TEXT, name + content))
        else:
            is_srgb = name == b"sRGB" or content == _SRGB.get(name)
            kind = MetadataKind.SRGB if is_srgb else MetadataKind.PNG_COLOR
            self.blocks.append(MetadataBlock(kind, name + content))

    @property
    def notices(self) -> list[str]:
        """What was left out, in words."""
        if self.n_damaged == 0:
            return []
        if self.n_damaged == 1:
            return ["A damaged part of the file's extra information was left out."]
        return [f"{self.n_damaged:,} damaged parts of the file's extra information were left out."]


def decode_png(data: bytes) -> Picture:
    """Return the picture in a PNG file, or the still picture of an animated one."""
    chunks = _read_chunks(data)
    header = _read_header(chunks.first.get(b"IHDR", b""))
    pixels, alpha = read_pixels(
        header, chunks.image, chunks.first.get(b"PLTE", b""), chunks.first.get(b"tRNS", b"")
    )
    notices = chunks.notices
    if header.kind == PALETTE:
        notices.append("The palette was converted to RGB.")
    elif header.depth < 8:
        notices.append(f"The {header.depth}-bit picture was read as 8-bit gray.")
    elif header.depth == 16:
        notices.append("The picture has 16 bits per channel.")
    frames = chunks.first.get(b"acTL", b"")
    is_animation = len(frames) == 8 and struct.unpack(">I", frames[:4])[0] > 1
    if is_animation:
        notices.append("The file is an animation: its first picture was used.")
    return Picture(
        pixels,
        alpha,
        exif=chunks.first.get(b"eXIf"),
        icc=_profile(chunks.first.get(b"iCCP", b"")),
        dpi=_resolution(chunks.first.get(b"pHYs", b"")),
        source_format="PNG",
        notices=tuple(notices),
        other_metadata=tuple(chunks.blocks),
        lost=(*chunks.lost, OTHER_FRAMES.name) if is_animation else chunks.lost,
    )


def _read_chunks(data: bytes) -> _Chunks:
    chunks, position = _Chunks(), len(SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise DamagedError("it ends too early")
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if end + 4 > len(data):
            raise DamagedError("it ends too early")
        if zlib.crc32(memoryview(data)[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            if not name[0] & 32:  # upper-case first letter: needed for the pixels
                raise DamagedError("a checksum is wrong")
            chunks.n_damaged += 1
        elif name == b"IEND":
            return chunks
        elif name == b"IDAT":
            chunks.image += memoryview(data)[position + 8 : end]
        elif name in _TEXTS or name in _COLORS:
            chunks.add_other(name, data[position + 8 : end])
        elif name in _USED:
            chunks.first.setdefault(name, data[position + 8 : end])
        position = end + 4


def _read_header(chunk: bytes) -> Header:
    if len(chunk) != 13:
        raise DamagedError("its header is missing")
    width, height, depth, kind, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunk)
    if depth not in _DEPTHS.get(kind, ()) or compression or filtering or interlace > 1:
        raise DamagedError("its header is wrong")
    check_size(width, height)
    return Header(width, height, depth, kind, bool(interlace))


def _profile(chunk: bytes) -> bytes | None:
    """Return the ICC profile of an iCCP chunk: a name, a zero, the method 0, packed data."""
    _, separator, rest = chunk.partition(b"\0")
    if not separator or not rest.startswith(b"\0"):
        return None
    return _unpacked(rest[1:], MAX_PROFILE_BYTES)


def _unpacked(packed: bytes, limit: int) -> bytes | None:
    """Return what was packed; None if it is damaged, longer than the limit, or nothing."""
    stream = zlib.decompressobj()
    try:
        unpacked = stream.decompress(packed, limit)
    except zlib.error:
        return None
    return unpacked if stream.eof and unpacked else None


def _xmp(chunk: bytes) -> bytes | None:
    """Return the XMP of an iTXt chunk: a keyword, whether packed, the method, two empty names, the text."""
    if not chunk.startswith(XMP + b"\0") or len(chunk) < len(XMP) + 5:
        return None
    is_packed, rest = chunk[len(XMP) + 1] == 1, chunk[len(XMP) + 3 :]
    parts = rest.split(b"\0", 2)
    if len(parts) < 3:
        return None
    return _unpacked(parts[2], MAX_OTHER_BYTES) if is_packed else parts[2]


def _resolution(chunk: bytes) -> tuple[float, float] | None:
    if len(chunk) != 9:
        return None
    across, down, unit = struct.unpack(">IIB", chunk)
    return (across * 0.0254, down * 0.0254) if unit == 1 and across and down else None
