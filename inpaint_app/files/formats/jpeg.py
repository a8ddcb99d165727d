"""JPEG: read, and write with full color resolution."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.format import USUAL_METADATA, Format
from inpaint_app.files.formats.shared.bands import image_array
from inpaint_app.files.formats.shared.cmyk import cmyk_to_rgb
from inpaint_app.files.formats.shared.exif import PREFIX
from inpaint_app.files.formats.shared.photoshop import join_resources, resource_blocks
from inpaint_app.files.formats.shared.pillow_writer import save_by_pillow
from inpaint_app.files.limits import MAX_EXIF_BYTES, MAX_OTHER_BYTES, check_size
from inpaint_app.formatting import format_percent
from inpaint_app.image.metadata import Block, MetadataKind
from inpaint_app.image.picture import Array, Picture

SIGNATURE = b"\xff\xd8\xff"

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN, _END, _COMMENT = 0xDA, 0xD9, 0xFE
_XMP, _LONG_XMP = b"http://ns.adobe.com/xap/1.0/\0", b"http://ns.adobe.com/xmp/extension/\0"
_PHOTOSHOP = b"Photoshop 3.0\0"
_MAX_SEGMENT_BYTES = 65_533
_MAX_XMP = _MAX_SEGMENT_BYTES - len(_XMP)
_SEQUENTIAL = (0xC0, 0xC1)
_ANY_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not stuffing, fill bytes or restarts
_SEGMENT = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")  # nor markers that stand alone
_MODES = {1: ("L", "L"), 3: ("RGB", "RGB"), 4: ("CMYK", "CMYK;I")}  # Adobe stores inks inverted; all follow
# A progressive file may go over the whole picture once per scan. Real ones have about ten; a small file
# with thousands would decode for hours.
_MAX_SCANS = 200
_MAX_SEGMENTS = 100_000
#: Files of which less is left are refused.
_MAX_LOST = 0.9


@dataclass
class _Header:
    frame: int = 0
    size: tuple[int, int] = (0, 0)
    precision: int = 8
    channels: int = 0
    mcu: tuple[int, int] = (8, 8)
    exif_parts: list[bytes] = field(default_factory=list)
    n_exif_bytes: int = 0
    profile_parts: dict[int, bytes] = field(default_factory=dict)
    n_profile_parts: int = 0
    dpi: tuple[float, float] | None = None
    several: bool = False
    scan_start: int = 0
    resources: bytearray = field(default_factory=bytearray)
    blocks: list[Block] = field(default_factory=list)
    n_block_bytes: int = 0
    lost: list[str] = field(default_factory=list)

    @property
    def exif(self) -> bytes | None:
        return b"".join(self.exif_parts) or None

    @property
    def notices(self) -> tuple[str, ...]:
        is_long = self.n_exif_bytes > MAX_EXIF_BYTES
        return ("The EXIF information is longer than any camera writes and was left out.",) if is_long else ()

    def add_exif(self, part: bytes) -> None:
        """Take a part of the EXIF block; nothing of one that is too long is kept."""
        self.n_exif_bytes += len(part)
        if self.n_exif_bytes > MAX_EXIF_BYTES:
            self.exif_parts.clear()
        else:
            self.exif_parts.append(part)

    def add_other(self, marker: int, content: bytes) -> None:
        """Take XMP, Photoshop's resources or a comment; note what else there is and will be lost."""
        self.n_block_bytes += len(content)
        is_resource = marker == 0xED and content.startswith(_PHOTOSHOP)
        is_kept = is_resource or marker == _COMMENT or (marker == 0xE1 and content.startswith(_XMP))
        if is_kept and self.n_block_bytes > MAX_OTHER_BYTES:
            self.lost.append("metadata longer than any camera writes")
        elif is_resource:
            self.resources += content[len(_PHOTOSHOP) :]
        elif marker == _COMMENT:
            self.blocks.append(Block(MetadataKind.COMMENT, content))
        elif is_kept:
            self.blocks.append(Block(MetadataKind.XMP, content[len(_XMP) :]))
        elif marker == 0xE1 and content.startswith(_LONG_XMP):
            self.lost.append("extended XMP")
        elif marker == 0xEB and b"jumb" in content[:40]:
            self.lost.append("content credentials (C2PA)")
        elif 0xE2 <= marker <= 0xEF and marker not in (0xEC, 0xEE):  # those describe the compression
            self.lost.append(f"application data (APP{marker - 0xE0})")

    @property
    def icc(self) -> bytes | None:
        numbers = range(1, self.n_profile_parts + 1)
        if not numbers or any(number not in self.profile_parts for number in numbers):
            return None
        return b"".join(self.profile_parts[number] for number in numbers)


def decode_jpeg(data: bytes) -> Picture:
    """Return the (first) picture in a JPEG file; the lost part of one that ends too early is transparent."""
    header = _read_header(data)
    check_size(*header.size)
    if header.precision != 8:
        raise UnsupportedError(f"it is a {header.precision}-bit JPEG", "convert it to PNG or TIFF first")
    if header.channels not in _MODES:
        raise UnsupportedError(f"it has {header.channels} channels", "convert it to RGB first")
    lost = None
    try:
        pixels = _unpack(_open_ended(data, header), header)
    except DamagedError:
        pixels = _unpack(_closed(data, header), header)
        lost = _lost_part(pixels, header.mcu)
    icc, notices = header.icc, list(header.notices)
    if header.channels == 4:
        pixels, notice = cmyk_to_rgb(pixels, icc)
        icc, notices = None, [notice]
    if header.several:
        notices.append("The file holds more than one picture (such as a depth map): the first was used.")
        header.lost.append("further pictures in the file")
    alpha = None
    if lost is not None:
        alpha = np.where(lost, np.uint8(0), np.uint8(255))
        part = format_percent(float(lost.mean()))
        notices.append(f"The file ends too early: the lost part ({part}) is marked as missing.")
    return Picture(
        pixels,
        alpha,
        exif=header.exif,
        icc=icc,
        dpi=header.dpi,
        source_format="JPEG",
        notices=tuple(notices),
        blocks=(*header.blocks, *resource_blocks(bytes(header.resources))),
        lost=tuple(dict.fromkeys(header.lost)),
    )


def _unpack(data: bytes, header: _Header) -> Array:
    mode, raw_mode = _MODES[header.channels]
    try:
        return image_array(Image.frombytes(mode, header.size, data, "jpeg", raw_mode, ""))
    except ValueError as error:
        raise DamagedError("it ends too early or its pixels cannot be unpacked") from error


def _closed(data: bytes, header: _Header) -> bytes:
    """Return a truncated picture with an end marker: libjpeg fills up what is missing before it.

    Raises
    ------
    DamagedError
        If it has more than one scan: then what is lost is detail everywhere.
    """
    found = _ANY_MARKER.search(data, header.scan_start)
    end = len(data) if found is None else found.start()
    if header.frame not in _SEQUENTIAL or (found is not None and data[end + 1] != _END):
        raise DamagedError("it ends too early")
    return data[:end].rstrip(b"\xff") + bytes((0xFF, _END))


def _lost_part(pixels: Array, mcu: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Return where a picture was filled up: from the last unit that holds anything to the end.

    Units (MCU) follow each other in rows; that last one may be incomplete. Where colors are stored in half
    the resolution, units and filling mix at their borders, by a pixel on either side.

    Parameters
    ----------
    pixels : ndarray, (H, W) or (H, W, C)
        As unpacked.
    mcu : (int, int)
        Rows and columns of a unit.
    """
    height, width = pixels.shape[:2]
    filled: npt.NDArray[np.bool_] = np.asarray(np.atleast_3d(pixels == pixels[-1, -1]).all(axis=2))
    for border in (slice(None, None, mcu[0]), slice(mcu[0] - 1, None, mcu[0])):
        filled[border] = True
    for border in (slice(None, None, mcu[1]), slice(mcu[1] - 1, None, mcu[1])):
        filled[:, border] = True
    rows, columns = np.arange(0, height, mcu[0]), np.arange(0, width, mcu[1])
    units = np.logical_and.reduceat(np.logical_and.reduceat(filled, rows, axis=0), columns, axis=1)
    held = np.flatnonzero(~units)
    first = held[-1] if held.size else 0
    order = np.arange(units.size).reshape(units.shape)
    lost = (order >= first).repeat(mcu[0], axis=0).repeat(mcu[1], axis=1)[:height, :width]
    lost[:-1] |= lost[1:]
    lost[:, :-1] |= lost[:, 1:]
    if lost.mean() > _MAX_LOST:
        raise DamagedError("it ends too early")
    return lost


def _read_header(data: bytes) -> _Header:
    header = _Header()
    for marker, content, end in _segments(data):
        if marker == _SCAN:
            header.scan_start = end
        elif marker in _FRAMES and not header.channels:
            if len(content) < 6:
                raise DamagedError("its header is wrong")
            header.precision, height, width, header.channels = struct.unpack_from(">BHHB", content)
            header.size, header.frame = (width, height), marker
            header.mcu = _mcu(content, header.channels)
        elif marker == 0xE0 and content.startswith(b"JFIF\0"):
            header.dpi = _density(content)
        elif marker == 0xE1 and content.startswith(PREFIX):
            header.add_exif(content[len(PREFIX) :])
        elif marker == 0xE2 and content.startswith(b"ICC_PROFILE\0") and len(content) > 14:
            header.profile_parts.setdefault(content[12], content[14:])
            header.n_profile_parts = content[13]
        elif marker == 0xE2 and content.startswith(b"MPF\0"):
            header.several = True
        elif marker == _COMMENT or marker >= 0xE1:
            header.add_other(marker, content)
    if not header.channels:
        raise DamagedError("its header is missing")
    return header


def _mcu(frame: bytes, n_channels: int) -> tuple[int, int]:
    """Return rows and columns of the units in which pixels are stored."""
    factors = frame[7 : 6 + 3 * n_channels : 3]
    if n_channels == 1 or not factors:
        return 8, 8
    return 8 * max(1, *(each & 15 for each in factors)), 8 * max(1, *(each >> 4 for each in factors))


def _open_ended(data: bytes, header: _Header) -> bytes:
    """Return the picture alone; if it has a single sequential scan, without its end marker.

    At an end marker, libjpeg fills up with gray what is missing before it. Without one it asks for more data,
    which is refused; the zeros are what it reads ahead when all is there.
    """
    end, n_scans = _scan_end(data, header.scan_start), 1
    while data[end + 1] != _END:
        n_scans += data[end + 1] == _SCAN
        if n_scans > _MAX_SCANS:
            raise UnsupportedError("it has more scans than any camera writes", "save it again in an editor")
        end = _scan_end(data, end + 2 + int.from_bytes(data[end + 2 : end + 4]))
    if header.frame in _SEQUENTIAL and n_scans == 1:
        return data[:end] + bytes(8)
    return data[: end + 2]


def _scan_end(data: bytes, start: int) -> int:
    """Return the position of the next marker behind the pixels at `start`."""
    found = _ANY_MARKER.search(data, start)
    if found is None:
        raise DamagedError("it ends too early")
    return found.start()


def _segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield marker, content and end of every segment up to the header of the first scan."""
    position = 2
    for _ in range(_MAX_SEGMENTS):
        found = _SEGMENT.search(data, position)
        if found is None or found.start() + 4 > len(data):
            raise DamagedError("it ends too early")
        position, marker = found.start(), data[found.start() + 1]
        if marker == _END:
            raise DamagedError("it holds no pixels")
        (length,) = struct.unpack_from(">H", data, position + 2)
        end = position + 2 + length
        if length < 2 or end > len(data):
            raise DamagedError("it ends too early")
        yield marker, data[position + 4 : end], end
        if marker == _SCAN:
            return
        position = end
    raise UnsupportedError("it has more segments than any camera writes", "save it again in an editor")


def _density(content: bytes) -> tuple[float, float] | None:
    if len(content) < 12:
        return None
    unit, across, down = struct.unpack_from(">BHH", content, 7)
    factor = {1: 1.0, 2: 2.54}.get(unit)
    return None if factor is None or not across or not down else (across * factor, down * factor)


def encode_jpeg(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an opaque 8-bit picture as JPEG, with full color resolution."""
    options: dict[str, Any] = {"quality": quality, "subsampling": 0}
    if picture.exif is not None:
        options["exif"] = PREFIX + picture.exif
    if picture.dpi is not None:
        options["dpi"] = tuple(min(max(round(value), 1), 65535) for value in picture.dpi)
    options["extra"] = b"".join(_other_segments(picture))
    save_by_pillow(Image.fromarray(picture.pixels), "JPEG", picture, file, options)


def _other_segments(picture: Picture) -> Iterator[bytes]:
    """Yield the segments for XMP, Photoshop's resources with IPTC, and comments."""
    packet = picture.block(MetadataKind.XMP)
    if packet is not None and len(packet) <= _MAX_XMP:
        yield _segment(0xE1, _XMP + packet)
    resources = join_resources(picture.block(MetadataKind.PHOTOSHOP), picture.block(MetadataKind.IPTC))
    step = _MAX_SEGMENT_BYTES - len(_PHOTOSHOP)
    for start in range(0, len(resources), step):
        yield _segment(0xED, _PHOTOSHOP + resources[start : start + step])
    for block in picture.blocks:
        if block.kind is MetadataKind.COMMENT:
            for start in range(0, len(block.payload), _MAX_SEGMENT_BYTES):
                yield _segment(_COMMENT, block.payload[start : start + _MAX_SEGMENT_BYTES])


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, 2 + len(content)) + content


# Metadata lie in segments of 64 KB: EXIF in one, a profile in at most 255.
FORMAT = Format(
    name="JPEG",
    suffixes=(".jpg", ".jpeg", ".jpe", ".jfif"),
    mime_types=("image/jpeg",),
    signature=re.compile(re.escape(SIGNATURE)),
    decode=decode_jpeg,
    encode=encode_jpeg,
    metadata=USUAL_METADATA
    | {MetadataKind.XMP, MetadataKind.IPTC, MetadataKind.PHOTOSHOP, MetadataKind.COMMENT},
    has_alpha=False,
    is_lossy=True,
    max_side=65_500,
    max_exif=65_527,
    max_icc=255 * 65_519,
    max_xmp=_MAX_XMP,
)
