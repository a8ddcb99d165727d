"""TIFF and BigTIFF files of any size: read by strips or tiles, written tile by tile."""

import mmap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import tifffile

from inpaint_app.cluster.stores.store import checked_shape
from inpaint_app.errors import DamagedError, UnsupportedError, UserError, printable_path, reading_error
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.exif import exif_of_tiff, resolution_of
from inpaint_app.files.formats.shared.ifd import read_directory, read_header
from inpaint_app.files.formats.tiff.extra_tags import read_blocks, read_tags
from inpaint_app.files.formats.tiff.layout import MIN_IS_BLACK, RGB, Layout, read_layout
from inpaint_app.files.formats.tiff.samples import read_channels
from inpaint_app.files.formats.tiff.segments import Piece, decode_pieces
from inpaint_app.files.formats.tiff.writer import page_options
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect

SUFFIXES = (".tif", ".tiff")
TILE = 512
_MAX_SEGMENT_BYTES = 256 * 1024**2
_RESAVE = "save it first with: gdal_translate -co TILED=YES -co BIGTIFF=YES"


class TiffStore:
    """The first page of a TIFF file, which must hold gray values, RGB or bands as they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        layout = self._layout
        shape = (layout.height, layout.width, layout.samples)
        self.shape = checked_shape(path, shape)
        self.dtype = layout.dtype

    @cached_property
    def _data(self) -> mmap.mmap:
        try:
            with self.path.open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise reading_error(error, self.path) from error

    @cached_property
    def _layout(self) -> Layout:
        name = printable_path(self.path)
        try:
            with tifffile.TiffFile(self.path) as file:
                page, n_pages = file.pages.first, sum(not _is_reduced(each) for each in file.pages)
                layout = read_layout(page, len(self._data), is_limited=False)
                channels = read_channels(layout)
        except (tifffile.TiffFileError, DamagedError) as error:
            raise _damaged(self.path) from error
        except UnsupportedError as error:
            raise UserError(f"{name} cannot be read: {error.problem}", error.remedy) from error
        except OSError as error:
            raise reading_error(error, self.path) from error
        if n_pages > 1:
            raise UserError(f"{name} has {n_pages} pages", "restore them one at a time")
        _check_plain(name, layout, has_alpha=channels.alpha is not None)
        return layout

    @cached_property
    def _mapped(self) -> Array | None:
        """All samples, if the file has them one after the other and not packed."""
        layout = self._layout
        if layout.compression != 1 or layout.page.is_tiled or layout.separate:
            return None
        step = layout.row_bytes * layout.segment_height
        if layout.offsets != tuple(range(layout.offsets[0], layout.offsets[-1] + 1, step)):
            return None
        shape = (layout.height, layout.width, layout.samples)
        return np.ndarray(shape, f"{layout.order}{layout.dtype.str[1:]}", self._data, layout.offsets[0])

    def read(self, rect: Rect) -> Array:
        """Return the values of some pixels."""
        values = np.full((rect.height, rect.width, self._layout.samples), self._fill, self.dtype)
        if self._mapped is not None:
            values[...] = self._mapped[rect.slices]
        else:
            try:
                for piece in decode_pieces(self._data, self._layout, self._segments(rect)):
                    _paste(piece, rect, values)
            except DamagedError as error:
                raise _damaged(self.path) from error
        return values.reshape((*values.shape[:2], *self.shape[2:]))

    def _segments(self, rect: Rect) -> Iterator[int]:
        """Return the numbers of the strips or tiles that hold some pixels; some have no bytes ("no data")."""
        layout = self._layout
        height, width = layout.segment_height, layout.segment_width
        for plane in range(layout.samples if layout.separate else 1):
            for down in range(rect.row // height, -(-(rect.row + rect.height) // height)):
                for across in range(rect.column // width, -(-(rect.column + rect.width) // width)):
                    index = (plane * layout.down + down) * layout.across + across
                    if layout.counts[index]:
                        yield index

    @cached_property
    def _fill(self) -> float:
        """What a tile without bytes holds."""
        no_data = self.properties().no_data
        if no_data is None or (self.dtype.kind != "f" and not _fits(no_data, self.dtype)):
            return 0
        return no_data

    def properties(self) -> Picture:
        """Return what the file tells about the picture, such as its place on Earth."""
        data = cast("bytes", self._data)
        header = read_header(data)
        directory = read_directory(data, header, self._layout.page.offset)
        try:
            no_data = float(directory.text(tags.NO_DATA))
        except ValueError:
            no_data = None
        return Picture(
            np.zeros((1, 1, *self.shape[2:]), self.dtype),
            exif=exif_of_tiff(header, directory),
            icc=directory.raw(tags.ICC) or None,
            dpi=resolution_of(directory),
            source_format="TIFF",
            no_data=no_data,
            tags=read_tags(directory),
            other_metadata=read_blocks(directory),
        )


def write_tiff(file: BinaryIO, shape: tuple[int, ...], picture: Picture, bands: Iterator[Array]) -> None:
    """Write a picture as BigTIFF.

    Parameters
    ----------
    file : BinaryIO
        Open for writing and seeking.
    shape : tuple of int
        (H, W) or (H, W, C).
    picture : Picture
        What to write beside the pixels, whose dtype is that of `picture`.
    bands : iterator of ndarray
        `TILE` whole rows at a time; the last one may have fewer.
    """
    exif = None if picture.exif is None else (read_header(picture.exif), picture.exif)
    order = "<" if exif is None else exif[0].order
    handle = tifffile.FileHandle(file, name="picture.tif")  # the file itself has no name yet
    with tifffile.TiffWriter(handle, bigtiff=True, byteorder=order) as writer:
        writer.write(
            _tiles(bands),
            shape=shape,
            dtype=picture.pixels.dtype,
            tile=(TILE, TILE),
            **page_options(picture, order, exif),
        )


def _tiles(bands: Iterator[Array]) -> Iterator[Array]:
    for band in bands:
        for left in range(0, band.shape[1], TILE):
            part = band[:, left : left + TILE]
            padding = [(0, TILE - part.shape[0]), (0, TILE - part.shape[1])] + [(0, 0)] * (part.ndim - 2)
            yield np.pad(part, padding, mode="edge")


def _check_plain(name: str, layout: Layout, *, has_alpha: bool) -> None:
    """Refuse what would have to be converted, or cannot be read in parts."""
    if layout.photometric not in (MIN_IS_BLACK, RGB) or layout.bits not in (8, 16, 32, 64):
        raise UserError(f"{name} holds neither gray values nor RGB of 8 to 32 bits", _RESAVE)
    if (layout.bits == 64 and layout.kind != "f") or (layout.bits, layout.kind) == (16, "f"):
        raise UserError(f"{name} holds values of the type {layout.dtype.name}", "convert it to float32 first")
    orientation = layout.page.tags.get(tags.ORIENTATION)
    if orientation is not None and orientation.value in range(2, 9):
        raise UserError(f"{name} is stored turned or mirrored", "save it upright first")
    if has_alpha:
        raise UserError(f"{name} has an alpha channel", "leave it out, and give a mask")
    if layout.compression != 1 and layout.row_bytes * layout.segment_height > _MAX_SEGMENT_BYTES:
        raise UserError(f"{name} cannot be read in parts", _RESAVE)


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def _is_reduced(page: Any) -> bool:  # noqa: ANN401  (a page or a frame)
    return page.index > 0 and bool(page.is_reduced)


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
