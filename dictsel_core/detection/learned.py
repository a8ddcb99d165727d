"""Cracks and scratches, dust and hairs: what the network takes for damage."""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from dictsel_core._support.threads import as_thread_count, map_chunks
from dictsel_core._support.validation import Bools
from dictsel_core.damage_kinds import DamageKind
from dictsel_core.detection.network import MULTIPLE, load_network
from dictsel_core.detection.plane import DetectionImage, Single, shrink
from dictsel_core.detection.regions import (
    Regions,
    connected_components,
    enlarged,
    grown,
    joined,
    regions_from_points,
)
from dictsel_core.detection.work import Work, part

#: Larger pictures are looked at at half their size, or a quarter: their damage is wider too.
_MAX_PIXELS = 12e6
#: Side of the tiles that are looked at one by one, and how far around them the network sees.
_TILE, _HALO = 1024, 48
#: Brightness as the network knows it.
_RANGE = (-0.5, 1.5)
#: Logits of pixels that make a region: first those of a probability of 25 %, then what is left of 10 %.
_LEVELS = (-1.1, -2.2)
#: Logit of pixels that belong to the rim of a region if they are two pixels away from it.
_RIM = -1.7


def learned_candidates(image: DetectionImage) -> Work[Mapping[DamageKind, Regions]]:
    """Return cracks and scratches, and dust and hairs; the confidence is a mean of probabilities of pixels.

    A region has a rim around the pixels that count for its confidence: damage is wider than it looks.
    """
    yield 0.0
    plane, factor = image.brightness, 1
    while plane.size > _MAX_PIXELS:
        plane, factor = shrink(plane), 2 * factor
    damage, kind = yield from part(_logits(plane), 0.05, 0.9)
    found: dict[DamageKind, list[Regions]] = {"scratches": [], "dust": []}
    covered = np.zeros(plane.shape, np.bool_)
    for level in _LEVELS:
        both = _regions(damage, kind, (damage >= level) & ~covered)
        for name, regions in zip(found, both, strict=True):
            wide = _with_rims(regions, damage)
            covered.reshape(-1)[wide.pixels] = True
            found[name].append(wide)
        yield 0.95
    return {name: enlarged(joined(parts), factor, image.shape) for name, parts in found.items()}


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
    labels, n_labels = connected_components(mask)
    pixels = np.flatnonzero(mask)
    numbers = labels.reshape(-1)[pixels] - np.intp(1)
    probability = 1 / (1 + np.exp(-damage.reshape(-1)[pixels]))
    total = np.bincount(numbers, probability, n_labels)
    confidence = np.bincount(numbers, probability**2, n_labels) / total  # faint rims count less
    is_line = np.bincount(numbers, kind.reshape(-1)[pixels], n_labels) > 0
    lines, spots = (
        regions_from_points(mask.shape, pixels, numbers, np.where(chosen, confidence, 0))
        for chosen in (is_line, ~is_line)
    )
    return lines, spots


def _with_rims(regions: Regions, damage: Single) -> Regions:
    """Return regions with the pixels around them, and with those next to these that may be damage."""
    near = grown(regions)
    far = grown(near)
    kept = damage.reshape(-1)[far.pixels] >= _RIM
    pixels = np.concatenate([near.pixels, far.pixels[kept]])
    numbers = np.concatenate([near.numbers(), far.numbers()[kept]])
    return regions_from_points(regions.shape, pixels, numbers, regions.confidence)
