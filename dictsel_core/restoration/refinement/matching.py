"""Which patches of a tile are most similar to its references."""

import math
from collections.abc import Iterator

import numpy as np

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.patches import all_patches
from dictsel_core.restoration.canvas import Plane
from dictsel_core.restoration.refinement._search_kernels import LANES, TAPS, find_nearest
from dictsel_core.restoration.refinement._workspace import reused, rounded_up
from dictsel_core.restoration.refinement.tiles import Search, Tile

#: Columns of references whose patches are laid out together: they share many candidates.
_COLUMNS = 8
#: References of a product, with many and with few candidates: more would not stay in the cache.
_REFERENCES, _FEW_CANDIDATES, _FEW_REFERENCES = 16, 1000, 32
#: Whole numbers up to this one, and hence sums of these, are exact in float32.
_EXACT = 1 << 24


class Matcher:
    """Finds the patches of a tile that are most similar to its references.

    Values are rounded to whole numbers so small that all sums of their products are exact in float32:
    distances do not depend on how products are divided up, and only those of wanted references are computed.

    Parameters
    ----------
    gray : (h, w) ndarray
        The region of the tile, from `-bound` to `bound`.
    bound : float
    tile : Tile
    search : Search
    """

    def __init__(self, gray: Plane, bound: np.float32, tile: Tile, search: Search) -> None:
        # No part of the sum of a distance, |a|^2 - 2 a b + |b|^2, is more than 4 d m^2 for d values up to m.
        scale = np.float32(math.isqrt(_EXACT // 4) // search.size) / bound
        self._gray, self._scale = gray, scale
        self._tile, self._search = tile, search
        self._n_candidates = tile.vertical.n_candidates, tile.horizontal.n_candidates
        self._penalty = search.penalty * float(scale) ** 2

    def nearest(self, wanted: Bools) -> Ints:
        """Return the numbers of the patches nearest to each reference, first of all its own: (B, n).

        Parameters
        ----------
        wanted : (b, b') ndarray of bool
            References, by their rows and columns in the tile.
        """
        n_all = self._tile.n_planes * math.prod(self._n_candidates)
        shape = int(np.count_nonzero(wanted)), min(self._search.n_members, n_all)
        numbers = np.empty(shape, np.intp)
        if is_enabled():
            self._search_compiled(wanted, numbers)
            return numbers
        gray = np.rint(self._gray * self._scale)
        # What the distance from a reference costs, which is in the middle; its candidates are a part of this.
        squares = np.add.outer(*(np.square(np.arange(1 - n, n)) for n in self._n_candidates))
        penalties = (self._penalty * squares).astype(np.float32)
        count = _REFERENCES if n_all > _FEW_CANDIDATES else _FEW_REFERENCES
        order = np.cumsum(wanted).reshape(wanted.shape) - 1
        for left in range(0, wanted.shape[1], _COLUMNS):
            rows, columns = np.nonzero(wanted[:, left : left + _COLUMNS])
            if rows.size == 0:
                continue
            columns += left
            strip = _Strip(gray, self._tile, self._search.size, rows, columns)
            for part in _parts(rows, count):
                found = smallest(*self._distances(strip, part, penalties), shape[1])
                numbers[order[rows[part], columns[part]]] = strip.numbers(part, found)
        return numbers

    def _search_compiled(self, wanted: Bools, numbers: Ints) -> None:
        """Set the numbers of the nearest patches, as `nearest`."""
        down, across, size = self._tile.vertical, self._tile.horizontal, self._search.size
        height, width = self._gray.shape
        pitch, (n_down, n_across) = rounded_up(width + LANES + size + -size % TAPS), self._n_candidates
        values, sums, lengths = (reused(name, (height + 1, pitch)) for name in ("values", "sums", "lengths"))
        find_nearest(
            self._gray,
            (self._scale, self._penalty),
            size,
            wanted,
            (down.references, across.references, down.first, across.first),
            (self._tile.n_planes, n_down, n_across),
            (values, sums, lengths, reused("penalties", (2 * n_down, 2 * n_across - 1 + LANES))),
            numbers,
        )

    def _distances(self, strip: "_Strip", part: slice, penalties: Plane) -> tuple[Plane, Ints]:
        """Return the distances of some references to their candidates (B, c), and which is their own (B,)."""
        (n_down, n_across), own = self._n_candidates, strip.own[part]
        products, corners = strip.products(part)
        distances = reused("distances", (len(products), self._tile.n_planes, n_down, n_across))
        penalized = (n_down - 1, n_across - 1) - own
        places = zip(products, corners.tolist(), penalized.tolist(), distances, strict=True)
        for product, (top, left), (down, right), out in places:
            np.add(
                product[:, top : top + n_down, left : left + n_across],
                penalties[down : down + n_down, right : right + n_across],
                out=out,
            )
        return distances.reshape(len(products), -1), own[:, 0] * n_across + own[:, 1]


def _parts(rows: Ints, count: int) -> Iterator[slice]:
    """Divide references, which are given by their rows, into parts of whole rows with at least `count`."""
    start = 0
    for end in (np.flatnonzero(np.diff(rows, append=rows[-1] + 1)) + 1).tolist():  # of each row
        if end - start >= count or end == len(rows):
            yield slice(start, end)
            start = end


class _Strip:
    """Some references of a few columns of a tile, and all patches around them.

    Parameters
    ----------
    gray : (h, w) ndarray
        The region of the tile, in whole numbers.
    tile : Tile
    size : int
        Height and width of a patch.
    rows, columns : (B,) ndarray of int
        Of the references in the tile, row by row.
    """

    def __init__(self, gray: Plane, tile: Tile, size: int, rows: Ints, columns: Ints) -> None:
        down, across = tile.vertical, tile.horizontal
        self._tile, self._n_candidates = tile, (down.n_candidates, across.n_candidates)
        self._first = np.stack([down.first[rows], across.first[columns]], axis=1)
        references = np.stack([down.references[rows], across.references[columns]], axis=1)
        #: Places of the references among their candidates: (B, 2).
        self.own = references - self._first
        self._corner = self._first.min(axis=0)
        (top, left), (height, width) = self._corner, np.ptp(self._first, axis=0) + self._n_candidates
        bottom, right, d = top + height + size - 1, left + width + size - 1, size * size
        planes = gray.reshape(tile.n_planes, tile.plane_height, -1)[:, top:bottom, left:right]
        # Of each patch b its values, |b|^2 and 1; of each reference a -2 times its values, 1 and |a|^2.
        self._patches = reused("patches", (d + 2, tile.n_planes, height, width))
        values = self._patches[:d].reshape(size, size, tile.n_planes, height, width)
        for number, region in enumerate(planes):
            values[:, :, number] = all_patches(region, size).transpose(2, 3, 0, 1)
            self._patches[d, number] = _box_sums(np.square(region), size)
        self._patches[d + 1] = 1
        at = references - self._corner
        self._references = self._patches[:, 0, at[:, 0], at[:, 1]].T.copy()
        self._references[:, :d] *= -2
        self._references[:, d:] = self._references[:, :-3:-1].copy()

    def products(self, part: slice) -> tuple[Plane, Ints]:
        """Return squared differences of some references and all patches of their rows: (B, P, h, w).

        Also return where the candidates of each begin: (B, 2).
        """
        corners = self._first[part] - self._corner
        top, bottom = int(corners[0, 0]), int(corners[-1, 0]) + self._n_candidates[0]
        corners[:, 0] -= top
        references, patches = self._references[part], self._patches[:, :, top:bottom]
        products = reused("products", (len(references), *patches.shape[1:]))
        np.matmul(references, patches.reshape(len(patches), -1), out=products.reshape(len(products), -1))
        return products, corners

    def numbers(self, part: slice, candidates: Ints) -> Ints:
        """Return the numbers within the tile of some candidates of each reference: (B, n)."""
        return self._tile.numbers(candidates, self._first[part])


def _box_sums(values: Plane, size: int) -> Plane:
    """Return the sums over all size x size patches."""
    height, width = (length - size + 1 for length in values.shape)
    tall = np.sum([values[shift : shift + height] for shift in range(size)], axis=0)
    return np.asarray(np.sum([tall[:, shift : shift + width] for shift in range(size)], axis=0))


def smallest(distances: Plane, own: Ints, n_members: int) -> Ints:
    """Return the candidates with the smallest distances, and first of all the reference itself: (B, n).

    The number of a candidate takes the place of the last bits of its distance: sorting such integers is
    several times faster than sorting indices.
    """
    n_candidates = distances.shape[1]
    numbers = np.int32((1 << (n_candidates - 1).bit_length()) - 1)  # bits of a number
    keys = distances.view(np.int32)
    keys &= ~numbers
    keys |= np.arange(n_candidates, dtype=np.int32)
    keys[np.arange(len(own)), own] |= np.int32(-(1 << 31))  # as if negative
    keys.partition(n_members - 1, axis=1)
    nearest = np.sort(keys[:, :n_members], axis=1)
    return (nearest & numbers).astype(np.intp)
