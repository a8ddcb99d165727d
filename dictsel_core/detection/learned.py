"""Cracks and scratches, dust and hairs: what the network takes for damage."""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core._support.threads import as_thread_count, map_chunks
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.damage_kinds import DamageKind
from dictsel_core.detection.frame import frame_of
from dictsel_core.detection.network import MULTIPLE, load_network
from dictsel_core.detection.plane import DetectionImage, Single, shrink
from dictsel_core.detection.regions import (
    Regions,
    connected_components,
    enlarged,
    joined,
    regions_from_points,
    without,
)
from dictsel_core.detection.rims import with_rims
from dictsel_core.detection.work import Work, part

#: Larger pictures are looked at at half their size, or a quarter: their damage is wider too.
_MAX_PIXELS = 12e6
#: Side of the tiles that are looked at one by one, and how far around them the network sees.
_TILE, _HALO = 1024, 64
#: Brightness as the network knows it.
_RANGE = (-0.5, 1.5)
#: How many pixels its range is estimated from, as which quantiles, and how much of the range of all channels
#: it has at least: noise is no picture.
_N_SAMPLES, _QUANTILES, _LEAST_SPAN = 1 << 18, (0.005, 0.995), 0.1
#: Logits of pixels that make a region: first those of a probability of 20 %, then what is left of 10 %.
LEVEL = -1.39
_LEVELS = (LEVEL, -2.2)
#: How much less what is seen at half the size counts, as a logit, the logit of what does not, and that of
#: pixels at which nothing is seen at full size.
_DOUBT, _NOWHERE, _NONE = 0.5, -10.0, -3.5
#: Power of its probability that a pixel is weighted with.
_POWER, _LEAST_DOUBT = 12, 1e-4


def learned_candidates(image: DetectionImage) -> Work[Mapping[DamageKind, Regions]]:
    """Return cracks and scratches, and dust and hairs; the confidence is the probability that it is damage.

    A region has a rim around the pixels that count for its confidence: damage is wider than it looks. The
    frame of the picture is no damage.
    """
    yield 0.0
    plane, factor = _stretched(image), 1
    while plane.size > _MAX_PIXELS:
        plane, factor = shrink(plane), 2 * factor
    damage, kind = yield from part(_logits(plane), 0.05, 0.75)
    halves = yield from part(_logits(shrink(plane)), 0.75, 0.9)
    sharp, damage = damage, at_two_sizes(damage, *halves)
    kind = np.where(damage > sharp, _doubled(halves[1], plane.shape), kind)
    found: dict[DamageKind, list[Regions]] = {"scratches": [], "dust": []}
    frame = frame_of(damage >= LEVEL)
    covered = frame.copy()
    for level in _LEVELS:
        both = _regions(damage, kind, (damage >= level) & ~covered)
        for name, regions in zip(found, both, strict=True):
            wide = with_rims(regions, plane)
            wide = without(wide, frame) if frame.any() else wide
            covered.reshape(-1)[wide.pixels] = True
            found[name].append(wide)
        yield 0.95
    return {name: enlarged(joined(parts), factor, image.shape) for name, parts in found.items()}


def _stretched(image: DetectionImage) -> Single:
    """Return the brightness, its own range as 0 to 1: that of all channels is wider in tinted pictures."""
    plane = image.brightness
    step = max(1, int(np.sqrt(plane.size / _N_SAMPLES)))
    sample = plane[::step, ::step][~image.missing[::step, ::step]]
    low, high = np.quantile(sample, _QUANTILES) if sample.size else (0.0, 1.0)
    span = max(high - low, _LEAST_SPAN)
    return np.asarray((plane - np.float32(low)) / np.float32(span))


def at_two_sizes(full: Single, half: Single, half_kind: Single) -> Single:
    """Return the logits of damage from those of a picture and of the picture at half its size.

    Wide cracks are seen better at half the size; spots are too small there. What is seen there alone is a
    little less certain, and its rims are coarse: where the picture itself shows none at all, there is none.
    """
    lines = np.where(half_kind > 0, half, np.float32(_NOWHERE))
    smooth = ndimage.uniform_filter(_doubled(lines, full.shape), 3, mode="nearest")
    return np.where(full > _NONE, np.maximum(full, smooth - np.float32(_DOUBT)), full)


def _doubled(half: Single, shape: tuple[int, int]) -> Single:
    return half.repeat(2, axis=0).repeat(2, axis=1)[: shape[0], : shape[1]]


def _logits(plane: Single) -> Work[tuple[Single, Single]]:
    """Return the logits of damage, and of lines against spots, (H, W) each, computed tile by tile."""
    network = load_network()
    damage, kind = np.empty_like(plane), np.empty_like(plane)
    tiles = list(product(*(list(_spans(side)) for side in plane.shape)))

    def look(number: int, _: int) -> None:
        tile = tiles[number]
        low = [max(0, span.start - _HALO) for span in tile]
        outer = plane[low[0] : tile[0].stop + _HALO, low[1] : tile[1].stop + _HALO]
        even = np.pad(outer, [(0, -side % MULTIPLE) for side in outer.shape], mode="reflect").clip(*_RANGE)
        inner = tuple(slice(s.start - first, s.stop - first) for s, first in zip(tile, low, strict=True))
        for whole, values in zip((damage, kind), network.logits(even), strict=True):
            whole[tile] = values[inner]

    for number, _ in enumerate(map_chunks(look, len(tiles), 1, as_thread_count(None)), 1):
        yield number / len(tiles)
    return damage, kind


def _spans(side: int) -> Iterator[slice]:
    """Return the spans of the tiles along one side; inner ones begin at pixels that the network pairs."""
    n_tiles = -(-side // _TILE)
    edges = [side * number // n_tiles // MULTIPLE * MULTIPLE for number in range(n_tiles)]
    return (slice(start, stop) for start, stop in zip(edges, [*edges[1:], side], strict=True))


def _regions(damage: Single, kind: Single, mask: Bools) -> tuple[Regions, Regions]:
    """Return the connected parts of a mask, lines and spots apart."""
    pixels, numbers, strength = region_strengths(damage, mask)
    n_labels = len(strength)
    slope, offset = load_network().confidence
    confidence = 1 / (1 + np.exp(-(slope * strength + offset)))
    is_line = np.bincount(numbers, kind.reshape(-1)[pixels], n_labels) > 0
    lines, spots = (
        regions_from_points(mask.shape, pixels, numbers, np.where(chosen, confidence, 0))
        for chosen in (is_line, ~is_line)
    )
    return lines, spots


def region_strengths(damage: Single, mask: Bools) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Return the pixels of a mask, the number of the connected part each belongs to, and their strengths.

    The strength of a part is the logit of the mean probability of its pixels, weighted so much with it that
    the surest ones count: one certain place makes all of a crack likely.
    """
    labels, n_labels = connected_components(mask)
    pixels = np.flatnonzero(mask)
    numbers = labels.reshape(-1)[pixels].astype(np.intp) - 1
    probability = 1 / (1 + np.exp(-damage.reshape(-1)[pixels].astype(np.float64)))
    weight = probability**_POWER
    mean = np.bincount(numbers, weight * probability, n_labels) / np.bincount(numbers, weight, n_labels)
    mean = np.clip(mean, _LEAST_DOUBT, 1 - _LEAST_DOUBT)
    return pixels, numbers, np.log(mean / (1 - mean))
