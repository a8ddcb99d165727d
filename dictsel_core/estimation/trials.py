"""Parts of an image with observed pixels held out in the shape of the damage."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import distance_transform_cdt, label, maximum_filter

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.completion import wide_parts
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.wide import REACH as REACHES

#: Most pixels of all trials on one image; a larger image is represented by tiles.
_MAX_PIXELS = 6 * 128**2
#: Height and width of a tile, and the same as a multiple of the depth of the hole in it, if that is more.
_TILE_SIZE, _TILE_DEPTHS = 128, 8
#: If more is missing in a tile, single pixels are held out, this fraction of the observed ones.
_MAX_MOVED, _RANDOM_FRACTION = 0.3, 0.1
#: Otherwise the mask is moved, as often as this fraction of a tile allows, within limits.
_HELD_FRACTION, _MAX_COPIES = 0.15, 6
#: How many places are compared for each copy, and how far a hole keeps from others.
_N_PLACES, _GAP = 24, 9
#: Trials on an image with a wide hole, of which few copies fit at a time, and wide holes that are held out in
#: each of them, as far as one copy of the mask has no more.
_N_WIDE_TRIALS, _MAX_WIDE = 2, 3
#: Distance beyond which a hole is wide.
REACH = REACHES["auto"]


@dataclass(frozen=True, eq=False)
class Trial:
    """A part of an image with observed pixels held out.

    Attributes
    ----------
    canvas : Canvas
        Without the held-out pixels.
    missing, held_out : (h, w, c) ndarray of bool
        What is missing in the image itself, and what is held out.
    corner : (int, int)
        Top-left pixel of this part in the image.
    """

    canvas: Canvas
    missing: Bools
    held_out: Bools
    corner: tuple[int, int]


def trials(canvas: Canvas, wide: Bools, rng: np.random.Generator) -> Iterator[Trial]:
    """Yield trials on an image with these wide holes, each of which holds out something."""
    depth = int(depths(wide[:, :, None]).max()) if wide.any() else 0
    for rows, columns in _tiles(canvas, wide, depth, rng):
        missing = canvas.missing[rows, columns]
        n_wide = label(wide[rows, columns])[1]
        for _ in range(_N_WIDE_TRIALS if 0 < n_wide <= _MAX_WIDE else 1):
            is_random = float(missing.mean()) > _MAX_MOVED
            held_out = _random_pixels(missing, rng) if is_random else _moved(missing, rng)
            unknown = missing | held_out
            if held_out.any() and not unknown.all(axis=(0, 1)).any():
                part = replace(canvas, image=canvas.image[rows, columns], missing=unknown)
                yield Trial(part, missing, held_out, (rows.start, columns.start))


def depths(missing: Bools) -> Ints:
    """Return the distance of each missing value from the nearest observed one of its channel: (H, W, c)."""
    layers = [distance_transform_cdt(missing[:, :, c], metric="chessboard") for c in range(missing.shape[2])]
    # Of a channel without any observed pixel, the distances are negative.
    return np.asarray(np.abs(np.stack(layers, axis=2)), np.intp)


def _tiles(
    canvas: Canvas, wide: Bools, depth: int, rng: np.random.Generator
) -> Iterator[tuple[slice, slice]]:
    """Yield the whole image, or tiles around missing pixels, the first one around a wide hole."""
    height, width = canvas.shape
    if height * width <= _MAX_PIXELS:
        yield slice(0, height), slice(0, width)
        return
    size = max(_TILE_SIZE, _TILE_DEPTHS * depth)
    centers = np.flatnonzero(canvas.missing.any(axis=2))
    chosen = rng.choice(centers, max(1, _MAX_PIXELS // size**2))
    if depth:
        chosen[0] = rng.choice(np.flatnonzero(wide))
    for center in chosen:
        y, x = divmod(int(center), width)
        top, left = max(0, min(y - size // 2, height - size)), max(0, min(x - size // 2, width - size))
        yield slice(top, min(top + size, height)), slice(left, min(left + size, width))


def _random_pixels(missing: Bools, rng: np.random.Generator) -> Bools:
    chosen = rng.random((*missing.shape[:2], 1)) < _RANDOM_FRACTION
    return np.asarray(~missing & chosen)


def _moved(missing: Bools, rng: np.random.Generator) -> Bools:
    """Return the observed pixels under a few moved copies of the mask, which keep out of each other's way."""
    wide = wide_parts(np.asarray(missing.all(axis=2)), REACH)
    held_out, taken = np.zeros_like(missing), np.asarray(missing.any(axis=2))
    counted = wide if wide.any() else taken
    for _ in range(_n_copies(missing, wide)):
        avoided = taken
        if wide.any():
            avoided = maximum_filter(taken.view(np.uint8), 2 * _GAP + 1, mode="constant").view(bool)
        shifts = rng.integers(0, missing.shape[:2], (_N_PLACES, 2))
        overlaps = [int((np.roll(counted, shift, axis=(0, 1)) & avoided).sum()) for shift in shifts]
        if wide.any() and min(overlaps) > counted.sum() // 4:
            break  # there is no room for another hole
        moved = np.roll(missing, shifts[int(np.argmin(overlaps))], axis=(0, 1)) & ~missing
        held_out |= moved
        taken = taken | moved.any(axis=2)
    return held_out


def _n_copies(missing: Bools, wide: Bools) -> int:
    """Return how often a mask is moved: wide holes take long to complete."""
    n_copies = int(np.clip(_HELD_FRACTION / max(float(missing.mean()), 1e-6), 1, _MAX_COPIES))
    return min(n_copies, max(1, _MAX_WIDE // label(wide)[1])) if wide.any() else n_copies
