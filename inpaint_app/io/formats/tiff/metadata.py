"""What the directory of a TIFF page tells beside how its pixels are stored."""

from collections.abc import Iterable

import numpy as np

from inpaint_app.io.formats.shared.ifd import SIZES, UNDEFINED, Directory, Header
from inpaint_app.io.formats.shared.metadata import (
    DESCRIPTIVE,
    SHAPE_NOTES,
    exif_of_tiff,
    resolution_of,
    resource_blocks,
)
from inpaint_app.io.formats.shared.tags import (
    DESCRIPTION,
    EXIF,
    GPS,
    ICC,
    NO_DATA,
    ORIENTATION,
    RESOLUTION_UNIT,
    X_RESOLUTION,
    Y_RESOLUTION,
)
from inpaint_app.io.limits import MAX_OTHER_BYTES, MAX_PROFILE_BYTES
from inpaint_app.model.metadata import Metadata, MetadataBlock, MetadataKind, Tag

_KEPT = {
    **dict.fromkeys((33550, 33922, 34264, 34735, 34736, 34737), "the place on Earth (GeoTIFF)"),
    42112: "GDAL metadata",
    42113: 'the "no data" value',
    50844: "coefficients of a satellite's camera",
    **dict.fromkeys((269, 285), "names of documents or pages"),
    DESCRIPTION: "the description of its axes",
}
#: What else describes a page; that of the first one is in the EXIF block.
_DESCRIPTIONS = DESCRIPTIVE - {ORIENTATION, X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT}
_LOST = {
    37724: "Photoshop layers",
    330: "pictures inside a page",
    **dict.fromkeys((50838, 50839), "ImageJ metadata"),
}
XMP, IPTC, PHOTOSHOP = 700, 33723, 34377
_TAGS_OF_BLOCKS = {
    MetadataKind.XMP: (XMP, 1),
    MetadataKind.IPTC: (IPTC, UNDEFINED),
    MetadataKind.PHOTOSHOP: (PHOTOSHOP, 1),
}
_MAX_BYTES = 64 * 1024**2


def read_metadata(header: Header, directory: Directory, *, is_first: bool) -> Metadata:
    """Return what a page tells; descriptions of the first page are in its EXIF block."""
    try:
        no_data = float(directory.text(NO_DATA))
    except ValueError:
        no_data = None
    return Metadata(
        source_format="TIFF",
        exif=exif_of_tiff(header, directory) if is_first else None,
        icc=directory.raw(ICC)[:MAX_PROFILE_BYTES] or None,
        dpi=resolution_of(directory),
        no_data=no_data,
        tags=_read_tags(directory, is_first=is_first),
        blocks=_read_blocks(directory),
        lost=_lost_names(directory, is_first=is_first),
    )


def _read_tags(directory: Directory, *, is_first: bool) -> tuple[Tag, ...]:
    """Return the tags of a page that are kept, their numbers low bytes first."""
    kept, found, room = _KEPT.keys() | (frozenset() if is_first else _DESCRIPTIONS), [], _MAX_BYTES
    for number, field in directory.fields.items():
        if number == DESCRIPTION and is_first and not directory.raw(number).startswith(SHAPE_NOTES):
            continue
        room -= field.size if number in kept else 0
        if number not in kept or field.kind > 12 or not field.items or room < 0:
            continue
        found.append(Tag(number, field.kind, swapped(directory.raw(number), field.kind, directory.order)))
    return tuple(found)


def _read_blocks(directory: Directory) -> tuple[MetadataBlock, ...]:
    """Return the metadata of a page that other formats have too: XMP, IPTC, Photoshop's resources."""
    raw = dict.fromkeys((XMP, IPTC, PHOTOSHOP), b"")
    for number in raw.keys() & directory.fields.keys():
        raw[number] = directory.raw(number)[:MAX_OTHER_BYTES]
    blocks = {block.kind: block for block in resource_blocks(raw[PHOTOSHOP])}
    for number, kind in ((XMP, MetadataKind.XMP), (IPTC, MetadataKind.IPTC)):
        if raw[number]:
            blocks[kind] = MetadataBlock(kind, raw[number])
    return tuple(blocks.values())


def block_tags(blocks: Iterable[MetadataBlock]) -> list[Tag]:
    """Return blocks as the tags that TIFF has for them."""
    return [
        Tag(*_TAGS_OF_BLOCKS[block.kind], block.payload) for block in blocks if block.kind in _TAGS_OF_BLOCKS
    ]


def swapped(payload: bytes, kind: int, order: str) -> bytes:
    """Return the bytes of a value with its numbers in the other byte order, if `order` is ">"."""
    size = 4 if kind in (5, 10) else SIZES[kind]  # fractions are two numbers
    return payload if order == "<" or size == 1 else np.frombuffer(payload, f">u{size}").byteswap().tobytes()


def _lost_names(directory: Directory, *, is_first: bool) -> tuple[str, ...]:
    lost = _LOST if is_first else _LOST | dict.fromkeys((EXIF, GPS), "camera data of further pages")
    return tuple(dict.fromkeys(name for number, name in lost.items() if number in directory.fields))


def tag_names(tags: Iterable[Tag]) -> list[str]:
    """Return the names of tags, each once."""
    return list(dict.fromkeys(_KEPT.get(tag.number, "descriptions of further pages") for tag in tags))
