"""Parts of an image with observed pixels held out in the shape of the narrow damage."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.restoration.image import Image

#: Most pixels of all trials on one image; a larger image is represented by tiles of this height and width.
_MAX_PIXELS, _TILE_SIZE = 512**2, 192
#: If more is missing in a tile, single pixels are held out, this fraction of the observed ones.
_MAX_MOVED, _RANDOM_FRACTION = 0.3, 0.05
#: Otherwise the mask is moved, as often as this fraction of a tile allows; if only once, in two trials unless
#: these take too long.
_HELD_FRACTION, _MAX_COPIES = 0.15, 4
#: How far it is moved: the content should be the same, and the damage itself out of the way.
_MIN_SHIFT, _MAX_SHIFT = 16, 48
#: How many places are compared for each copy, and how far it keeps from what is missing, if it can.
_N_PLACES, _GAP = 24, 6


@dataclass(frozen=True, eq=False)
class Trial:
    """A part of an image with observed pixels held out."""

    image: Image  #: with the held-out pixels
    narrow: Bools  #: (h, w, c), what of its missing pixels is narrow damage
    held_out: Bools  #: (h, w, c)
    corner: tuple[int, int]  #: top-left pixel of this part in the image
    is_dense: bool = False  #: whether single pixels are held out, among missing ones


def trials(image: Image, narrow: Bools, rng: np.random.Generator) -> Iterator[Trial]:
    """Yield trials on an image with this narrow damage (H, W, c), each of which holds out something."""
    for rows, columns in _tiles(narrow, rng):
        missing, damage = image.missing[rows, columns], narrow[rows, columns]
        is_dense = bool(damage.sum() > _MAX_MOVED * (~missing | damage).sum())
        n_copies = int(np.clip(_HELD_FRACTION / max(float(damage.mean()), 1e-6), 1, _MAX_COPIES))
        for _ in range(2 if n_copies == 1 and damage.mean() < _HELD_FRACTION else 1):
            held_out = _random_pixels(missing, rng) if is_dense else _moved(damage, missing, n_copies, rng)
            if held_out.any() and not (missing | held_out).all(axis=(0, 1)).any():
                part = image.part((rows, columns))
                yield Trial(part, damage, held_out, (rows.start, columns.start), is_dense)


def depths(missing: Bools) -> Ints:
    """Return the distance of each missing value from the nearest observed one of its channel: (H, W, c)."""
    from scipy.ndimage import distance_transform_cdt  # noqa: PLC0415  (slow to import)

    layers = [distance_transform_cdt(missing[:, :, c], metric="chessboard") for c in range(missing.shape[2])]
    # Of a channel without any observed pixel, the distances are negative.
    return np.asarray(np.abs(np.stack(layers, axis=2)), np.intp)


def _tiles(narrow: Bools, rng: np.random.Generator) -> Iterator[tuple[slice, slice]]:
    """Yield the whole image, or tiles around damaged pixels."""
    height, width = narrow.shape[:2]
    if height * width <= _MAX_PIXELS:
        yield slice(0, height), slice(0, width)
        return
    centers = np.flatnonzero(narrow.any(axis=2))
    for center in rng.choice(centers, max(1, _MAX_PIXELS // _TILE_SIZE**2)):
        y, x = divmod(int(center), width)
        top = max(0, min(y - _TILE_SIZE // 2, height - _TILE_SIZE))
        left = max(0, min(x - _TILE_SIZE // 2, width - _TILE_SIZE))
        yield slice(top, min(top + _TILE_SIZE, height)), slice(left, min(left + _TILE_SIZE, width))


def _random_pixels(missing: Bools, rng: np.random.Generator) -> Bools:
    chosen = rng.random((*missing.shape[:2], 1)) < _RANDOM_FRACTION
    return np.asarray(~missing & chosen)


def _moved(narrow: Bools, missing: Bools, n_copies: int, rng: np.random.Generator) -> Bools:
    """Return the observed pixels under copies of the damage, moved a little out of the way of each other.

    Wide holes do not decide where they are, so that another hole hardly changes the estimate.
    """
    from scipy.ndimage import maximum_filter  # noqa: PLC0415  (slow to import)

    held_out, taken = np.zeros_like(missing), np.asarray(narrow.any(axis=2))
    for _ in range(n_copies):
        near = maximum_filter(taken.view(np.uint8), 2 * _GAP + 1, mode="constant").view(bool)
        copies = [_shifted(narrow, shift) for shift in _shifts(missing.shape[:2], rng)]
        # Copies that leave the image have fewer pixels.
        rooms = [int((each & ~near[:, :, None]).sum()) for each in copies]
        copy = copies[int(np.argmax(rooms))] & ~missing
        held_out |= copy
        taken = taken | copy.any(axis=2)
    return held_out


def _shifts(shape: tuple[int, ...], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return shifts down and across, of which the larger is within limits, as far as the image allows."""
    highest = [max(1, min(_MAX_SHIFT, length // 2)) for length in shape]
    found: list[tuple[int, int]] = []
    while len(found) < _N_PLACES:
        down, across = (int(rng.integers(-high, high + 1)) for high in highest)
        if max(abs(down), abs(across)) >= min(_MIN_SHIFT, *highest):
            found.append((down, across))
    return found


def _shifted(mask: Bools, shift: tuple[int, int]) -> Bools:
    """Return a mask moved down and across; what leaves the image is lost."""
    result = np.zeros_like(mask)
    (to_rows, rows), (to_columns, columns) = (
        (slice(max(step, 0), min(step, 0) or None), slice(max(-step, 0), min(-step, 0) or None))
        for step in shift
    )
    result[to_rows, to_columns] = mask[rows, columns]
    return result
