"""The patches that the dictionary is selected on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._validation import Bools, Ints
from dictsel_core.patches import Kind
from dictsel_core.restoration.canvas import Canvas, Plane, as_canvas
from dictsel_core.restoration.settings import RestoreSettings

#: Most patches used: a sample of a large picture says as much as all of it.
MOST_PATCHES = 2048
#: Fewest patches used, if there are so many with an observed pixel.
_FEWEST_PATCHES = 48


@dataclass(frozen=True, eq=False)
class PatchSample:
    """Patches as rows (T, d), their mask (True = missing), and the top-left pixel of each (T, 2)."""

    data: Plane
    mask: Bools
    places: Ints


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
    across = -(-canvas.shape[1] // size)
    places = np.stack([tiles // across, tiles % across], axis=1) * size
    return PatchSample(data, shared[channels, tiles], places)


def patch_places(image: ArrayLike, mask: ArrayLike, settings: RestoreSettings) -> Ints:
    """Return where the patches are that a dictionary is selected on.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings
        Those of the restoration.

    Returns
    -------
    (T, 2) ndarray of int
        Row and column of the top-left pixel of patch t, in the order of `Selection.supports`. A place of a
        colour picture is there once per channel.
    """
    return sample_patches(as_canvas(image, mask), settings.patch_size, settings.seed).places


def _tiles(plane: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Adjacent patches as rows: (n_tiles, size * size)."""
    padding = [(0, -length % size) for length in plane.shape]
    padded = np.pad(plane, padding, mode="symmetric")
    rows, columns = (length // size for length in padded.shape)
    blocks = padded.reshape(rows, size, columns, size).swapaxes(1, 2)
    return blocks.reshape(rows * columns, size * size)
