"""PNG with 1 to 16 bits per channel: pixels by libpng, everything else by chunks."""

import logging
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import MAX_OTHER_BYTES, MAX_PROFILE_BYTES, USUAL_METADATA, Format, check_size
from inpaint_app.io.formats.pillow.codec import OTHER_FRAMES
from inpaint_app.model.picture import Array, Metadata, MetadataBlock, MetadataKind, Picture

# It prints warnings where nobody has set up logging.
logging.getLogger("imagecodecs").addHandler(logging.NullHandler())

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_TEXTS = 10_000
_HEADER_BYTES = 33  # signature and first chunk
_PALETTE, _CHANNELS = 3, {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
#: Filter that subtracts the mean of the left and upper neighbors: it packs photographs as well as any choice.
_AVERAGE = 64

_PIXELS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
_TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
_COLORS = frozenset({b"gAMA", b"cHRM", b"sRGB", b"cICP"})
_SRGB = {
    b"gAMA": struct.pack(">I", 45455),
    b"cHRM": struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000),
}
_XMP = b"XML:com.adobe.xmp"
# Other chunks are not kept: a file can hold millions of them under different names.
_USED = frozenset({b"IHDR", b"tRNS", b"acTL", b"eXIf", b"iCCP", b"pHYs"})


@dataclass
class _Chunks:
    """Chunks by name, those of the pixels as a file. Ancillary ones with a wrong checksum are left out."""

    first: dict[bytes, bytes] = field(default_factory=dict)
    image: bytearray = field(default_factory=lambda: bytearray(SIGNATURE))
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
    depth, kind = _check_header(chunks.first.get(b"IHDR", b""), len(chunks.image))
    pixels, alpha = _read_pixels(chunks.image)
    notices = chunks.notices
    if chunks.first.get(b"tRNS") and alpha is None:
        notices.append("The transparency of the file is damaged and was left out.")
    if kind == _PALETTE:
        notices.append("The palette was converted to RGB.")
    elif depth < 8:
        notices.append(f"The {depth}-bit picture was read as 8-bit gray.")
    elif depth == 16:
        notices.append("The picture has 16 bits per channel.")
    frames = chunks.first.get(b"acTL", b"")
    is_animation = len(frames) == 8 and struct.unpack(">I", frames[:4])[0] > 1
    if is_animation:
        notices.append("The file is an animation: its first picture was used.")
    return Picture(
        pixels,
        alpha,
        Metadata(
            exif=chunks.first.get(b"eXIf"),
            icc=_profile(chunks.first.get(b"iCCP", b"")),
            dpi=_resolution(chunks.first.get(b"pHYs", b"")),
            source_format="PNG",
            blocks=tuple(chunks.blocks),
            lost=(*chunks.lost, OTHER_FRAMES.name) if is_animation else chunks.lost,
        ),
        notices=tuple(notices),
    )


def _read_chunks(data: bytes) -> _Chunks:
    chunks, position = _Chunks(), len(SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise DamagedError("it is truncated")
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if end + 4 > len(data):
            raise DamagedError("it is truncated")
        if zlib.crc32(memoryview(data)[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            if not name[0] & 32:  # upper-case first letter: needed for the pixels
                raise DamagedError("a checksum is wrong")
            chunks.n_damaged += 1
        elif name in _TEXTS or name in _COLORS:
            chunks.add_other(name, data[position + 8 : end])
        else:
            if name in _PIXELS:
                chunks.image += memoryview(data)[position : end + 4]
            if name in _USED:
                chunks.first.setdefault(name, data[position + 8 : end])
            if name == b"IEND":
                return chunks
        position = end + 4


def _check_header(chunk: bytes, n_packed: int) -> tuple[int, int]:
    """Return depth and color type; refuse more pixels than so many bytes can hold."""
    if len(chunk) != 13:
        raise DamagedError("its header is missing")
    width, height, depth, kind = struct.unpack_from(">IIBB", chunk)
    check_size(width, height)
    if kind not in _CHANNELS or depth not in (1, 2, 4, 8, 16):
        raise DamagedError("its header is wrong")
    n_bytes = height * (1 + width * depth * _CHANNELS[kind] // 8)
    if n_bytes > 1100 * n_packed + 1000:  # deflate reaches 1032 to 1
        raise DamagedError("it is truncated")
    return depth, kind


def _read_pixels(image: bytearray) -> tuple[Array, Array | None]:
    """Return pixels and alpha, uint8 or uint16; fewer bits of gray are stretched to 8."""
    import imagecodecs  # noqa: PLC0415  (slow to import)

    try:
        values = imagecodecs.png_decode(image)
    except (imagecodecs.PngError, ValueError) as error:
        raise DamagedError("its pixels cannot be unpacked") from error
    if values.ndim == 2 or values.shape[2] == 3:
        return values, None
    return values[..., 0] if values.shape[2] == 2 else values[..., :3], values[..., -1]


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
    if not chunk.startswith(_XMP + b"\0") or len(chunk) < len(_XMP) + 5:
        return None
    is_packed, rest = chunk[len(_XMP) + 1] == 1, chunk[len(_XMP) + 3 :]
    parts = rest.split(b"\0", 2)
    if len(parts) < 3:
        return None
    return _unpacked(parts[2], MAX_OTHER_BYTES) if is_packed else parts[2]


def _resolution(chunk: bytes) -> tuple[float, float] | None:
    if len(chunk) != 9:
        return None
    across, down, unit = struct.unpack(">IIB", chunk)
    return (across * 0.0254, down * 0.0254) if unit == 1 and across and down else None


def encode_png(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write a picture with 8 or 16 bits; encoded in memory, so that a full disk is seen by our own write."""
    import imagecodecs  # noqa: PLC0415

    values = picture.pixels
    if picture.alpha is not None:
        values = np.concatenate((np.atleast_3d(values), picture.alpha[..., np.newaxis]), axis=2)
    # The low bytes of 16-bit samples are noise: trying harder takes twice as long to save 0.4 %.
    level = 4 if picture.depth == 8 else 1
    room = values.nbytes + values.nbytes // 50 + 2 * picture.height + 4096  # its own guess is short for noise
    packed = imagecodecs.png_encode(np.ascontiguousarray(values), level=level, filter=_AVERAGE, out=room)
    file.write(packed[:_HEADER_BYTES])
    for name, content in _metadata_chunks(picture):
        checksum = struct.pack(">I", zlib.crc32(name + content))
        file.write(struct.pack(">I", len(content)) + name + content + checksum)
    file.write(memoryview(packed)[_HEADER_BYTES:])


def _metadata_chunks(picture: Picture) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and contents of the chunks before the pixels, those about colors first."""
    if picture.metadata.icc is not None:
        yield b"iCCP", b"ICC profile\0\0" + zlib.compress(picture.metadata.icc)
    for kind, payload in picture.metadata.blocks:
        if kind is MetadataKind.PNG_COLOR or (kind is MetadataKind.SRGB and picture.metadata.icc is None):
            yield payload[:4], payload[4:]
    for kind, payload in picture.metadata.blocks:
        if kind is MetadataKind.PNG_TEXT:
            yield payload[:4], payload[4:]
        elif kind is MetadataKind.XMP:
            yield b"iTXt", _XMP + bytes(5) + payload
        elif kind is MetadataKind.COMMENT:
            yield _comment(payload)
    if picture.metadata.dpi is not None:
        across, down = (min(max(round(value / 0.0254), 1), 2**31 - 1) for value in picture.metadata.dpi)
        yield b"pHYs", struct.pack(">IIB", across, down, 1)
    if picture.metadata.exif is not None:
        yield b"eXIf", picture.metadata.exif


def _comment(text: bytes) -> tuple[bytes, bytes]:
    """Return the chunk of a comment: as UTF-8 if it may be that, else as Latin-1."""
    text = text.replace(b"\0", b" ").strip()
    try:
        is_utf8 = not text.decode().isascii()
    except UnicodeDecodeError:
        is_utf8 = False
    return (b"iTXt", b"Comment" + bytes(5) + text) if is_utf8 else (b"tEXt", b"Comment\0" + text)


FORMAT = Format(
    name="PNG",
    suffixes=(".png",),
    mime_types=("image/png",),
    signature=re.compile(re.escape(SIGNATURE)),
    decode=decode_png,
    encode=encode_png,
    depths=(8, 16),
    metadata=USUAL_METADATA
    | {MetadataKind.XMP, MetadataKind.PNG_TEXT, MetadataKind.PNG_COLOR, MetadataKind.COMMENT},
)
