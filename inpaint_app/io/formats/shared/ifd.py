"""TIFF directories (IFDs): the structure that TIFF files and EXIF blocks share.

Nothing is copied while parsing, and every value is checked against the end of the data, so that a
directory of a few bytes cannot ask for gigabytes.
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from inpaint_app.errors import DamagedError

Order = Literal["<", ">"]
"""Byte order: little or big end first."""

#: Most numbers of one value; 200 million pixels in tiles of 16 x 16 need 800,000.
MAX_ITEMS = 4_000_000

SHORT, LONG, RATIONAL, UNDEFINED = 3, 4, 5, 7

# Type number -> bytes per item. 16 to 18 exist in BigTIFF alone.
SIZES = dict(enumerate((1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4), start=1)) | {16: 8, 17: 8, 18: 8}
_INTEGERS = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 13: "I", 16: "Q", 17: "q", 18: "Q"}


class Header(NamedTuple):
    """First bytes of a TIFF structure: byte order ("<" or ">"), BigTIFF or not, first directory."""

    order: Order
    big: bool
    first: int


class Field(NamedTuple):
    """Where a value lies: its TIFF type, its number of items, its position in the data."""

    kind: int
    items: int
    position: int

    @property
    def size(self) -> int:
        """Number of bytes."""
        return SIZES[self.kind] * self.items


@dataclass(frozen=True)
class Directory:
    """The fields of one directory, by tag."""

    data: bytes  #: The whole TIFF structure.
    order: Order  #: "<" or ">".
    fields: dict[int, Field]  #: Tag to `Field`.
    lost: frozenset[int]  #: Tags whose values lie outside the data, or are of an unknown type.
    next_position: int  #: Where the position of the next directory is stored.
    next_offset: int  #: Position of the next directory, 0 = none.

    def _field(self, tag: int) -> Field | None:
        if tag in self.lost:
            raise DamagedError("it ends too early")
        return self.fields.get(tag)

    def raw(self, tag: int) -> bytes:
        """Return the bytes of a value in the file's byte order, b"" if the tag is absent."""
        field = self._field(tag)
        return b"" if field is None else self.data[field.position : field.position + field.size]

    def integers(self, tag: int, default: tuple[int, ...] = (), *, limit: int = MAX_ITEMS) -> tuple[int, ...]:
        """Return the integers of a value, at most `limit`."""
        field = self._field(tag)
        if field is None or not field.items:
            return default
        if field.kind not in _INTEGERS:
            raise DamagedError(f"its field {tag} is not a whole number")
        count = min(field.items, limit)
        return _unpack_at(self.data, field.position, f"{self.order}{count}{_INTEGERS[field.kind]}")

    def integer(self, tag: int, default: int) -> int:
        """Return the first integer of a value."""
        return self.integers(tag, (default,), limit=1)[0]

    def rational(self, tag: int) -> float | None:
        """Return the first fraction of a value, None if there is none."""
        field = self.fields.get(tag)
        if field is None or field.kind != RATIONAL or field.items == 0:
            return None
        top, bottom = _unpack_at(self.data, field.position, self.order + "II")
        return top / bottom if bottom else None

    def text(self, tag: int) -> str:
        """Return an ASCII value."""
        return self.raw(tag).split(b"\0")[0].decode("latin-1").strip()


def read_header(data: bytes) -> Header:
    """Parse the first bytes of a TIFF structure."""
    if data[:2] not in (b"II", b"MM") or len(data) < 8:
        raise DamagedError("its TIFF header is missing")
    order: Order = "<" if data[:2] == b"II" else ">"
    magic, first = struct.unpack(order + "HI", data[2:8])
    if magic == 42:
        return Header(order, False, first)
    if magic == 43 and len(data) >= 16 and data[4:8] == struct.pack(order + "HH", 8, 0):
        return Header(order, True, struct.unpack(order + "Q", data[8:16])[0])
    raise DamagedError("its TIFF header is wrong")


def _unpack_at(data: bytes, position: int, layout: str) -> tuple[int, ...]:
    """Return numbers at a position, in a layout of `struct`; of the data only slices are taken."""
    return struct.unpack(layout, data[position : position + struct.calcsize(layout)])


def read_directory(data: bytes, header: Header, offset: int) -> Directory:
    """Parse the directory at an offset."""
    order, big = header.order, header.big
    count_size, entry_size, slot = (8, 20, 8) if big else (2, 12, 4)
    start = offset + count_size
    if not 8 <= offset <= len(data) - count_size:
        raise DamagedError("its directory lies outside the file")
    (count,) = _unpack_at(data, offset, order + ("Q" if big else "H"))
    end = start + count * entry_size
    if end > len(data):
        raise DamagedError("its directory is cut off")
    fields: dict[int, Field] = {}
    lost = set()
    for at in range(start, end, entry_size):
        tag, kind, items = _unpack_at(data, at, order + ("HHQ" if big else "HHI"))
        size = SIZES.get(kind, 0) * items
        position = at + entry_size - slot
        if size > slot:
            (position,) = _unpack_at(data, position, order + ("Q" if big else "I"))
        if kind in SIZES and position + size <= len(data):
            fields.setdefault(tag, Field(kind, items, position))
        else:
            lost.add(tag)
    following = data[end : end + slot].ljust(slot, b"\0")
    (next_offset,) = struct.unpack(order + ("Q" if big else "I"), following)
    return Directory(data, order, fields, frozenset(lost - fields.keys()), end, next_offset)


class Entry(NamedTuple):
    """A field to be written: payload in the byte order of the file."""

    tag: int
    kind: int
    payload: bytes


def pack_directory(entries: list[Entry], order: Order, position: int) -> bytes:
    """Return a classic directory for an even position, with its values behind it; no tag may occur twice."""
    entries = sorted(entries)
    if any(left.tag == right.tag for left, right in pairwise(entries)):
        raise ValueError("a tag occurs twice")
    table = struct.pack(order + "H", len(entries))
    values = b""
    behind = position + 2 + 12 * len(entries) + 4
    for tag, kind, payload in entries:
        table += struct.pack(order + "HHI", tag, kind, len(payload) // SIZES[kind])
        if len(payload) <= 4:
            table += payload.ljust(4, b"\0")
        else:
            table += struct.pack(order + "I", behind + len(values))
            values += payload + b"\0" * (len(payload) % 2)
    return table + b"\0\0\0\0" + values
