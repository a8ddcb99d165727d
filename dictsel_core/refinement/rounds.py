"""Rounds of refinement: the missing pixels of a patch are estimated from similar patches.

Each round finds, for reference patches all over the image, the most similar patches nearby. The mean and
the covariance of such a group tell how its pixels depend on each other, and hence the expected values of the
missing pixels of each member given its observed ones, and how certain they are. All estimates of a pixel are
averaged, the certain ones with more weight. The first rounds assume much noise, so that groups that are not
right yet count for little; each of the following rounds assumes less.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core._util.parallel import map_chunks, single_threaded_blas
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.refinement._sum_kernels import add_sums, move_pixels, sum_estimates
from dictsel_core.refinement.gaussian import BlockEstimates, Estimator, GaussianEstimator
from dictsel_core.refinement.search import Block, Search, Singles, Span, reused, spans

#: Pixels (M,) of a block, counted row by row, sums of their weighted estimates (M, C), and of the weights.
_Sums = tuple[Ints, Floats, Floats]

#: Where the references of consecutive rounds begin, in quarters of their distance.
_QUARTERS = ((0, 0), (2, 2), (1, 3), (3, 1))
#: Steps of conjugate gradients, at least.
_MIN_STEPS = 4
#: Between these densities of damage the noise rises from that of thin damage to that of the default options.
_THIN, _DENSE = 0.3, 0.5
#: Where damage is thin: noise of the last round relative to the default, estimated members, and steps.
_THIN_NOISE, _THIN_ESTIMATED, _THIN_STEPS = 0.5, 10, 7


@dataclass(frozen=True)
class RefinementOptions:
    """How patches are grouped and estimated, see docs/refinement.md.

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


def options_for(density: float, n_rounds: int) -> RefinementOptions:
    """Return the options for damage of this density, and so many rounds.

    Where most pixels around a missing one are observed, as in text and scratches, the groups of the first
    rounds are right already, and less noise is better, which takes more steps; and fewer estimates do.
    """
    share = float(np.clip((density - _THIN) / (_DENSE - _THIN), 0, 1))
    default = DEFAULT_OPTIONS if n_rounds < BEST_ROUNDS else BEST_OPTIONS
    return replace(
        default,
        noise=default.noise * (_THIN_NOISE + (1 - _THIN_NOISE) * share),
        noise_decay=default.noise_decay**share,
        n_estimated=round(_THIN_ESTIMATED + (default.n_estimated - _THIN_ESTIMATED) * share),
        n_steps=round(_THIN_STEPS + (default.n_steps - _THIN_STEPS) * share),
    )


def refine_round(
    planes: Singles,
    missing: Bools,
    number: int,
    n_rounds: int,
    *,
    threads: int,
    options: RefinementOptions = DEFAULT_OPTIONS,
    neighbors: Sequence[Singles] = (),
    estimator: Estimator | None = None,
) -> Iterator[float]:
    """Refine the missing pixels of an image in place: one round of several.

    Yields the fraction of the round that is done. Images smaller than a patch stay as they are.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        Of about unit range.
    missing : (H, W, c) ndarray of bool
        One layer per channel, or a single layer for all of them. Channels that share a mask also share
        covariances; otherwise channels are estimated from each other too.
    number, n_rounds : int
        Which round this is, from 0 on, and how many there are.
    threads : int
        The result does not depend on it.
    options : RefinementOptions
    neighbors : sequence of (H, W, C) ndarray
        Other images whose patches are members of groups too.
    estimator : Estimator, optional
        Estimates the patches of a block; by default that of the options for this round.
    """
    missing = np.ascontiguousarray(missing)
    search = options.search(number, n_rounds, small=missing.shape[2] > 1)
    if min(missing.shape[:2]) < search.size:
        return
    estimator = estimator or options.estimator(number, n_rounds)
    relaxation = 1.0 if number == n_rounds - 1 else options.relaxation
    down, right = grid_offsets(number, search.stride)
    bands, columns = spans(missing.shape[0], search, down), spans(missing.shape[1], search, right)
    blocks = [Block(band, each) for band in bands for each in columns]

    def estimate(at: int, _: int) -> _Sums | None:
        block = blocks[at]
        own = missing[block.region]
        if not own.any():
            return None
        given = planes, missing, block
        if neighbors:
            regions, tall = block.below_each_other([planes, *neighbors])
            given = regions, np.ascontiguousarray(own), tall
        estimates = estimator.estimate(*given, search)
        return None if estimates is None else pixel_sums(estimates, own)

    sums = _BandSums(planes, missing, bands)
    # Blocks of the next bands may be estimated before the pixels of a band move: they do not read these.
    bottoms = [*(band.start for band in bands[1:]), bands[-1].stop]
    with (
        single_threaded_blas,  # once for all bands: it takes as long as some blocks
        closing(map_chunks(estimate, len(blocks), 1, threads)) as estimated,
    ):
        for done, (block, found) in enumerate(zip(blocks, estimated, strict=True), start=1):
            if found is not None:
                sums.add(block, found)
            if done % len(columns) == 0:
                sums.flush_rows(bottoms[done // len(columns) - 1], relaxation)
            yield done / len(blocks)


def grid_offsets(number: int, stride: int) -> tuple[int, int]:
    """Return where the references of a round begin, vertically and horizontally."""
    down, right = _QUARTERS[number % len(_QUARTERS)]
    return down * stride // 4, right * stride // 4


def pixel_sums(estimates: BlockEstimates, missing: Bools) -> _Sums:
    """Return the sums of all estimates of each missing pixel (h, w, c) of a block."""
    weights = np.ones((1, 1, 1), np.float32) if estimates.weights is None else estimates.weights
    layers = np.broadcast_to(weights, (len(estimates.numbers), weights.shape[1], estimates.size**2))
    wanted = np.flatnonzero(missing[:, :, 0] if missing.shape[2] == 1 else missing.any(axis=2))
    slots = reused("slots", missing.shape[:2]).view(np.int32)
    given = estimates.numbers, estimates.values, np.ascontiguousarray(layers), estimates.size
    return wanted, *sum_estimates(*given, wanted, slots)


class _BandSums:
    """Sums of all estimates of each pixel, for the rows that are not complete yet, which share a buffer."""

    def __init__(self, planes: Singles, missing: Bools, bands: list[Span]) -> None:
        self._planes, self._missing = planes, missing
        n_rows = max(band.stop - band.start for band in bands)
        self._sums = np.zeros((n_rows, *planes.shape[1:]))
        self._weights = np.zeros((n_rows, *missing.shape[1:]))
        self._top = bands[0].start  # the first row that is not complete

    def add(self, block: Block, found: _Sums) -> None:
        """Add the sums of a block."""
        pixels, *block_sums = found
        corner = block.vertical.start, block.horizontal.start
        add_sums(pixels, block.shape[1], corner, (block_sums[0], block_sums[1]), self._sums, self._weights)

    def flush_rows(self, bottom: int, relaxation: float) -> None:
        """Move the missing pixels of all rows above `bottom` towards the means of their estimates."""
        rows = self._top, bottom
        move_pixels(self._planes, self._missing, rows, relaxation, self._sums, self._weights)
        self._top = bottom
