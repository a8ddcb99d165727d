"""Zarr arrays, and the finest level of OME-Zarr images."""

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.errors import UserError, printable_path, reading_error
from inpaint_app.io.chunked.guarded import guarded, open_guarded
from inpaint_app.io.chunked.ome import Multiscale, picture_axes, read_multiscale
from inpaint_app.io.chunked.store import Store, checked_dtype, checked_shape
from inpaint_app.io.extra import load_extra
from inpaint_app.model.picture import Array, Metadata, Rect

SUFFIX = ".zarr"
_MAX_CHUNK = 512


@dataclass(frozen=True)
class ZarrImage:
    """A picture in an array of Zarr as rows, columns and channels, whatever the order of the axes."""

    array: Any  #: Along other axes, pictures are stacked.
    axes: tuple[int, ...] = (0, 1)  #: Which axes are rows, columns and, if there are any, channels.
    plane: int = 0  #: Which of the stacked pictures it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width and, if there is such an axis, number of channels."""
        return tuple(self.array.shape[axis] for axis in self.axes)

    @property
    def stacked(self) -> dict[int, int]:
        """The axes along which pictures are stacked, and their lengths."""
        return {axis: size for axis, size in enumerate(self.array.shape) if axis not in self.axes}

    def read(self, rect: Rect) -> Array:
        """Return the values of some pixels, (h, w) or (h, w, C)."""
        values = np.asarray(self.array[self._index(rect)])
        return values.transpose(self._order)

    def write(self, rect: Rect, values: Array) -> None:
        """Replace the values of some pixels."""
        self.array[self._index(rect)] = values.transpose(np.argsort(self._order))

    def has_block(self, rect: Rect) -> bool:
        """Return whether the shard, or chunk, in which some pixels begin has been written to this machine."""
        sides = self.array.shards or self.array.chunks
        starts = [each.start or 0 if isinstance(each, slice) else each for each in self._index(rect)]
        key = self.array.metadata.encode_chunk_key(
            tuple(start // side for start, side in zip(starts, sides, strict=True))
        )
        return Path(self.array.store.root, self.array.path, key).exists()

    @property
    def _order(self) -> tuple[int, ...]:
        """Where each axis is found in a single picture."""
        return tuple(int(place) for place in np.argsort(np.argsort(self.axes)))

    def _index(self, rect: Rect) -> tuple[slice | int, ...]:
        stacked = self.stacked
        places = np.unravel_index(self.plane, tuple(stacked.values())) if stacked else ()
        index: dict[int, slice | int] = {axis: int(at) for axis, at in zip(stacked, places, strict=True)}
        index |= dict(zip(self.axes, (*rect.slices, slice(None)), strict=False))
        return tuple(index[axis] for axis in range(self.array.ndim))


class ZarrStore(Store):
    """A picture in a Zarr array: rows, columns and perhaps channels; or an OME-Zarr image.

    An array may name its axes; along those that are none of these, pictures are stacked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        image = self.image
        self.shape = checked_shape(path, image.shape)
        self.dtype = checked_dtype(path, image.array.dtype)
        names = self.axis_names or [""] * image.array.ndim
        self.stack = tuple((names[axis], length) for axis, length in image.stacked.items() if length > 1)

    @cached_property
    def image(self) -> ZarrImage:
        """The array, and which of its axes are which."""
        array, multiscale = self._array, self.multiscale
        checked_dtype(self.path, array.dtype)
        if multiscale is None:
            axes = picture_axes(self.axis_names)
            axes = axes or tuple(range(len(checked_shape(self.path, array.shape))))
        else:
            axes = multiscale.picture_axes(self.path, array.ndim)
        return ZarrImage(guarded(self.path, array), axes)

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the array."""
        return _attributes(self.path, self._array)

    @cached_property
    def axis_names(self) -> list[str]:
        """The names of the axes, as Zarr v3 or xarray note them; none if there are none."""
        array = self._array
        names = array.metadata.to_dict().get("dimension_names") or self.attributes.get("_ARRAY_DIMENSIONS")
        if names is None:
            return []
        if not isinstance(names, list | tuple) or len(names) != array.ndim:
            raise UserError(
                f"{printable_path(self.path)} has {array.ndim} axes but names others",
                "mend its attribute _ARRAY_DIMENSIONS",
            )
        return [str(name) for name in names]

    @cached_property
    def _array(self) -> Any:  # noqa: ANN401  (of Zarr)
        node, multiscale = self._node, self.multiscale
        if multiscale is None:
            return node
        try:
            array = node[multiscale.datasets[0]]
        except UserError:
            raise
        except Exception:  # one of a dozen, by what is wrong with the path or its metadata
            array = None
        if not hasattr(array, "shape"):
            raise UserError(
                f"{printable_path(self.path)} has no array {multiscale.datasets[0]!r}", "get a fresh copy"
            )
        return array

    @cached_property
    def multiscale(self) -> Multiscale | None:
        """The OME metadata, if it is an OME-Zarr image."""
        node = self._node
        if hasattr(node, "shape"):
            return None
        try:
            return read_multiscale(self.path, _attributes(self.path, node))
        except UserError as error:
            pictures = [printable_path(self.path / name) for name, array in node.arrays() if array.ndim > 1]
            if not pictures:
                raise
            raise UserError(error.problem, f"name an array inside it, such as {pictures[0]}") from error

    @cached_property
    def _node(self) -> Any:  # noqa: ANN401  (a group or an array of Zarr)
        load_extra("zarr")
        try:
            return open_guarded(self.path)
        except UserError:
            raise
        except Exception as error:  # one of a dozen, by what is wrong with the metadata
            raise UserError(
                f"{printable_path(self.path)} could not be opened as Zarr", "check that it is a Zarr array"
            ) from error

    def read(self, rect: Rect, plane: int = 0) -> Array:
        """Return the values of some pixels."""
        try:
            values = replace(self.image, plane=plane).read(rect).astype(self.dtype, copy=False)
        except UserError:
            raise
        except OSError as error:
            raise reading_error(error, self.path) from error
        except Exception as error:  # of some codec
            raise UserError(f"{printable_path(self.path)} is damaged", "get a fresh copy") from error
        return values.reshape((*values.shape[:2], *self.shape[2:]))

    def metadata(self, plane: int = 0) -> Metadata:
        """Return which value means "no data"."""
        return Metadata(no_data=_no_data(self.image.array, self.attributes))


def _attributes(path: Path, node: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the attributes of a group or an array."""
    attributes = node.metadata.attributes
    if not isinstance(attributes, Mapping):
        raise UserError(f"{printable_path(path)} has attributes without names", "get a fresh copy")
    return dict(attributes)


def _no_data(array: Any, attributes: Mapping[str, Any]) -> float | None:  # noqa: ANN401
    """Return the value of an array for "no data", as GDAL and xarray note it."""
    value = None
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
    """Create a Zarr v3 array of which every block of pixels is one shard, to be written by one process alone.

    The axes are those of rows, columns and, if there are any, channels; the options are for
    `zarr.create_array`.
    """
    chunk = max(size for size in range(1, min(block, _MAX_CHUNK) + 1) if block % size == 0)
    chunks, shards = [1] * len(shape), [1] * len(shape)
    for axis, size in enumerate(shape):
        if axis in axes:
            is_side = axis in axes[:2]
            chunks[axis], shards[axis] = (chunk, block) if is_side else (size, size)
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
