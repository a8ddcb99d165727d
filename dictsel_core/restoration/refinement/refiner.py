"""Non-local refinement: the missing pixels of a patch are estimated from similar patches.

Each round finds, for reference patches all over the image, the most similar patches nearby. The mean and
the covariance of such a group tell how its pixels depend on each other, and hence the expected values of the
missing pixels of each member given its observed ones, and how certain they are. All estimates of a pixel are
averaged, the certain ones with more weight. The first rounds assume much noise, so that groups that are not
right yet count for little; each of the following rounds assumes less.
"""

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from dictsel_core._support.threads import map_chunks, single_threaded_blas
from dictsel_core._support.validation import Bools
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.refinement._sum_kernels import add_sums, move_pixels
from dictsel_core.restoration.refinement.estimator import Estimator, GaussianEstimator, PixelSums
from dictsel_core.restoration.refinement.tiles import Search, Span, Tile, spans

#: Where the references of consecutive rounds begin, in quarters of their distance.
_QUARTERS = ((0, 0), (2, 2), (1, 3), (3, 1))
#: Steps of conjugate gradients, at least.
_MIN_STEPS = 4


@dataclass(frozen=True)
class RefinementOptions:
    """How patches are grouped and estimated; the defaults did best on photographs (docs/refinement.md).

    Attributes
    ----------
    size, last_size : int
        Height and width of patches. The last round uses smaller ones, which represent other details; so do
        all rounds if channels have masks of their own, since their vectors would be too long otherwise.
    stride, last_stride : int
        Distance between references. It is large, since they are elsewhere in every round.
    radius, last_radius : int
        Maximum distance of a member from its reference in pixels, vertically and horizontally.
    distance_penalty : float
        What the square of the distance in pixels adds to the squared difference of two patches, in units of
        the noise: where patches nearby are as similar as others, they are preferred.
    n_members : int
        Number of patches in a group.
    n_estimated, last_n_estimated : int
        How many of these, the nearest ones, are estimated; fewer in the last round, where there are more
        groups.
    noise, max_noise : float
        Variance of what a covariance does not explain, for images of unit range: in the last round, and the
        most in any other.
    relative_noise : float
        The most that the noise may be in the last round, relative to the mean variance of a group; in the
        others it is larger by the same factor as the noise.
    noise_decay : float
        Factor by which the noise is larger in the round before.
    shared : float
        Fraction of a covariance that is taken from the other groups nearby.
    n_steps : int
        Of conjugate gradients, in the last round; one less whenever the noise is twice as large.
    relaxation : float
        How far the image moves towards the estimates. More than 1 saves rounds; the last round uses 1.
    """

    size: int = 8
    last_size: int = 6
    stride: int = 7
    last_stride: int = 4
    radius: int = 30
    last_radius: int = 10
    distance_penalty: float = 1.2
    n_members: int = 40
    n_estimated: int = 16
    last_n_estimated: int = 10
    noise: float = 8 / 255**2
    max_noise: float = 400 / 255**2
    relative_noise: float = 0.06
    noise_decay: float = 1.75
    shared: float = 0.2
    n_steps: int = 6
    relaxation: float = 1.7

    def search(self, number: int, n_rounds: int, *, small: bool = False) -> Search:
        """Return how a round groups patches; the first has the number 0. All may be `small`."""
        penalty = self.distance_penalty * self._noise(number, n_rounds)
        if number == n_rounds - 1:
            return Search(self.last_size, self.last_radius, self.n_members, self.last_stride, penalty)
        size = self.last_size if small else self.size
        return Search(size, self.radius, self.n_members, self.stride, penalty)

    def estimator(self, number: int, n_rounds: int) -> GaussianEstimator:
        """Return the estimator of a round, of which the first has the number 0."""
        noise = self._noise(number, n_rounds)
        relative = self.relative_noise * noise / self.noise
        # The more noise, the fewer steps until conjugate gradients are near the solution.
        n_steps = max(_MIN_STEPS, self.n_steps - int(math.log2(noise / self.noise)))
        n_estimated = self.last_n_estimated if number == n_rounds - 1 else self.n_estimated
        return GaussianEstimator(n_estimated, noise, relative, self.shared, n_steps)

    def _noise(self, number: int, n_rounds: int) -> float:
        return min(self.noise * self.noise_decay ** (n_rounds - 1 - number), self.max_noise)


DEFAULT_OPTIONS = RefinementOptions()
#: Number of rounds if it is left open, and the options for as many: a little better, and a little slower.
BEST_ROUNDS = 8
BEST_OPTIONS = RefinementOptions(n_members=32, last_stride=3)


class Refiner:
    """Refines the missing pixels of an image, round by round.

    Parameters
    ----------
    missing : (H, W, c) ndarray of bool
        One layer per channel, or a single layer for all of them. Channels that share a mask also share
        covariances; otherwise channels are estimated from each other too.
    threads : int
        The result does not depend on it.
    options : RefinementOptions, optional
    estimator : Estimator, optional
        Estimates the patches of a tile; by default that of the options for each round.
    """

    def __init__(
        self,
        missing: Bools,
        threads: int,
        options: RefinementOptions = DEFAULT_OPTIONS,
        estimator: Estimator | None = None,
    ) -> None:
        self._missing, self._threads, self._options = np.ascontiguousarray(missing), threads, options
        self._estimator = estimator

    def round(
        self, planes: Planes, number: int, n_rounds: int, neighbors: Sequence[Planes] = ()
    ) -> Generator[float, None, None]:
        """Refine planes (H, W, C) of about unit range in place: a round of several, from number 0 on.

        Yields the fraction of the round that is done. Images smaller than a patch stay as they are. Patches
        of `neighbors`, images of the same shape, are members of groups too.
        """
        options, missing = self._options, self._missing
        relaxation = 1.0 if number == n_rounds - 1 else options.relaxation
        estimator = self._estimator or options.estimator(number, n_rounds)
        search = options.search(number, n_rounds, small=missing.shape[2] > 1)
        if min(missing.shape[:2]) < search.size:
            return
        down, right = grid_offsets(number, search.stride)
        bands, columns = spans(missing.shape[0], search, down), spans(missing.shape[1], search, right)
        with single_threaded_blas:  # once for all bands: it takes as long as some tiles
            yield from self._refine(planes, neighbors, bands, columns, estimator, search, relaxation)

    def _refine(
        self,
        planes: Planes,
        neighbors: Sequence[Planes],
        bands: list[Span],
        columns: list[Span],
        estimator: Estimator,
        search: Search,
        relaxation: float,
    ) -> Iterator[float]:
        """Refine planes by tiles, band by band."""
        missing = self._missing
        sums = _BandSums(planes, missing, bands)
        tiles = [Tile(band, each) for band in bands for each in columns]

        def estimate(number: int, _: int) -> PixelSums | None:
            tile = tiles[number]
            if not missing[tile.region].any():
                return None
            given = planes, missing, tile
            if neighbors:
                given = _with_neighbors(planes, missing, tile, neighbors)
            estimates = estimator.estimate(*given, search)
            return None if estimates is None else estimates.summed(missing[tile.region])

        # Tiles of the next bands may be estimated before the pixels of a band move: they do not read these.
        bottoms = [*(band.start for band in bands[1:]), bands[-1].stop]
        with closing(map_chunks(estimate, len(tiles), 1, self._threads)) as estimated:
            for done, (tile, tile_sums) in enumerate(zip(tiles, estimated, strict=True), start=1):
                if tile_sums is not None:
                    sums.add(tile, tile_sums)
                if done % len(columns) == 0:
                    sums.flush_rows(bottoms[done // len(columns) - 1], relaxation)
                yield done / len(tiles)


def _with_neighbors(
    planes: Planes, missing: Bools, tile: Tile, neighbors: Sequence[Planes]
) -> tuple[Planes, Bools, Tile]:
    """Return the region of a tile with that of other images below it: planes, mask, and tile."""
    regions, tall = tile.below_each_other([planes, *neighbors])
    own = missing[tile.region]
    # Others are not estimated, and nothing needs to be known of them.
    hidden = np.ones((len(neighbors) * len(own), *own.shape[1:]), bool)
    return regions, np.concatenate([own, hidden]), tall


def grid_offsets(number: int, stride: int) -> tuple[int, int]:
    """Return where the references of a round begin, vertically and horizontally."""
    down, right = _QUARTERS[number % len(_QUARTERS)]
    return down * stride // 4, right * stride // 4


class _BandSums:
    """Sums of all estimates of each pixel, for the rows that are not complete yet, which share a buffer."""

    def __init__(self, planes: Planes, missing: Bools, bands: list[Span]) -> None:
        self._planes, self._missing = planes, missing
        n_rows = max(band.stop - band.start for band in bands)
        self._sums = np.zeros((n_rows, *planes.shape[1:]))
        self._weights = np.zeros((n_rows, *missing.shape[1:]))
        self._top = bands[0].start  # the first row that is not complete

    def add(self, tile: Tile, estimates: PixelSums) -> None:
        """Add the sums of a tile."""
        top, left = tile.vertical.start, tile.horizontal.start
        tile_sums = estimates.sums, estimates.weights
        add_sums(estimates.pixels, tile.shape[1], (top, left), tile_sums, self._sums, self._weights)

    def flush_rows(self, bottom: int, relaxation: float) -> None:
        """Move the missing pixels of all rows above `bottom` towards the means of their estimates."""
        parts = self._planes, self._missing, (self._top, bottom)
        move_pixels(*parts, relaxation, self._sums, self._weights)
        self._top = bottom
