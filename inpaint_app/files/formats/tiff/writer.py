"""Write TIFF by tifffile: all pages and bands, EXIF, ICC profile, resolution and other tags."""

import io
import struct
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np
import tifffile

from inpaint_app.errors import DamagedError
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.exif import DESCRIPTIVE, resolution_of
from inpaint_app.files.formats.shared.ifd import (
    LONG,
    SIZES,
    Directory,
    Entry,
    Header,
    Order,
    pack_directory,
    read_directory,
    read_header,
)
from inpaint_app.files.formats.tiff.extra_tags import block_tags, swapped
from inpaint_app.image.picture import Array, Picture

_STRIP_BYTES = 1024**2
_CHILDREN = (tags.EXIF, tags.GPS)
_STRUCTURAL = frozenset({tags.ORIENTATION, tags.X_RESOLUTION, tags.Y_RESOLUTION, tags.RESOLUTION_UNIT})


def encode_tiff(picture: Picture, file: BinaryIO, _quality: int = 100) -> None:
    """Write all pages of a picture, packed without loss (deflate).

    Encoded in memory, so that a full disk is seen by our own write.
    """
    exif = None if picture.exif is None else (read_header(picture.exif), picture.exif)
    order: Order = "<" if exif is None else exif[0].order
    n_bytes = sum(page.pixels.nbytes for page in picture.pages)
    packed = io.BytesIO()
    with tifffile.TiffWriter(packed, bigtiff=n_bytes > 2**32 - 2**26, byteorder=order) as writer:
        for number, page in enumerate(picture.pages):
            _write_page(writer, page, order, exif if number == 0 else None)
    if exif is not None:
        _link_children(packed, *exif)
    with packed.getbuffer() as contents:  # released also where writing fails
        file.write(contents)


def _write_page(
    writer: tifffile.TiffWriter, page: Picture, order: Order, exif: tuple[Header, bytes] | None
) -> None:
    values = _samples(page)
    rows = max(1, _STRIP_BYTES // max(1, values[:1].nbytes))
    writer.write(values, rowsperstrip=rows, **page_options(page, order, exif))


def page_options(page: Picture, order: Order, exif: tuple[Header, bytes] | None) -> dict[str, Any]:
    """Return what tifffile is to write beside the pixels, and how to pack them."""
    options: dict[str, Any] = {}
    dpi = page.dpi
    if dpi is None and exif is not None:
        dpi = resolution_of(read_directory(exif[1], exif[0], exif[0].first))
    if dpi is not None:
        ratios = [Fraction(min(value, 1e6)).limit_denominator(1000) for value in dpi]
        options = {"resolution": [ratio.as_integer_ratio() for ratio in ratios], "resolutionunit": "inch"}
    return options | {
        "photometric": "rgb" if page.is_color else "minisblack",
        "planarconfig": None if page.n_bands == 1 and page.alpha is None else "contig",
        "extrasamples": _extra_samples(page) or None,
        "compression": "zlib",
        "compressionargs": {"level": 4 if page.depth == 8 else 1},
        "predictor": 2 if page.pixels.dtype.kind in "ui" else None,
        "iccprofile": page.icc,
        "metadata": None,
        "software": False,
        "extratags": _extra_tags(page, order, exif),
    }


def _extra_samples(page: Picture) -> list[str]:
    """Return what the samples beyond gray or RGB are."""
    unspecified = ["unspecified"] * (page.n_bands - (3 if page.is_color else 1))
    return unspecified if page.alpha is None else [*unspecified, "unassalpha"]


def _samples(page: Picture) -> Array:
    """Return bands and alpha side by side."""
    if page.alpha is None:
        return page.pixels
    return np.concatenate((np.atleast_3d(page.pixels), page.alpha[..., None]), axis=2)


def _extra_tags(
    page: Picture, order: Order, exif: tuple[Header, bytes] | None
) -> list[tuple[int, int, int, bytes, bool]]:
    """Return the tags of a page that tifffile does not write by itself, in the order of the file."""
    entries = {
        tag.number: Entry(tag.number, tag.kind, swapped(tag.payload, tag.kind, order))
        for tag in (*page.tags, *block_tags(page.blocks))
    }
    if exif is not None:
        header, block = exif
        first = read_directory(block, header, header.first)
        for number, field in first.fields.items():
            if number in DESCRIPTIVE and number not in _STRUCTURAL and field.items:
                entries[number] = Entry(number, field.kind, first.raw(number))
        entries[tags.ORIENTATION] = Entry(tags.ORIENTATION, 3, struct.pack(order + "H", 1))
    return [
        (entry.tag, entry.kind, len(entry.payload) // SIZES[entry.kind], entry.payload, True)
        for entry in entries.values()
    ]


def _link_children(packed: io.BytesIO, header: Header, block: bytes) -> None:
    """Append the camera and GPS directories of an EXIF block, and a first directory that points to them.

    tifffile does not write such tags.
    """
    written = read_header(packed.getvalue()[:16])
    if written.big:
        return
    source = read_directory(block, header, header.first)
    target = read_directory(packed.getvalue(), written, written.first)
    entries = _entries(target)
    for tag in _CHILDREN:
        child = _child(block, header, source, tag)
        if child is not None:
            position = _append(packed, _entries(child), written.order)
            entries.append(Entry(tag, LONG, struct.pack(written.order + "I", position)))
    position = _append(packed, entries, written.order)
    packed.seek(position + 2 + 12 * len(entries))
    packed.write(struct.pack(written.order + "I", target.next_offset))
    packed.seek(4)
    packed.write(struct.pack(written.order + "I", position))


def _append(packed: io.BytesIO, entries: list[Entry], order: Order) -> int:
    """Append a directory and return its position."""
    position = packed.seek(0, io.SEEK_END)
    packed.write(bytes(position % 2))
    position += position % 2
    packed.write(pack_directory(entries, order, position))
    return position


def _entries(directory: Directory) -> list[Entry]:
    return [
        Entry(number, field.kind, directory.raw(number))
        for number, field in directory.fields.items()
        if field.kind <= 12 and field.items and number not in (*_CHILDREN, tags.INTEROPERABILITY)
    ]


def _child(block: bytes, header: Header, source: Directory, tag: int) -> Directory | None:
    try:
        offset = source.integer(tag, 0)
        return read_directory(block, header, offset) if offset else None
    except DamagedError:
        return None
