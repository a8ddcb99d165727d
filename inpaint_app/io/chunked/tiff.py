"""TIFF and BigTIFF files of any size: read by strips or tiles, written tile by tile."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import tifffile

from inpaint_app.errors import DamagedError, UnsupportedError, UserError, printable_path, reading_error
from inpaint_app.io.chunked.store import FileBytes, Store, checked_shape
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.ifd import read_directory, read_header
from inpaint_app.io.formats.tiff.page import (
    JPEG,
    MIN_IS_BLACK,
    NO_COMPRESSION,
    RGB,
    YCBCR,
    Piece,
    StoredPage,
    check_page,
    unmultiply,
)
from inpaint_app.io.formats.tiff.reader import distinct_pages, read_metadata, refuse_hidden_pages
from inpaint_app.io.formats.tiff.writer import page_options, read_exif
from inpaint_app.model.picture import Array, Metadata, Rect

SUFFIXES = (".tif", ".tiff")
TILE = 512
_MAX_SEGMENT_BYTES = 256 * 1024**2
_RESAVE = "save it first with: gdal_translate -co TILED=YES -co BIGTIFF=YES"


class TiffStore(Store):
    """The pages of a TIFF file, all of the same size: gray values, RGB or bands, stored as they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        pages = self._pages
        first = pages[0]
        self.shape = checked_shape(path, (*first.shape[:2], len(first.channels.bands)))
        self.dtype = first.dtype
        self.has_alpha = first.channels.alpha is not None
        self.stack = (("z", len(pages)),) if len(pages) > 1 else ()

    @cached_property
    def _data(self) -> FileBytes:
        return FileBytes(self.path)

    @cached_property
    def _pages(self) -> list[StoredPage]:
        """How each page is stored; reduced copies are left out."""
        name = printable_path(self.path)
        try:
            with tifffile.TiffFile(self.path) as file:
                pages = [
                    check_page(page, len(self._data), is_limited=False)
                    for page in distinct_pages(file)
                    if not _is_copy(page)
                ]
                refuse_hidden_pages(file.pages.first.description, len(pages))
                for each in pages:
                    _check_plain(name, each)
        except (tifffile.TiffFileError, DamagedError) as error:
            raise _damaged(self.path) from error
        except UnsupportedError as error:
            raise UserError(f"{name} cannot be read: {error.problem}", error.remedy) from error
        except OSError as error:
            raise reading_error(error, self.path) from error
        except (UserError, MemoryError):
            raise
        except Exception as error:  # tifffile meets hostile bytes; the user gets a sentence in any case
            raise _damaged(self.path) from error
        kinds = {(*each.shape, each.dtype, each.channels.bands, each.channels.alpha) for each in pages}
        if len(kinds) > 1:
            raise UserError(f"{name} has pages that differ in size or kind", "restore them one at a time")
        return pages

    def _start(self, plane: int) -> int | None:
        """Where the samples of a page begin, if the file has them one after the other and not packed."""
        stored = self._pages[plane]
        if stored.page.compression != NO_COMPRESSION or stored.page.is_tiled or stored.is_separate:
            return None
        offsets = stored.offsets
        return (
            offsets[0] if offsets == tuple(range(offsets[0], offsets[-1] + 1, stored.segment_bytes)) else None
        )

    def read(self, rect: Rect, plane: int = 0) -> Array:
        """Return the values of some pixels."""
        samples, channels = self._samples(rect, plane), self._pages[plane].channels
        values = samples if channels.alpha is None else samples[..., list(channels.bands)]
        values = values.reshape((*values.shape[:2], *self.shape[2:]))
        if channels.is_premultiplied:
            unmultiply(values, samples[..., channels.alpha])
        return values

    def read_alpha(self, rect: Rect, plane: int = 0) -> Array | None:
        """Return the opacity of some pixels."""
        alpha = self._pages[plane].channels.alpha
        return None if alpha is None else np.ascontiguousarray(self._samples(rect, plane)[..., alpha])

    def _samples(self, rect: Rect, plane: int) -> Array:
        """Return all samples of some pixels, (h, w, samples)."""
        stored, start = self._pages[plane], self._start(plane)
        if start is not None:
            dtype = stored.dtype.newbyteorder(stored.page.parent.byteorder)
            return self._data.read_box(start, stored.shape, dtype, rect.slices).astype(self.dtype, copy=False)
        values = np.full((rect.height, rect.width, stored.shape[2]), self._fill, self.dtype)
        try:
            for piece in stored.decode(cast("bytes", self._data), _segments(stored, rect)):
                _paste(piece, rect, values)
        except (DamagedError, TypeError) as error:  # places that are not whole numbers, too
            raise _damaged(self.path) from error
        return values

    @cached_property
    def _fill(self) -> float:
        """What a tile without bytes holds."""
        no_data = self.metadata().no_data
        if no_data is None or (self.dtype.kind != "f" and not _fits(no_data, self.dtype)):
            return 0
        return no_data

    def metadata(self, plane: int = 0) -> Metadata:
        """Return what the file tells about a page, such as its place on Earth."""
        data = cast("bytes", self._data)
        try:
            header = read_header(data)
            directory = read_directory(data, header, self._pages[plane].page.offset)
            found = read_metadata(header, directory, is_first=plane == 0)
        except DamagedError as error:
            raise _damaged(self.path) from error
        has_copies = len(self._pages) < len(self._pages[0].page.parent.pages)
        return replace(found, lost=(*found.lost, "reduced copies of the picture")) if has_copies else found


def write_tiff(
    file: BinaryIO,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    pages: Iterable[tuple[Metadata, Iterator[Array]]],
    *,
    has_alpha: bool = False,
) -> None:
    """Write pictures of a shape, (H, W) or (H, W, C) with alpha, as BigTIFF, one page for each.

    Of each page are given what to write beside the pixels, and `TILE` whole rows of pixels at a time, of
    which the last ones may be fewer.
    """
    handle, writer, order = tifffile.FileHandle(file, name="picture.tif"), None, None  # it has no name yet
    like = np.zeros((1, 1, *shape[2:]), dtype)
    with contextlib.ExitStack() as stack:
        for metadata, bands in pages:
            exif = read_exif(metadata)
            if writer is None or order is None:
                order = "<" if exif is None else exif[0].order
                writer = stack.enter_context(tifffile.TiffWriter(handle, bigtiff=True, byteorder=order))
            options = page_options(metadata, like, order, exif, has_alpha=has_alpha)
            writer.write(_tiles(bands), shape=shape, dtype=dtype, tile=(TILE, TILE), **options)


def _tiles(bands: Iterator[Array]) -> Iterator[Array]:
    for band in bands:
        for left in range(0, band.shape[1], TILE):
            part = band[:, left : left + TILE]
            padding = [(0, TILE - part.shape[0]), (0, TILE - part.shape[1])] + [(0, 0)] * (part.ndim - 2)
            yield np.pad(part, padding, mode="edge")


def _segments(stored: StoredPage, rect: Rect) -> Iterator[int]:
    """Yield the numbers of the strips or tiles that hold some pixels; some have no bytes ("no data")."""
    (height, width), (planes, n_down, n_across) = stored.segment_shape, stored.grid
    for plane in range(planes):
        for down in range(rect.row // height, -(-(rect.row + rect.height) // height)):
            for across in range(rect.column // width, -(-(rect.column + rect.width) // width)):
                index = (plane * n_down + down) * n_across + across
                if stored.counts[index]:
                    yield index


def _check_plain(name: str, stored: StoredPage) -> None:
    """Refuse what would have to be converted, or cannot be read in parts."""
    page, bits, kind = stored.page, stored.bits, stored.kind
    is_jpeg = (page.photometric, page.compression) == (YCBCR, JPEG)  # which is unpacked to RGB
    is_known = is_jpeg or page.photometric in (MIN_IS_BLACK, RGB)
    if not is_known or bits not in (8, 16, 32, 64):
        raise UserError(f"{name} holds neither gray values nor RGB of 8 to 32 bits", _RESAVE)
    if (bits == 64 and kind != "f") or (bits, kind) == (16, "f"):
        raise UserError(f"{name} holds values of the type {stored.dtype.name}", "convert it to float32 first")
    orientation = page.tags.get(tags.ORIENTATION)
    if orientation is not None and orientation.value in range(2, 9):
        raise UserError(f"{name} is stored turned or mirrored", "save it upright first")
    if page.compression != NO_COMPRESSION and stored.segment_bytes > _MAX_SEGMENT_BYTES:
        raise UserError(f"{name} cannot be read in parts", _RESAVE)


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def _is_copy(page: Any) -> bool:  # noqa: ANN401  (of tifffile)
    """Return whether a page is a smaller copy of another one, or its mask."""
    return page.index > 0 and bool(int(page.subfiletype or 0) & 5)


def _damaged(path: Path) -> UserError:
    return UserError(f"{printable_path(path)} is damaged", "get a fresh copy")


def _paste(piece: Piece, target: Rect, values: Array) -> None:
    """Copy those samples of a piece that lie in a rectangle, whose pixels `values` holds."""
    height, width, n_samples = piece.samples.shape
    shared = Rect(piece.top - target.row, piece.left - target.column, height, width).clipped(values.shape)
    if shared.is_empty:
        return
    row, column = shared.row + target.row - piece.top, shared.column + target.column - piece.left
    part = Rect(row, column, shared.height, shared.width)
    values[(*shared.slices, slice(piece.plane, piece.plane + n_samples))] = piece.samples[part.slices]
