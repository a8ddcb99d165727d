"""Write TIFF by tifffile: all pages and bands, EXIF, ICC profile, resolution and other tags."""

import io
import struct
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np
import tifffile

from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.ifd import (
    LONG,
    SIZES,
    Entry,
    Header,
    Order,
    pack_directory,
    read_directory,
    read_header,
)
from inpaint_app.io.formats.shared.metadata import (
    DESCRIPTIVE,
    child_directory,
    copied_entries,
    exif_resolution,
)
from inpaint_app.io.formats.tiff.reader import block_tags, swapped
from inpaint_app.model.picture import Array, Metadata, Picture

_STRIP_BYTES = 1024**2
#: What tifffile calls them; it refuses their numbers.
_CHILDREN = {tags.EXIF: "ExifTag", tags.GPS: "GPSTag"}
_STRUCTURAL = frozenset({tags.ORIENTATION, tags.X_RESOLUTION, tags.Y_RESOLUTION, tags.RESOLUTION_UNIT})


def encode_tiff(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write all pages of a picture, compressed losslessly (deflate).

    Encoded in memory, so that a full disk is seen by our own write.
    """
    exif = read_exif(picture.metadata)
    order: Order = "<" if exif is None else exif[0].order
    is_big = sum(page.pixels.nbytes for page in picture.pages) > 2**32 - 2**26
    children = {} if exif is None or is_big else _exif_children(*exif)
    packed = io.BytesIO()
    with tifffile.TiffWriter(packed, bigtiff=is_big, byteorder=order) as writer:
        for number, page in enumerate(picture.pages):
            values = _samples(page)
            own = exif if number == 0 else None
            options = page_options(page.metadata, values, order, own, has_alpha=page.alpha is not None)
            if number == 0:  # where the children will be is not known yet
                options["extratags"] += [(_CHILDREN[tag], LONG, 1, 0, True) for tag in children]
            rows = max(1, _STRIP_BYTES // max(1, values[:1].nbytes))
            writer.write(values, rowsperstrip=rows, **options)
    if children:
        _append_children(packed, children)
    with packed.getbuffer() as contents:  # released also where writing fails
        file.write(contents)


def read_exif(metadata: Metadata) -> tuple[Header, bytes] | None:
    """Return the EXIF block and its header; None if there is none."""
    return None if metadata.exif is None else (read_header(metadata.exif), metadata.exif)


def page_options(
    metadata: Metadata, samples: Array, order: Order, exif: tuple[Header, bytes] | None, *, has_alpha: bool
) -> dict[str, Any]:
    """Return the options of tifffile for metadata and compression of a page of samples, alpha the last."""
    options: dict[str, Any] = {}
    dpi = metadata.dpi
    if dpi is None and exif is not None:
        dpi = exif_resolution(exif[1])
    if dpi is not None:
        ratios = [Fraction(min(value, 1e6)).limit_denominator(1000) for value in dpi]
        options = {"resolution": [ratio.as_integer_ratio() for ratio in ratios], "resolutionunit": "inch"}
    n_samples = 1 if samples.ndim == 2 else samples.shape[2]
    n_bands = n_samples - has_alpha
    extra = ["unspecified"] * (n_bands - (3 if n_bands == 3 else 1)) + ["unassalpha"] * has_alpha
    return options | {
        "photometric": "rgb" if n_bands == 3 else "minisblack",
        "planarconfig": None if n_samples == 1 else "contig",
        "extrasamples": extra or None,
        "compression": "zlib",
        "compressionargs": {"level": 4 if samples.itemsize == 1 else 1},
        "predictor": 2 if samples.dtype.kind in "ui" else None,
        "iccprofile": metadata.icc,
        "metadata": None,
        "software": False,
        "extratags": _extra_tags(metadata, order, exif),
    }


def _samples(page: Picture) -> Array:
    """Return bands and alpha side by side."""
    if page.alpha is None:
        return page.pixels
    return np.concatenate((np.atleast_3d(page.pixels), page.alpha[..., None]), axis=2)


def _extra_tags(
    metadata: Metadata, order: Order, exif: tuple[Header, bytes] | None
) -> list[tuple[int, int, int, bytes, bool]]:
    """Return the tags of a page that tifffile does not write by itself, in the order of the file."""
    entries = {
        tag.number: Entry(tag.number, tag.kind, swapped(tag.payload, tag.kind, order))
        for tag in (*metadata.tags, *block_tags(metadata.blocks))
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


def _exif_children(header: Header, block: bytes) -> dict[int, list[Entry]]:
    """Return the fields of the camera and GPS directories of an EXIF block, by the tags that name them."""
    first = read_directory(block, header, header.first)
    found = {tag: child_directory(header, first, tag) for tag in _CHILDREN}
    return {tag: copied_entries(child) for tag, child in found.items() if child is not None}


def _append_children(packed: io.BytesIO, children: dict[int, list[Entry]]) -> None:
    """Append directories to a classic TIFF file, and let the tags of its first one point to them."""
    data = packed.getvalue()
    header = read_header(data)
    first = read_directory(data, header, header.first)
    for tag, entries in children.items():
        position = packed.seek(0, io.SEEK_END)
        position += packed.write(bytes(position % 2))
        packed.write(pack_directory(entries, header.order, position))
        packed.seek(first.fields[tag].position)
        packed.write(struct.pack(header.order + "I", position))
