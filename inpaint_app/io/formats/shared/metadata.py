"""Metadata that formats share: EXIF blocks, XMP packets, Photoshop's image resources."""

import re
import struct

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import MAX_EXIF_BYTES
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.ifd import (
    LONG,
    Directory,
    Entry,
    Header,
    pack_directory,
    read_directory,
    read_header,
)
from inpaint_app.model.picture import MetadataBlock, MetadataKind, Picture

PREFIX = b"Exif\0\0"

# Tags of a TIFF's first directory that describe the picture rather than its storage: names and dates,
# resolution, ratings, Windows' comments.
DESCRIPTIVE = frozenset(
    {tags.DESCRIPTION, 271, 272, tags.ORIENTATION, 282, 283, 296, 305, 306, 315, 316, 18246, 18249, 33432}
    | {40091, 40092, 40093, 40094, 40095}
)
# Descriptions in which programs note the shape of the whole file, which EXIF cannot express.
SHAPE_NOTES = (b"ImageJ=", b"SCIFIO=", b'{"shape"', b"<?xml", b"<OME", b"shape=(")


def take_orientation(block: bytes) -> tuple[bytes, int]:
    """Return an EXIF block with its orientation set to 1, and the orientation it had.

    Width and height are exchanged if the orientation asks for it. The embedded thumbnail is unlinked: it
    shows the damaged picture, unturned. Raises `DamagedError` if the block has no readable first directory.
    """
    block = block.removeprefix(PREFIX)
    if len(block) > MAX_EXIF_BYTES:
        raise DamagedError("its EXIF block is too large")
    header = read_header(block)
    if header.big:
        raise DamagedError("its EXIF block is a BigTIFF")
    directory = read_directory(block, header, header.first)
    changed = bytearray(block)
    if directory.next_offset:
        changed[directory.next_position : directory.next_position + 4] = bytes(4)
    field = directory.fields.get(tags.ORIENTATION)
    if field is None or field.items != 1 or field.kind not in (3, 4):
        return bytes(changed), 1
    struct.pack_into(header.order + ("H" if field.kind == 3 else "I"), changed, field.position, 1)
    orientation = directory.integer(tags.ORIENTATION, 1)
    if 5 <= orientation <= 8:
        _swap_sides(changed, child_directory(header, directory, tags.EXIF))
    return bytes(changed), orientation if 1 <= orientation <= 8 else 1


def _swap_sides(block: bytearray, camera: Directory | None) -> None:
    """Exchange the width and the height that a camera has noted."""
    fields = {} if camera is None else camera.fields
    width, height = fields.get(tags.EXIF_WIDTH), fields.get(tags.EXIF_HEIGHT)
    if width is not None and height is not None and width[:2] == height[:2]:
        across = slice(width.position, width.position + width.size)
        down = slice(height.position, height.position + height.size)
        block[across], block[down] = block[down], block[across]


def exif_resolution(block: bytes) -> tuple[float, float] | None:
    """Return the resolution that an EXIF block notes, in pixels per inch; None if it has none."""
    try:
        header = read_header(block)
        return resolution_of(read_directory(block, header, header.first))
    except DamagedError:
        return None


def exif_of_tiff(header: Header, first: Directory) -> bytes | None:
    """Return the EXIF block of a TIFF file: its descriptive tags, camera and GPS directories.

    Offsets inside maker notes are not known and stay as they are.
    """
    entries = copied_entries(first, only=DESCRIPTIVE)
    if first.raw(tags.DESCRIPTION).startswith(SHAPE_NOTES):
        entries = [entry for entry in entries if entry.tag != tags.DESCRIPTION]
    children = {tag: child_directory(header, first, tag) for tag in (tags.EXIF, tags.GPS)}
    camera = children[tags.EXIF]
    if camera is None and children[tags.GPS] is None and not entries:
        return None
    order = header.order
    start = struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, 8)
    pointers = [Entry(tag, LONG, bytes(4)) for tag, child in children.items() if child is not None]
    end = 8 + len(pack_directory(entries + pointers, order, 8))
    tail = b""
    for tag, child in children.items():
        if child is not None:
            entries.append(Entry(tag, LONG, struct.pack(order + "I", end + len(tail))))
            tail += pack_directory(copied_entries(child), order, end + len(tail))
    block = start + pack_directory(entries, order, 8) + tail
    return block if len(block) <= MAX_EXIF_BYTES else None


def resolution_of(directory: Directory) -> tuple[float, float] | None:
    """Return horizontal and vertical resolution in pixels per inch; None if the directory has none."""
    factor = {2: 1.0, 3: 2.54}.get(directory.integer(tags.RESOLUTION_UNIT, 2))
    across, down = directory.rational(tags.X_RESOLUTION), directory.rational(tags.Y_RESOLUTION)
    return None if factor is None or not across or not down else (across * factor, down * factor)


def child_directory(header: Header, parent: Directory, tag: int) -> Directory | None:
    """Return the directory that a tag points to; None if there is none, or if it cannot be read."""
    try:
        offset = parent.integer(tag, 0)
        return read_directory(parent.data, header, offset) if offset else None
    except DamagedError:
        return None


def copied_entries(directory: Directory, *, only: frozenset[int] | None = None) -> list[Entry]:
    """Copy fields, bounded in all; types that classic TIFF lacks and pointers are left out."""
    entries: list[Entry] = []
    room = MAX_EXIF_BYTES
    for tag, field in directory.fields.items():
        wanted = tag != tags.INTEROPERABILITY if only is None else tag in only
        room -= field.size + 12 if wanted else 0
        if room < 0:
            break
        if wanted and field.kind <= 12 and field.items:
            entries.append(Entry(tag, field.kind, directory.raw(tag)))
    return entries


_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*=\s*[\"']|\s*>\s*))[2-8]")


def with_upright_xmp(picture: Picture) -> Picture:
    """Return a picture whose XMP does not ask to turn what has been turned already."""
    blocks = tuple(
        MetadataBlock(block.kind, _ORIENTATION.sub(rb"\g<1>1", block.payload))
        if block.kind is MetadataKind.XMP
        else block
        for block in picture.metadata.blocks
    )
    return picture.with_metadata(blocks=blocks)


_IPTC = 0x0404
#: They show the damaged picture.
_THUMBNAILS = (0x0409, 0x040C)


def resource_blocks(resources: bytes) -> tuple[MetadataBlock, ...]:
    """Return IPTC and the other resources, without thumbnails; what cannot be parsed as it is."""
    iptc, others, position = b"", b"", 0
    while position + 12 <= len(resources):
        (number,) = struct.unpack_from(">H", resources, position + 4)
        name_end = position + 7 + resources[position + 6]
        name_end += (name_end - position) % 2
        start = name_end + 4
        if start > len(resources):
            return (MetadataBlock(MetadataKind.PHOTOSHOP, resources),)
        (size,) = struct.unpack_from(">I", resources, name_end)
        end = start + size
        if end > len(resources):
            return (MetadataBlock(MetadataKind.PHOTOSHOP, resources),)
        if number == _IPTC:
            iptc = iptc or resources[start:end]
        elif number not in _THUMBNAILS:
            others += resources[position : end + size % 2]
        position = end + size % 2
    found = ((MetadataKind.IPTC, iptc), (MetadataKind.PHOTOSHOP, others))
    return tuple(MetadataBlock(kind, payload) for kind, payload in found if payload)


def join_resources(others: bytes | None, iptc: bytes | None) -> bytes:
    """Return resources with IPTC among them; empty if there is neither."""
    if iptc is None:
        return others or b""
    own = struct.pack(">4sHHI", b"8BIM", _IPTC, 0, len(iptc)) + iptc + bytes(len(iptc) % 2)
    return (others or b"") + own
