"""An image with missing pixels, and the conversion to and from float planes of unit range."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region, row_bands
from dictsel_core._util.validation import Bools, Ints

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]

#: Channels have ranges of their own if one spans less than this fraction of what all span together: in
#: unit range its detail would be lost. Otherwise they share a range, so that their differences are small.
_MIN_SHARE = 0.25
#: How many values a 64-bit integer has.
_WORDS = 1 << 64


@dataclass(frozen=True)
class ValueRange:
    """Smallest and largest value of a channel, exactly. In unit range they are 0 and 1."""

    low: int | float
    high: int | float

    @property
    def span(self) -> float:
        """The difference of both; 1 if there is none."""
        return float(self.high - self.low) or 1.0

    def to_unit(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return values in unit range; those outside this range are below 0 or above 1."""
        if values.dtype.kind == "f":
            above = values.astype(np.float64) - self.low
        else:  # Differences of 64-bit integers are exact modulo 2**64; floats would round them.
            whole, low = values.astype(np.uint64), np.uint64(self.low % _WORDS)
            above, below = (whole - low).astype(np.float64), values < self.low
            if below.any():
                above[below] = -(low - whole[below]).astype(np.float64)
        return above / self.span

    def from_unit(self, unit: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values in unit range in this range; clipped, and rounded if they are integers."""
        above = np.clip(unit.astype(np.float64), 0, 1) * float(self.high - self.low)
        if dtype.kind == "f":
            return np.clip(above + self.low, self.low, self.high).astype(dtype)
        if max(-self.low, self.high) <= 1 << 53:  # exact in float64
            return (np.rint(above) + self.low).astype(dtype)
        # The largest difference itself may not be representable as a float.
        whole = np.minimum(np.rint(above), np.nextafter(float(_WORDS), 0)).astype(np.uint64)
        whole = np.where(above >= float(self.high - self.low), np.uint64(self.high - self.low), whole)
        return (whole + np.uint64(self.low % _WORDS)).astype(dtype)


@dataclass(frozen=True, eq=False)
class Image:
    """An image or a tile of one, and what of it is missing; checked."""

    pixels: NDArray[Any]  #: (H, W, C), as given
    missing: Bools  #: (H, W, c), with one layer per channel, or a single one for all of them
    ranges: tuple[ValueRange, ...]  #: of the observed values, one for each channel; equal if similar

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.pixels.shape[:2]
        return int(height), int(width)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.ranges)

    @property
    def shares_mask(self) -> bool:
        """Whether all channels miss the same pixels."""
        return bool(self.missing.shape[2] == 1)

    @property
    def missing_fraction(self) -> float:
        """Fraction of the values that are missing."""
        return float(self.missing.mean())

    @property
    def observed_channels(self) -> tuple[bool, ...]:
        """Whether anything is observed of each channel."""
        observed = ~self.missing.all(axis=(0, 1))
        return tuple(np.broadcast_to(observed, self.n_channels).tolist())

    def part(self, region: Region) -> "Image":
        """Return a part of the image, in the same unit range."""
        return Image(self.pixels[region], self.missing[region], self.ranges)

    def mask(self, channel: int) -> Bools:
        """Missing pixels of one channel: (H, W)."""
        return self.missing[:, :, 0 if self.shares_mask else channel]

    def planes(self) -> Planes:
        """All channels in unit range, zero where missing: (H, W, C)."""
        planes = np.empty(self.pixels.shape, np.float32)
        for channels in self._alike():
            self._convert(channels, planes[:, :, channels])
        return planes

    def plane(self, channel: int) -> Plane:
        """One channel in unit range, zero where missing: (H, W)."""
        plane = np.empty((*self.shape, 1), np.float32)
        self._convert(slice(channel, channel + 1), plane)
        return plane[:, :, 0]

    def _alike(self) -> list[slice]:
        """Return channels that are converted together: all of them, if they share mask and range."""
        n = self.n_channels
        at_once = n if self.shares_mask and len(set(self.ranges)) == 1 else 1
        return [slice(channel, channel + at_once) for channel in range(0, n, at_once)]

    def _convert(self, channels: slice, out: Planes) -> None:
        values, bounds = self.pixels[:, :, channels], self.ranges[channels.start]
        missing, dtype = self.mask(channels.start), self.pixels.dtype
        if dtype.kind == "f" or dtype.itemsize > 2:
            for rows in row_bands(self.shape):
                hidden = missing[rows][:, :, None]
                out[rows] = bounds.to_unit(np.where(hidden, dtype.type(bounds.low), values[rows]))
            return
        for rows in row_bands(self.shape):  # the quotient of such numbers has the same bits in float32
            np.subtract(values[rows], np.float32(bounds.low), out=out[rows])
            out[rows] /= np.float32(bounds.span)
            _put(out[rows], np.flatnonzero(missing[rows]), np.float32(0))

    def patches(self, channel: int, rows: Ints, columns: Ints) -> tuple[Plane, Bools]:
        """Return patches of a plane as rows, and their mask: (T, h * w); their rows are (T, h)."""
        at, shape = (rows[:, :, None], columns[:, None, :]), (len(rows), rows.shape[1] * columns.shape[1])
        missing, values = self.mask(channel)[at], self.pixels[(*at, channel)]
        bounds = self.ranges[channel]
        unit = bounds.to_unit(np.where(missing, values.dtype.type(bounds.low), values))
        return unit.reshape(shape).astype(np.float32), missing.reshape(shape)

    def render(self, planes: Planes, *, keep_observed: bool = True) -> NDArray[Any]:
        """Return a copy of the pixels with missing values, or all, from planes, (H, W, C), clipped."""
        return self.snapshot(planes, keep_observed=keep_observed)()

    def snapshot(self, planes: Planes, *, keep_observed: bool = True) -> Callable[[], NDArray[Any]]:
        """Keep what `render` needs of planes, which may change afterwards, and return what renders it."""
        kept = [
            self.ranges[channels.start].from_unit(_taken(planes[rows, :, channels], at), self.pixels.dtype)
            for rows, channels, at in self._replaced(keep_observed)
        ]

        def render() -> NDArray[Any]:
            pixels = self.pixels.copy(order="K")
            for (rows, channels, at), values in zip(self._replaced(keep_observed), kept, strict=True):
                _put(pixels[rows, :, channels], at, values)
            return pixels

        return render

    def _replaced(self, keep_observed: bool) -> Iterator[tuple[slice, slice, Ints | None]]:
        """Yield rows, channels of the same range, and the pixels of these to replace; None is all."""
        for rows in row_bands(self.shape):
            for channels in self._alike():
                if channels.start < self.missing.shape[2]:  # else as in the channel before
                    at = np.flatnonzero(self.mask(channels.start)[rows]) if keep_observed else None
                yield rows, channels, at


def _taken(block: NDArray[Any], at: Ints | None) -> NDArray[Any]:
    """Return some pixels of a block (h, w, C), counted row by row: (N, C); or all."""
    if at is None:
        return block
    if block.flags.c_contiguous:  # several times faster
        return block.reshape(-1, block.shape[2]).take(at, axis=0)
    rows, columns = np.divmod(at, block.shape[1])
    return block[rows, columns]


def _put(block: NDArray[Any], at: Ints | None, values: Any) -> None:  # noqa: ANN401  (an array or a number)
    """Set some pixels of a block, as `_taken` returns them."""
    if at is None:
        block[...] = values
    elif block.flags.c_contiguous:
        block.reshape(-1, block.shape[2])[at] = values
    else:
        rows, columns = np.divmod(at, block.shape[1])
        block[rows, columns] = values


def as_image(pixels: NDArray[Any], missing: Bools) -> Image:
    """Return pixels (H, W, C) and their mask (H, W, c) as an image, if that can be restored."""
    layers = as_layers(missing)
    if layers.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    return Image(pixels, layers, unit_ranges(observed_ranges(pixels, layers)))


def as_layers(missing: Bools) -> Bools:
    """Return a mask (H, W, c) in a single layer if all its layers are equal."""
    is_shared = missing.shape[2] == 1 or bool((missing == missing[:, :, :1]).all())
    return missing[:, :, :1] if is_shared else missing


def observed_ranges(pixels: NDArray[Any], missing: Bools) -> tuple[ValueRange | None, ...]:
    """Return the range of the observed values of each channel (H, W, C); None where there are none."""
    return tuple(
        _observed_range(pixels[:, :, channel], missing[:, :, channel if missing.shape[2] > 1 else 0])
        for channel in range(pixels.shape[2])
    )


def _observed_range(values: NDArray[Any], missing: Bools) -> ValueRange | None:
    """Return the range of the observed values of a channel (H, W), if there are any."""
    found: ValueRange | None = None
    info = None if values.dtype.kind == "f" else np.iinfo(values.dtype)
    widest = info and ValueRange(int(info.min), int(info.max))
    for rows in row_bands(values.shape):
        observed = values[rows][~missing[rows]]
        if observed.size:
            found = joint_range(found, _range(observed))
        if found is not None and found == widest:
            break  # the rest of the channel cannot change it
    return found


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


def joint_range(*ranges: ValueRange | None) -> ValueRange | None:
    """Return the smallest range that holds all of these, if there are any."""
    known = [each for each in ranges if each is not None]
    if not known:
        return None
    return ValueRange(min(each.low for each in known), max(each.high for each in known))


def unit_ranges(observed: tuple[ValueRange | None, ...]) -> tuple[ValueRange, ...]:
    """Return the range that becomes the unit range of each channel; refuse what planes cannot represent."""
    common = joint_range(*observed)
    assert common is not None, "something is observed"
    if not np.isfinite(common.span):
        raise ValueError(
            f"image ranges from {common.low:.3g} to {common.high:.3g}, which is too wide for float64; "
            "divide it by a constant."
        )
    if min(each.high - each.low for each in observed if each) < _MIN_SHARE * common.span:
        return tuple(each or common for each in observed)
    return (common,) * len(observed)


def complete_planes(pixels: NDArray[Any], ranges: tuple[ValueRange, ...]) -> Planes:
    """Return a complete image (H, W, C) in some unit ranges, clipped to these."""
    nothing = np.zeros((*pixels.shape[:2], 1), bool)
    return np.clip(Image(pixels, nothing, ranges).planes(), 0, 1)


def in_ranges(planes: Planes, ranges: tuple[ValueRange, ...], others: tuple[ValueRange, ...]) -> Planes:
    """Return planes (H, W, C) of some unit ranges in those of others, clipped to these."""
    if ranges == others:
        return planes
    factors = [(a.span / b.span, float(a.low - b.low) / b.span) for a, b in zip(ranges, others, strict=True)]
    scale, shift = np.array(factors, np.float32).T
    return np.asarray(np.clip(planes * scale + shift, 0, 1))
