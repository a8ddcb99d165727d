"""Arrays: axes and container of what a user gives, regions of images, and reductions of tall arrays."""

import math
import operator
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.compiled import Kernel
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints

Scalar = TypeVar("Scalar", bound=np.generic)
Item = TypeVar("Item")
#: Rows and columns of an image.
Region = tuple[slice, slice]

_CHUNK_BYTES = 1 << 18


def chunk_rows(row_bytes: int) -> int:
    """Return how many rows of `row_bytes` bytes fit into a cache-sized chunk."""
    return max(1, _CHUNK_BYTES // max(row_bytes, 1))


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def nonzero_2d(mask: Bools) -> tuple[Ints, Ints]:
    """Return the rows and columns of the True entries of a mask (H, W), several times faster than NumPy."""
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return rows, columns


def positive_part_sums(gains: Floats, floors: Floats) -> Doubles:
    """Return the sums over t of max(0, gains[t, :] - floors[t]): (n,).

    Subtracting before summing keeps the result exactly zero if nothing exceeds its floor.
    """
    return _sum_positive_parts(gains, floors.astype(gains.dtype, copy=False))


@Kernel
def _sum_positive_parts(gains: Floats, floors: Floats) -> Doubles:
    sums = np.zeros(gains.shape[1])
    for row in range(len(gains)):
        part, floor = gains[row], floors[row]
        for column in range(len(sums)):
            difference = part[column] - floor
            sums[column] += difference if difference > 0 else 0
    return sums


def parts_of(shape: tuple[int, ...], size: int) -> Iterator[Region]:
    """Yield adjacent parts of an image, row by row, of this height and width at most."""
    for row in range(0, shape[0], size):
        for column in range(0, shape[1], size):
            yield slice(row, min(row + size, shape[0])), slice(column, min(column + size, shape[1]))


def row_bands(shape: tuple[int, ...], least: int = 1) -> list[slice]:
    """Cut the rows of an image into bands of about a megapixel, so that temporary arrays stay small.

    Bands but the last have at least so many rows.
    """
    step = max(least, (1 << 20) // shape[1])
    return [slice(top, min(top + step, shape[0])) for top in range(0, shape[0], step)]


def grown(region: Region, margin: int, shape: tuple[int, ...], grid: int = 1) -> Region:
    """Return a region with a margin, inside an image, which begins at a multiple of `grid`."""
    rows, columns = (
        slice(max(each.start - margin, 0) // grid * grid, min(each.stop + margin, length))
        for each, length in zip(region, shape[:2], strict=True)
    )
    return rows, columns


def within(region: Region, outer: Region) -> Region:
    """Return a region as a part of a larger one."""
    rows, columns = (slice(a.start - b.start, a.stop - b.start) for a, b in zip(region, outer, strict=True))
    return rows, columns


def evenly_spaced(items: Sequence[Item], n_wanted: int) -> list[Item]:
    """Return some of several items."""
    n = min(n_wanted, len(items))
    return [items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n)]


def has_square(holes: Bools, reach: int) -> bool:
    """Return whether a pixel of a mask (H, W) is farther than `reach` from all that are not in it."""
    if not holes.any():
        return False
    observed = np.pad(~holes, reach)  # what lies beyond the border is not observed
    return not all(
        any_in_windows(observed[rows.start : rows.stop + 2 * reach], 2 * reach + 1).all()
        for rows in row_bands(holes.shape)
    )


def any_in_windows(mask: Bools, size: int) -> Bools:
    """Return which size x size windows of a mask (H, W) hold a True entry: (H - size + 1, W - size + 1)."""
    n_known = 1
    while n_known < size:
        step = min(n_known, size - n_known)
        mask, n_known = mask[:-step] | mask[step:], n_known + step
        mask = mask[:, :-step] | mask[:, step:]
    return mask


Axis = int | str

#: Sizes of a last axis that is taken for channels without being named: one channel, or red, green and blue.
CHANNELS_LAST = (1, 3)
#: Packages whose arrays may be larger than memory.
_CHUNKED = ("dask", "zarr")


@dataclass(frozen=True)
class Layout:
    """The axes of an array: two of them span an image, one may be channels, the others count images."""

    shape: tuple[int, ...]
    spatial: tuple[int, int]
    channel: int | None

    @property
    def is_stack(self) -> bool:
        """Whether there are axes that count images."""
        return len(self.shape) > 2 + (self.channel is not None)

    @property
    def plane_shape(self) -> tuple[int, int]:
        """Height and width of an image."""
        return self.shape[self.spatial[0]], self.shape[self.spatial[1]]

    @property
    def n_channels(self) -> int:
        """Number of channels; 1 if there is no axis of channels."""
        return 1 if self.channel is None else self.shape[self.channel]

    @property
    def n_consecutive(self) -> int:
        """Number of images along the last axis that counts images: as many are next to each other."""
        stack = self._order[: -2 if self.channel is None else -3]
        return self.shape[stack[-1]] if stack else 1

    @property
    def _order(self) -> tuple[int, ...]:
        """Axes of the array, in the order of the axes of `split`."""
        named = (*self.spatial, *(() if self.channel is None else (self.channel,)))
        return (*(axis for axis in range(len(self.shape)) if axis not in named), *named)

    def split(self, array: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return an array of this layout as images: (n, H, W, C); a view if possible."""
        return array.transpose(self._order).reshape(-1, *self.plane_shape, self.n_channels)

    def join(self, images: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return images as they are split as an array of this layout."""
        moved = images.reshape([self.shape[axis] for axis in self._order])
        return moved.transpose(np.argsort(self._order))

    def split_mask(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask as (n, H, W, c) with c = 1 or C.

        Its shape is that of the array, of the array without channels, or of one image.
        """
        without_channels = tuple(n for axis, n in enumerate(self.shape) if axis != self.channel)
        if mask.shape == self.shape:
            return self.split(mask)
        if mask.shape == without_channels:
            spatial = [axis - (self.channel is not None and self.channel < axis) for axis in self.spatial]
            plain = Layout(without_channels, (spatial[0], spatial[1]), None)
            return plain.split(mask)
        if mask.shape == self.plane_shape:
            n_images = math.prod(without_channels) // math.prod(self.plane_shape)
            return np.broadcast_to(mask[None, :, :, None], (n_images, *mask.shape, 1))
        shapes = dict.fromkeys([self.shape, without_channels, self.plane_shape])
        raise ValueError(
            f"mask must have the shape of the image, {' or '.join(map(str, shapes))}, "
            f"but its shape is {mask.shape}."
        )

    def describe(self, number: int) -> str:
        """Return the place of an image in the array, such as ``[3, :, :]``."""
        stack = self._order[: -2 if self.channel is None else -3]
        at = dict(zip(stack, np.unravel_index(number, [self.shape[axis] for axis in stack]), strict=True))
        return f"[{', '.join(str(int(at[axis])) if axis in at else ':' for axis in range(len(self.shape)))}]"


def as_layout(
    shape: tuple[int, ...],
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    names: Sequence[str] = (),
) -> Layout:
    """Return the layout of an array, if there is no doubt about it.

    By default, channels are the last axis of a three-dimensional array if it has 1 or 3 entries, and rows
    and columns the axes of an array that has no others. Axes may be given by their names.
    """
    if len(shape) < 2 or 0 in shape:
        raise ValueError(f"image must have the shape (height, width) at least, and pixels, not {shape}.")
    channel = None if channel_axis is None else _as_axis(channel_axis, "channel_axis", len(shape), names)
    if axes is None:
        if channel is None and len(shape) == 3 and shape[2] in CHANNELS_LAST:
            channel = 2
        spatial = [axis for axis in range(len(shape)) if axis != channel]
        if len(spatial) != 2:
            raise ValueError(_ambiguity(shape, channel))
    else:
        if isinstance(axes, str) or np.ndim(axes) != 1 or len(axes) != 2:
            raise TypeError(f"axes must be the two axes of an image, such as (1, 2), not {axes!r}.")
        spatial = sorted(_as_axis(axis, "axes", len(shape), names) for axis in axes)
        if len({*spatial, channel}) < 3:
            raise ValueError(f"axes {axes!r} and channel_axis {channel_axis!r} must name different axes.")
    return Layout(shape, (spatial[0], spatial[1]), channel)


def _as_axis(value: Axis, name: str, n_axes: int, names: Sequence[str]) -> int:
    if isinstance(value, str):
        if value not in names:
            known = f"this image has {', '.join(map(repr, names))}" if names else "this image has no names"
            raise ValueError(f"{name} names the axis {value!r}, but {known}.")
        return list(names).index(value)
    try:
        axis = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must name axes by whole numbers such as -1, not {value!r}.") from None
    if not -n_axes <= axis < n_axes:
        raise ValueError(f"{name} {axis} is out of range for an image with {n_axes} axes.")
    return axis % n_axes


def _ambiguity(shape: tuple[int, ...], channel: int | None) -> str:
    rest = [axis for axis in range(len(shape)) if axis != channel]
    if len(rest) < 2:
        return f"image of shape {shape} has no rows and columns besides its channel_axis."
    stack = f"axes=({rest[-2]}, {rest[-1]}) restores a stack of images, such as a volume, one by one"
    if channel is None and len(shape) == 3:
        last = "the last axis holds" if min(shape) == shape[2] else "the axis with that number holds"
        number = -1 if min(shape) == shape[2] else int(np.argmin(shape))
        stack = f"channel_axis={number} says that {last} channels, {stack}"
    return f"It is not clear what the axes of an image of shape {shape} are: {stack}."


def is_data_array(value: object) -> bool:
    """Return whether a value is an xarray.DataArray; xarray is not imported for that."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(value, getattr(xarray, "DataArray", ()))


def axis_names(value: Any) -> tuple[str, ...]:  # noqa: ANN401  (whatever is given as an image)
    """Return the names of the axes of an xarray.DataArray; none for anything else."""
    return tuple(map(str, value.dims)) if is_data_array(value) else ()


def is_lazy(value: Any) -> bool:  # noqa: ANN401
    """Return whether a value is a Dask array, which is computed when it is needed."""
    return type(value).__module__.partition(".")[0] == "dask"


def check_in_memory(value: Any, name: str) -> None:  # noqa: ANN401
    """Refuse Dask and Zarr arrays, which may be larger than memory."""
    if is_data_array(value):
        if value.chunks is not None:
            raise TypeError(
                f"{name} holds Dask chunks; pass {name}.compute(), or {name}.data to restore it tile by tile "
                "(docs/arrays.md)."
            )
    elif (package := type(value).__module__.partition(".")[0]) in _CHUNKED:
        raise TypeError(
            f"{name} is an array of {package}, which may be larger than memory; pass np.asarray({name}), "
            "or Dask arrays to restore, which works tile by tile (docs/arrays.md)."
        )


def aligned(mask: Any, image: Any) -> ArrayLike:  # noqa: ANN401
    """Return a mask with its axes in the order of those of an image, if both have names."""
    if is_data_array(mask) and is_data_array(image) and set(mask.dims) <= set(image.dims):
        ordered: ArrayLike = mask.transpose(*(name for name in image.dims if name in mask.dims))
        return ordered
    return mask  # type: ignore[no-any-return]


def like(given: Any, values: NDArray[Any]) -> Any:  # noqa: ANN401
    """Return new values in the container of the given ones: an xarray.DataArray keeps its coordinates."""
    return given.copy(data=values) if is_data_array(given) else values
