"""The medians of `patches`, compiled: the same bits.

A vector holds a vote for each of `WIDTH` pixels, and a network of comparisons sorts all of them at once.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import InlinedKernel, Kernel
from dictsel_core._support.validation import Ints
from dictsel_core._support.vectors import WIDTH, add, larger, load, multiply, smaller, splat, store

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp

_0, _1, _LANES = Index(0), Index(1), Index(WIDTH)
_HALF = np.float32(0.5)


@cache
def median_network(n_values: int) -> Indices:
    """Return pairs of places whose values are put in order, one after the other, to find a median: (M, 2).

    These are what Batcher's odd-even merge sort compares, as far as the one or two values in the middle
    depend on it.
    """
    pairs = []
    n = 1 << (n_values - 1).bit_length()
    span = 1
    while span < n:
        step = span
        while step:
            for first in range(step % span, n - step, 2 * step):
                for low in range(first, min(first + step, n_values - step)):
                    if low // (2 * span) == (low + step) // (2 * span):
                        pairs.append((low, low + step))
            step //= 2
        span *= 2
    needed, kept = {(n_values - 1) // 2, n_values // 2}, []
    for pair in reversed(pairs):
        if needed.intersection(pair):
            needed.update(pair)
            kept.append(pair)
    return np.array(kept[::-1], np.uintp).reshape(-1, 2)


@Kernel
def find_medians(
    patches: Single,
    slots: NDArray[np.int32],
    positions: Ints,
    phases: Ints,
    offsets: tuple[Indices, Indices],
    network: Indices,
    medians: Single,
) -> None:
    """Write the medians of all values of pixels, ignoring NaN; NaN if there is nothing else.

    Parameters
    ----------
    patches : (C, n, d) ndarray
    slots : (N,) ndarray of int
        Of positions in the image: the patch there.
    positions, phases : (B,) ndarray of int
        Of pixels: the position of the first patch, and which offsets they have.
    offsets : two ndarrays of int, (phases, votes)
        Of the positions of all patches from the first one, and of the pixel within each of them.
    network : (M, 2) ndarray of int
        As `median_network` returns it.
    medians : (B, C) ndarray
    """
    n_channels, n_patches, d = patches.shape
    flat, n_votes, pairs = patches.reshape(-1), Index(offsets[0].shape[1]), network.reshape(-1)
    steps, inner = offsets[0].reshape(-1), offsets[1].reshape(-1)
    places, votes = np.empty(n_votes * _LANES, np.uintp), np.empty(n_votes * _LANES, np.float32)
    known, sums, checks = (
        np.empty(n_votes, np.float32),
        np.empty(WIDTH, np.float32),
        np.empty(WIDTH, np.float32),
    )
    low, high = (n_votes - _1) // Index(2) * _LANES, n_votes // Index(2) * _LANES
    for start in range(0, len(positions), WIDTH):
        n_lanes = min(WIDTH, len(positions) - start)
        for lane in range(WIDTH):
            number = start + min(lane, n_lanes - 1)  # the last one as often as needed
            position, offset, at = Index(positions[number]), Index(phases[number]) * n_votes, Index(lane)
            for vote in range(offset, offset + n_votes):
                places[at] = Index(slots[position + steps[vote]]) * Index(d) + inner[vote]
                at += _LANES
        for channel in range(n_channels):
            shift = Index(channel * n_patches * d)
            for vote in range(n_votes * _LANES):
                votes[vote] = flat[shift + places[vote]]
            _check(votes, checks)
            for lane in range(n_lanes):
                if np.isnan(checks[lane]):
                    medians[start + lane, channel] = _median_of_known(votes, Index(lane), known)
            for pair in range(_0, Index(len(pairs)), Index(2)):
                _order(votes, pairs[pair] * _LANES, pairs[pair + _1] * _LANES)
            store(sums, _0, multiply(add(load(votes, low), load(votes, high)), splat(_HALF)))
            for lane in range(n_lanes):
                if not np.isnan(checks[lane]):
                    medians[start + lane, channel] = sums[lane]


@Kernel
def _check(votes: Single, checks: Single) -> None:
    """Write a number for each lane that is NaN if one of its votes is."""
    check = splat(np.float32(0))
    for at in range(_0, Index(len(votes)), _LANES):
        check = add(check, load(votes, at))
    store(checks, _0, check)


@InlinedKernel
def _order(votes: Single, low: np.uintp, high: np.uintp) -> None:
    """Put two votes of each lane in order."""
    first, second = load(votes, low), load(votes, high)
    store(votes, low, smaller(first, second))
    store(votes, high, larger(first, second))


@Kernel
def _median_of_known(votes: Single, lane: np.uintp, known: Single) -> np.float32:
    """Return the median of the votes of a lane that are not NaN."""
    count = 0
    for at in range(lane, Index(len(votes)), _LANES):
        vote = votes[at]
        if not np.isnan(vote):
            place = count
            while place > 0 and known[place - 1] > vote:
                known[place] = known[place - 1]
                place -= 1
            known[place] = vote
            count += 1
    if count == 0:
        return np.float32(np.nan)
    return np.float32((known[(count - 1) // 2] + known[count // 2]) * _HALF)
