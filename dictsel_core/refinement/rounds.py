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
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.parallel import map_chunks, single_threaded_blas
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.refinement.gaussian import BlockEstimates, Estimator, GaussianEstimator
from dictsel_core.refinement.search import Block, Search, Singles, Span, reused, spans

#: Pixels (M,) of a block, counted row by row, sums of their weighted estimates (M, C), and of the weights.
_Sums = tuple[Ints, Floats, Floats]
Index = np.uintp

_0, _1 = Index(0), Index(1)
#: Pixels that are looked at together.
_FEW = Index(64)
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
    """Make one of several rounds, of which the first has the number 0, on planes (H, W, C), in place.

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
    wanted = np.flatnonzero(missing[:, :, 0] if missing.shape[2] == 1 else missing.any(axis=2))
    slots = reused("slots", missing.shape[:2]).view(np.int32)
    given = estimates.numbers, estimates.values, estimates.weights, estimates.size
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


@Kernel
def sum_estimates(
    numbers: Ints, values: Singles, weights: Singles, size: int, wanted: Ints, slots: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Return the sums of weighted estimates of wanted pixels (M, C), and of the weights (M, 1 or C).

    Estimates are as in `BlockEstimates`. In `slots`, (h, w), each pixel is given its number, or -1.
    """
    n_across = Index(slots.shape[1] - size + 1)
    n_channels, n_layers = Index(values.shape[1]), Index(weights.shape[1])
    sums, totals = np.zeros((wanted.size, values.shape[1])), np.zeros((wanted.size, weights.shape[1]))
    flat = slots.reshape(-1)
    flat[:] = -1
    for m in range(len(wanted)):
        flat[Index(wanted[m])] = m
    for n in range(len(numbers)):
        row, column = Index(numbers[n]) // n_across, Index(numbers[n]) % n_across
        for i in range(Index(size)):
            for k in range(Index(size)):
                slot, at = slots[row + i, column + k], i * Index(size) + k
                if slot < 0:
                    continue
                for layer in range(n_layers):
                    totals[Index(slot), layer] += weights[n, layer, at]
                for channel in range(n_channels):
                    weight = weights[n, channel if n_layers > _1 else _0, at]
                    sums[Index(slot), channel] += values[n, channel, at] * weight
    return sums, totals


@Kernel
def add_sums(
    pixels: Ints,
    width: int,
    corner: tuple[int, int],
    block_sums: tuple[Floats, Floats],
    sums: Floats,
    totals: Floats,
) -> None:
    """Add the sums of pixels of a block, at a corner, to those of a band, (h, W, C) and (h, W, c).

    Rows of the band are in turn those of the image; pixels are counted row by row in the block.
    """
    start, slot = 0, Index(corner[0] % len(sums))
    for m in range(Index(len(pixels))):
        while pixels[m] >= start + width:
            start += width
            slot = slot + _1 if slot + _1 < Index(len(sums)) else _0
        column = Index(corner[1] + pixels[m] - start)
        for channel in range(Index(sums.shape[2])):
            sums[slot, column, channel] += block_sums[0][m, channel]
        for layer in range(Index(totals.shape[2])):
            totals[slot, column, layer] += block_sums[1][m, layer if block_sums[1].shape[1] > 1 else _0]


@Kernel
def move_pixels(
    planes: Singles, missing: Bools, rows: tuple[int, int], relaxation: float, sums: Floats, totals: Floats
) -> None:
    """Move the missing pixels of some rows towards the means of their estimates, and set their sums to 0."""
    n_layers, width = Index(missing.shape[2]), Index(missing.shape[1])
    flat = missing.reshape(-1)
    for row in range(Index(rows[0]), Index(rows[1])):
        slot = row % Index(len(sums))
        for start in range(_0, width, _FEW):
            stop, n_missing = min(Index(start) + _FEW, width), 0
            for at in range((row * width + start) * n_layers, (row * width + stop) * n_layers):
                n_missing += flat[at]
            if n_missing:
                for column in range(start, stop):
                    _move_pixel(planes, missing, (Index(row), slot, Index(column)), relaxation, sums, totals)


@PartialKernel
def _move_pixel(
    planes: Singles,
    missing: Bools,
    place: tuple[np.uintp, np.uintp, np.uintp],
    relaxation: float,
    sums: Floats,
    totals: Floats,
) -> None:
    """Move a pixel, which is given by its row, that of its sums, and its column, and set its sums to 0."""
    row, slot, column = place
    shares = missing.shape[2] == 1
    if shares and not missing[row, column, _0]:
        return
    for channel in range(Index(planes.shape[2])):
        layer = _0 if shares else channel
        weight, value = totals[slot, column, layer], planes[row, column, channel]
        if missing[row, column, layer] and weight > 0:
            change = relaxation * (sums[slot, column, channel] / weight - value)
            planes[row, column, channel] = np.float32(min(max(value + change, 0.0), 1.0))
        sums[slot, column, channel] = 0
    for layer in range(Index(missing.shape[2])):
        totals[slot, column, layer] = 0
