"""A picture made ready for detection: brightness and tint, of known range, without holes."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from dictsel_core._util.arrays import nonzero_2d, row_bands
from dictsel_core._util.validation import Bools, Ints, as_array, as_bool_mask, masked_entries

Single = NDArray[np.float32]

#: Values from which the range of a picture is estimated.
_N_SAMPLES = 1 << 18
_QUANTILES = (0.005, 0.995)
#: Values farther from the range, in spans, are as far: means of what stands for "no data" would overflow.
FARTHEST = 1e6
#: Squares around a missing pixel in which observed ones are looked for: 5 x 5, 20 x 20, 80 x 80. They reach
#: so many rows together; what is farther away gets means of blocks of so many pixels squared.
_NEAREST, _NEAR, _REACH, _BLOCK = 5, 81, 53, 16


@dataclass(frozen=True, eq=False)
class DetectionImage:
    """A checked picture, (H, W) or (H, W, 3).

    Nothing is detected at pixels that are known to be missing or are not finite. The brightness `low` becomes
    0, the difference `span` 1; the quantum is the step of integers as a part of the span, 0 for float.
    """

    pixels: NDArray[Any]
    missing: Bools
    low: float
    span: float
    quantum: float

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.missing.shape

    @property
    def is_color(self) -> bool:
        """Whether there are three channels."""
        return self.pixels.ndim == 3

    def brightness(self) -> Single:
        """Return the mean of the channels, (H, W), about 0 to 1; missing pixels are filled smoothly."""
        return self._plane(self._mean)

    def brightness_at(self, rows: Ints, columns: Ints) -> Single:
        """Return the brightness of some pixels, which are not missing: (N,)."""
        return np.asarray(self._scaled(self._mean(self.pixels[rows, columns])), np.float32)

    def tint(self, half: Single) -> Single:
        """Return how much brighter red and blue are than the brightness at half its size; 0 in gray."""
        if not self.is_color:
            return np.zeros((2, *half.shape), np.float32)
        return np.stack([shrink(self._channel(number)) - half for number in (0, 2)])

    def channels(self) -> list[Single]:
        """Return the channels, scaled as the brightness is."""
        if not self.is_color:
            return [self.brightness()]
        return [self._channel(number) for number in range(3)]

    def _channel(self, number: int) -> Single:
        return self._plane(lambda pixels: pixels[..., number])

    def _mean(self, pixels: NDArray[Any]) -> NDArray[Any]:
        return np.mean(pixels, axis=-1, dtype=self._dtype) if self.is_color else pixels

    @property
    def _dtype(self) -> np.dtype[Any]:
        is_wide = self.pixels.dtype.itemsize > 4 or self.pixels.dtype in (np.int32, np.uint32)
        return np.dtype(np.float64 if is_wide else np.float32)

    def _scaled(self, values: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (values.astype(self._dtype, copy=False) - self.low) / self.span
        return np.clip(scaled, -FARTHEST, FARTHEST)

    def _plane(self, reduce: Callable[[NDArray[Any]], NDArray[Any]]) -> Single:
        """Return what is computed from the channels, scaled, and filled where it is missing."""
        plane = np.empty(self.shape, np.float32)
        for rows in row_bands(self.shape):
            with np.errstate(invalid="ignore", over="ignore"):
                plane[rows] = self._scaled(reduce(self.pixels[rows]))
        _fill(plane, self.missing)
        return plane


def prepare(image: ArrayLike, missing: ArrayLike | None = None) -> DetectionImage:
    """Check a picture and estimate its range; TypeError or ValueError if it, or the mask, is none."""
    pixels, hidden = as_array(image, "image"), masked_entries(image)
    if pixels.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, but its dtype is {pixels.dtype}.")
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(f"image must be (H, W) or (H, W, 3), but its shape is {pixels.shape}.")
    if 0 in pixels.shape:
        raise ValueError(f"image must not be empty, but its shape is {pixels.shape}.")
    if pixels.dtype.kind == "b":
        pixels = pixels.astype(np.uint8)
    known = _known_missing(pixels, missing)
    if hidden is not None:
        known |= hidden if hidden.ndim == 2 else hidden.any(axis=2)
    low, span = _value_range(pixels, known)
    return DetectionImage(pixels, known, low, span, 0.0 if pixels.dtype.kind == "f" else 1 / span)


def _known_missing(pixels: NDArray[Any], missing: ArrayLike | None) -> Bools:
    shape = pixels.shape[:2]
    known = np.zeros(shape, np.bool_)
    if missing is not None:
        given = as_bool_mask(missing, "missing")
        if given.shape not in (shape, (*shape, 1), pixels.shape):
            raise ValueError(f"missing must have the shape {shape}, but its shape is {given.shape}.")
        known |= given if given.ndim == 2 else given.any(axis=2)
    if pixels.dtype.kind == "f":
        finite = np.isfinite(pixels)
        known |= ~(finite if finite.ndim == 2 else finite.all(axis=2))
    return known


def _value_range(pixels: NDArray[Any], missing: Bools) -> tuple[float, float]:
    """Return where the brightness begins, and its span, from quantiles of a regular sample."""
    step = max(1, int(np.sqrt(missing.size / _N_SAMPLES)))
    sample = pixels[::step, ::step][~missing[::step, ::step]].astype(np.float64)
    if not sample.size:
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.quantile(sample, _QUANTILES).tolist()
    if high <= low:
        low, high = float(sample.min()), float(sample.max())
    span = high - low
    if not np.isfinite(span):
        raise ValueError(
            f"image ranges from {sample.min():.3g} to {sample.max():.3g}, which is too wide for float64; "
            "divide it by a constant."
        )
    return low, span or 1.0


def _fill(plane: Single, missing: Bools) -> None:
    """Fill missing pixels with the mean of the nearest observed ones."""
    far = np.zeros_like(missing)
    for rows in row_bands(plane.shape, _REACH):
        if missing[rows].any():
            first, stop = max(rows.start - _REACH, 0), rows.stop + _REACH
            filled, left = _means(plane[first:stop], missing[first:stop], _NEAR)
            inner = slice(rows.start - first, rows.stop - first)
            far[rows], plane[rows] = left[inner], np.where(missing[rows], filled[inner], plane[rows])
    if far.any():
        means = _block_means(plane, missing)
        down, right = nonzero_2d(far)
        plane[down, right] = means[down // _BLOCK, right // _BLOCK]


def _block_means(plane: Single, missing: Bools) -> Single:
    """Return means of the observed pixels of blocks, or around those without any, smoothed."""
    tops, lefts = (np.arange(0, side, _BLOCK) for side in plane.shape)
    bands = [(plane[top : top + _BLOCK], missing[top : top + _BLOCK]) for top in tops]
    total = np.stack([np.where(hidden, np.float32(0), band).sum(axis=0) for band, hidden in bands])
    count = np.stack([(~hidden).sum(axis=0, dtype=np.float32) for _, hidden in bands])
    total, count = (np.add.reduceat(each, lefts, axis=1) for each in (total, count))
    means, empty = total / np.maximum(count, 1), count == 0
    filled, _ = _means(means, empty, 4 * max(means.shape) + 4 * _NEAREST)
    return np.asarray(ndimage.uniform_filter(np.where(empty, filled, means), 3, mode="nearest"))


def _means(plane: Single, missing: Bools, largest: int) -> tuple[Single, Bools]:
    """Return means around missing pixels over squares of up to a size, and where even these are empty."""
    total = np.where(missing, np.float32(0), np.float32(1))
    value = np.where(missing, np.float32(0), plane)
    filled, left, size = np.zeros_like(plane), missing.copy(), _NEAREST
    while left.any() and size < largest:
        value, total = (ndimage.uniform_filter(each, size, mode="nearest") for each in (value, total))
        reached = left & (total > 1e-4)
        filled[reached] = value[reached] / total[reached]
        left &= ~reached
        size *= 4
    return filled, left


def shrink(plane: Single) -> Single:
    """Return a plane at half its size: means of 2 x 2 pixels; an odd last row or column is repeated."""
    rows, columns = plane.shape
    even = np.pad(plane, ((0, rows % 2), (0, columns % 2)), mode="edge") if rows % 2 or columns % 2 else plane
    half = even[::2, ::2] + even[1::2, ::2]
    half += even[::2, 1::2]
    half += even[1::2, 1::2]
    half *= np.float32(0.25)
    return half


def block_quantile(plane: Single, quantile: float, block: int) -> Single:
    """Return a quantile of the values around every pixel, by blocks, smoothed: (H, W)."""
    row_edges, column_edges = (
        np.linspace(0, side, max(1, round(side / block)) + 1).astype(np.intp) for side in plane.shape
    )
    grid = np.empty((len(row_edges) - 1, len(column_edges) - 1), np.float32)
    for i, (top, bottom) in enumerate(pairwise(row_edges)):
        for j, (left, right) in enumerate(pairwise(column_edges)):
            values = plane[top:bottom:2, left:right:2].ravel()
            place = int(quantile * (values.size - 1))
            grid[i, j] = np.partition(values, place)[place]
    grid = ndimage.uniform_filter(grid, 3, mode="nearest")
    return np.repeat(np.repeat(grid, np.diff(row_edges), axis=0), np.diff(column_edges), axis=1)
