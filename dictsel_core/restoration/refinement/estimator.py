"""Estimates of the patches of a tile from groups of similar patches."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.restoration.canvas import Plane, Planes
from dictsel_core.restoration.refinement._condition_kernels import condition
from dictsel_core.restoration.refinement._moment_kernels import group_moments
from dictsel_core.restoration.refinement._sum_kernels import sum_estimates
from dictsel_core.restoration.refinement._tile_kernels import find_incomplete
from dictsel_core.restoration.refinement._workspace import reused, rounded_up
from dictsel_core.restoration.refinement.conditional import MIN_NOISE, conditional_moments, n_steps_for
from dictsel_core.restoration.refinement.similar import Groups, find_groups
from dictsel_core.restoration.refinement.tiles import Search, Tile, patches_at

#: Groups that are estimated together, and covariances that are shrunk together: they stay in the cache.
_BATCH, _SHRINK_BATCH = 64, 8


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
        if is_enabled():
            weights, slots = np.ascontiguousarray(layers), reused("slots", (height, width)).view(np.int32)
            sums, totals = sum_estimates(self.numbers, self.values, weights, self.size, wanted, slots)
            return PixelSums(wanted, sums, totals)
        rows, columns = np.divmod(self.numbers, width - self.size + 1)
        offsets = np.add.outer(np.arange(self.size) * width, np.arange(self.size)).ravel()
        pixels = ((rows * width + columns)[:, None] + offsets).ravel()

        def total(values: Floats) -> Floats:
            totals = np.bincount(pixels, values.ravel(), minlength=height * width)
            return np.asarray(totals[wanted], dtype=np.float64)

        weight_sums = [total(layers[:, layer]) for layer in range(layers.shape[1])]
        value_sums = [
            total(self.values[:, channel] * layers[:, min(channel, layers.shape[1] - 1)])
            for channel in range(self.values.shape[1])
        ]
        return PixelSums(wanted, np.stack(value_sums, axis=1), np.stack(weight_sums, axis=1))


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
        if is_enabled():
            estimates, weights = self._estimate_compiled(groups, missing, tile)
        else:
            estimates, weights = self._estimate(groups, estimated, missing[tile.region])
        shape, numbers = (estimated.size, -1, search.size**2), estimated.ravel()
        values, weights = estimates.reshape(shape), weights.reshape(shape)
        if tile.n_planes > 1:  # groups with few members in this image
            own = numbers < tile.n_patches
            numbers, values, weights = numbers[own], values[own], weights[own]
        return TileEstimates(numbers, values, search.size, weights)

    def _estimate(self, groups: Groups, estimated: Ints, missing: Bools) -> tuple[Planes, Planes]:
        """Return estimates of some members of groups (B, E, L, d), and their weights (B, E, d)."""
        # Channels with masks of their own form one long vector; channels that share a mask form several.
        gaps = patches_at(missing, groups.size, estimated).reshape(*estimated.shape, -1)
        members = groups.values().reshape(*groups.numbers.shape, -1, gaps.shape[2])
        means = members.mean(axis=1, keepdims=True)
        members -= means
        covariances = shrunk_covariances(members.reshape(len(members), -1, gaps.shape[2]), self.shared)
        noise = self.noises(covariances)
        estimates = np.empty((*estimated.shape, *members.shape[2:]), np.float32)
        weights = np.empty(gaps.shape, np.float32)
        for start in range(0, len(estimated), _BATCH):
            batch = slice(start, start + _BATCH)
            deviations = np.where(gaps[batch, :, None], np.float32(0), members[batch, : estimated.shape[1]])
            estimates[batch], variances = conditional_moments(
                covariances[batch], deviations, gaps[batch], noise[batch], self.n_steps
            )
            np.divide(np.float32(self.noise), variances, out=weights[batch])
        estimates += means
        estimates += groups.center
        return estimates, weights

    def _estimate_compiled(self, groups: Groups, missing: Bools, tile: Tile) -> tuple[Planes, Planes]:
        """Return what `_estimate` returns, up to rounding (docs/refinement.md); until the next call."""
        size, (n_groups, n_members) = groups.size, groups.numbers.shape
        n_estimated = min(self.n_estimated, n_members)
        d = missing.shape[2] * size**2
        n_vectors, length = len(groups.layers) * size**2 // d, rounded_up(d)
        samples = reused("samples", (n_members * n_vectors, length))
        covariances = reused("covariances", (n_groups + 1, length * length))
        means = reused("means", (n_groups, n_vectors * length))
        members = reused("members", (n_groups, n_estimated, n_vectors, length))
        moments = means, covariances[1:], covariances[0]
        group_moments(groups.layers, size, groups.numbers, samples, members.reshape(n_groups, -1), *moments)
        values = reused("estimates", (n_groups, n_estimated, n_vectors, d))
        weights = reused("weights", (n_groups, n_estimated, d))
        noise, relative, shared = map(np.float32, (self.noise, self.relative_noise, self.shared))
        model = groups.center, noise, relative, shared
        place = tile.vertical.start, tile.horizontal.start, tile.horizontal.n_patches, size
        n_steps = n_steps_for(d, self.n_steps)
        condition(moments, model, n_steps, missing, place, groups.numbers, members, (values, weights))
        return values, weights

    def noises(self, covariances: Planes) -> Plane:
        """Return the noise of each group: (B,)."""
        variances = np.einsum("bdd->b", covariances) / np.float32(covariances.shape[1])
        noise: Plane = np.minimum(np.float32(self.noise), np.float32(self.relative_noise) * variances)
        return np.maximum(noise, MIN_NOISE)  # groups may be constant


def incomplete_references(missing: Bools, tile: Tile, size: int) -> Bools:
    """Return which references of a tile have missing pixels, by their rows and columns: (b, b')."""
    down, across = tile.vertical, tile.horizontal
    if is_enabled():
        corner = down.start, across.start
        return find_incomplete(missing, corner, down.references, across.references, size)
    hidden = missing[tile.region].any(axis=2)
    if not hidden.any():
        return np.zeros((len(down.references), len(across.references)), bool)
    counts = np.zeros((hidden.shape[0] + 1, hidden.shape[1] + 1), np.int32)
    np.cumsum(np.cumsum(hidden, axis=0, dtype=np.int32), axis=1, out=counts[1:, 1:])
    rows, columns = down.references[:, None], across.references
    inside = counts[rows + size, columns + size] - counts[rows, columns + size]
    return np.asarray(inside != counts[rows + size, columns] - counts[rows, columns])


def shrunk_covariances(samples: Planes, fraction: float) -> Planes:
    """Return the covariances of groups, shrunk towards their mean scaled to the variance of each: (B, d, d).

    Parameters
    ----------
    samples : (B, n, d) ndarray
        Of zero mean.
    fraction : float
        Of the mean.
    """
    covariances = reused("covariances", (len(samples), samples.shape[2], samples.shape[2]))
    np.matmul(samples.swapaxes(1, 2), samples, out=covariances)
    covariances *= np.float32(1 / samples.shape[1])
    mean = covariances.mean(axis=0)
    shares = fraction * np.einsum("bdd->b", covariances) / max(np.trace(mean), np.finfo(np.float32).tiny)
    for start in range(0, len(covariances), _SHRINK_BATCH):
        batch = slice(start, start + _SHRINK_BATCH)
        covariances[batch] *= np.float32(1 - fraction)
        covariances[batch] += shares[batch, None, None].astype(np.float32) * mean
    return covariances
