"""Estimates of the patches of a tile from groups of similar patches."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.refinement._gaussian_kernels import LANES, condition, group_moments
from dictsel_core.restoration.refinement._sum_kernels import sum_estimates
from dictsel_core.restoration.refinement._tile_kernels import find_incomplete
from dictsel_core.restoration.refinement._workspace import reused
from dictsel_core.restoration.refinement.similar import Groups, find_groups
from dictsel_core.restoration.refinement.tiles import Search, Tile

#: Vectors longer than this, of channels with masks of their own, take so many more steps.
_LONG, _MORE_STEPS = 64, 10


@dataclass(frozen=True, eq=False)
class PixelSums:
    """Sums of weighted estimates (M, C) and of weights (M, 1 or C) of pixels of a tile (M,), row by row."""

    pixels: Ints
    sums: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class TileEstimates:
    """Estimates of some patches of a tile.

    Attributes
    ----------
    numbers : (N,) ndarray of int
        Numbers of the patches within the tile; a patch may be estimated several times.
    values : (N, C, size * size) ndarray
    size : int
        Height and width of a patch.
    weights : (N, 1 or C, 1 or size * size) ndarray or None
        Weight of each estimate in the average of a pixel; None if all are equal.
    """

    numbers: Ints
    values: Planes
    size: int
    weights: Floats | None = None

    def summed(self, missing: Bools) -> PixelSums:
        """Return sums of weighted estimates, and of weights, of the missing pixels of the tile: (h, w, c)."""
        weights = np.ones((1, 1, 1), np.float32) if self.weights is None else self.weights
        layers = np.broadcast_to(weights, (len(self.numbers), weights.shape[1], self.size**2))
        height, width, _ = missing.shape
        wanted = np.flatnonzero(missing[:, :, 0] if missing.shape[2] == 1 else missing.any(axis=2))
        weights, slots = np.ascontiguousarray(layers), reused("slots", (height, width)).view(np.int32)
        sums, totals = sum_estimates(self.numbers, self.values, weights, self.size, wanted, slots)
        return PixelSums(wanted, sums, totals)


class Estimator(Protocol):
    """Estimates the patches of a tile; called from several threads."""

    def estimate(self, planes: Planes, missing: Bools, tile: Tile, search: Search) -> TileEstimates | None:
        """Return estimates of some patches, or None if nothing is missing; until the next call of the thread.

        Of a tile with several images below each other, patches of the first one are estimated.

        Parameters
        ----------
        planes : (H, W, C) ndarray
            The current image, of about unit range.
        missing : (H, W, c) ndarray of bool
            One layer per channel, or a single layer for all of them.
        tile : Tile
        search : Search
        """


@dataclass(frozen=True)
class GaussianEstimator:
    """Estimates patches as Gaussian vectors with the mean and covariance of their group.

    Each missing pixel of the patches most similar to a reference gets its conditional mean, given the
    observed pixels of its own patch [1]_. Estimates are weighted by the inverse of the variance that remains.

    Attributes
    ----------
    n_estimated : int
        How many of the nearest members of a group are estimated.
    noise, relative_noise : float
        Variance of what a covariance does not explain, for images of unit range; and the most it may be,
        relative to the mean variance of a group, so that what is smooth keeps its detail.
    shared : float
        Fraction of a covariance that is taken from the other groups of the tile: few members alone are not
        enough.
    n_steps : int
        Of conjugate gradients.

    References
    ----------
    .. [1] M. Lebrun, A. Buades and J.-M. Morel, "A nonlocal Bayesian image denoising algorithm", SIAM Journal
       on Imaging Sciences 6(3), 2013. :DOI:`10.1137/120874989`
    """

    n_estimated: int
    noise: float
    relative_noise: float
    shared: float
    n_steps: int

    def estimate(self, planes: Planes, missing: Bools, tile: Tile, search: Search) -> TileEstimates | None:
        """Return estimates of the patches most similar to each reference that has missing pixels."""
        incomplete = incomplete_references(missing, tile, search.size)
        if not incomplete.any():
            return None
        groups = find_groups(planes, tile, search, incomplete)
        estimated = np.ascontiguousarray(groups.numbers[:, : self.n_estimated])
        estimates, weights = self._condition(groups, missing, tile)
        shape, numbers = (estimated.size, -1, search.size**2), estimated.ravel()
        values, weights = estimates.reshape(shape), weights.reshape(shape)
        if tile.n_planes > 1:  # groups with few members in this image
            own = numbers < tile.n_patches
            numbers, values, weights = numbers[own], values[own], weights[own]
        return TileEstimates(numbers, values, search.size, weights)

    def _condition(self, groups: Groups, missing: Bools, tile: Tile) -> tuple[Planes, Planes]:
        """Return estimates of members (B, E, L, d), and their weights (B, E, d), until the next call."""
        size, (n_groups, n_members) = groups.size, groups.numbers.shape
        n_estimated = min(self.n_estimated, n_members)
        # Channels with masks of their own form one long vector; channels that share a mask form several.
        d = missing.shape[2] * size**2
        n_vectors, length = len(groups.layers) * size**2 // d, -(-d // LANES) * LANES
        samples = reused("samples", (length, n_members * n_vectors))
        samples[d:] = 0
        covariances = reused("covariances", (n_groups + 1, length * length))
        means = reused("means", (n_groups, n_vectors, length))
        moments = means, covariances
        group_moments(groups.layers, size, groups.numbers, samples, *moments)
        values = reused("estimates", (n_groups, n_estimated, n_vectors, d))
        weights = reused("weights", (n_groups, n_estimated, d))
        noise, relative, shared = map(np.float32, (self.noise, self.relative_noise, self.shared))
        model = groups.center, noise, relative, shared
        place = tile.vertical.start, tile.horizontal.start, tile.horizontal.n_patches, size
        n_steps = self.n_steps + _MORE_STEPS * (d > _LONG)
        estimates = values, weights
        condition(groups.layers, moments, model, n_steps, missing, place, groups.numbers, estimates)
        return estimates


def incomplete_references(missing: Bools, tile: Tile, size: int) -> Bools:
    """Return which references of a tile have missing pixels, by their rows and columns: (b, b')."""
    down, across = tile.vertical, tile.horizontal
    return find_incomplete(missing, (down.start, across.start), down.references, across.references, size)
