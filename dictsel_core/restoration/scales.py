"""Planes, restored from coarse to fine, channels from each other too, and enlarged images as such."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.restoration.coding import SparseCoder
from dictsel_core.restoration.image import Image, Plane, Planes

Number = TypeVar("Number", np.uint8, np.float32)
#: Where adjacent pixels differ along an axis; None if nothing is repeated.
Changes = frozenset[int] | None
#: How often rows or columns are repeated, and where the first repetition begins.
Repeat = tuple[int, int]

#: A channel, and the one that is subtracted from it; None if none is.
Source = tuple[int, int | None]

#: Fraction of the work of `restore_planes` that coarser scales take.
CODED_FROM = 0.25
#: Estimate of planes in unit range of which nothing is observed.
_UNKNOWN = 0.5
NOT_REPEATED: Repeat = (1, 0)
#: Rows and columns of most images.
NOT_ENLARGED = NOT_REPEATED, NOT_REPEATED
#: Places where pixels differ from which on all of them are on a grid by a chance of less than 1 in 30,000.
_MIN_CHANGES = 16
#: Rows or columns that are compared at once: of most images the first ones tell enough.
_STEP = 64


@dataclass(frozen=True, eq=False)
class Coarsest:
    """A scale of planes that is restored already: how often it was halved, (h, w, C), and limits, (C,) each.

    These are of the whole image on that scale: a tile may show little of it.
    """

    level: int
    planes: Planes
    limits: tuple[Plane, Plane]


def restore_planes(
    planes: Planes,
    missing: Bools,
    coder: SparseCoder,
    *,
    wanted: Bools | None = None,
    limits: tuple[Plane, Plane] | None = None,
    coarsest: Coarsest | None = None,
    level: int = 0,
) -> Iterator[float]:
    """Restore planes that share a mask in place, and all their coarser scales, the coarsest first.

    Yields the fraction of the work that is done; from `CODED_FROM` on, all pixels have an estimate. Planes,
    (H, W, C), are zero where missing, (H, W), and were halved `level` times. Estimates, by default of the
    missing pixels, are clipped to limits, by default the range of the observed values: outliers must not
    spread to finer scales. Scales become coarser down to the given one, or until patches no longer fit.
    """
    wanted = missing if wanted is None else wanted
    if coarsest is not None and level == coarsest.level:
        planes[missing] = coarsest.planes[missing]
        return
    if not wanted.any():
        return
    if limits is None:
        limits = _observed_limits(planes, missing) if coarsest is None else coarsest.limits
    flat = planes.reshape(-1, planes.shape[2])
    if coarsest is not None or min(missing.shape) >= 2 * coder.size:
        coarser, unknown = halve(planes, missing)
        if unknown.any():
            for fraction in restore_planes(coarser, unknown, coder, coarsest=coarsest, level=level + 1):
                yield fraction * CODED_FROM
        pixels = np.flatnonzero(missing)
        flat[pixels] = double_at(coarser, pixels, missing.shape[1])
    else:
        planes[missing] = _UNKNOWN if missing.all() else planes[~missing].mean(axis=0)
    yield CODED_FROM
    for rows, pixels, values in coder.estimates(planes, missing, wanted):
        flat[pixels] = np.clip(values, *limits)
        yield CODED_FROM + (1 - CODED_FROM) * rows.stop / len(planes)


def fill_smoothly(planes: Planes, missing: Bools, coarsest: Coarsest | None, level: int = 0) -> None:
    """Estimate missing pixels in place, by interpolation of coarser scales alone; see `restore_planes`.

    Without a coarsest scale, something must be observed.
    """
    if not missing.any():
        return
    if coarsest is not None and level == coarsest.level:
        planes[missing] = coarsest.planes[missing]
        return
    coarser, unknown = halve(planes, missing)
    fill_smoothly(coarser, unknown, coarsest, level + 1)
    pixels = np.flatnonzero(missing)
    planes.reshape(-1, planes.shape[2])[pixels] = double_at(coarser, pixels, missing.shape[1])


def _observed_limits(planes: Planes, missing: Bools) -> tuple[Plane, Plane]:
    """Return the smallest and the largest observed value of each channel: (C,) each."""
    observed = [planes[:, :, channel][~missing] for channel in range(planes.shape[2])]
    if missing.all():
        return np.zeros(len(observed), np.float32), np.ones(len(observed), np.float32)
    return np.array([each.min() for each in observed]), np.array([each.max() for each in observed])


def halve(planes: Planes, missing: Bools) -> tuple[Planes, Bools]:
    """Return planes (H, W, C) at half size, and their mask: means of the observed pixels of 2 x 2 blocks.

    A pixel of the result is missing, and zero, if all four are; missing pixels must be zero.
    """
    counts = _block_sums((~missing).view(np.uint8))
    means = np.empty((*counts.shape, planes.shape[2]), np.float32)
    for channel in range(planes.shape[2]):
        means[:, :, channel] = _block_sums(planes[:, :, channel])
    flat, fewer = means.reshape(-1, planes.shape[2]), np.flatnonzero(counts < 4)
    few = flat[fewer] / np.maximum(counts.reshape(-1)[fewer], 1)[:, None]
    means *= np.float32(0.25)
    flat[fewer] = few
    return means, counts == 0


def _block_sums(array: NDArray[Number]) -> NDArray[Number]:
    """Sum each 2 x 2 block; blocks at an odd border are smaller."""
    across = array[:, 0::2].copy()
    np.add(across[:, : array.shape[1] // 2], array[:, 1::2], out=across[:, : array.shape[1] // 2])
    sums = across[0::2].copy()
    np.add(sums[: array.shape[0] // 2], across[1::2], out=sums[: array.shape[0] // 2])
    return sums


def double_at(planes: Planes, pixels: Ints, width: int) -> Planes:
    """Return some pixels of complete planes (H, W, C) at twice their size, by linear interpolation: (N, C).

    They are counted row by row in an image of this width.
    """
    height, half_width, n_channels = planes.shape
    flat = planes.reshape(-1, n_channels)
    rows, columns = np.divmod(pixels, width)
    row, other_row = (each * half_width for each in _sources(rows, height))
    near, far = (
        0.75 * flat.take(row + at, axis=0) + 0.25 * flat.take(other_row + at, axis=0)
        for at in _sources(columns, half_width)
    )
    return np.asarray(0.75 * near + 0.25 * far, np.float32)


def _sources(at: Ints, length: int) -> tuple[Ints, Ints]:
    """Return the nearest and the second nearest pixels on the coarser scale, along one axis."""
    near = at // 2
    return near, np.clip(near - 1 + 2 * (at % 2), 0, length - 1)


def source_planes(image: Image, source: Source) -> tuple[Planes, Bools]:
    """Return a channel or the difference of two, zero where missing, and the mask: (H, W, 1) and (H, W)."""
    channel, other = source
    if other is None:
        return image.plane(channel)[:, :, None], image.mask(channel)
    missing = np.asarray(image.mask(channel) | image.mask(other))
    difference = image.plane(channel) - image.plane(other)
    return np.where(missing, np.float32(0), difference)[:, :, None], missing


def restore_channels(
    image: Image,
    observed_channels: Sequence[bool],
    differences: Sequence[tuple[int, int]],
    coder: SparseCoder,
    coarsest: Coarsest | None,
    out: Planes,
) -> Iterator[float]:
    """Restore each channel by itself, then from others where these are observed; into planes (H, W, C).

    Yields the fraction of the work that is done. Nothing is known about a channel that is observed nowhere:
    its differences from the rest are assumed to be zero, which makes the image gray. `differences` are pairs
    of channels whose difference has less detail than the first of them.
    """
    channels = range(image.n_channels)
    sources: list[Source] = [(c, None) for c in channels if observed_channels[c]]
    sources += [pair for pair in differences if image.mask(pair[0]).any()]
    restored: dict[Source, Plane] = {}
    for number, source in enumerate(sources):
        planes, missing = source_planes(image, source)
        coarse = None if coarsest is None else _of(source, coarsest)
        for fraction in restore_planes(planes, missing, coder, coarsest=coarse):
            yield (number + fraction) / len(sources)
        restored[source] = planes[:, :, 0]
    for channel in channels:
        own = restored.get((channel, None), np.full(image.shape, 0.5, np.float32))
        out[:, :, channel] = _combined(image, channel, own, restored, observed_channels)


def _of(source: Source, coarsest: Coarsest) -> Coarsest:
    """Return the coarsest scale of a channel, or of the difference of two."""
    channel, other = source
    planes, limits = coarsest.planes[:, :, channel, None], np.ones(1, np.float32)
    if other is None:
        return replace(coarsest, planes=planes, limits=(0 * limits, limits))
    return replace(coarsest, planes=planes - coarsest.planes[:, :, other, None], limits=(-limits, limits))


def _combined(
    image: Image,
    channel: int,
    own: Plane,
    restored: Mapping[Source, Plane],
    observed_channels: Sequence[bool],
) -> Plane:
    """Return a channel (H, W): where others are observed, the mean of these and their differences."""
    missing = image.mask(channel)
    total, count = np.zeros(image.shape, np.float32), np.zeros(image.shape, np.float32)
    for other in range(image.n_channels):
        difference = restored.get((channel, other)) if observed_channels[channel] else np.float32(0)
        if other == channel or difference is None:
            continue
        known = missing & ~image.mask(other)
        total += np.where(known, image.plane(other) + difference, 0)
        count += known
    means = np.clip(total / np.maximum(count, 1), 0, 1)
    return np.where(count > 0, means, own)


def detail(plane: Plane, missing: Bools) -> float:
    """Return the sum of the squares of what the coarser scale of a plane (H, W) does not represent."""
    coarser, _ = halve(np.where(missing, np.float32(0), plane)[:, :, None], missing)
    known = np.flatnonzero(~missing)
    rest = plane.reshape(-1)[known] - double_at(coarser, known, plane.shape[1])[:, 0]
    return float(np.square(rest, dtype=np.float64).sum())


def useful_differences(samples: Sequence[Image]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of channels whose difference has less detail than the first, where both are observed.

    Of all pairs of which the second is observed somewhere where the first is missing. Both need not be
    observed in the same sample.
    """
    return tuple(
        pair
        for pair in permutations(range(samples[0].n_channels), 2)
        if any((image.mask(pair[0]) & ~image.mask(pair[1])).any() for image in samples)
        and _is_smoother(pair, samples)
    )


def _is_smoother(pair: tuple[int, int], samples: Sequence[Image]) -> bool:
    """Return whether the difference of two channels has less detail than the first of them."""
    difference = own = 0.0
    for image in samples:
        (first, second), planes = map(image.mask, pair), [image.plane(channel) for channel in pair]
        unknown = np.asarray(first | second)
        difference += detail(planes[0] - planes[1], unknown)
        own += detail(planes[0], unknown)
    return difference < own


def changes_of(image: NDArray[Any], missing: Bools, start: int, axis: int) -> Changes:
    """Return where pixels of a part of an image (h, w, C) differ from those above (axis 0) or left of them.

    Missing pixels are not compared. The part begins at row or column `start` of the image.
    """
    if axis == 1:
        image, missing = image.swapaxes(0, 1), missing.swapaxes(0, 1)
    found: Changes = frozenset()
    for left in range(0, image.shape[1], _STEP):
        pixels, hidden = image[:, left : left + _STEP], missing[:, left : left + _STEP]
        differ = (pixels[1:] != pixels[:-1]) & ~(hidden[1:] | hidden[:-1])
        places = np.flatnonzero(differ.any(axis=(1, 2))) + 1 + start
        found = joint_changes(found, frozenset(places.tolist()))
        if found is None:
            break
    return found


def joint_changes(first: Changes, second: Changes) -> Changes:
    """Return where adjacent pixels differ in either of two parts."""
    if first is None or second is None:
        return None
    if second <= first:  # as in most blocks below one another
        return first
    both = first | second
    return None if _grid(both) == 1 else both


def repeat_of(changes: Changes) -> Repeat:
    """Return how an image with these changes was enlarged along an axis."""
    if changes is None or len(changes) < _MIN_CHANGES:
        return NOT_REPEATED
    size = _grid(changes)
    return size, min(changes) % size


def _grid(places: Iterable[int]) -> int:
    """Return the largest distance of a regular grid with all these places; 0 for less than two."""
    first = min(places, default=0)
    return math.gcd(*(place - first for place in places))


def equalize(planes: Planes, image: Image, repeats: tuple[Repeat, Repeat], origin: tuple[int, int]) -> None:
    """Make the pixels of an enlarged image equal that were one, in place.

    A missing pixel takes the value of an observed one that was the same, or the mean of all of them. A tile
    begins at `origin`.
    """
    rows, columns = (
        _starts(slice(start, start + length), repeat)
        for start, length, repeat in zip(origin, image.shape, repeats, strict=True)
    )
    for channel in range(image.n_channels):
        planes[:, :, channel] = _equalized(planes[:, :, channel], image, channel, rows, columns)


def _starts(part: slice, repeat: Repeat) -> Ints:
    """Return where pixels that were one begin in a part of an axis."""
    size, offset = repeat
    later = np.arange((offset - part.start) % size or size, part.stop - part.start, size)
    return np.concatenate([[0], later])


def _equalized(plane: Plane, image: Image, channel: int, rows: Ints, columns: Ints) -> Plane:
    """Return a plane (h, w) with equal values in the missing pixels of each cell, which begin where given."""
    missing = image.mask(channel)
    observed = np.where(missing, np.float32(-1), image.plane(channel))
    known = np.maximum.reduceat(np.maximum.reduceat(observed, rows, axis=0), columns, axis=1)
    total = np.add.reduceat(np.add.reduceat(plane.astype(np.float64), rows, axis=0), columns, axis=1)
    heights = np.diff(rows, append=plane.shape[0])
    widths = np.diff(columns, append=plane.shape[1])
    mean = (total / np.multiply.outer(heights, widths)).astype(np.float32)
    cells = np.where(known < 0, mean, known)
    # `take`, unlike `repeat`, lets other threads run meanwhile.
    values = cells.take(np.arange(len(rows)).repeat(heights), axis=0)
    values = values.take(np.arange(len(columns)).repeat(widths), axis=1)
    return np.where(missing, values, plane)
