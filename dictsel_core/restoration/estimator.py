"""Estimates of the patches of a tile from groups of similar patches."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.conditional import conditional_means
from dictsel_core.restoration.similar import Search, Tile, patch_rows, similar_patches


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
    weights : (N,) ndarray or None
        Weight of each estimate in the average of a pixel; None if all are equal.
    """

    numbers: Ints
    values: Planes
    size: int
    weights: Floats | None = None

    def summed(self, height: int, width: int) -> tuple[Floats, Floats]:
        """Return weighted sums of the estimates (height, width, C), and sums of weights (height, width)."""
        rows, columns = np.divmod(self.numbers, width - self.size + 1)
        offsets = np.add.outer(np.arange(self.size) * width, np.arange(self.size)).ravel()
        pixels = ((rows * width + columns)[:, None] + offsets).ravel()
        n_pixels, weights = height * width, None
        if self.weights is not None:
            weights = np.repeat(self.weights, offsets.size)
        totals = np.bincount(pixels, weights, minlength=n_pixels).astype(np.float64, copy=False)
        sums = np.empty((height, width, self.values.shape[1]))
        for channel in range(sums.shape[2]):
            values = self.values[:, channel].ravel()
            weighted = values if weights is None else weights * values
            sums[:, :, channel] = np.bincount(pixels, weighted, minlength=n_pixels).reshape(height, width)
        return sums, totals.reshape(height, width)


class Estimator(Protocol):
    """Estimates the patches of a tile; called from several threads."""

    def estimate(self, planes: Planes, missing: Bools, tile: Tile, search: Search) -> TileEstimates | None:
        """Return estimates of some patches, or None if nothing is missing.

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
    observed pixels of its own patch [1]_.

    Attributes
    ----------
    n_estimated : int
        How many of the nearest members of a group are estimated.
    noise : float
        Variance of what a covariance does not explain, for images of unit range.
    shared : float
        Fraction of a covariance that is taken from the other groups of the tile: few members alone are not
        enough.

    References
    ----------
    .. [1] M. Lebrun, A. Buades and J.-M. Morel, "A nonlocal Bayesian image denoising algorithm", SIAM Journal
       on Imaging Sciences 6(3), 2013. :DOI:`10.1137/120874989`
    """

    n_estimated: int
    noise: float
    shared: float

    def estimate(self, planes: Planes, missing: Bools, tile: Tile, search: Search) -> TileEstimates | None:
        """Return estimates of the patches most similar to each reference that has missing pixels."""
        size = search.size
        hidden = missing[tile.region]
        if not hidden.any():
            return None
        unknown = patch_rows(hidden, size)
        incomplete = unknown[tile.references].any(axis=(1, 2))
        if not incomplete.any():
            return None
        references, candidates = tile.references[incomplete], tile.candidates[incomplete]
        region = planes[tile.region]
        center = region.mean()
        values = patch_rows(region - center, size)
        n_members = min(search.n_members, candidates.shape[1])
        n_estimated = min(self.n_estimated, n_members)
        groups = similar_patches(values.mean(axis=1), references, candidates, n_members, n_estimated)
        estimated = groups[:, :n_estimated]

        # Channels with masks of their own form one long vector; channels that share a mask form several.
        vectors = values.reshape(len(values), -1, unknown[0].size)
        masks = unknown.reshape(len(unknown), -1)
        members = vectors[groups]
        means = members.mean(axis=1, keepdims=True)
        members -= means
        samples = members.reshape(len(groups), -1, masks.shape[1])
        covariances: Planes = samples.swapaxes(1, 2) @ samples
        covariances /= np.float32(samples.shape[1])
        shrink(covariances, self.shared)
        gaps = masks[estimated]
        deviations = np.where(gaps[:, :, None], 0, vectors[estimated] - means)
        estimates = conditional_means(covariances, deviations, gaps, self.noise) + means + center
        return TileEstimates(estimated.ravel(), estimates.reshape(-1, *values.shape[1:]), size)


def shrink(covariances: Planes, fraction: float) -> None:
    """Shrink covariances (B, d, d) towards their mean, scaled to the variance of each, in place."""
    mean = covariances.mean(axis=0)
    shares = fraction * np.einsum("bdd->b", covariances) / max(np.trace(mean), np.finfo(np.float32).tiny)
    covariances *= np.float32(1 - fraction)
    for covariance, share in zip(covariances, shares.astype(np.float32), strict=True):
        np.add(covariance, share * mean, out=covariance)  # one at a time, to stay in the cache
