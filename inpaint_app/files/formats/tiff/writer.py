"""Write TIFF with 8 or 16 bits or float32, EXIF, ICC profile and resolution.

An EXIF block is itself a TIFF structure whose offsets count from its start. So the file begins with the
block, unchanged: its camera and GPS directories and maker notes stay valid where they are, and only the
first directory is replaced by one at the end that also describes the pixels.
"""

import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import BinaryIO

import numpy as np

from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.exif import DESCRIPTIVE
from inpaint_app.files.formats.shared.ifd import (
    RATIONAL,
    UNDEFINED,
    Entry,
    Order,
    longs,
    pack_directory,
    read_directory,
    read_header,
    shorts,
)
from inpaint_app.image.picture import Array, Picture

_DEFLATE, _HORIZONTAL, _INCH, _ALPHA = 8, 2, 2, 2
_STRIP_BYTES = 1024**2


def encode_tiff(picture: Picture, file: BinaryIO, _quality: int = 100) -> None:
    """Write a picture, packed without loss (deflate).

    Parameters
    ----------
    picture : Picture
        Of any dtype.
    file : BinaryIO
        Open for writing at its start.
    """
    block = picture.exif or struct.pack("<2sHI", b"II", 42, 0)
    order: Order = "<" if block[:2] == b"II" else ">"
    file.write(block)
    position = len(block)
    rows = max(1, _STRIP_BYTES // (picture.width * picture.pixels.itemsize * 4))
    offsets, counts = [], []
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for packed in pool.map(lambda top: _strip(picture, top, rows, order), range(0, picture.height, rows)):
            file.write(packed)
            offsets.append(position)
            counts.append(len(packed))
            position += len(packed)
    file.write(bytes(position % 2))
    position += position % 2
    entries = _entries(picture, order)
    entries += [longs(tags.STRIP_ROWS, order, rows), longs(tags.STRIP_OFFSETS, order, *offsets)]
    entries += [longs(tags.STRIP_COUNTS, order, *counts)]
    own = {entry.tag for entry in entries}
    entries += [entry for entry in _kept(picture.exif) if entry.tag not in own]
    file.write(pack_directory(entries, order, position))
    file.seek(4)
    file.write(struct.pack(order + "I", position))
    file.seek(0, os.SEEK_END)


def _strip(picture: Picture, top: int, rows: int, order: Order) -> bytes:
    """Return packed rows; for integers the differences to the left neighbour."""
    values: Array = np.atleast_3d(picture.pixels[top : top + rows])
    if picture.alpha is not None:
        values = np.concatenate((values, picture.alpha[top : top + rows, :, np.newaxis]), axis=2)
    if values.dtype.kind == "u":
        values = np.diff(values, axis=1, prepend=values.dtype.type(0))
    swapped = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder(order))
    return zlib.compress(swapped.tobytes(), 4 if picture.depth == 8 else 1)


def _entries(picture: Picture, order: Order) -> list[Entry]:
    """Return the entries that describe the pixels, strips aside."""
    samples = (3 if picture.is_color else 1) + (0 if picture.alpha is None else 1)
    is_float = picture.depth == 32
    entries = [
        longs(tags.WIDTH, order, picture.width),
        longs(tags.HEIGHT, order, picture.height),
        shorts(tags.BITS, order, *[picture.depth] * samples),
        shorts(tags.COMPRESSION, order, _DEFLATE),
        shorts(tags.PHOTOMETRIC, order, 2 if picture.is_color else 1),
        shorts(tags.SAMPLES, order, samples),
        shorts(tags.PLANAR, order, 1),
        shorts(tags.PREDICTOR, order, 1 if is_float else _HORIZONTAL),
        shorts(tags.SAMPLE_FORMAT, order, *[3 if is_float else 1] * samples),
    ]
    if picture.alpha is not None:
        entries.append(shorts(tags.EXTRA_SAMPLES, order, _ALPHA))
    if picture.icc is not None:
        entries.append(Entry(tags.ICC, UNDEFINED, picture.icc))
    if picture.dpi is not None:
        for tag, value in zip((tags.X_RESOLUTION, tags.Y_RESOLUTION), picture.dpi, strict=True):
            ratio = Fraction(min(value, 1e6)).limit_denominator(1000)
            entries.append(Entry(tag, RATIONAL, struct.pack(order + "II", *ratio.as_integer_ratio())))
        entries.append(shorts(tags.RESOLUTION_UNIT, order, _INCH))
    return entries


def _kept(exif: bytes | None) -> list[Entry]:
    """Return the descriptive entries of an EXIF block's first directory; their pointers stay valid."""
    if exif is None:
        return []
    header = read_header(exif)
    directory = read_directory(exif, header, header.first)
    return [
        Entry(tag, field.kind, directory.raw(tag))
        for tag, field in directory.fields.items()
        if tag in DESCRIPTIVE or tag in (tags.EXIF, tags.GPS)
    ]
