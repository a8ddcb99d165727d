"""The picture as the stages see it: float planes of about unit range, with their masks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._validation import Bools, as_plain_array, masked_entries

Plane = NDArray[np.float32]

#: How many values a 64-bit integer has.
_WORDS = 1 << 64


@dataclass(frozen=True, eq=False)
class Canvas:
    """A picture and its mask, checked.

    Attributes
    ----------
    image : (H, W) or (H, W, C) ndarray
        As given. With 2 or 4 channels the last one is alpha.
    missing : (H, W, c) ndarray of bool
        One layer per colour channel; a single layer that all share where c = 1 < n_channels.
    low, high : int or float
        Smallest and largest observed colour value, exactly. In a plane they are 0 and 1.
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
        """Number of channels to restore; alpha is none of them."""
        return n_colours(self.image)

    @property
    def missing_fraction(self) -> float:
        """Part of the colour values that are missing."""
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
        for rows in _row_blocks(self.shape):
            observed = np.where(mask[rows], values.dtype.type(self.low), values[rows])
            plane[rows] = self._above_lowest(observed) / span
        return plane

    def planes(self, picture: NDArray[Any]) -> NDArray[np.float32]:
        """Return all channels of a complete picture like this one, in unit range: (H, W, n_channels)."""
        complete = replace(self, image=picture, missing=np.zeros((1, 1, 1), bool))
        return np.stack([complete.plane(channel) for channel in range(self.n_channels)], axis=2)

    def blank(self) -> NDArray[Any]:
        """Return a copy of the picture to put restored channels into; missing pixels become opaque."""
        copy = self.image.copy()
        if copy.ndim == 3 and copy.shape[2] in (2, 4):
            opaque = np.iinfo(copy.dtype).max if np.issubdtype(copy.dtype, np.integer) else 1
            copy[self.missing.all(axis=2), -1] = opaque
        return copy

    def put(self, picture: NDArray[Any], channel: int, rows: slice, band: Plane, where: Bools) -> None:
        """Put restored rows of a plane into `picture`, in its own range and dtype, where told to."""
        # Nothing that is restored leaves the range of what was observed.
        above = np.clip(band.astype(np.float64), 0, 1) * float(self.high - self.low)
        target = picture[rows] if picture.ndim == 2 else picture[rows, :, channel]
        np.copyto(target, self._from_above_lowest(above), where=where)

    def _above_lowest(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return how much observed values exceed the lowest one."""
        if values.dtype.kind == "f":
            return values.astype(np.float64) - self.low
        # Differences of integers are exact modulo 2**64, whatever their sign, where those of floats are not.
        return (values.astype(np.uint64) - np.uint64(self.low % _WORDS)).astype(np.float64)

    def _from_above_lowest(self, above: NDArray[np.float64]) -> NDArray[Any]:
        """Return values that exceed the lowest one by so much, in the dtype of the image."""
        if self.image.dtype.kind == "f":
            return np.clip(above + self.low, self.low, self.high).astype(self.image.dtype)
        # The largest difference itself may not be a float.
        whole = np.minimum(np.rint(above), np.nextafter(float(_WORDS), 0)).astype(np.uint64)
        whole = np.where(above >= float(self.high - self.low), np.uint64(self.high - self.low), whole)
        return (whole + np.uint64(self.low % _WORDS)).astype(self.image.dtype)


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Cut rows into blocks, so that temporary arrays stay small."""
    step = max(1, (1 << 20) // shape[1])
    return [slice(top, min(top + step, shape[0])) for top in range(0, shape[0], step)]


def n_colours(image: NDArray[Any]) -> int:
    """Return the number of colour channels of an (H, W) or (H, W, C) array."""
    if image.ndim == 2:
        return 1
    return int(image.shape[2]) - (image.shape[2] in (2, 4))


def as_canvas(image: ArrayLike, mask: ArrayLike | None) -> Canvas:
    """Check a picture and its mask.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        Integers of any depth or floats; gray, gray + alpha, RGB or RGBA.
    mask : (H, W) or (H, W, C) array_like of bool, optional
        True = missing; by pixel, or by pixel and colour channel (a layer for alpha is ignored). What a
        masked array hides is missing as well, so that it needs no other mask.
    """
    picture = np.asarray(image)
    if picture.dtype.kind not in "iuf":
        raise TypeError(f"image must hold integers or floats, but its dtype is {picture.dtype}.")
    if picture.ndim not in (2, 3) or 0 in picture.shape or (picture.ndim == 3 and picture.shape[2] > 4):
        raise ValueError(
            f"image must have the shape (height, width) or (height, width, 1 to 4), not {picture.shape}."
        )
    masks = [] if mask is None else [as_plain_array(mask, "mask")]
    if (own := masked_entries(image)) is not None:
        masks.append(own)
    if not masks:
        raise TypeError("mask must tell which pixels are missing, unless image is a masked array.")
    missing = _joined([_as_layers(each, picture) for each in masks])
    if missing.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    return Canvas(picture, missing, *_observed_range(picture, missing))


def _as_layers(mask: NDArray[Any], picture: NDArray[Any]) -> Bools:
    """Return a mask of a picture by colour channel, or a single layer for all of them: (H, W, c)."""
    if mask.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = missing), but its dtype is {mask.dtype}.")
    if mask.shape == picture.shape[:2]:
        return mask[:, :, None]
    colours = n_colours(picture)
    if mask.ndim == 3 and mask.shape[:2] == picture.shape[:2] and mask.shape[2] >= colours:
        return mask[:, :, :colours]
    raise ValueError(
        f"mask must have the shape of the image, {picture.shape} or {picture.shape[:2]}, "
        f"but its shape is {mask.shape}."
    )


def _joined(masks: list[Bools]) -> Bools:
    """Return what any of some masks (H, W, c) hides, in a single layer if its channels are equal."""
    missing = masks[0]
    for other in masks[1:]:
        missing = missing | other
    return missing[:, :, :1] if (missing == missing[:, :, :1]).all() else missing


def _observed_range(picture: NDArray[Any], missing: Bools) -> tuple[int | float, int | float]:
    """Return the smallest and the largest observed colour value; check that they can be worked with."""
    extremes = []
    for channel in range(n_colours(picture)):
        values = picture if picture.ndim == 2 else picture[:, :, channel]
        observed = values[~missing[:, :, channel if missing.shape[2] > 1 else 0]]
        if observed.size:
            extremes += [observed.min(), observed.max()]  # NaN goes through both
    if picture.dtype.kind != "f":
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
