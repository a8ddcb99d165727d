"""One look at all tiles of an image: what must be known of the whole before any tile is restored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.restoration.canvas import Canvas, Planes, channel_ranges, in_ranges, planes_ranges
from dictsel_core.restoration.coding.pyramid import halve
from dictsel_core.restoration.repeats import Changes, changes_of, joint_changes
from dictsel_core.restoration.tiles import Tile
from dictsel_core.restoration.value_range import ValueRange, common_range
from dictsel_core.restoration.wide import pixels_to_complete

Item = TypeVar("Item")

#: Height and width of the samples of an image, and how many of a tile there are at most.
SAMPLE_SIZE, _SAMPLES_PER_TILE = 256, 4


@dataclass(frozen=True, eq=False)
class CoarsePart:
    """A coarse scale of a tile.

    Attributes
    ----------
    top, left : int
        Where it begins in that scale of the image.
    planes : (h, w, C) ndarray
    missing : (h, w, c) ndarray of bool
    ranges : tuple of ValueRange
        The unit ranges of the planes.
    """

    top: int
    left: int
    planes: Planes
    missing: Bools
    ranges: tuple[ValueRange, ...]


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts about some tiles of an image; the sum over all tiles is what is known of the image.

    Attributes
    ----------
    n_pixels : int
    n_missing : tuple of int
        Missing pixels of each layer of the mask.
    shares_mask : bool
        Whether all layers are equal.
    ranges : tuple of ValueRange or None
        Of the observed values of each channel.
    damaged, intact : tuple of (slice, slice)
        Samples of the image, where something is missing and where nothing is.
    cells : (N, 6) ndarray of int
        Cells with wide holes; see `hole_cells`.
    changes : two of Changes
        Where adjacent rows and columns differ: see `changes_of`.
    coarse : tuple of CoarsePart
    """

    n_pixels: int
    n_missing: tuple[int, ...]
    shares_mask: bool
    ranges: tuple[ValueRange | None, ...]
    damaged: tuple[Region, ...]
    intact: tuple[Region, ...]
    cells: Ints
    changes: tuple[Changes, Changes]
    coarse: tuple[CoarsePart, ...] = ()

    def __add__(self, other: "Survey") -> "Survey":
        """Return what is known of the tiles of both."""
        return Survey(
            self.n_pixels + other.n_pixels,
            tuple(a + b for a, b in zip(self.n_missing, other.n_missing, strict=True)),
            self.shares_mask and other.shares_mask,
            tuple(_joint_range(*pair) for pair in zip(self.ranges, other.ranges, strict=True)),
            self.damaged + other.damaged,
            self.intact + other.intact,
            np.concatenate([self.cells, other.cells]),
            (
                joint_changes(self.changes[0], other.changes[0]),
                joint_changes(self.changes[1], other.changes[1]),
            ),
            self.coarse + other.coarse,
        )

    @property
    def missing_fraction(self) -> float:
        """Fraction of the values that are missing."""
        return sum(self.n_missing) / (self.n_pixels * len(self.n_missing))

    def coarse_image(self, shape: tuple[int, int], ranges: tuple[ValueRange, ...]) -> Canvas:
        """Return the coarse scale of the image, of this shape, in unit range."""
        first = self.coarse[0]
        planes = np.zeros((*shape, first.planes.shape[2]), np.float32)
        missing = np.ones((*shape, first.missing.shape[2]), bool)
        for part in self.coarse:
            height, width = part.missing.shape[:2]
            place = np.s_[part.top : part.top + height, part.left : part.left + width]
            planes[place] = in_ranges(part.planes, part.ranges, ranges)
            missing[place] = part.missing
        layers = missing[:, :, :1] if self.shares_mask else missing
        return Canvas(planes, layers, (ValueRange(0.0, 1.0),) * planes.shape[2])


def survey_tile(image: NDArray[Any], missing: Bools, tile: Tile, reach: int, level: int) -> Survey:
    """Look at a tile.

    Parameters
    ----------
    image : (h, w, C) ndarray
        The tile with its halo.
    missing : (h, w, c) ndarray of bool
    tile : Tile
    reach : int
        Pixels farther than this from all observed ones are in wide holes; 0 looks for none.
    level : int
        How often the coarse scale is halved; 0 for none.
    """
    pixels, hidden = image[tile.inner], missing[tile.inner]
    layers, ranges = range(hidden.shape[2]), channel_ranges(pixels, hidden)
    top, left = (each.start for each in tile.region)
    return Survey(
        hidden.shape[0] * hidden.shape[1],
        tuple(int(np.count_nonzero(hidden[:, :, layer])) for layer in layers),
        all(bool((hidden[:, :, layer] == hidden[:, :, 0]).all()) for layer in layers[1:]),
        ranges,
        *_samples(hidden, top, left),
        _hole_cells(missing, tile, reach),
        (changes_of(pixels, hidden, top, 0), changes_of(pixels, hidden, left, 1)),
        (_coarse_part(pixels, hidden, ranges, top, left, level),) if level and any(ranges) else (),
    )


def _samples(missing: Bools, top: int, left: int) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Return some parts of a tile in which something is missing, and some others; not all of it in either."""
    damaged: list[Region] = []
    intact: list[Region] = []
    for rows, columns in parts_of(missing.shape, SAMPLE_SIZE):
        part = missing[rows, columns]
        if not part.all():
            place = slice(top + rows.start, top + rows.stop), slice(left + columns.start, left + columns.stop)
            (damaged if part.any() else intact).append(place)
    return evenly_spaced(damaged, _SAMPLES_PER_TILE), evenly_spaced(intact, 1)


def parts_of(shape: tuple[int, ...], size: int) -> Iterator[Region]:
    """Yield adjacent parts of an image, row by row, of this height and width at most."""
    for row in range(0, shape[0], size):
        for column in range(0, shape[1], size):
            yield slice(row, min(row + size, shape[0])), slice(column, min(column + size, shape[1]))


def evenly_spaced(items: Sequence[Item], n_wanted: int) -> tuple[Item, ...]:
    """Return some of several items."""
    n = min(n_wanted, len(items))
    return tuple(items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n))


def _hole_cells(missing: Bools, tile: Tile, reach: int) -> Ints:
    """Return the cells of a tile with wide holes."""
    wide = pixels_to_complete(missing, reach)[tile.inner]
    if not wide.any():
        return np.zeros((0, 6), np.intp)
    from dictsel_core.completion import hole_cells  # noqa: PLC0415  (scipy is slow to import)

    return hole_cells(wide, tile.region[0].start, tile.region[1].start)


def _coarse_part(
    pixels: NDArray[Any],
    missing: Bools,
    ranges: tuple[ValueRange | None, ...],
    top: int,
    left: int,
    level: int,
) -> CoarsePart:
    """Return a coarse scale of the pixels of a tile."""
    own = planes_ranges(ranges)
    planes, hidden = Canvas(pixels, missing, own).planes(), missing
    for _ in range(level):
        layers = [
            halve(planes if hidden.shape[2] == 1 else planes[:, :, layer : layer + 1], hidden[:, :, layer])
            for layer in range(hidden.shape[2])
        ]
        planes = np.concatenate([values for values, _ in layers], axis=2)
        hidden = np.stack([unknown for _, unknown in layers], axis=2)
    return CoarsePart(top >> level, left >> level, planes, hidden, own)


def _joint_range(first: ValueRange | None, second: ValueRange | None) -> ValueRange | None:
    known = [each for each in (first, second) if each is not None]
    return common_range(known) if known else None
