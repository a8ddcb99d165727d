"""Holes of an image that are too wide to be restored from their border, and how they are filled."""

from collections.abc import Iterator

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from dictsel_core._support.validation import Bools
from dictsel_core.completion.parts import HolePart, hole_boxes, hole_cells, hole_parts
from dictsel_core.completion.scale import Single

#: Around the pixels that are far from everything observed, the hole is filled up to this much farther.
_MARGIN = 4


def wide_parts(missing: Bools, reach: int) -> Bools:
    """Return the parts of a mask (H, W) in which pixels are farther than `reach` from all observed ones.

    Distances are the larger of those in rows and columns, so these parts are wider than 2 * reach pixels, or
    wider than `reach` at the border of the image. They contain all missing pixels of the squares of this
    width that are missing entirely, and a few around those; thin scratches that end in a hole are no part of
    it.
    """
    if not _missing_blocks(missing, reach + 1):
        return np.zeros_like(missing)
    # Pixels beyond the border of the image are not observed either.
    core = minimum_filter(missing.view(np.uint8), 2 * reach + 1, mode="constant", cval=1)
    if not core.any():
        return np.zeros_like(missing)
    near = maximum_filter(core, 2 * (reach + _MARGIN) + 1, mode="constant")
    return np.asarray(missing & near.view(bool))


def _missing_blocks(missing: Bools, size: int) -> bool:
    """Return whether any of the adjacent size x size blocks of a mask is missing entirely.

    A square of 2 * size - 1 pixels contains one of them, or what of it is in the image.
    """
    down = np.logical_and.reduceat(missing, np.arange(0, missing.shape[0], size), axis=0)
    return bool(np.logical_and.reduceat(down, np.arange(0, missing.shape[1], size), axis=1).any())


def wide_margin(reach: int) -> int:
    """Return how far around a block of a mask `wide_parts` looks."""
    return 2 * reach + _MARGIN


def fill_wide_parts(
    planes: Single, wide: Bools, observed: Bools, seed: int, threads: int, sources: Bools | None = None
) -> Iterator[float]:
    """Fill wide holes in place with texture and structure from around them.

    Yields the fraction of the work that is done.

    Parameters
    ----------
    planes : (H, W, C) ndarray of float32
        Of about unit range, with a smooth estimate of all missing pixels. It stays where there is too little
        to copy from.
    wide : (H, W) ndarray of bool
        Pixels to fill.
    observed : (H, W) ndarray of bool
        Pixels of which all channels were observed.
    seed : int
    threads : int
        The result does not depend on it.
    sources : (H, W) ndarray of bool, optional
        Pixels that may be copied, wherever they are. Default is those around each hole.
    """
    height, width, n_channels = planes.shape
    parts = hole_parts(hole_boxes(hole_cells(wide), (height, width)), (height, width), n_channels)
    if sources is not None:
        parts = [part.with_sources(sources) for part in parts]
    total, done = np.count_nonzero(wide), 0
    for wave in range(max((part.wave for part in parts), default=-1) + 1):
        filled: list[tuple[HolePart, Single]] = []
        for part in (each for each in parts if each.wave == wave):
            region, others = planes[part.region].copy(), wide[part.region]
            hole = part.hole(others)
            n_pixels = int(np.count_nonzero(hole))
            allowed = None if sources is None else sources[part.region]
            for fraction in part.fill(region, others, observed[part.region], seed, threads, allowed):
                yield (done + fraction * n_pixels) / total
            filled.append((part, region[hole]))
            done += n_pixels
            yield done / total
        for part, values in filled:
            planes[part.region][part.hole(wide[part.region])] = values
