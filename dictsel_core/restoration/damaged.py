"""The array that is to be restored, of any layout, and which of its values are missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core import completion
from dictsel_core._util.arrays import (
    Axis,
    Layout,
    aligned,
    as_layout,
    axis_names,
    check_in_memory,
    evenly_spaced,
    has_square,
    like,
)
from dictsel_core._util.validation import Bools, as_array, as_bool_mask, masked_entries
from dictsel_core.restoration.image import Image, as_image
from dictsel_core.restoration.settings import REACH

#: Channels that are restored together at most, if they share a mask or if each has its own. Their
#: covariances grow with the square of the latter; neighboring channels tell most about each other.
MAX_SHARED, MAX_SEPARATE = 16, 4
#: Said of images of integers without a mask.
NO_MASK = "mask must say which pixels are missing, unless image is a masked array, or has NaN there."


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse images of anything but integers and floats."""
    if dtype.kind not in "iuf":
        remedy = "; pass image.astype(np.uint8)" if dtype.kind == "b" else ""
        raise TypeError(f"image must hold integers or floats, but its dtype is {dtype}{remedy}.")


def check_channels(n_channels: int, *, shares_mask: bool) -> None:
    """Refuse more channels than are restored together."""
    most, own = (MAX_SHARED, "") if shares_mask else (MAX_SEPARATE, " that miss pixels of their own")
    if n_channels > most:
        raise ValueError(
            f"There are {n_channels} channels{own}, and at most {most} are restored together; take fewer."
        )


@dataclass(frozen=True)
class Part:
    """An image of a stack, and some of its channels: what is restored at once."""

    number: int
    channels: slice


@dataclass(frozen=True, eq=False)
class DamagedArray:
    """An array with missing values, as given, and as images (n, H, W, C) with masks (n, H, W, 1 or C)."""

    given: ArrayLike
    layout: Layout
    images: NDArray[Any]
    missing: Bools

    @property
    def missing_fraction(self) -> float:
        """Fraction of the values that are missing."""
        return float(self.missing.mean())

    @property
    def has_parts(self) -> bool:
        """Whether it is restored part by part: it has more than one image, or very many channels."""
        return self.layout.is_stack or len(list(self._channel_slices(self.missing))) > 1

    def parts(self) -> list[Part]:
        """Return the parts in which something is missing."""
        return [
            Part(number, channels)
            for number, missing in enumerate(self.missing)
            for channels in self._channel_slices(missing)
            if missing[:, :, channels if missing.shape[2] > 1 else slice(None)].any()
        ]

    def _channel_slices(self, missing: Bools) -> Iterator[slice]:
        """Yield the channels that are restored together."""
        n_channels, most = self.layout.n_channels, MAX_SEPARATE
        if n_channels > most and (missing == missing[..., :1]).all():
            most = MAX_SHARED
        n_parts = -(-n_channels // most)
        for part in range(n_parts):
            yield slice(n_channels * part // n_parts, n_channels * (part + 1) // n_parts)

    def image(self, part: Part) -> Image:
        """Return a part with its mask."""
        missing = self.missing[part.number]
        if missing.shape[2] > 1:
            missing = missing[:, :, part.channels]
        if self.has_parts and missing.all():
            where = "" if not self.layout.is_stack else f" of image{self.layout.describe(part.number)}"
            if part.channels != slice(0, self.layout.n_channels):
                where = f"{where} in the channels {part.channels.start} to {part.channels.stop - 1}"
            raise ValueError(f"Every pixel{where} is missing: there is nothing to restore it from.")
        return as_image(self.images[part.number][:, :, part.channels], missing)

    def intact(self, number: int, channels: slice) -> NDArray[Any] | None:
        """Return some channels of an image if all their values are there, otherwise None."""
        missing = self.missing[number]
        if missing[:, :, channels if missing.shape[2] > 1 else slice(None)].any():
            return None
        values = self.images[number][:, :, channels]
        return values if np.isfinite(values).all() else None

    def sample(self, n_wanted: int) -> list[Part]:
        """Return evenly spaced parts of a stack in which something is missing, or the only image."""
        parts = self.parts() if self.has_parts else []
        return evenly_spaced(parts, n_wanted) if parts else [Part(0, slice(0, self.layout.n_channels))]

    def whole(self) -> Image:
        """Return the only image, with all its channels."""
        return as_image(self.images[0], self.missing[0])

    def wrapped(self, images: NDArray[Any]) -> Any:  # noqa: ANN401  (an array, or what was given)
        """Return restored images (n, H, W, C) in the layout and container of what was given."""
        return like(self.given, self.layout.join(images))


def as_damaged(
    image: ArrayLike,
    mask: ArrayLike | None,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
) -> DamagedArray:
    """Check an array and its mask; see `restore` for what they may be."""
    check_in_memory(image, "image")
    pixels = as_array(image, "image")
    check_dtype(pixels.dtype)
    layout = as_layout(pixels.shape, channel_axis, axes, axis_names(image))
    masks = [layout.split_mask(each) for each in _masks(image, pixels, mask)]
    missing = masks[0]
    for other in masks[1:]:
        missing = missing | other
    if missing.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    return DamagedArray(image, layout, layout.split(pixels), missing)


def _masks(image: ArrayLike, pixels: NDArray[Any], mask: ArrayLike | None) -> Iterator[Bools]:
    """Yield all masks that say what is missing."""
    own = masked_entries(image)
    if own is not None:
        yield as_bool_mask(own)
    if mask is not None:
        check_in_memory(mask, "mask")
        yield as_bool_mask(aligned(mask, image))
    elif pixels.dtype.kind == "f":
        yield np.isnan(pixels)
    elif own is None:
        raise TypeError(NO_MASK)


def has_wide_hole(mask: ArrayLike) -> bool:
    """Return whether pixels are so far from all observed ones that a smooth fill leaves them blurred.

    Such a hole is wider than 16 pixels, or than 8 at the border of the image, in all channels; or it is a
    spot wider than 10 pixels with little else missing around it. With the default settings, `restore` fills
    it with texture, except in images of floats, and in spots with smooth surroundings.

    Parameters
    ----------
    mask : array_like of bool, (H, W) or (H, W, C)
        True = missing.

    See Also
    --------
    RestoreSettings : Its `fill` is how wide holes are filled.
    """
    missing = as_bool_mask(mask)
    if missing.ndim not in (2, 3):
        raise ValueError(f"mask must be (H, W) or (H, W, C), but its shape is {missing.shape}.")
    return bool(wide_pixels(missing if missing.ndim == 3 else missing[:, :, None], REACH["auto"]).any())


def wide_pixels(missing: Bools, reach: int) -> Bools:
    """Return the pixels of a mask (H, W, c) in holes that are to be filled with texture: (H, W).

    They are farther than `reach` from all observed pixels, or near such ones, or in spots; see `wide_parts`.
    If `reach` is 0, there are none. Where a channel is observed, the others are estimated from it; a hole is
    where all are missing.
    """
    holes = np.asarray(missing.all(axis=2))
    if not reach or not has_square(holes, min(REACH.values())):
        return np.zeros_like(holes)
    return completion.wide_parts(holes, reach)
