"""The segments of a JPEG file up to its pixels."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.shared.metadata import PREFIX
from inpaint_app.io.limits import MAX_EXIF_BYTES, MAX_OTHER_BYTES
from inpaint_app.model.metadata import MetadataBlock, MetadataKind

SCAN, END, COMMENT = 0xDA, 0xD9, 0xFE
XMP, PHOTOSHOP = b"http://ns.adobe.com/xap/1.0/\0", b"Photoshop 3.0\0"

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_LONG_XMP = b"http://ns.adobe.com/xmp/extension/\0"
_SEGMENT = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")  # with content: not stuffing, fill bytes, restarts
_MAX_SEGMENTS = 100_000


@dataclass
class Header:
    """What is known of a picture before its pixels are decoded, and its metadata."""

    frame: int = 0
    size: tuple[int, int] = (0, 0)
    precision: int = 8
    channels: int = 0
    exif: bytearray = field(default_factory=bytearray)  #: Without its prefix; too long if it is cut.
    profile_parts: dict[int, bytes] = field(default_factory=dict)
    n_profile_parts: int = 0
    dpi: tuple[float, float] | None = None
    several: bool = False
    scan: bytes = b""  #: The header of the first scan.
    scan_start: int = 0
    components: dict[int, tuple[int, int]] = field(default_factory=dict)  #: Units down and across in an MCU.
    resources: bytearray = field(default_factory=bytearray)
    blocks: list[MetadataBlock] = field(default_factory=list)
    n_block_bytes: int = 0
    lost: list[str] = field(default_factory=list)

    @property
    def has_long_exif(self) -> bool:
        """Whether the EXIF block is longer than any camera writes."""
        return len(self.exif) > MAX_EXIF_BYTES

    @property
    def mcu(self) -> tuple[int, int]:
        """Rows and columns of the units in which pixels are stored."""
        down, across = zip(*self.components.values(), strict=True) if self.components else ((1,), (1,))
        return 8 * max(down), 8 * max(across)

    def add_other(self, marker: int, content: bytes) -> None:
        """Take XMP, Photoshop's resources or a comment; note what else there is and will be lost."""
        self.n_block_bytes += len(content)
        is_resource = marker == 0xED and content.startswith(PHOTOSHOP)
        is_kept = is_resource or marker == COMMENT or (marker == 0xE1 and content.startswith(XMP))
        if is_kept and self.n_block_bytes > MAX_OTHER_BYTES:
            self.lost.append("metadata longer than any camera writes")
        elif is_resource:
            self.resources += content[len(PHOTOSHOP) :]
        elif marker == COMMENT:
            self.blocks.append(MetadataBlock(MetadataKind.COMMENT, content))
        elif is_kept:
            self.blocks.append(MetadataBlock(MetadataKind.XMP, content[len(XMP) :]))
        elif marker == 0xE1 and content.startswith(_LONG_XMP):
            self.lost.append("extended XMP")
        elif marker == 0xEB and b"jumb" in content[:40]:
            self.lost.append("content credentials (C2PA)")
        elif 0xE2 <= marker <= 0xEF and marker not in (0xEC, 0xEE):  # those describe the compression
            self.lost.append(f"application data (APP{marker - 0xE0})")

    @property
    def icc(self) -> bytes | None:
        """The color profile, if all its parts are there."""
        numbers = range(1, self.n_profile_parts + 1)
        if not numbers or any(number not in self.profile_parts for number in numbers):
            return None
        return b"".join(self.profile_parts[number] for number in numbers)


def read_header(data: bytes) -> Header:
    """Return what is said before the pixels."""
    header = Header()
    for marker, content, end in _segments(data):
        if marker == SCAN:
            header.scan, header.scan_start = content, end
        elif marker in _FRAMES and not header.channels:
            if len(content) < 6:
                raise DamagedError("its header is wrong")
            header.precision, height, width, header.channels = struct.unpack_from(">BHHB", content)
            header.size, header.frame = (width, height), marker
            header.components = _components(content, header.channels)
        elif marker == 0xE0 and content.startswith(b"JFIF\0"):
            header.dpi = _density(content)
        elif marker == 0xE1 and content.startswith(PREFIX):
            header.exif += b"" if header.has_long_exif else content[len(PREFIX) :]
        elif marker == 0xE2 and content.startswith(b"ICC_PROFILE\0") and len(content) > 14:
            header.profile_parts.setdefault(content[12], content[14:])
            header.n_profile_parts = content[13]
        elif marker == 0xE2 and content.startswith(b"MPF\0"):
            header.several = True
        elif marker == COMMENT or marker >= 0xE1:
            header.add_other(marker, content)
    if not header.channels:
        raise DamagedError("its header is missing")
    return header


def _components(frame: bytes, n_channels: int) -> dict[int, tuple[int, int]]:
    """Return the numbers of the components, and how many of their units are in an MCU, down and across."""
    if n_channels == 1:
        return {frame[6]: (1, 1)} if len(frame) > 6 else {}
    parts = [frame[at : at + 2] for at in range(6, 6 + 3 * n_channels, 3)]
    return {part[0]: (max(1, part[1] & 15), max(1, part[1] >> 4)) for part in parts if len(part) == 2}


def _segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield marker, content and end of every segment up to the header of the first scan."""
    position = 2
    for _ in range(_MAX_SEGMENTS):
        found = _SEGMENT.search(data, position)
        if found is None or found.start() + 4 > len(data):
            raise DamagedError("it is truncated")
        position, marker = found.start(), data[found.start() + 1]
        if marker == END:
            raise DamagedError("it holds no pixels")
        (length,) = struct.unpack_from(">H", data, position + 2)
        end = position + 2 + length
        if length < 2 or end > len(data):
            raise DamagedError("it is truncated")
        yield marker, data[position + 4 : end], end
        if marker == SCAN:
            return
        position = end
    raise UnsupportedError("it has more segments than any camera writes", "save it again in an editor")


def _density(content: bytes) -> tuple[float, float] | None:
    if len(content) < 12:
        return None
    unit, across, down = struct.unpack_from(">BHH", content, 7)
    factor = {1: 1.0, 2: 2.54}.get(unit)
    return None if factor is None or not across or not down else (across * factor, down * factor)
