"""Zarr arrays, and the finest level of OME-Zarr images."""

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.cluster.extra import load_extra
from inpaint_app.cluster.stores.ome import Multiscale, read_multiscale
from inpaint_app.cluster.stores.store import checked_dtype, checked_shape, plain_properties
from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.files.paths import is_visible_file
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect

SUFFIX = ".zarr"
_MAX_CHUNK = 512


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a Zarr array or group."""
    return any(is_visible_file(path / name) for name in ("zarr.json", ".zarray", ".zgroup"))


@dataclass(frozen=True)
class ZarrImage:
    """An array of Zarr as rows, columns and channels, whatever the order of its axes.

    Attributes
    ----------
    array : zarr.Array
        Axes that are none of the three have a single entry.
    axes : tuple of int
        Which axes are rows, columns and, if there are any, channels.
    """

    array: Any
    axes: tuple[int, ...] = (0, 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width and, if there is such an axis, number of channels."""
        return tuple(self.array.shape[axis] for axis in self.axes)

    def read(self, rect: Rect) -> Array:
        """Return the values of some pixels, (h, w) or (h, w, C)."""
        values = np.asarray(self.array[self._index(rect)])
        return values.transpose(self._order)

    def write(self, rect: Rect, values: Array) -> None:
        """Replace the values of some pixels."""
        self.array[self._index(rect)] = values.transpose(np.argsort(self._order))

    @property
    def _order(self) -> tuple[int, ...]:
        """Where each axis is found once those of a single entry are gone."""
        return tuple(int(place) for place in np.argsort(np.argsort(self.axes)))

    def _index(self, rect: Rect) -> tuple[slice | int, ...]:
        index: list[slice | int] = [0] * self.array.ndim
        for axis, part in zip(self.axes, (*rect.slices, slice(None)), strict=False):
            index[axis] = part
        return tuple(index)


class ZarrStore:
    """A picture in a Zarr array: rows, columns and perhaps channels; or an OME-Zarr image."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shape = checked_shape(path, self.image.shape)
        self.dtype = checked_dtype(path, self.image.array.dtype)

    @cached_property
    def image(self) -> ZarrImage:
        """The array, and which of its axes are which."""
        array, multiscale = self._node, self.multiscale
        if multiscale is None:
            return ZarrImage(array, tuple(range(len(checked_shape(self.path, array.shape)))))
        try:
            array = array[multiscale.datasets[0]]
        except KeyError as error:
            raise UserError(
                f"{printable_path(self.path)} has no array {multiscale.datasets[0]!r}", "get a fresh copy"
            ) from error
        return ZarrImage(array, multiscale.picture_axes(self.path, array.shape))

    @cached_property
    def multiscale(self) -> Multiscale | None:
        """The OME metadata, if it is an OME-Zarr image."""
        is_array = hasattr(self._node, "shape")
        return None if is_array else read_multiscale(self.path, dict(self._node.attrs))

    @cached_property
    def _node(self) -> Any:  # noqa: ANN401  (a group or an array of Zarr)
        zarr = load_extra("zarr")
        try:
            return zarr.open(store=self.path, mode="r")
        except Exception as error:  # one of a dozen, by what is wrong with the metadata
            raise UserError(
                f"{printable_path(self.path)} could not be opened as Zarr", "check that it is a Zarr array"
            ) from error

    def read(self, rect: Rect) -> Array:
        """Return the values of some pixels."""
        try:
            values = self.image.read(rect).astype(self.dtype, copy=False)
        except OSError as error:
            raise reading_error(error, self.path) from error
        except Exception as error:  # of some codec
            raise UserError(f"{printable_path(self.path)} is damaged", "get a fresh copy") from error
        return values.reshape((*values.shape[:2], *self.shape[2:]))

    def properties(self) -> Picture:
        """Return what the store tells about the picture: which value means "no data"."""
        return plain_properties(self.shape, self.dtype, _no_data(self.image.array))


def _no_data(array: Any) -> float | None:  # noqa: ANN401
    """Return the value of an array for "no data", as GDAL and xarray note it."""
    attributes, value = dict(array.attrs), None
    if array.metadata.zarr_format == 2 and "_ARRAY_DIMENSIONS" in attributes:  # written by xarray
        value = array.fill_value
    value = attributes.get("nodata", attributes.get("_FillValue", value))
    try:
        if isinstance(value, str):  # xarray packs floats for Zarr v3
            return float(struct.unpack("<d", base64.b64decode(value, validate=True))[0])
        return None if value is None else float(value)
    except (TypeError, ValueError, struct.error):
        return None


def create_array(
    path: Path,
    shape: Sequence[int],
    dtype: np.dtype[Any] | str,
    block: int,
    *,
    axes: tuple[int, ...] = (0, 1, 2),
    options: Mapping[str, Any] | None = None,
) -> None:
    """Create a Zarr v3 array in which every block of pixels is one shard, to be written by one process alone.

    Parameters
    ----------
    path : Path
        A new folder.
    shape, dtype
        Of the array.
    block : int
        Side of a block.
    axes : tuple of int
        Which axes are rows, columns and, if there are any, channels.
    options : dict, optional
        For `zarr.create_array`.
    """
    chunk = max(size for size in range(1, min(block, _MAX_CHUNK) + 1) if block % size == 0)
    chunks, shards = list(shape), list(shape)
    for axis in axes[:2]:
        chunks[axis], shards[axis] = chunk, block
    load_extra("zarr").create_array(
        store=path,
        shape=tuple(shape),
        dtype=dtype,
        chunks=tuple(chunks),
        shards=tuple(shards),
        zarr_format=3,
        fill_value=0,
        **(options or {}),
    )
