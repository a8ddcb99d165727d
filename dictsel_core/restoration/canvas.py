"""An image and its mask, and the conversion to and from float planes of unit range."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.value_range import ValueRange, common_range

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]

#: Channels have ranges of their own if one spans less than this fraction of what all span together: in
#: unit range its detail would be lost. Otherwise they share a range, so that their differences are small.
_MIN_SHARE = 0.25
#: Integers of which all values are converted once, which is much faster than to convert pixel by pixel.
_TABULATED = (np.uint8, np.uint16)


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image and its mask, checked.

    Attributes
    ----------
    image : (H, W) or (H, W, C) ndarray
        As given.
    missing : (H, W, c) ndarray of bool
        One layer per channel, or a single layer for all of them.
    ranges : tuple of ValueRange
        Of the observed values, one for each channel; those of similar channels are equal.
    """

    image: NDArray[Any]
    missing: Bools
    ranges: tuple[ValueRange, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.image.shape[:2]
        return int(height), int(width)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.ranges)

    @property
    def pixels(self) -> NDArray[Any]:
        """The image with an axis of channels: (H, W, C)."""
        return _channels(self.image)

    @property
    def missing_fraction(self) -> float:
        """Fraction of the values that are missing."""
        return float(self.missing.mean())

    @property
    def observed_channels(self) -> tuple[bool, ...]:
        """Whether anything is observed of each channel."""
        observed = ~self.missing.all(axis=(0, 1))
        return tuple(np.broadcast_to(observed, self.n_channels).tolist())

    def part(self, region: Region) -> "Canvas":
        """Return a part of the image, in the same unit range."""
        return Canvas(self.image[region], self.missing[region], self.ranges)

    def mask(self, channel: int) -> Bools:
        """Missing pixels of one channel: (H, W)."""
        return self.missing[:, :, channel if self.missing.shape[2] > 1 else 0]

    def plane(self, channel: int) -> Plane:
        """One channel in unit range, zero where missing: (H, W)."""
        values, bounds = _channels(self.image)[:, :, channel], self.ranges[channel]
        plane = np.empty(self.shape, np.float32)
        mask = np.broadcast_to(self.mask(channel), self.shape)
        table = bounds.table(values.dtype) if values.dtype in _TABULATED else None
        for rows in _row_blocks(self.shape):
            if table is not None:
                np.take(table, values[rows], out=plane[rows], mode="clip")
                plane[rows][mask[rows]] = 0
                continue
            observed = np.where(mask[rows], values.dtype.type(bounds.low), values[rows])
            plane[rows] = bounds.to_unit(observed)
        return plane

    def values_at(self, channels: Ints, rows: Ints, columns: Ints) -> tuple[Plane, Bools]:
        """Return patches as rows, as they are in planes, and their mask: (T, h * w).

        Parameters
        ----------
        channels : (T,) ndarray of int
        rows : (T, h) ndarray of int
        columns : (T, w) ndarray of int
        """
        shape, at = (len(channels), rows.shape[1] * columns.shape[1]), (rows[:, :, None], columns[:, None, :])
        layers = channels if self.missing.shape[2] > 1 else np.zeros_like(channels)
        missing = self.missing[(*at, layers[:, None, None])].reshape(shape)
        values = _channels(self.image)[(*at, channels[:, None, None])].reshape(shape)
        unit = np.zeros(values.shape, np.float32)
        for channel in np.unique(channels):
            chosen, bounds = channels == channel, self.ranges[channel]
            observed = np.where(missing[chosen], values.dtype.type(bounds.low), values[chosen])
            unit[chosen] = bounds.to_unit(observed)
        return unit, missing

    def planes(self) -> Planes:
        """All channels in unit range, zero where missing: (H, W, n_channels)."""
        planes, image = np.empty((*self.shape, self.n_channels), np.float32), _channels(self.image)
        if self._has_table:
            table = self.ranges[0].table(image.dtype)
            for rows in _row_blocks(self.shape):  # all channels at once
                np.take(table, image[rows], out=planes[rows], mode="clip")
                planes[rows].reshape(-1, self.n_channels)[np.flatnonzero(self.missing[rows])] = 0
            return planes
        for channel in range(self.n_channels):
            planes[:, :, channel] = self.plane(channel)
        return planes

    @property
    def _has_table(self) -> bool:
        """Whether one table and one mask serve all channels."""
        return self.image.dtype in _TABULATED and len(set(self.ranges)) == 1 == self.missing.shape[2]

    def render(self, planes: Planes, *, keep_observed: bool = True) -> NDArray[Any]:
        """Return a copy of the image with its missing values taken from planes (H, W, n_channels).

        Values outside the observed range are clipped to it. Observed values are replaced too unless
        `keep_observed`.
        """
        return self.snapshot(planes, keep_observed=keep_observed)()

    def snapshot(self, planes: Planes, *, keep_observed: bool = True) -> Callable[[], NDArray[Any]]:
        """Keep what `render` needs of planes, which may change afterwards, and return what renders it."""
        kept = [
            self.ranges[channels.start].from_unit(_taken(planes[rows, :, channels], pixels), self.image.dtype)
            for rows, channels, pixels in self._parts(keep_observed)
        ]

        def render() -> NDArray[Any]:
            image = self.image.copy(order="K")
            for (rows, channels, pixels), values in zip(self._parts(keep_observed), kept, strict=True):
                _put(_channels(image)[rows, :, channels], pixels, values)
            return image

        return render

    def _parts(self, keep_observed: bool) -> Iterator[tuple[slice, slice, Ints | None]]:
        """Yield blocks of rows and channels of the same range, and the pixels to replace; None is all."""
        at_once = self.n_channels if len(set(self.ranges)) == 1 == self.missing.shape[2] else 1
        for rows in _row_blocks(self.shape):
            for channel in range(0, self.n_channels, at_once):
                if channel < self.missing.shape[2]:  # else as in the channel before
                    pixels = np.flatnonzero(self.mask(channel)[rows]) if keep_observed else None
                yield rows, slice(channel, channel + at_once), pixels


def _taken(block: NDArray[Any], pixels: Ints | None) -> NDArray[Any]:
    """Return some pixels of a block (h, w, C), counted row by row: (N, C); or all."""
    if pixels is None:
        return block
    if block.flags.c_contiguous:
        return block.reshape(-1, block.shape[2]).take(pixels, axis=0)
    rows, columns = np.divmod(pixels, block.shape[1])
    return block[rows, columns]


def _put(block: NDArray[Any], pixels: Ints | None, values: NDArray[Any]) -> None:
    """Set some pixels of a block, as `_taken` returns them."""
    if pixels is None:
        block[...] = values
    elif block.flags.c_contiguous:
        block.reshape(-1, block.shape[2])[pixels] = values
    else:
        rows, columns = np.divmod(pixels, block.shape[1])
        block[rows, columns] = values


def as_canvas(image: NDArray[Any], missing: Bools) -> Canvas:
    """Return the canvas of an image, if it can be restored.

    Parameters
    ----------
    image : (H, W) or (H, W, C) ndarray
        Integers or floats.
    missing : (H, W) or (H, W, c) ndarray of bool
        One layer per channel, or a single layer for all of them.
    """
    layers = as_layers(missing if missing.ndim == 3 else missing[:, :, None])
    if layers.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    return Canvas(image, layers, observed_ranges(image, layers))


def as_layers(missing: Bools) -> Bools:
    """Return a mask (H, W, c) in a single layer if all its layers are equal."""
    is_shared = missing.shape[2] == 1 or bool((missing == missing[:, :, :1]).all())
    return missing[:, :, :1] if is_shared else missing


def observed_ranges(image: NDArray[Any], missing: Bools) -> tuple[ValueRange, ...]:
    """Return the range of each channel; refuse values that planes cannot represent.

    Parameters
    ----------
    image : (H, W) or (H, W, C) ndarray
    missing : (H, W, c) ndarray of bool
    """
    return planes_ranges(channel_ranges(image, missing))


def channel_ranges(image: NDArray[Any], missing: Bools) -> tuple[ValueRange | None, ...]:
    """Return the range of the observed values of each channel; None where there are none.

    Parameters
    ----------
    image : (H, W) or (H, W, C) ndarray
    missing : (H, W, c) ndarray of bool
    """
    channels = _channels(image)
    return tuple(
        _observed_range(channels[:, :, channel], missing[:, :, channel if missing.shape[2] > 1 else 0])
        for channel in range(channels.shape[2])
    )


def _observed_range(values: NDArray[Any], missing: Bools) -> ValueRange | None:
    """Return the range of the observed values of a channel (H, W), if there are any."""
    found: list[ValueRange] = []
    for rows in _row_blocks(values.shape):
        observed = values[rows][~missing[rows]]
        if observed.size:
            found = [common_range([*found, _range(observed)])]
            if values.dtype.kind != "f" and found[0].high - found[0].low == _widest(values.dtype):
                break  # the rest of the channel cannot change it
    return found[0] if found else None


def _widest(dtype: np.dtype[Any]) -> int:
    """Return the largest difference of two integers of a dtype."""
    limits = np.iinfo(dtype)
    return int(limits.max) - int(limits.min)


def planes_ranges(found: tuple[ValueRange | None, ...]) -> tuple[ValueRange, ...]:
    """Return the range that becomes the unit range of each channel; refuse what planes cannot represent."""
    known = [each for each in found if each is not None]
    common = common_range(known)
    if not np.isfinite(common.span):
        raise ValueError(
            f"image ranges from {common.low:.3g} to {common.high:.3g}, which is too wide for float64; "
            "divide it by a constant."
        )
    if min(each.high - each.low for each in known) < _MIN_SHARE * common.span:
        return tuple(each or common for each in found)
    return (common,) * len(found)


def _range(values: NDArray[Any]) -> ValueRange:
    low, high = values.min(), values.max()  # NaN goes through both
    if values.dtype.kind != "f":
        return ValueRange(int(low), int(high))
    if not np.isfinite(low) or not np.isfinite(high):
        raise ValueError(
            "image must be finite where it is observed, but it holds NaN or infinity; "
            "mark such pixels as missing in the mask."
        )
    return ValueRange(float(low), float(high))


def _channels(image: NDArray[Any]) -> NDArray[Any]:
    """Return an image with an axis of channels: (H, W, C)."""
    return image[:, :, None] if image.ndim == 2 else image


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Cut rows into blocks, so that temporary arrays stay small."""
    step = max(1, (1 << 20) // shape[1])
    return [slice(top, min(top + step, shape[0])) for top in range(0, shape[0], step)]


def complete_planes(image: NDArray[Any], ranges: tuple[ValueRange, ...]) -> Planes:
    """Return a complete image (H, W) or (H, W, C) in some unit ranges, clipped to these."""
    nothing = np.zeros((*image.shape[:2], 1), bool)
    return np.clip(Canvas(image, nothing, ranges).planes(), 0, 1)


def in_ranges(planes: Planes, ranges: tuple[ValueRange, ...], others: tuple[ValueRange, ...]) -> Planes:
    """Return planes (H, W, C) of some unit ranges in those of others, clipped to these."""
    if ranges == others:
        return planes
    factors = [(a.span / b.span, float(a.low - b.low) / b.span) for a, b in zip(ranges, others, strict=True)]
    scale, shift = np.array(factors, np.float32).T
    return np.asarray(np.clip(planes * scale + shift, 0, 1))
