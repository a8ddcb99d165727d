"""Read TIFF and BigTIFF by tifffile: all pages and bands, any common sample type, and what describes them."""

import io
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import tifffile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import MAX_OTHER_BYTES, MAX_PROFILE_BYTES, check_size, check_total
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.ifd import SIZES, UNDEFINED, Directory, Header, read_directory, read_header
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
from inpaint_app.io.formats.tiff.page import CMYK, check_page, read_pixels
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture, Tag

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


# It prints warnings about damaged files where nobody has set up logging; the user gets one sentence instead.
logging.getLogger("tifffile").addHandler(logging.NullHandler())

_MAX_PAGES = 10_000
_REDUCED, _MASK = 1, 4
_STRUCTURAL = frozenset(
    {tags.WIDTH, tags.HEIGHT, tags.BITS, tags.COMPRESSION, tags.PHOTOMETRIC, tags.FILL_ORDER, tags.SAMPLES}
    | {tags.STRIP_OFFSETS, tags.STRIP_ROWS, tags.STRIP_COUNTS, tags.PLANAR, tags.PREDICTOR, tags.COLOR_MAP}
    | {tags.TILE_WIDTH, tags.TILE_HEIGHT, tags.TILE_OFFSETS, tags.TILE_COUNTS}
    | {tags.EXTRA_SAMPLES, tags.SAMPLE_FORMAT, tags.JPEG_TABLES}
)


def decode_tiff(data: bytes) -> Picture:
    """Return the pages of a TIFF file.

    Integers of 8 to 32 bits and floats stay as they are. Odd depths are stretched to 8 or 16 bits; longer
    integers become float64 if that holds them exactly, float16 becomes float32. Min-is-white is inverted,
    palettes and CMYK become RGB. Reduced copies of the picture and masks are left out.
    """
    header = read_header(data)
    first = read_directory(data, header, header.first)
    try:
        file = tifffile.TiffFile(io.BytesIO(data))
    except tifffile.TiffFileError as error:
        raise DamagedError("its directory cannot be read") from error
    pages: list[Picture] = []
    copies, n_pixels, following = [], 0, 0
    with file:
        for number, page in enumerate(distinct_pages(file)):
            if number >= _MAX_PAGES:
                raise UnsupportedError(f"it has more than {_MAX_PAGES:,} pages", "split it first")
            directory = read_directory(data, header, page.offset)
            if directory.lost & _STRUCTURAL:
                raise DamagedError("it is truncated")
            following = directory.next_offset
            kind = int(page.subfiletype or 0) if number else 0
            if kind & (_REDUCED | _MASK):
                copies.append(
                    "reduced copies of the picture" if kind & _REDUCED else "a mask inside the file"
                )
                continue
            check_size(page.imagewidth, page.imagelength)
            n_pixels += page.imagewidth * page.imagelength
            check_total(n_pixels)
            metadata = read_metadata(header, directory, is_first=not pages)
            read = _read_page(data, page, metadata, directory.text(tags.NO_DATA))
            # That of the first page stands in the EXIF block, too.
            pages.append(read.oriented(directory.integer(tags.ORIENTATION, 1)) if pages else read)
    if following or not pages:
        raise DamagedError("some of its pages are missing")
    refuse_hidden_pages(first.text(tags.DESCRIPTION), len(pages))
    lost = dict.fromkeys((*pages[0].metadata.lost, *copies))
    return replace(pages[0].with_metadata(lost=tuple(lost)), more_pages=tuple(pages[1:]))


def distinct_pages(file: tifffile.TiffFile) -> Iterator[tifffile.TiffPage]:
    """Yield the pages of a file; raises `DamagedError` if one follows itself, directly or in a circle."""
    offsets = set()
    for page in file.pages:
        assert isinstance(page, tifffile.TiffPage), "frames are not asked for"
        if page.offset in offsets:
            raise DamagedError("its pages follow each other in a circle")
        offsets.add(page.offset)
        yield page


def _read_page(data: bytes, page: tifffile.TiffPage, metadata: Metadata, no_data: str) -> Picture:
    """Return a page; `no_data` is how the file writes its value for that."""
    stored = check_page(page, len(data))
    pixels, alpha, converted = read_pixels(data, stored, metadata.icc)
    notices = [*converted, *stored.channels.notices]
    if page.photometric == CMYK:
        metadata = replace(metadata, icc=None)
    if not stored.keeps_values and no_data:
        kept = tuple(tag for tag in metadata.tags if tag.number != tags.NO_DATA)
        metadata = replace(metadata, tags=kept, no_data=None)
        notices.append(f'The file\'s "no data" value {no_data} was left out, for its values were converted.')
    if metadata.no_data is not None:
        notices.append(f'Pixels with the file\'s "no data" value {no_data} count as missing.')
    return Picture(pixels, alpha, metadata, tuple(notices))


def refuse_hidden_pages(description: str, n_pages: int) -> None:
    """Refuse an ImageJ stack that has one directory for all its images."""
    found = re.match(r"ImageJ=.*^images=(\d{1,9})$", description, re.DOTALL | re.MULTILINE)
    if found is not None and int(found[1]) > n_pages:
        raise UnsupportedError(
            f"it is an ImageJ stack of {found[1]} images with directories for {n_pages} only",
            "save it again as an ordinary TIFF",
        )
