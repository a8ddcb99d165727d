"""The tiles of an image, and one look at all of them before any is restored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core import completion
from dictsel_core._util.arrays import Region, evenly_spaced, grown, parts_of, within
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.restoration.damaged import wide_pixels
from dictsel_core.restoration.image import (
    Image,
    ValueRange,
    in_ranges,
    joint_range,
    observed_ranges,
    unit_ranges,
)
from dictsel_core.restoration.scales import Changes, Repeat, changes_of, halve, joint_changes, repeat_of

#: Height and width of the samples of an image, and how many of a tile there are at most.
SAMPLE_SIZE, _SAMPLES_PER_TILE = 256, 4
#: Pixels around a tile that are restored with it: more changes nothing that can be measured (docs/scale.md).
HALO = 48


@dataclass(frozen=True)
class Tile:
    """A part of an image."""

    region: Region  #: rows and columns
    outer: Region  #: the same with the halo

    @property
    def inner(self) -> Region:
        """The part within its halo."""
        return within(self.region, self.outer)

    @property
    def origin(self) -> tuple[int, int]:
        """First row and column of the halo."""
        return self.outer[0].start, self.outer[1].start


def cut_tiles(shape: tuple[int, ...], side: int, grid: int = 1) -> Iterator[Tile]:
    """Yield the tiles of an image, row by row; their halos begin at multiples of `grid`."""
    for region in parts_of(shape, side):
        yield Tile(region, grown(region, HALO, shape, grid))


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts about some tiles of an image; the sum over all tiles is what is known of the image."""

    n_pixels: int
    n_missing: tuple[int, ...]  #: of each layer of the mask
    shares_mask: bool  #: whether all layers are equal
    ranges: tuple[ValueRange | None, ...]  #: of the observed values of each channel
    damaged: tuple[Region, ...]  #: samples of the image, where something is missing,
    intact: tuple[Region, ...]  #: and where nothing is
    cells: Ints  #: (N, 6), with wide holes; see `hole_cells`
    changes: tuple[Changes, Changes]  #: where adjacent rows and columns differ; see `changes_of`
    #: A coarse scale of each tile in its own ranges, and where that begins in the scale of the image.
    coarse: tuple[tuple[tuple[int, int], Image], ...] = ()

    def __add__(self, other: "Survey") -> "Survey":
        return Survey(
            self.n_pixels + other.n_pixels,
            tuple(a + b for a, b in zip(self.n_missing, other.n_missing, strict=True)),
            self.shares_mask and other.shares_mask,
            tuple(joint_range(*pair) for pair in zip(self.ranges, other.ranges, strict=True)),
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

    @property
    def observed_channels(self) -> tuple[bool, ...]:
        """Whether anything is observed of each channel."""
        return tuple(each is not None for each in self.ranges)

    @property
    def repeats(self) -> tuple[Repeat, Repeat]:
        """How the image was enlarged; it was only if all its tiles are."""
        return repeat_of(self.changes[0]), repeat_of(self.changes[1])

    def coarse_image(self, shape: tuple[int, int], ranges: tuple[ValueRange, ...]) -> Image:
        """Return the coarse scale of the image, of this shape, in unit range."""
        planes = np.zeros((*shape, len(ranges)), np.float32)
        missing = np.ones((*shape, len(self.n_missing)), bool)
        for (top, left), part in self.coarse:
            height, width = part.shape
            place = np.s_[top : top + height, left : left + width]
            planes[place] = in_ranges(part.pixels, part.ranges, ranges)
            missing[place] = part.missing
        layers = missing[:, :, :1] if self.shares_mask else missing
        return Image(planes, layers, (ValueRange(0.0, 1.0),) * planes.shape[2])


def survey_tile(image: NDArray[Any], missing: Bools, tile: Tile, reach: int, level: int) -> Survey:
    """Look at a tile, with the pixels (h, w, C) and the mask (h, w, c) of its halo.

    Pixels farther than `reach` from all observed ones are in wide holes; 0 looks for none. The coarse scale
    is halved `level` times; 0 for none.
    """
    pixels, hidden, wide = (each[tile.inner] for each in (image, missing, wide_pixels(missing, reach)))
    layers, ranges = range(hidden.shape[2]), observed_ranges(pixels, hidden)
    top, left = (each.start for each in tile.region)
    return Survey(
        hidden.shape[0] * hidden.shape[1],
        tuple(int(np.count_nonzero(hidden[:, :, layer])) for layer in layers),
        all(bool((hidden[:, :, layer] == hidden[:, :, 0]).all()) for layer in layers[1:]),
        ranges,
        *_samples(hidden, top, left),
        completion.hole_cells(wide, top, left) if wide.any() else np.zeros((0, 6), np.intp),
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
    return tuple(evenly_spaced(damaged, _SAMPLES_PER_TILE)), tuple(evenly_spaced(intact, 1))


def _coarse_part(
    pixels: NDArray[Any],
    missing: Bools,
    ranges: tuple[ValueRange | None, ...],
    top: int,
    left: int,
    level: int,
) -> tuple[tuple[int, int], Image]:
    """Return a coarse scale of the pixels of a tile, and where it begins."""
    own = unit_ranges(ranges)
    planes, hidden = Image(pixels, missing, own).planes(), missing
    for _ in range(level):
        layers = [
            halve(planes if hidden.shape[2] == 1 else planes[:, :, layer : layer + 1], hidden[:, :, layer])
            for layer in range(hidden.shape[2])
        ]
        planes = np.concatenate([values for values, _ in layers], axis=2)
        hidden = np.stack([unknown for _, unknown in layers], axis=2)
    return (top >> level, left >> level), Image(planes, hidden, own)
