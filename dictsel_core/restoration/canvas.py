"""The picture as the stages see it: float planes of about unit range, with their masks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._validation import Bools

Plane = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Canvas:
    """A picture and its mask, checked.

    Attributes
    ----------
    image : (H, W) or (H, W, C) ndarray
        As given. With 2 or 4 channels the last one is alpha.
    missing : (H, W, c) ndarray of bool
        One layer per colour channel; a single layer that all share where c = 1 < n_channels.
    offset, scale : float
        A plane is (channel - offset) * scale: observed values lie between 0 and 1.
    """

    image: NDArray[Any]
    missing: Bools
    offset: float
    scale: float

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
        for rows in _row_blocks(self.shape):
            part = (values[rows].astype(np.float64) - self.offset) * self.scale
            plane[rows] = np.where(mask[rows], 0, part)
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
        values = np.clip(band.astype(np.float64), 0, 1) / self.scale + self.offset
        if np.issubdtype(picture.dtype, np.integer):
            values = np.rint(values)
        target = picture[rows] if picture.ndim == 2 else picture[rows, :, channel]
        np.copyto(target, values.astype(picture.dtype), where=where)


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Cut rows into blocks, so that temporary arrays stay small."""
    step = max(1, (1 << 20) // shape[1])
    return [slice(top, min(top + step, shape[0])) for top in range(0, shape[0], step)]


def n_colours(image: NDArray[Any]) -> int:
    """Return the number of colour channels of an (H, W) or (H, W, C) array."""
    if image.ndim == 2:
        return 1
    return int(image.shape[2]) - (image.shape[2] in (2, 4))


def as_canvas(image: ArrayLike, mask: ArrayLike) -> Canvas:
    """Check a picture and its mask.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        Integers of any depth or floats; gray, gray + alpha, RGB or RGBA.
    mask : (H, W) or (H, W, C) array_like of bool
        True = missing; by pixel, or by pixel and colour channel (a layer for alpha is ignored).
    """
    picture = np.asarray(image)
    number = np.issubdtype(picture.dtype, np.integer) or np.issubdtype(picture.dtype, np.floating)
    if not number:
        raise TypeError(f"image must hold integers or floats, but its dtype is {picture.dtype}.")
    if picture.ndim not in (2, 3) or 0 in picture.shape or (picture.ndim == 3 and picture.shape[2] > 4):
        raise ValueError(
            f"image must have the shape (height, width) or (height, width, 1 to 4), not {picture.shape}."
        )
    missing = _as_missing(mask, picture)
    if missing.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    low, high = _observed_range(picture, missing)
    return Canvas(picture, missing, low, 1.0 / (high - low) if high > low else 1.0)


def _as_missing(mask: ArrayLike, picture: NDArray[Any]) -> Bools:
    missing = np.asarray(mask)
    if missing.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = missing), but its dtype is {missing.dtype}.")
    colours = n_colours(picture)
    if missing.shape == picture.shape[:2]:
        layers = missing[:, :, None]
    elif missing.ndim == 3 and missing.shape[:2] == picture.shape[:2] and missing.shape[2] >= colours:
        layers = missing[:, :, :colours]
        if (layers == layers[:, :, :1]).all():
            layers = layers[:, :, :1]
    else:
        raise ValueError(
            f"mask must have the shape of the image, {picture.shape} or {picture.shape[:2]}, "
            f"but its shape is {missing.shape}."
        )
    if np.issubdtype(picture.dtype, np.floating):
        channels = picture[:, :, None] if picture.ndim == 2 else picture[:, :, :colours]
        if not np.isfinite(channels[~np.broadcast_to(layers, channels.shape)]).all():
            raise ValueError(
                "image must be finite where it is observed, but it holds NaN or infinity; "
                "mark such pixels as missing in the mask."
            )
    return layers


def _observed_range(picture: NDArray[Any], missing: Bools) -> tuple[float, float]:
    """Smallest and largest observed colour value."""
    low, high = np.inf, -np.inf
    for channel in range(n_colours(picture)):
        values = picture if picture.ndim == 2 else picture[:, :, channel]
        observed = values[~missing[:, :, channel if missing.shape[2] > 1 else 0]]
        if observed.size:
            low, high = min(low, float(observed.min())), max(high, float(observed.max()))
    return low, high
