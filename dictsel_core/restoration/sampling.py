"""The patches that the dictionary is selected on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools
from dictsel_core.patches import Kind
from dictsel_core.restoration.canvas import Canvas, Plane

#: Most patches used: a sample of a large picture says as much as all of it.
MOST_PATCHES = 8192
#: Fewest patches used, if there are so many with an observed pixel.
_FEWEST_PATCHES = 48


@dataclass(frozen=True, eq=False)
class PatchSample:
    """Patches as rows (T, d) and their mask, True = missing."""

    data: Plane
    mask: Bools


def sample_patches(canvas: Canvas, size: int, seed: int) -> PatchSample:
    """Cut the channels into adjacent patches and keep those with enough observed pixels.

    The picture is mirrored below and to the right so that patches cover every pixel.
    """
    masks = np.stack([_tiles(canvas.mask(c), size) for c in range(canvas.missing.shape[2])])
    shared = np.broadcast_to(masks, (canvas.n_channels, *masks.shape[1:]))
    n_observed = (~shared).sum(axis=2)
    # Where little is observed, patches that say little must do.
    wanted = min(_FEWEST_PATCHES, n_observed.size)
    enough = max(1, min(max(4, size * size // 16), int(np.sort(n_observed, axis=None)[-wanted])))
    channels, tiles = np.nonzero(n_observed >= enough)
    if len(tiles) > MOST_PATCHES:
        rng = np.random.default_rng(seed)
        kept = np.sort(rng.choice(len(tiles), MOST_PATCHES, replace=False))
        channels, tiles = channels[kept], tiles[kept]
    data = np.concatenate(
        [_tiles(canvas.plane(c), size)[tiles[channels == c]] for c in range(canvas.n_channels)]
    )
    return PatchSample(data, shared[channels, tiles])


def _tiles(plane: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Adjacent patches as rows: (n_tiles, size * size)."""
    padding = [(0, -length % size) for length in plane.shape]
    padded = np.pad(plane, padding, mode="symmetric")
    rows, columns = (length // size for length in padded.shape)
    blocks = padded.reshape(rows, size, columns, size).swapaxes(1, 2)
    return blocks.reshape(rows * columns, size * size)
