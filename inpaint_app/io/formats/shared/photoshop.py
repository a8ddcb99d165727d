"""Photoshop's image resources, in which JPEG and TIFF files keep IPTC."""

import struct

from inpaint_app.model.metadata import MetadataBlock, MetadataKind

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
