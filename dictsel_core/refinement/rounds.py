"""Rounds of refinement: the missing pixels of a patch are estimated from similar patches.

Each round finds, for reference patches all over the image, the most similar patches nearby. The mean and
the covariance of such a group tell how its pixels depend on each other, and hence the expected values of the
missing pixels of each member given its observed ones, and how certain they are. All estimates of a pixel are
averaged, the certain ones with more weight. The first rounds assume much noise, so that groups that are still
unreliable have little influence; each of the following rounds assumes less.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core._util.compiled import Kernel
from dictsel_core._util.parallel import map_chunks, single_threaded_blas
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.refinement.gaussian import BlockEstimates, Estimator, GaussianEstimator
from dictsel_core.refinement.search import Block, Search, Singles, Span, damaged_blocks, spans

#: Sums of the weighted estimates of the pixels of a block (C, h, w), and of the weights (1 or C, h, w).
_Sums = tuple[Singles, Singles]
Index = np.uintp

#: Offsets of the grid of references in successive rounds, in quarters of the stride.
_QUARTERS = ((0, 0), (2, 2), (1, 3), (3, 1))
#: Largest height and width of small patches.
_SMALL = 6
#: From the first of these densities of damage to the second, options go from those of thin damage to others.
_THIN, _DENSE = 0.3, 0.5


@dataclass(frozen=True)
class RefinementOptions:
    """How patches are grouped and estimated, see docs/refinement.md.

    The last round uses smaller patches, which represent other details. If channels have masks of their own,
    patches are small in all rounds, since their vectors would be too long otherwise.
    """

    size: int = 8  #: height and width of patches
    last_size: int = 6
    first_stride: int = 9  #: distance between references in the first half of the rounds (not of small ones),
    stride: int = 7  #: and in the second; may be large, since the grid shifts in every round
    last_stride: int = 4
    radius: int = 30  #: maximum distance of a member from its reference, vertically and horizontally
    last_radius: int = 10
    #: What the square of the distance in pixels adds to the squared difference of two patches, in units of
    #: the noise: where patches nearby are as similar as others, they are preferred.
    distance_penalty: float = 1.2
    n_members: int = 40  #: number of patches in a group
    n_estimated: int = 12  #: how many of these, the nearest ones, are estimated
    last_n_estimated: int = 10
    noise: float = 8 / 255**2  #: variance of what a covariance does not explain, in the last round
    max_noise: float = 400 / 255**2  #: upper limit in earlier rounds
    relative_noise: float = 0.06  #: the most relative to the mean variance of a group; changes with the noise
    noise_decay: float = 1.75  #: factor by which the noise is larger in the round before
    first_shared: float = 0.3  #: fraction of a covariance that is taken from the other groups nearby,
    last_shared: float = 0.0  #: in the first round and in the last one; it falls evenly
    n_steps: int = 5  #: of conjugate gradients
    relaxation: float = 1.7  #: how far the image moves towards the estimates; the last round uses 1

    def search(self, number: int, n_rounds: int, *, small: bool = False) -> Search:
        """Return how a round, numbered from 0, groups patches. All may be `small`."""
        penalty = self.distance_penalty * self._noise(number, n_rounds)
        if number == n_rounds - 1:
            size, radius, stride = self.last_size, self.last_radius, self.last_stride
        else:
            is_early = number < n_rounds // 2 and not small
            size, radius, stride = self.size, self.radius, self.first_stride if is_early else self.stride
        return Search(min(size, _SMALL) if small else size, radius, self.n_members, stride, penalty)

    def estimator(self, number: int, n_rounds: int) -> GaussianEstimator:
        """Return the estimator of a round, numbered from 0."""
        noise = self._noise(number, n_rounds)
        relative = self.relative_noise * noise / self.noise
        n_estimated = self.last_n_estimated if number == n_rounds - 1 else self.n_estimated
        progress = number / max(n_rounds - 1, 1)
        shared = self.first_shared + (self.last_shared - self.first_shared) * progress
        return GaussianEstimator(n_estimated, noise, relative, shared, self.n_steps)

    def _noise(self, number: int, n_rounds: int) -> float:
        return min(self.noise * self.noise_decay ** (n_rounds - 1 - number), self.max_noise)


DEFAULT_OPTIONS = RefinementOptions()
#: Of so few rounds the last one is most of the work, and the first one has to go far.
_FAST_ROUNDS = 2
FAST_OPTIONS = RefinementOptions(first_stride=8, last_stride=5, n_estimated=16, relaxation=2.2)
#: Number of rounds if it is left open, and the options for as many: a little better, and a little slower.
BEST_ROUNDS = 8
BEST_OPTIONS = RefinementOptions(n_members=32, n_estimated=24)
#: From this many rounds on, unless damage is nearly thin, noise falls slowly, and to less; all members are
#: estimated until the last round, whose patches are as large as those of the others, and found as far away.
_FINEST_ROUNDS, _MIN_SHARE = 24, 0.5
FINEST_OPTIONS = replace(
    BEST_OPTIONS,
    n_estimated=32,
    last_size=8,
    last_stride=3,
    last_radius=30,
    noise=6 / 255**2,
    noise_decay=1.2,
    first_shared=0.15,
)


def options_for(density: float, n_rounds: int) -> RefinementOptions:
    """Return the options for damage of this density, and so many rounds.

    Where most pixels around a missing one are observed, as in text and scratches, the groups of the first
    rounds are right already, and less noise is better, which takes more steps; fewer estimates suffice.
    """
    share = float(np.clip((density - _THIN) / (_DENSE - _THIN), 0, 1))
    if n_rounds <= _FAST_ROUNDS:
        default = FAST_OPTIONS
    elif n_rounds < BEST_ROUNDS:
        default = DEFAULT_OPTIONS
    else:
        is_finest = n_rounds >= _FINEST_ROUNDS and share > _MIN_SHARE
        default = FINEST_OPTIONS if is_finest else BEST_OPTIONS

    def from_thin(thin: float, dense: float) -> float:
        return thin + (dense - thin) * share

    return replace(
        default,
        n_estimated=round(from_thin(10, default.n_estimated)),
        noise=from_thin(default.noise / 2, default.noise),
        noise_decay=from_thin(1, default.noise_decay),
        last_shared=from_thin(0.2, default.last_shared),
        n_steps=round(from_thin(7, default.n_steps)),
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
    """Make one of several rounds, numbered from 0, on planes (H, W, C), in place.

    Yields the fraction of the round that is done. The mask is (H, W, c): channels that share a layer also
    share covariances; otherwise channels are estimated from each other too. Patches of neighbors, other
    images, are members of groups too. Images smaller than a patch stay as they are.
    """
    missing = np.ascontiguousarray(missing)
    search = options.search(number, n_rounds, small=missing.shape[2] > 1)
    if min(missing.shape[:2]) < search.size:
        return
    estimator = estimator or options.estimator(number, n_rounds)
    relaxation = 1.0 if number == n_rounds - 1 else options.relaxation
    down, right = grid_offsets(number, search.stride)
    bands, columns = spans(missing.shape[0], search, down), spans(missing.shape[1], search, right)
    by_band = damaged_blocks(missing, search, bands, columns)
    blocks = [block for each in by_band for block in each]

    def estimate(at: int, _: int) -> _Sums:
        given = planes, missing, blocks[at]
        if neighbors:
            regions, tall = blocks[at].below_each_other([planes, *neighbors])
            given = regions, np.ascontiguousarray(missing[blocks[at].region]), tall
        return pixel_sums(estimator.estimate(*given, search), blocks[at].shape)

    sums, done = _BandSums(planes, missing, bands), 0
    # Blocks of later bands may be estimated early: they never read rows that are still to be moved.
    bottoms = [*(band.start for band in bands[1:]), bands[-1].stop]
    with (
        single_threaded_blas,  # once for all bands: switching costs as much as a few blocks
        closing(map_chunks(estimate, len(blocks), 1, threads)) as estimated,
    ):
        for of_band, bottom in zip(by_band, bottoms, strict=True):
            for block in of_band:
                sums.add(block, next(estimated))
                done += 1
                yield done / len(blocks)
            sums.flush_rows(bottom, relaxation)


def grid_offsets(number: int, stride: int) -> tuple[int, int]:
    """Return where the references of a round begin, vertically and horizontally."""
    down, right = _QUARTERS[number % len(_QUARTERS)]
    return down * stride // 4, right * stride // 4


def pixel_sums(estimates: BlockEstimates, shape: tuple[int, int]) -> _Sums:
    """Return the sums of all weighted estimates of the pixels of a block, and those of the weights."""
    sums = np.zeros((estimates.values.shape[1], *shape), np.float32)
    totals = np.zeros((estimates.weights.shape[1], *shape), np.float32)
    add_estimates(estimates.numbers, estimates.values, estimates.weights, estimates.size, sums, totals)
    return sums, totals


class _BandSums:
    """Sums of all estimates of each pixel, for the rows of the band that is not complete yet."""

    def __init__(self, planes: Singles, missing: Bools, bands: list[Span]) -> None:
        self._planes, self._missing = planes, missing
        shape = max(band.stop - band.start for band in bands), planes.shape[1]
        self._sums = np.zeros((planes.shape[2], *shape), np.float32)
        self._weights = np.zeros((missing.shape[2], *shape), np.float32)
        self._top = bands[0].start

    def add(self, block: Block, found: _Sums) -> None:
        """Add the sums of a block of the band."""
        rows, columns = block.region
        here = slice(None), slice(rows.start - self._top, rows.stop - self._top), columns
        self._sums[here] += found[0]
        self._weights[here] += found[1]

    def flush_rows(self, bottom: int, relaxation: float) -> None:
        """Move the missing pixels of all rows above `bottom` towards the means of their estimates."""
        rows, n_rows, n_channels = slice(self._top, bottom), bottom - self._top, self._planes.shape[2]
        pixels = self._planes[rows].reshape(-1, n_channels)
        for channel in range(n_channels):
            if channel < len(self._weights):  # else all channels share the first
                weights = self._weights[channel, :n_rows].reshape(-1)
                at = np.flatnonzero(self._missing[rows, :, channel])
                at = at[weights[at] > 0]
                weights = weights[at]
            values = pixels[at, channel]
            change = self._sums[channel, :n_rows].reshape(-1)[at] / weights - values
            pixels[at, channel] = np.clip(values + np.float32(relaxation) * change, 0, 1)
        for sums in (self._sums, self._weights):
            sums[:, : sums.shape[1] - n_rows] = sums[:, n_rows:]
            sums[:, sums.shape[1] - n_rows :] = 0
        self._top = bottom


@Kernel
def add_estimates(
    numbers: Ints, values: Singles, weights: Singles, size: int, sums: Singles, totals: Singles
) -> None:
    """Add weighted estimates, as in `BlockEstimates`, to sums (C, h, w), and their weights to totals."""
    (n_channels, height, width), n_layers = sums.shape, len(totals)
    flat_sums, flat_totals, flat_values = sums.reshape(-1), totals.reshape(-1), values.reshape(-1)
    flat_weights, n_pixels, n_across = weights.reshape(-1), size * size, width - size + 1
    for n in range(len(numbers)):
        place = numbers[n] // n_across * width + numbers[n] % n_across
        for channel in range(n_channels):
            layer = channel if n_layers > 1 else 0
            for i in range(size):
                to = Index(channel * height * width + place + i * width)
                at = Index((n * n_channels + channel) * n_pixels + i * size)
                weight = Index((n * n_layers + layer) * n_pixels + i * size)
                for k in range(Index(size)):
                    flat_sums[to + k] += flat_values[at + k] * flat_weights[weight + k]
                if channel == layer:
                    for k in range(Index(size)):
                        flat_totals[to + k] += flat_weights[weight + k]
