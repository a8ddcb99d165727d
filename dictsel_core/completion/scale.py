"""One scale of an image with a hole, and the coarser one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import (
    binary_dilation,
    distance_transform_cdt,
    gaussian_filter,
    map_coordinates,
    uniform_filter,
)

from dictsel_core._util.arrays import Scalar, any_in_windows
from dictsel_core._util.validation import Bools, Ints

Single = NDArray[np.float32]

#: Height and width of a patch.
PATCH_SIZE = 7
#: Number of channels that describe the texture around a pixel.
N_TEXTURE = 2
#: Height and width of the square in which the texture around a pixel is measured.
_TEXTURE_SIZE = 15
#: Texture is compared by its logarithm, after this has been added: less than that is none.
_NO_TEXTURE = 0.01
#: How many pixels around a hole tell what texture it should have.
_RIM = 3


@dataclass(frozen=True, eq=False)
class Scale:
    """An image at some scale, with its hole, which is filled in place."""

    planes: Single  #: (H, W, C + 2): channels of about unit range, and two more that describe the texture.
    hole: Bools  #: (H, W): pixels to fill.
    barred: Bools  #: (H, W): pixels that are not copied: the hole, others not observed, or not wanted.
    unknown: Bools  #: (H, W): pixels that do not tell what is around: the hole, and others not observed.

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.hole.shape[0], self.hole.shape[1]

    @property
    def n_channels(self) -> int:
        """Number of channels of the image."""
        return int(self.planes.shape[2]) - N_TEXTURE

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Distance of each pixel of the hole from the nearest pixel outside, 0 outside: (H, W)."""
        return np.asarray(distance_transform_cdt(self.hole, metric="chessboard"))

    @cached_property
    def sources(self) -> Ints:
        """The patches that may be copied, counted row by row through all patches."""
        return np.flatnonzero(~touching(self.barred))

    @property
    def texture(self) -> Single:
        """The channels that describe the texture, a view: (H, W, 2)."""
        return self.planes[:, :, self.n_channels :]

    @cached_property
    def texture_around(self) -> Single:
        """The texture that goes on from all sides, where near pixels count more; any farther outside."""
        near = binary_dilation(self.hole, np.ones((3, 3), bool), iterations=_RIM)
        known = (near & ~self.unknown).astype(np.float32)
        reach = max(float(self.depth.max()) / 2, 1.0)
        weights = gaussian_filter(known, reach, truncate=8)
        sums = gaussian_filter(self.texture * known[:, :, None], (reach, reach, 0), truncate=8)
        means = sums / np.maximum(weights, np.finfo(np.float32).tiny)[:, :, None]
        return np.asarray(means, np.float32)

    def seen_on(self, finer: "Scale", planes: Single) -> Single:
        """Return what planes of this scale show of the hole of a finer one: (N, C)."""
        factor = 2 ** round(np.log2(max(finer.shape) / max(self.shape)))
        places = [(each + 0.5) / factor - 0.5 for each in np.nonzero(finer.hole)]
        shown = [
            map_coordinates(planes[:, :, each], places, order=1, mode="nearest")
            for each in range(self.n_channels)
        ]
        return np.stack(shown, axis=1)

    def halved(self) -> "Scale":
        """Return the next coarser scale: means of what of 2 x 2 blocks is outside the hole, or all inside."""
        inside = _blocks(self.hole[:, :, None])
        hole = np.asarray(inside.all(axis=(1, 3)))
        counted = ~inside | hole[:, None, :, None]
        planes = (_blocks(self.planes) * counted).sum(axis=(1, 3)) / counted.sum(axis=(1, 3))
        barred, unknown = (
            np.asarray(_blocks(each[:, :, None]).any(axis=(1, 3)))[:, :, 0]
            for each in (self.barred, self.unknown)
        )
        return Scale(planes.astype(np.float32), hole[:, :, 0], barred, unknown)


def finest_scale(planes: Single, hole: Bools, barred: Bools, unknown: Bools | None = None) -> Scale:
    """Return the scale of an image (H, W, C) itself, a copy; without `unknown`, all not barred is known."""
    layers = np.concatenate([planes, _texture(planes, hole)], axis=2)
    return Scale(layers, hole, barred, barred if unknown is None else unknown)


def texture_levels(texture: Single) -> Single:
    """Return how much texture there is, on a scale of ratios."""
    return np.asarray(np.log(texture + np.float32(_NO_TEXTURE)))


def touching(marked: Bools) -> Bools:
    """Return which patches contain a marked pixel: (H - 6, W - 6)."""
    return any_in_windows(marked, PATCH_SIZE)


def _blocks(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return 2 x 2 blocks (H / 2, 2, W / 2, 2, C); an odd last row or column is repeated."""
    height, width, n_layers = array.shape
    padded = np.pad(array, [(0, height % 2), (0, width % 2), (0, 0)], mode="edge")
    return padded.reshape(-(-height // 2), 2, -(-width // 2), 2, n_layers)


def _texture(planes: Single, hole: Bools) -> Single:
    """Return the mean absolute differences of neighbors around each pixel, down and across: (H, W, 2)."""
    gray = planes.mean(axis=2)
    result = np.empty((*hole.shape, N_TEXTURE), np.float32)
    for axis in range(N_TEXTURE):
        known = ~hole & ~np.roll(hole, 1, axis)
        np.moveaxis(known, axis, 0)[0] = False  # the first pixels have no neighbor before them
        change = np.where(known, np.abs(gray - np.roll(gray, 1, axis)), 0)
        counts = uniform_filter(known.astype(np.float32), _TEXTURE_SIZE)
        result[:, :, axis] = uniform_filter(change, _TEXTURE_SIZE) / np.maximum(counts, 1e-3)
    return result
