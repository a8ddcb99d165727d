"""The patches of a tile that are most similar to its references."""

import math
from functools import cache

import numpy as np

from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Plane
from dictsel_core.restoration.refinement._search_kernels import TAPS, find_nearest
from dictsel_core.restoration.refinement._workspace import reused
from dictsel_core.restoration.refinement.tiles import Search, Tile

#: Whole numbers up to this one, and hence sums of these, are exact in float32.
_EXACT = 1 << 24


def nearest(gray: Plane, bound: np.float32, tile: Tile, search: Search, wanted: Bools) -> Ints:
    """Return the numbers of the patches nearest to each reference, first of all its own: (B, n).

    Values are rounded to whole numbers so small that all sums of their products are exact in float32:
    distances do not depend on the order of sums.

    Parameters
    ----------
    gray : (h, w) ndarray
        The region of the tile, from `-bound` to `bound`.
    bound : float
    tile : Tile
    search : Search
    wanted : (b, b') ndarray of bool
        References, by their rows and columns in the tile.
    """
    down, across, size = tile.vertical, tile.horizontal, search.size
    # No part of the sum of a distance, |a|^2 - 2 a b + |b|^2, is more than 4 d m^2 for d values up to m.
    scale = np.float32(math.isqrt(_EXACT // 4) // size) / bound
    values = reused("values", (gray.size + TAPS,))
    np.rint(np.multiply(gray.ravel(), scale, out=values[: gray.size]), out=values[: gray.size])
    values[gray.size :] = 0
    pitch = gray.shape[1]
    sums = box_sums("sums", values, max(size // 2, 1), pitch)
    lengths = box_sums("lengths", np.square(values, out=reused("squares", values.shape)), size, pitch)
    squares = _squared_distances(down.n_candidates, across.n_candidates)
    penalties = np.float32(search.penalty * float(scale) ** 2) * squares
    rows, columns = np.nonzero(wanted)
    references = np.stack(
        [down.references[rows], across.references[columns], down.first[rows], across.first[columns]], axis=1
    )
    n_candidates = tile.n_planes, down.n_candidates, across.n_candidates
    numbers = np.empty((len(rows), min(search.n_members, math.prod(n_candidates))), np.intp)
    find_nearest(
        (values, sums, lengths),
        penalties.ravel(),
        size,
        references,
        n_candidates,
        (len(gray) // tile.n_planes * pitch, pitch, penalties.shape[1]),
        numbers,
    )
    return tile.numbers(numbers, references[:, 2:])


@cache
def _squared_distances(n_down: int, n_across: int) -> Plane:
    """Return the squared distances of places from that in the middle: (2 * n_down - 1, 2 * n_across - 1)."""
    down, across = (np.square(np.arange(1 - n, n, dtype=np.float32)) for n in (n_down, n_across))
    return np.add.outer(down, across)


def box_sums(name: str, values: Plane, size: int, pitch: int) -> Plane:
    """Return the sums of all size x size blocks of a plane with rows of length `pitch`, all in one dimension.

    What lies behind the last column continues in the next row. The result is overwritten by the next call
    with this name.
    """
    tall = _run_sums("tall", values, size, pitch)
    return _run_sums(name, tall, size, 1)


def _run_sums(name: str, values: Plane, n: int, step: int) -> Plane:
    """Return the sums of n numbers, `step` apart, from each number on."""
    sums = reused(name, (len(values) - (n - 1) * step,))
    sums[...] = values[: len(sums)]
    for shift in range(step, n * step, step):
        sums += values[shift : shift + len(sums)]
    return sums
