"""Gaussian estimates of the patches of a block, from groups of similar patches."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.refinement._gaussian_kernels import condition, group_moments
from dictsel_core.refinement.search import Block, Groups, Search, Singles, find_groups, reused

#: Vectors longer than this, of channels with masks of their own, take so many more steps.
_LONG, _MORE_STEPS = 64, 10


@dataclass(frozen=True, eq=False)
class BlockEstimates:
    """Estimates of some patches of a block.

    Attributes
    ----------
    numbers : (N,) ndarray of int
        Numbers of the patches within the block; a patch may be estimated several times.
    values : (N, C, size * size) ndarray
    size : int
        Height and width of a patch.
    weights : (N, 1 or C, 1 or size * size) ndarray or None
        Weight of each estimate in the average of a pixel; None if all are equal.
    """

    numbers: Ints
    values: Singles
    size: int
    weights: Floats | None = None


class Estimator(Protocol):
    """Estimates the patches of a block; called from several threads."""

    def estimate(
        self, planes: Singles, missing: Bools, block: Block, search: Search
    ) -> BlockEstimates | None:
        """Return estimates of some patches, or None if nothing is missing; until the next call of the thread.

        Of a block with several images below each other, patches of the first one are estimated, and the mask
        is that of the first one.

        Parameters
        ----------
        planes : (H, W, C) ndarray
            The current image, of about unit range.
        missing : (H, W, c) ndarray of bool
            One layer per channel, or a single layer for all of them.
        block : Block
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
        Fraction of a covariance that is taken from the other groups of the block: few members alone are not
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

    def estimate(
        self, planes: Singles, missing: Bools, block: Block, search: Search
    ) -> BlockEstimates | None:
        """Return estimates of the patches most similar to each reference that has missing pixels."""
        incomplete = block.incomplete(missing, search.size)
        if not incomplete.any():
            return None
        groups = find_groups(planes, block, search, incomplete)
        numbers, values, weights = self._condition(groups, missing, block)
        shape = len(numbers), -1, search.size**2
        return BlockEstimates(numbers, values.reshape(shape), search.size, weights.reshape(shape))

    def _condition(self, groups: Groups, missing: Bools, block: Block) -> tuple[Ints, Singles, Singles]:
        """Return numbers (N,), values (N, L, d) and weights (N, d) of estimates, until the next call."""
        size, members = groups.size, np.ascontiguousarray(groups.numbers[:, : self.n_estimated])
        # Channels with masks of their own form one long vector; channels that share a mask form several.
        d = missing.shape[2] * size**2
        n_groups, n_vectors = len(members), len(groups.layers) * size**2 // d
        moments = reused("means", (n_groups, n_vectors, d)), reused("covariances", (n_groups + 1, d, d))
        group_moments(groups.layers, size, groups.numbers, *moments)
        values, weights = (
            reused("estimates", (members.size, n_vectors, d)),
            reused("weights", (members.size, d)),
        )
        estimates = np.empty(members.size, np.intp), values, weights
        noise, relative, shared = map(np.float32, (self.noise, self.relative_noise, self.shared))
        model = groups.center, noise, relative, shared
        place = block.vertical.start, block.horizontal.start, size
        n_steps = self.n_steps + _MORE_STEPS * (d > _LONG)
        n_estimated = condition(groups.layers, moments, model, n_steps, missing, place, members, estimates)
        return estimates[0][:n_estimated], values[:n_estimated], weights[:n_estimated]
