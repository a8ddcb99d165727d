"""Non-local refinement: the missing pixels of a patch are estimated from similar patches.

Each round finds, for reference patches all over the image, the most similar patches nearby. The mean and
the covariance of such a group tell how its pixels depend on each other, and hence the expected values of the
missing pixels of each member given its observed ones. All estimates of a pixel are averaged.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.estimator import Estimator, GaussianEstimator, TileEstimates
from dictsel_core.restoration.similar import Search, Tile, spans


@dataclass(frozen=True)
class RefinementOptions:
    """How patches are grouped and estimated; the defaults did best on photographs (docs/refinement.md).

    Attributes
    ----------
    size, last_size : int
        Height and width of patches. The last round uses smaller ones, which represent other details; so do
        all rounds if channels have masks of their own, since their vectors would be too long otherwise.
    radius : int
        Maximum distance of a member from its reference in pixels, vertically and horizontally.
    n_members, n_estimated : int
        Number of patches in a group, and how many of these, the nearest ones, are estimated.
    noise : float
        Variance of what a covariance does not explain, for images of unit range.
    shared : float
        Fraction of a covariance that is taken from the other groups nearby.
    relaxation : float
        How far the image moves towards the estimates. More than 1 saves rounds; the last round uses 1.
    """

    size: int = 8
    last_size: int = 6
    radius: int = 10
    n_members: int = 40
    n_estimated: int = 6
    noise: float = 8 / 255**2
    shared: float = 0.2
    relaxation: float = 1.7

    @property
    def estimator(self) -> GaussianEstimator:
        """The estimator with these options."""
        return GaussianEstimator(self.n_estimated, self.noise, self.shared)


DEFAULT_OPTIONS = RefinementOptions()


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
        Estimates the patches of a tile; by default that of the options.
    """

    def __init__(
        self,
        missing: Bools,
        threads: int,
        options: RefinementOptions = DEFAULT_OPTIONS,
        estimator: Estimator | None = None,
    ) -> None:
        self._missing, self._threads, self._options = missing, threads, options
        self._estimator = options.estimator if estimator is None else estimator

    @property
    def min_size(self) -> int:
        """Smallest height and width of an image that can be refined."""
        return self._options.last_size

    def round(self, planes: Planes, *, last: bool) -> Generator[float, None, None]:
        """Refine planes (H, W, C) of about unit range in place.

        Yields the fraction of the round that is done. Images smaller than a patch stay as they are.
        """
        options, missing = self._options, self._missing
        size = options.last_size if last or missing.shape[2] > 1 else options.size
        search = Search(size, options.radius, options.n_members)
        height, width, _ = planes.shape
        if min(height, width) < size:
            return
        bands, columns = spans(height, search), spans(width, search)
        sums = _EstimateSums(planes, missing, max(band.stop - band.start for band in bands))
        for number, band in enumerate(bands):
            tiles = [Tile(band, each) for each in columns]

            def estimate(start: int, _: int, tiles: list[Tile] = tiles) -> TileEstimates | None:
                return self._estimator.estimate(planes, missing, tiles[start], search)

            with closing(map_chunks(estimate, len(tiles), 1, self._threads)) as estimated:
                for done, (tile, estimates) in enumerate(zip(tiles, estimated, strict=True), start=1):
                    if estimates is not None:
                        sums.add(tile, estimates)
                    yield (number + done / len(tiles)) / len(bands)
            # No later band needs the rows above the next one.
            bottom = bands[number + 1].start if number + 1 < len(bands) else height
            sums.flush_rows(bottom, 1 if last else options.relaxation)


class _EstimateSums:
    """Sums of all estimates of each pixel, for the rows that are not complete yet."""

    def __init__(self, planes: Planes, missing: Bools, n_rows: int) -> None:
        self._planes, self._missing = planes, missing
        self._top = 0
        self._sums = np.zeros((n_rows, *planes.shape[1:]))
        self._weights = np.zeros((n_rows, planes.shape[1], 1))

    def add(self, tile: Tile, estimates: TileEstimates) -> None:
        """Add the estimates of a tile."""
        rows, columns = tile.region
        rows = slice(rows.start - self._top, rows.stop - self._top)
        sums, weights = estimates.summed(*tile.shape)
        self._sums[rows, columns] += sums
        self._weights[rows, columns, 0] += weights

    def flush_rows(self, bottom: int, relaxation: float) -> None:
        """Move all rows above `bottom` towards the means of their estimates."""
        n_rows = bottom - self._top
        sums, weights = self._sums[:n_rows], self._weights[:n_rows]
        target = self._planes[self._top : bottom]
        estimated = weights > 0
        change = relaxation * (sums / np.where(estimated, weights, 1) - target)
        new = np.clip(target + change, 0, 1).astype(np.float32)
        np.copyto(target, new, where=self._missing[self._top : bottom] & estimated)
        for buffer in (self._sums, self._weights):
            buffer[: len(buffer) - n_rows] = buffer[n_rows:]
            buffer[len(buffer) - n_rows :] = 0
        self._top = bottom
