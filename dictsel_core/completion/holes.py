"""Holes of an image that are too wide to be restored from their border, and how they are filled."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import find_objects, label, maximum_filter, minimum_filter

from dictsel_core._runs import GeneratorRun
from dictsel_core._validation import Bools
from dictsel_core.completion.completion import MIN_SOURCES, complete
from dictsel_core.completion.scale import PATCH_SIZE, Single, touching
from dictsel_core.completion.spline import smooth_fill

Region = tuple[slice, slice]

#: Around the pixels that are far from everything observed, the hole is filled up to this much farther.
_MARGIN = 4
#: Larger holes are filled part by part, each of this height and width.
_MAX_LENGTH = 1024
#: Around a hole, this many pixels are searched for something to copy.
_MIN_CONTEXT, _MAX_CONTEXT = 32, 128
#: Values of all patches around a hole; limits the context.
_MAX_VALUES = 1 << 24
#: Patches with restored pixels are copied too if less than this fraction of all has none.
_MIN_OBSERVED_SOURCES = 0.25
#: The weight of texture rises from 0 to 1 between these fractions of the detail that matches explain, but is
#: never less than the last number: fog would be all that is left.
_EXPLAINED, _MIN_WEIGHT = (0.75, 0.98), 0.5


def wide_parts(missing: Bools, reach: int) -> Bools:
    """Return the parts of a mask (H, W) in which pixels are farther than `reach` from all observed ones.

    Distances are the larger of those in rows and columns, so these parts are wider than 2 * reach pixels, or
    wider than `reach` at the border of the image. They contain all missing pixels of the squares of this
    width that are missing entirely, and a few around those; thin scratches that end in a hole are no part of
    it.
    """
    # Pixels beyond the border of the image are not observed either.
    core = minimum_filter(missing.view(np.uint8), 2 * reach + 1, mode="constant", cval=1)
    if not core.any():
        return np.zeros_like(missing)
    near = maximum_filter(core, 2 * (reach + _MARGIN) + 1, mode="constant")
    return np.asarray(missing & near.view(bool))


def fill_wide_parts(
    planes: Single, wide: Bools, observed: Bools, *, seed: int, threads: int, blended: bool
) -> Iterator[float]:
    """Fill wide holes in place, one after the other, with texture and structure from around them.

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
    blended : bool
        Whether the result is a mean of texture and smooth estimate, where the matches of the pixels around a
        hole explain these badly: texture that cannot be predicted then has less contrast.
    """
    holes = list(_holes(wide, planes.shape[2]))
    total, done = sum(hole.n_pixels for hole in holes), 0
    for number, hole in enumerate(holes):
        part, others = planes[hole.region], wide[hole.region]
        rng = np.random.default_rng([seed, 2017, number])
        barred = _barred(others, ~observed[hole.region])
        smooth = part[hole.mask] = smooth_fill(part, hole.mask)
        run = GeneratorRun(complete(part, hole.mask, barred, rng, threads))
        for fraction in run:
            yield (done + fraction * hole.n_pixels) / total
        if blended:
            part[hole.mask] = smooth + _weight(run.result) * (part[hole.mask] - smooth)
        done += hole.n_pixels
        yield done / total


def _weight(explained: float) -> np.float32:
    """Return the weight of texture whose matches explain this much of the detail around the hole."""
    low, high = _EXPLAINED
    return np.float32(np.clip((explained - low) / (high - low), _MIN_WEIGHT, 1))


def _barred(wide: Bools, missing: Bools) -> Bools:
    """Return the pixels that are not copied: all missing ones, or the wide holes if too little is left."""
    if min(wide.shape) < PATCH_SIZE:
        return wide
    n_observed, n_all = (np.count_nonzero(~touching(each)) for each in (missing, wide))
    return missing if n_observed >= max(_MIN_OBSERVED_SOURCES * n_all, MIN_SOURCES) else wide


@dataclass(frozen=True, eq=False)
class _Hole:
    """A hole: the region of the image that is used to fill it, and its pixels in that region."""

    region: Region
    mask: Bools

    @property
    def n_pixels(self) -> int:
        return int(np.count_nonzero(self.mask))


def _holes(wide: Bools, n_channels: int) -> Iterator[_Hole]:
    """Yield the holes; those that share patches are one, and those that are too large are cut."""
    grown = maximum_filter(wide.view(np.uint8), 2 * PATCH_SIZE - 1, mode="constant")
    labels, _ = label(grown)
    for number, (rows, columns) in enumerate(find_objects(labels), start=1):
        for top in range(rows.start, rows.stop, _MAX_LENGTH):
            for left in range(columns.start, columns.stop, _MAX_LENGTH):
                box = (
                    slice(top, min(top + _MAX_LENGTH, rows.stop)),
                    slice(left, min(left + _MAX_LENGTH, columns.stop)),
                )
                if (wide[box] & (labels[box] == number)).any():
                    region = _surrounded(box, wide.shape, n_channels)
                    mask = np.zeros_like(wide[region])
                    inner = tuple(
                        slice(a.start - b.start, a.stop - b.start) for a, b in zip(box, region, strict=True)
                    )
                    mask[inner] = wide[box] & (labels[box] == number)
                    yield _Hole(region, mask)


def _surrounded(box: Region, shape: tuple[int, ...], n_channels: int) -> Region:
    """Return a box with as much around it as the patches there may have values."""
    height, width = (each.stop - each.start for each in box)
    n_patches = _MAX_VALUES / (n_channels * PATCH_SIZE**2)
    # (height + 2 c) (width + 2 c) - height width = n_patches
    context = (np.hypot((height + width), 2 * np.sqrt(n_patches)) - (height + width)) / 4
    context = int(np.clip(context, _MIN_CONTEXT, _MAX_CONTEXT))
    rows, columns = (
        slice(max(each.start - context, 0), min(each.stop + context, n))
        for each, n in zip(box, shape, strict=True)
    )
    return rows, columns
