"""Unpack the strips or tiles of a TIFF page into samples.

Packed segments are decoded by libtiff inside Pillow, whatever their sample type: many segments at a time
are wrapped into a TIFF of 8-bit gray rows whose width is the number of bytes of a row. Byte order,
predictor and arrangement are then NumPy's. So libtiff never sees the user's directory, and 16-bit and
float samples come out whole. (JPEG and fax segments hold pixels, not bytes: `_decode_whole`.)
"""

import contextlib
import ctypes
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, _imaging
from PIL.TiffImagePlugin import TiffImageFile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.bands import image_bands, row_bands
from inpaint_app.files.formats.shared.ifd import (
    UNDEFINED,
    Directory,
    Entry,
    Order,
    longs,
    pack_directory,
    shorts,
)
from inpaint_app.files.formats.tiff.layout import FAX, JPEG, MIN_IS_BLACK, NO_COMPRESSION, YCBCR, Layout
from inpaint_app.image.picture import Array

Bytes = npt.NDArray[np.uint8]

_BATCH_BYTES = 32 * 1024**2
_REVERSED_BITS = np.array([int(f"{value:08b}"[::-1], 2) for value in range(256)], np.uint8)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some decoded rows and where they belong.

    Attributes
    ----------
    samples : ndarray, (rows, columns, samples), in `Layout.dtype`
        Rows of strips, or of tiles below each other.
    plane : int
        Number of the first of the samples; above 0 only where planes are separate.
    spots : tuple of (int, int, int, int)
        First and last (exclusive) of the rows, and the row and column of the page where they begin.
    """

    samples: Array
    plane: int
    spots: tuple[tuple[int, int, int, int], ...]

    def put(self, values: Array, page: Array) -> None:
        """Copy values, made of the samples, to where they belong; what lies outside the page is padding."""
        for start, stop, top, left in self.spots:
            target = page[top : top + stop - start, left : left + values.shape[1]]
            target[...] = values[start : start + target.shape[0], : target.shape[1]]


def decode_pieces(directory: Directory, layout: Layout) -> Iterator[Piece]:
    """Yield the samples of a page, a few megabytes at a time unless a single strip or tile is larger.

    Parameters
    ----------
    directory : Directory
        Directory of the page, with the whole file.
    layout : Layout
        What the directory describes.
    """
    if layout.compression in (JPEG, *FAX):
        return _decode_whole(directory, layout)
    return _decode_segments(directory.data, layout)


def _decode_segments(data: bytes, layout: Layout) -> Iterator[Piece]:
    if layout.predictor not in (1, 2, 3) or (layout.predictor != 1 and layout.bits not in (8, 16, 32, 64)):
        raise UnsupportedError(f"its predictor ({layout.predictor}) is not read here", "save it without one")
    per_plane = layout.across * layout.down
    for plane in range(layout.samples if layout.separate else 1):
        for first, last in _batches(layout):
            for rows, band in _unpack(data, layout, plane * per_plane + first, plane * per_plane + last):
                yield Piece(_samples(band, layout), plane, tuple(_spots(layout, first, rows)))


def _batches(layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield ranges of segments of a plane; a batch of strips may end with the short last one."""
    total = layout.across * layout.down
    step = max(1, _BATCH_BYTES // (layout.row_bytes * layout.segment_height))
    for first in range(0, total, step):
        yield first, min(first + step, total)


def _n_rows(layout: Layout, first: int, last: int) -> int:
    rows = (last - first) * layout.segment_height
    per_plane = layout.across * layout.down
    if not layout.tiled and last % per_plane == 0:  # the last strip of a plane may be short
        rows -= layout.down * layout.segment_height - layout.height
    return rows


def _unpack(data: bytes, layout: Layout, first: int, last: int) -> Iterator[tuple[slice, Bytes]]:
    """Yield ranges of the rows of segments first..last-1, and their bytes, (rows, row_bytes)."""
    n_rows = _n_rows(layout, first, last)
    places = list(zip(layout.offsets[first:last], layout.counts[first:last], strict=True))
    if layout.compression == NO_COMPRESSION:
        stored = _stored_rows(data, layout, places, n_rows)
        for rows in row_bands(n_rows, layout.row_bytes):
            yield rows, _REVERSED_BITS[stored[rows]] if layout.reversed_bits else stored[rows]
        return
    parts = [data[offset : offset + count] for offset, count in places]
    if layout.reversed_bits:
        parts = [part.translate(_REVERSED_BITS.tobytes()) for part in parts]
    shape = [
        longs(tags.WIDTH, "<", layout.row_bytes),
        longs(tags.HEIGHT, "<", n_rows),
        shorts(tags.BITS, "<", 8),
        shorts(tags.COMPRESSION, "<", layout.compression),
        shorts(tags.PHOTOMETRIC, "<", MIN_IS_BLACK),
        shorts(tags.SAMPLES, "<", 1),
        longs(tags.STRIP_ROWS, "<", layout.segment_height),
    ]
    yield from image_bands(_libtiff(parts, shape, "<", tiled=False))


def _stored_rows(data: bytes, layout: Layout, places: list[tuple[int, int]], n_rows: int) -> Bytes:
    """Return the rows of segments that are not packed; of a single one without a copy."""
    size, expected = layout.row_bytes * layout.segment_height, n_rows * layout.row_bytes
    *full, (offset, count) = places
    if any(length < size for _, length in full) or count < expected - len(full) * size:
        raise DamagedError("parts of its pixels are missing")
    if not full:
        return np.frombuffer(data, np.uint8, count=expected, offset=offset).reshape(n_rows, layout.row_bytes)
    joined = b"".join(data[start : start + size] for start, _ in places)
    return np.frombuffer(joined, np.uint8, count=expected).reshape(n_rows, layout.row_bytes)


def _spots(layout: Layout, first: int, rows: slice) -> Iterator[tuple[int, int, int, int]]:
    """Yield where rows of the segments from number `first` on belong; see `Piece.spots`."""
    tall = layout.segment_height
    if not layout.tiled:
        yield 0, rows.stop - rows.start, first * tall + rows.start, 0
        return
    for index in range(rows.start // tall, -(-rows.stop // tall)):
        start, stop = max(rows.start, index * tall), min(rows.stop, (index + 1) * tall)
        down, across = divmod(first + index, layout.across)
        top = down * tall + start - index * tall
        yield start - rows.start, stop - rows.start, top, across * layout.segment_width


# libtiff prints what is wrong with damaged data; the user gets one sentence instead. Pillow turns off the
# warnings only. Where its libtiff cannot be reached (Windows), the lines appear.
with contextlib.suppress(OSError, AttributeError):
    ctypes.CDLL(_imaging.__file__).TIFFSetErrorHandler(None)


def _libtiff(parts: list[bytes], entries: list[Entry], order: Order, *, tiled: bool) -> Image.Image:
    """Decode segments as the TIFF file that `entries` describe.

    Pillow's own reader chooses the mode; its checks of metadata and size are done before and not wanted.
    """
    position, offsets = 8, []
    for part in parts:
        offsets.append(position)
        position += len(part)
    padding = position % 2
    places = [
        longs(tags.TILE_OFFSETS if tiled else tags.STRIP_OFFSETS, order, *offsets),
        longs(tags.TILE_COUNTS if tiled else tags.STRIP_COUNTS, order, *map(len, parts)),
    ]
    start = struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, position + padding)
    directory = pack_directory(entries + places, order, position + padding)
    wrapped = b"".join((start, *parts, bytes(padding), directory))
    try:
        image = TiffImageFile(io.BytesIO(wrapped))
        (tile,) = image.tile
        return Image.frombytes(image.mode, image.size, wrapped, tile.codec_name, tile.args)
    except (ValueError, OSError, SyntaxError) as error:
        raise DamagedError("its pixels cannot be unpacked") from error


def _samples(rows: Bytes, layout: Layout) -> Array:
    """Return samples, (rows, segment_width, segment_samples), native, predictor undone."""
    shape = (rows.shape[0], layout.segment_width, layout.segment_samples)
    if layout.bits % 8:
        return _unpack_bits(rows, layout).reshape(shape)
    size = layout.bits // 8
    if layout.predictor == 3 and layout.kind == "f":
        step = layout.segment_samples
        summed = np.add.accumulate(rows.reshape(rows.shape[0], -1, step), axis=1, dtype=np.uint8)
        planes = summed.reshape(rows.shape[0], size, -1)  # most significant bytes of a row first
        joined = np.ascontiguousarray(planes.swapaxes(1, 2)).view(f">f{size}")
        return joined.reshape(shape).astype(layout.dtype)
    whole = rows.view(f"{layout.order}u{size}").reshape(shape)
    if layout.predictor == 2:
        whole = np.add.accumulate(whole.astype(f"u{size}"), axis=1, dtype=f"u{size}")
    return whole.astype(f"u{size}", copy=False).view(layout.dtype)


def _unpack_bits(rows: Bytes, layout: Layout) -> Array:
    """Return samples of fewer than 8 or of 9 to 15 bits, packed from the most significant bit on."""
    n_samples = layout.segment_width * layout.segment_samples
    bits = np.unpackbits(rows, axis=1, count=n_samples * layout.bits)
    bits = bits.reshape(rows.shape[0], n_samples, layout.bits)
    values = np.zeros(bits.shape[:2], layout.dtype)
    for index in range(layout.bits):
        values <<= 1
        values |= bits[:, :, index]
    return values


def _decode_whole(directory: Directory, layout: Layout) -> Iterator[Piece]:
    """Yield the samples of a page with JPEG or fax compression, uint8; YCbCr as RGB."""
    fits = layout.bits == 1 and layout.samples == 1
    if layout.compression not in FAX:
        fits = layout.bits == 8 and layout.kind == "u" and not layout.separate
    if not fits:
        raise UnsupportedError(
            "its kind of compressed pixels is not read here", "save it with LZW or deflate"
        )
    places = zip(layout.offsets, layout.counts, strict=True)
    parts = [directory.data[offset : offset + count] for offset, count in places]
    image = _libtiff(parts, _described(layout, directory), layout.order, tiled=layout.tiled)
    if image.size != (layout.width, layout.height) or len(image.getbands()) != layout.samples:
        raise DamagedError("its pixels cannot be unpacked")
    for rows, band in image_bands(image):
        samples = band.astype(np.uint8, copy=False).reshape(band.shape[0], layout.width, layout.samples)
        yield Piece(samples, 0, ((0, band.shape[0], rows.start, 0),))


def _described(layout: Layout, directory: Directory) -> list[Entry]:
    """Return what libtiff needs to know of a page with JPEG or fax compression, one value each."""
    order, is_fax = layout.order, layout.compression in FAX
    entries = [
        longs(tags.WIDTH, order, layout.width),
        longs(tags.HEIGHT, order, layout.height),
        shorts(tags.BITS, order, *[layout.bits] * layout.samples),
        shorts(tags.COMPRESSION, order, layout.compression),
        shorts(tags.PHOTOMETRIC, order, MIN_IS_BLACK if is_fax else layout.photometric),  # we invert
        shorts(tags.SAMPLES, order, layout.samples),
        shorts(tags.FILL_ORDER, order, 2 if layout.reversed_bits else 1),
    ]
    if layout.tiled:
        entries.append(longs(tags.TILE_WIDTH, order, layout.segment_width))
        entries.append(longs(tags.TILE_HEIGHT, order, layout.segment_height))
    else:
        entries.append(longs(tags.STRIP_ROWS, order, layout.segment_height))
    for tag in (tags.T4_OPTIONS, tags.T6_OPTIONS) if is_fax else ():
        entries.append(longs(tag, order, directory.integer(tag, 0)))
    if directory.raw(tags.JPEG_TABLES):
        entries.append(Entry(tags.JPEG_TABLES, UNDEFINED, directory.raw(tags.JPEG_TABLES)))
    if layout.photometric == YCBCR:
        factors = directory.integers(tags.YCBCR_SUBSAMPLING, (2, 2))
        entries.append(shorts(tags.YCBCR_SUBSAMPLING, order, *(min(factor, 4) for factor in factors[:2])))
    return entries
