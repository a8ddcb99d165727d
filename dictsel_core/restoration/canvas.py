"""An image and its mask, and the conversion to and from float planes of unit range."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._validation import Bools, as_plain_array, masked_entries

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]

#: How many values a 64-bit integer has.
_WORDS = 1 << 64


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image and its mask, checked.

    Attributes
    ----------
    image : (H, W) or (H, W, C) ndarray
        As given. With 2 or 4 channels the last one is alpha.
    missing : (H, W, c) ndarray of bool
        One layer per color channel, or a single layer for all of them.
    low, high : int or float
        Smallest and largest observed color value, exactly. In planes they are 0 and 1.
    """

    image: NDArray[Any]
    missing: Bools
    low: int | float
    high: int | float

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.image.shape[:2]
        return int(height), int(width)

    @property
    def n_channels(self) -> int:
        """Number of channels to restore: all but alpha."""
        return n_color_channels(self.image)

    @property
    def missing_fraction(self) -> float:
        """Fraction of the color values that are missing."""
        return float(self.missing.mean())

    def mask(self, channel: int) -> Bools:
        """Missing pixels of one channel: (H, W)."""
        return self.missing[:, :, channel if self.missing.shape[2] > 1 else 0]

    def plane(self, channel: int) -> Plane:
        """One channel in unit range, zero where missing: (H, W)."""
        values = self.image if self.image.ndim == 2 else self.image[:, :, channel]
        plane = np.empty(self.shape, np.float32)
        mask = np.broadcast_to(self.mask(channel), self.shape)
        span = float(self.high - self.low) or 1.0
        table = None
        if values.dtype == np.uint8:  # a table of all values is much faster
            table = (self._above_lowest(np.arange(256, dtype=np.uint8)) / span).astype(np.float32)
        for rows in _row_blocks(self.shape):
            if table is not None:
                np.take(table, values[rows], out=plane[rows], mode="clip")
                plane[rows][mask[rows]] = 0
                continue
            observed = np.where(mask[rows], values.dtype.type(self.low), values[rows])
            plane[rows] = self._above_lowest(observed) / span
        return plane

    def planes(self) -> Planes:
        """All channels in unit range, zero where missing: (H, W, n_channels)."""
        planes = np.empty((*self.shape, self.n_channels), np.float32)
        for channel in range(self.n_channels):
            planes[:, :, channel] = self.plane(channel)
        return planes

    def render(self, planes: Planes, *, keep_observed: bool = True) -> NDArray[Any]:
        """Return a copy of the image with its missing values taken from planes (H, W, n_channels).

        Values outside the observed range are clipped to it. Missing pixels become opaque. Observed values
        are replaced too unless `keep_observed`.
        """
        return self.snapshot(planes, keep_observed=keep_observed)()

    def snapshot(self, planes: Planes, *, keep_observed: bool = True) -> Callable[[], NDArray[Any]]:
        """Keep what `render` needs of planes, which may change afterwards, and return what renders it."""
        span = float(self.high - self.low)
        kept = []
        for rows, channels, mask in self._blocks():
            values = planes[rows, :, channels].reshape(mask.size, -1)
            if keep_observed:
                values = values.take(np.flatnonzero(mask), axis=0)
            kept.append(self._from_above_lowest(np.clip(values.astype(np.float64), 0, 1) * span))

        def render() -> NDArray[Any]:
            image = self.image.copy()
            pixels = image.reshape(self.shape[0] * self.shape[1], -1)
            if image.ndim == 3 and image.shape[2] in (2, 4):
                opaque = np.iinfo(image.dtype).max if image.dtype.kind != "f" else 1
                pixels[np.flatnonzero(self.missing.all(axis=2)), -1] = opaque
            for (rows, channels, mask), values in zip(self._blocks(), kept, strict=True):
                block = pixels[rows.start * self.shape[1] : rows.stop * self.shape[1], channels]
                block[np.flatnonzero(mask) if keep_observed else slice(None)] = values
            return image

        return render

    def _blocks(self) -> Iterator[tuple[slice, slice, Bools]]:
        """Yield blocks of rows, and the channels that share a mask, with their mask in these rows."""
        n_layers = self.missing.shape[2]
        for rows in _row_blocks(self.shape):
            for layer in range(n_layers):
                channels = slice(0, self.n_channels) if n_layers == 1 else slice(layer, layer + 1)
                yield rows, channels, self.missing[rows, :, layer]

    def _above_lowest(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return how much observed values exceed the lowest one."""
        if values.dtype.kind == "f":
            return values.astype(np.float64) - self.low
        # Differences of 64-bit integers are exact modulo 2**64; floats would round them.
        return (values.astype(np.uint64) - np.uint64(self.low % _WORDS)).astype(np.float64)

    def _from_above_lowest(self, above: NDArray[np.float64]) -> NDArray[Any]:
        """Return the values that exceed the lowest one by given differences, in the dtype of the image."""
        if self.image.dtype.kind == "f":
            return np.clip(above + self.low, self.low, self.high).astype(self.image.dtype)
        if self.high - self.low < 1 << 32:  # exact in float64
            return (np.rint(above) + self.low).astype(self.image.dtype)
        # The largest difference itself may not be representable as a float.
        whole = np.minimum(np.rint(above), np.nextafter(float(_WORDS), 0)).astype(np.uint64)
        whole = np.where(above >= float(self.high - self.low), np.uint64(self.high - self.low), whole)
        return (whole + np.uint64(self.low % _WORDS)).astype(self.image.dtype)


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Cut rows into blocks, so that temporary arrays stay small."""
    step = max(1, (1 << 20) // shape[1])
    return [slice(top, min(top + step, shape[0])) for top in range(0, shape[0], step)]


def n_color_channels(image: NDArray[Any]) -> int:
    """Return the number of color channels of an (H, W) or (H, W, C) array."""
    if image.ndim == 2:
        return 1
    return int(image.shape[2]) - (image.shape[2] in (2, 4))


def as_canvas(image: ArrayLike, mask: ArrayLike | None) -> Canvas:
    """Check an image and its mask.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        Integers of any depth or floats; gray, gray + alpha, RGB or RGBA.
    mask : (H, W) or (H, W, C) array_like of bool, optional
        True = missing; per pixel, or per pixel and color channel (a layer for alpha is ignored). Masked
        entries of a masked array are missing too, so it needs no other mask.
    """
    pixels = np.asarray(image)
    if pixels.dtype.kind not in "iuf":
        raise TypeError(f"image must hold integers or floats, but its dtype is {pixels.dtype}.")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise ValueError(
            f"image must have the shape (height, width) or (height, width, 1 to 4), not {pixels.shape}."
        )
    missing = as_missing(image, mask)
    if missing.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    return Canvas(pixels, missing, *_observed_range(pixels, missing))


def as_missing(image: ArrayLike, mask: ArrayLike | None) -> Bools:
    """Return which values of an image are missing (H, W, c), in a single layer if all are equal."""
    masks = [] if mask is None else [as_plain_array(mask, "mask")]
    if (own := masked_entries(image)) is not None:
        masks.append(own)
    if not masks:
        raise TypeError("mask must say which pixels are missing, unless image is a masked array.")
    return _union([_as_layers(each, np.asarray(image)) for each in masks])


def _as_layers(mask: NDArray[Any], pixels: NDArray[Any]) -> Bools:
    """Return a mask with one layer per color channel, or a single layer for all of them: (H, W, c)."""
    if mask.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = missing), but its dtype is {mask.dtype}.")
    if mask.shape == pixels.shape[:2]:
        return mask[:, :, None]
    colors = n_color_channels(pixels)
    if mask.ndim == 3 and mask.shape[:2] == pixels.shape[:2] and mask.shape[2] >= colors:
        return mask[:, :, :colors]
    raise ValueError(
        f"mask must have the shape of the image, {pixels.shape} or {pixels.shape[:2]}, "
        f"but its shape is {mask.shape}."
    )


def _union(masks: list[Bools]) -> Bools:
    """Return the union of masks (H, W, c), in a single layer if all its layers are equal."""
    missing = masks[0]
    for other in masks[1:]:
        missing = missing | other
    return missing[:, :, :1] if (missing == missing[:, :, :1]).all() else missing


def _observed_range(pixels: NDArray[Any], missing: Bools) -> tuple[int | float, int | float]:
    """Return the smallest and the largest observed color value; refuse those that planes cannot represent."""
    extremes = []
    for channel in range(n_color_channels(pixels)):
        values = pixels if pixels.ndim == 2 else pixels[:, :, channel]
        observed = values[~missing[:, :, channel if missing.shape[2] > 1 else 0]]
        if observed.size:
            extremes += [observed.min(), observed.max()]  # NaN goes through both
    if pixels.dtype.kind != "f":
        return min(map(int, extremes)), max(map(int, extremes))
    if not np.isfinite(extremes).all():
        raise ValueError(
            "image must be finite where it is observed, but it holds NaN or infinity; "
            "mark such pixels as missing in the mask."
        )
    low, high = float(min(extremes)), float(max(extremes))
    if not np.isfinite(high - low):
        raise ValueError(
            f"image ranges from {min(extremes):.3g} to {max(extremes):.3g}, which is too wide for float64; "
            "divide it by a constant."
        )
    return low, high
