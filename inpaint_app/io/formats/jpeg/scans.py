"""The segments of a JPEG file, its scans, and what is lost of a picture if some of them end too early."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import MAX_EXIF_BYTES, MAX_OTHER_BYTES
from inpaint_app.io.formats.shared.metadata import PREFIX
from inpaint_app.model.picture import Array, MetadataBlock, MetadataKind

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


ANY_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not stuffing, fill bytes or restarts
# A progressive file may go over the whole picture once per scan. Real ones have about ten; a small file
# with thousands would decode for hours.
_MAX_SCANS = 200
#: Pictures of which less is left are refused.
_MAX_LOST = 0.9
#: Coded by Huffman's method, in which every unit takes at least one bit.
_HUFFMAN = (0xC0, 0xC1, 0xC2)
_LAST_COEFFICIENT = 63
# Bytes that a scan that has all its data leaves alone.
_FILLERS = tuple(bytes(value % 254 for value in np.random.default_rng(seed).bytes(2048)) for seed in (1, 2))

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Scan:
    """A pass over the picture: where its coded data lie, and what they add."""

    start: int
    end: int
    components: tuple[int, ...]
    band: tuple[int, int]  #: First and last coefficient.
    is_refinement: bool  #: Whether it adds but a bit to coefficients that have been there before.
    is_last_bit: bool  #: Whether coefficients are exact afterwards.


def read_scans(data: bytes, header: Header) -> list[Scan]:
    """Return all scans of a picture, the last of which may end with the file."""
    scans, content, start = [], header.scan, header.scan_start
    while True:
        found = ANY_MARKER.search(data, start)
        end = len(data) if found is None else found.start()
        scans.append(_scan(content, start, end))
        if len(scans) > _MAX_SCANS:
            raise UnsupportedError("it has more scans than any camera writes", "save it again in an editor")
        following = _next_scan(data, end)
        if following is None:
            return scans
        content, start = following


def check_length(scans: Sequence[Scan], header: Header) -> None:
    """Refuse data that are too short for a tenth of the picture, before memory is taken for all of it."""
    width, height = header.size
    n_units = -(-height // header.mcu[0]) * -(-width // header.mcu[1]) * header.channels
    n_bits = 8 * sum(scan.end - scan.start for scan in scans)
    if header.frame in _HUFFMAN and n_bits < (1 - _MAX_LOST) * n_units:
        raise DamagedError("it is truncated")


def find_lost(
    data: bytes, header: Header, pixels: Array, unpack: Callable[[bytes], Array]
) -> tuple[Bools | None, bool]:
    """Return which pixels of a picture of several scans are lost, and whether others have lost fine detail.

    A scan that ends too early is filled up with nothing. It is found by what other bytes in that place
    change: nothing, if it has all its data. `pixels` is the picture as it is unpacked. Raises `DamagedError`
    if most of it is lost, or a scan that it cannot do without.
    """
    scans = read_scans(data, header)
    exact = [scan for scan in scans if scan.is_last_bit]
    if any(_lacks(scans, component) for component in header.components):
        raise DamagedError("it is truncated")
    is_coarse = any(_lacks(exact, component) for component in header.components)
    if not any(_changed(pixels, unpack(filled(data, scans, f))).any() for f in _FILLERS):
        return None, is_coarse
    lost, shape = np.zeros(pixels.shape[:2], np.bool_), pixels.shape[:2]
    for number, scan in enumerate(scans):
        unit, firsts = _unit(scan, header), []
        for filler in _FILLERS:
            other = unpack(filled(data, scans, filler, number))
            changed = np.flatnonzero(_by_unit(_changed(pixels, other), unit, np.logical_or))
            firsts += [int(changed[0])] if changed.size else []
        if firsts:  # of what is but refined, the unit is wrong at which the data end, the others are coarse
            first = min(firsts) - 1
            lost |= lost_from(first, shape, unit, first + 2 if scan.is_refinement else None)
    return (lost if lost.any() else None), True


def filled(data: bytes, scans: Sequence[Scan], filler: bytes, number: int | None = None) -> bytes:
    """Return a picture with bytes added to one scan, or to all, and an end marker."""
    parts, position = [], 0
    for at, scan in enumerate(scans):
        parts.append(data[position : scan.end].rstrip(b"\xff"))
        parts.append(filler if number in (None, at) else b"")
        position = scan.end
    return b"".join((*parts, bytes((0xFF, END))))


def lost_from(first: int, shape: tuple[int, ...], unit: tuple[int, int], end: int | None = None) -> Bools:
    """Return which pixels of a picture of a shape belong to a unit or to those that follow it, row by row.

    With `end`, only those before that unit.

    Where colors are stored in half the resolution, units mix at their borders, by a pixel on either side.
    Raises `DamagedError` if these are most of the picture.
    """
    down, across = (-(-side // step) for side, step in zip(shape, unit, strict=True))
    order = np.arange(down * across).reshape(down, across)
    chosen = (order >= first) & (order < (order.size if end is None else end))
    lost: Bools = chosen.repeat(unit[0], axis=0).repeat(unit[1], axis=1)[: shape[0], : shape[1]]
    lost[:-1] |= lost[1:]
    lost[:, :-1] |= lost[:, 1:]
    if lost.mean() > _MAX_LOST:
        raise DamagedError("it is truncated")
    return lost


def units_of_fill(pixels: Array, unit: tuple[int, int]) -> Bools:
    """Return which units hold nothing but the color of the last pixel, borders of units aside."""
    same: Bools = np.asarray(np.atleast_3d(pixels == pixels[-1, -1]).all(axis=2))
    return ~_by_unit(~same, unit, np.logical_or)


def _by_unit(pixels: Bools, unit: tuple[int, int], combine: np.ufunc) -> Bools:
    """Return for each unit whether some of its pixels are marked, those at its border aside."""
    inner = pixels.copy()
    for side, step in enumerate(unit):
        for border in (0, step - 1):
            inner[(slice(None),) * side + (slice(border, None, step),)] = False
    rows, columns = (np.arange(0, length, step) for length, step in zip(pixels.shape, unit, strict=True))
    units: Bools = combine.reduceat(combine.reduceat(inner, rows, axis=0), columns, axis=1)
    return units


def _changed(pixels: Array, other: Array) -> Bools:
    return np.asarray(np.atleast_3d(pixels != other).any(axis=2))


def _unit(scan: Scan, header: Header) -> tuple[int, int]:
    """Return rows and columns of pixels that follow each other in a scan."""
    if len(scan.components) > 1:
        return header.mcu
    down, across = header.components.get(scan.components[0], (1, 1))
    return header.mcu[0] // down, header.mcu[1] // across


def _scan(content: bytes, start: int, end: int) -> Scan:
    n_components = content[0] if content else 0
    if not 1 <= n_components <= 4 or len(content) < 4 + 2 * n_components:
        raise DamagedError("the header of a scan is wrong")
    first, last, bits = content[1 + 2 * n_components : 4 + 2 * n_components]
    components = tuple(content[1 : 1 + 2 * n_components : 2])
    return Scan(start, end, components, (first, last), bits >> 4 > 0, bits & 15 == 0)


def _next_scan(data: bytes, position: int) -> tuple[bytes, int] | None:
    """Return header and start of the scan that follows a marker; None if there is none."""
    while position + 4 <= len(data) and data[position + 1] != END:
        (length,) = struct.unpack_from(">H", data, position + 2)
        end = position + 2 + length
        if length < 2 or end > len(data):
            return None
        if data[position + 1] == SCAN:
            return data[position + 4 : end], end
        found = ANY_MARKER.search(data, end)
        if found is None:
            return None
        position = found.start()
    return None


def _lacks(scans: Sequence[Scan], component: int) -> bool:
    """Return whether some scans leave out a range of the frequencies of a component."""
    held = [range(each.band[0], each.band[1] + 1) for each in scans if component in each.components]
    return len(set().union(*held)) <= _LAST_COEFFICIENT
