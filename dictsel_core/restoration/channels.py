"""Channels with masks of their own, which are estimated from each other too."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from dictsel_core._util.validation import Bools
from dictsel_core.restoration.coding import SparseCoder
from dictsel_core.restoration.image import Image, Plane, Planes
from dictsel_core.restoration.scales import Coarsest, double_at, halve, restore_planes

#: A channel, and the one that is subtracted from it; None if none is.
Source = tuple[int, int | None]


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
