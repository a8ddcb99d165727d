"""Cracks and scratches, dust and hairs: what the network takes for damage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.parallel import as_thread_count, map_chunks
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.damage_kinds import DamageKind
from dictsel_core.detection.agreement import agreement
from dictsel_core.detection.colors import tint_evidence
from dictsel_core.detection.network import MULTIPLE, load_network
from dictsel_core.detection.plane import DetectionImage, Single, shrink
from dictsel_core.detection.regions import (
    Regions,
    chosen_regions,
    connected_components,
    enlarged,
    regions_from_points,
    without,
)
from dictsel_core.detection.rims import Surroundings, dilated, frame_of, signs, with_rims
from dictsel_core.detection.work import Work, part

#: Larger pictures are looked at at half their size, or a quarter: their damage is wider too.
_MAX_PIXELS = 12e6
#: Side of the tiles that are looked at one by one, and how far around them the network sees.
_TILE, _HALO = 1024, 96
#: Brightness and tint as the network knows them.
_RANGE, _TINT_RANGE = (-0.5, 1.5), (-1, 1)
#: How many pixels its range is estimated from, as which quantiles, and how much of the range of all channels
#: it has at least: noise is no picture.
_N_SAMPLES, _QUANTILES, _LEAST_SPAN = 1 << 18, (0.005, 0.995), 0.1
#: Logits of pixels that make a region: those of a probability of 11 %, and, so far from them, of 5 %.
_LEVEL, _LOWEST, _APART = -2.1, -2.9, 3
#: Doubt about a region, at least.
_LEAST_DOUBT = 1e-4


def learned_candidates(image: DetectionImage) -> Work[Mapping[DamageKind, Regions]]:
    """Return cracks and scratches, and dust and hairs; the confidence is the probability that it is damage.

    A region is larger than the pixels that count for its confidence: it is followed as far as it can be seen,
    and has a rim. The frame of the picture is no damage.
    """
    yield 0.0
    plane, tint = _stretched(image)
    while plane.size > _MAX_PIXELS:
        plane, tint = shrink(plane), _shrunk(tint)
    factor = -(-max(image.shape) // max(plane.shape))
    damage, kind = yield from part(_logits(plane, tint), 0.05, 0.9)
    found = find_regions(plane, damage, kind)
    pixels, numbers, is_line = found.pixels, found.numbers, found.is_line
    lines, spots = (found.features @ weights for weights in load_network().confidence)
    logits = np.where(is_line, lines, spots)
    logits += tint_evidence(image, plane.shape, (pixels, numbers), logits)
    regions = regions_from_points(plane.shape, pixels, numbers, 1 / (1 + np.exp(-logits)))
    wide = with_rims(regions, plane, damage >= _LOWEST, found.around)
    lines, spots = (
        enlarged(without(chosen_regions(wide, chosen), found.frame), factor, image.shape)
        for chosen in (is_line, ~is_line)
    )
    return {"scratches": lines, "dust": spots}


def _stretched(image: DetectionImage) -> tuple[Single, Single]:
    """Return brightness and tint in ranges of the brightness, of a large picture at half its size.

    The range of all channels may be wider.
    """
    plane = image.brightness()
    step = max(1, int(np.sqrt(plane.size / _N_SAMPLES)))
    sample = plane[::step, ::step][~image.missing[::step, ::step]]
    low, high = np.quantile(sample, _QUANTILES) if sample.size else (0.0, 1.0)
    span = np.float32(max(high - low, _LEAST_SPAN))
    is_large, half = plane.size > _MAX_PIXELS, shrink(plane)
    if is_large:
        plane = half  # so that there is memory for the channels
    tint = image.tint(half) / span
    plane -= np.float32(low)
    plane /= span
    return plane, _shrunk(tint) if is_large else tint


def _shrunk(tint: Single) -> Single:
    return np.stack([shrink(each) for each in tint])


def _logits(plane: Single, tint: Single) -> Work[tuple[Single, Single]]:
    """Return the logits of damage, and of lines against spots, (H, W) each, computed tile by tile."""
    network = load_network()
    damage, kind = np.empty_like(plane), np.empty_like(plane)
    tiles = list(product(*(list(_spans(side)) for side in plane.shape)))

    def look(number: int, _: int) -> None:
        tile = tiles[number]
        low = [max(0, span.start - _HALO) for span in tile]
        outer = plane[low[0] : tile[0].stop + _HALO, low[1] : tile[1].stop + _HALO]
        even = np.pad(outer, [(0, -side % MULTIPLE) for side in outer.shape], mode="reflect").clip(*_RANGE)
        rows, columns = (
            slice(first // 2, (first + side + 1) // 2) for first, side in zip(low, outer.shape, strict=True)
        )
        half = tint[:, rows, columns]
        more = [(0, side // 2 - have) for side, have in zip(even.shape, half.shape[1:], strict=True)]
        colors = np.pad(half, [(0, 0), *more], mode="reflect").clip(*_TINT_RANGE)
        inner = tuple(slice(s.start - first, s.stop - first) for s, first in zip(tile, low, strict=True))
        for whole, values in zip((damage, kind), network.logits(even, colors), strict=True):
            whole[tile] = values[inner]

    for number, _ in enumerate(map_chunks(look, len(tiles), 1, as_thread_count(None)), 1):
        yield number / len(tiles)
    return damage, kind


def _spans(side: int) -> Iterator[slice]:
    """Return the spans of the tiles along one side; inner ones begin at pixels that the network pairs."""
    n_tiles = -(-side // _TILE)
    edges = [side * number // n_tiles // MULTIPLE * MULTIPLE for number in range(n_tiles)]
    return (slice(start, stop) for start, stop in zip(edges, [*edges[1:], side], strict=True))


@dataclass(frozen=True, eq=False)
class FoundRegions:
    """Connected pixels that may be damage, before they have a confidence.

    Attributes
    ----------
    pixels, numbers : (P,) ndarray
        Pixels of the flattened plane, and the region of each.
    is_line : (N,) ndarray of bool
        Cracks and scratches; the others are spots.
    features : (N, 4) ndarray
        What the logit of the confidence is a weighted sum of: the logit of the mean probability, how far a
        region agrees with the sure spots of the picture (`agreement`, for spots alone), and 1.
    frame : (H, W) ndarray of bool
        The frame of the picture, which is no damage.
    around : Surroundings
        What lies around the regions.
    """

    pixels: Ints
    numbers: Ints
    is_line: Bools
    features: NDArray[np.float64]
    frame: Bools
    around: Surroundings


def find_regions(plane: Single, damage: Single, kind: Single) -> FoundRegions:
    """Return the regions of a plane of brightness, from the logits of damage, and of lines against spots."""
    mask = damage >= _LEVEL
    frame = frame_of(mask)
    mask |= (damage >= _LOWEST) & ~dilated(mask, _APART)
    around = Surroundings.of(plane, mask)
    pixels, numbers, means = mean_logits(damage, mask & ~frame)
    is_line = np.bincount(numbers, kind.reshape(-1)[pixels], len(means)) > 0
    values = plane.reshape(-1)[pixels]
    sign = signs(values, pixels, numbers, around, plane.shape[1])
    alike = np.where(is_line[:, None], 0, agreement(values, numbers, sign, means, ~is_line))
    features = np.concatenate([means[:, None], alike, np.ones((len(means), 1))], axis=1)
    return FoundRegions(pixels, numbers, is_line, features, frame, around)


def mean_logits(damage: Single, mask: Bools) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Return the pixels of a mask, the number of the connected part of each, and a logit for each part.

    It is that of the mean probability of the pixels.
    """
    labels, n_labels = connected_components(mask)
    pixels = np.flatnonzero(mask)
    numbers = labels.reshape(-1)[pixels].astype(np.intp) - 1
    area = np.bincount(numbers, minlength=n_labels)
    probability = 1 / (1 + np.exp(-damage.reshape(-1)[pixels].astype(np.float64)))
    mean = np.clip(np.bincount(numbers, probability, n_labels) / area, _LEAST_DOUBT, 1 - _LEAST_DOUBT)
    return pixels, numbers, np.log(mean / (1 - mean))
