"""Gaussian estimates of the patches of a block, from groups of similar patches.

Products of matrices are left to BLAS, which Numba calls for `np.dot`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dictsel_core._util.arrays import any_in_windows
from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.refinement.search import Block, Groups, Search, Singles, find_groups, reused

Index = np.uintp

#: Vectors longer than this, of channels with masks of their own, take so many more steps.
_LONG, _MORE_STEPS = 64, 10
#: How many steps of conjugate gradients count for the variances, and the part of the squared residual below
#: which they no longer do: the directions of later steps are not conjugate to the first ones in float32.
_VARIANCE_STEPS, _MIN_RESIDUAL = 6, np.float32(1e-4)
_TINY = np.float32(1e-30)
#: Less noise than this is that of float32.
_MIN_NOISE = np.float32(1e-9)
_ZERO, _ONE = np.float32(0), np.float32(1)


@dataclass(frozen=True, eq=False)
class BlockEstimates:
    """Estimates of some patches of a block, by their numbers (N,); a patch may be estimated several times.

    Values are (N, C, size * size), and weights in the average of a pixel (N, 1 or C, size * size).
    """

    numbers: Ints
    values: Singles
    size: int
    weights: Singles


class Estimator(Protocol):
    """Estimates the patches of a block, as `GaussianEstimator` does; called from several threads."""

    def estimate(self, planes: Singles, missing: Bools, block: Block, search: Search) -> BlockEstimates:
        """Return estimates of some patches of a block."""


@dataclass(frozen=True)
class GaussianEstimator:
    """Estimates patches as Gaussian vectors with the mean and covariance of their group.

    Each missing pixel of the patches most similar to a reference gets its conditional mean, given the
    observed pixels of its own patch (Lebrun et al., "A nonlocal Bayesian image denoising algorithm", 2013,
    :DOI:`10.1137/120874989`). Estimates are weighted by the inverse of the variance that remains.
    """

    n_estimated: int  #: how many of the nearest members of a group are estimated
    noise: float  #: variance of what a covariance does not explain, for images of unit range,
    relative_noise: float  #: and the most it may be, relative to the mean variance of a group
    shared: float  #: fraction of a covariance that is taken from the other groups of the block
    n_steps: int  #: of conjugate gradients

    def estimate(self, planes: Singles, missing: Bools, block: Block, search: Search) -> BlockEstimates:
        """Return estimates of the patches most similar to each reference that has missing pixels.

        They are valid until the next call of the same thread. Planes (H, W, C) are of about unit range. Of a
        block with several images below each other, the mask (H, W, c) is that of the first one, whose patches
        are estimated.
        """
        own = missing[block.region]
        incomplete = any_in_windows(np.asarray(own.any(axis=2)), search.size)
        wanted = incomplete[block.vertical.references[:, None], block.horizontal.references]
        groups = find_groups(planes, block, search, wanted)
        observed = reused("observed", (own.shape[2], *own.shape[:2]))
        np.logical_not(own.transpose(2, 0, 1), out=observed)
        numbers, values, weights = self._condition(groups, observed, incomplete)
        shape = len(numbers), -1, search.size**2
        return BlockEstimates(numbers, values.reshape(shape), search.size, weights.reshape(shape))

    def _condition(
        self, groups: Groups, observed: Singles, incomplete: Bools
    ) -> tuple[Ints, Singles, Singles]:
        """Return numbers (N,), values (N, L, d) and weights (N, d) of estimates, until the next call."""
        size, members = groups.size, np.ascontiguousarray(groups.numbers[:, : self.n_estimated])
        # Channels with masks of their own form one long vector; channels that share a mask form several.
        d = len(observed) * size**2
        n_groups, n_vectors = len(members), len(groups.layers) * size**2 // d
        moments = reused("means", (n_groups, n_vectors, d)), reused("covariances", (n_groups + 1, d, d))
        group_moments(groups.layers, size, groups.numbers, *moments)
        values, weights = (
            reused("estimates", (members.size, n_vectors, d)),
            reused("weights", (members.size, d)),
        )
        estimates = np.empty(members.size, np.intp), values, weights
        factor = np.float32(1 / (groups.numbers.shape[1] * n_vectors))
        noise, relative, shared = map(np.float32, (self.noise, self.relative_noise, self.shared))
        model = groups.center, noise, relative, shared, factor
        n_steps, flags = self.n_steps + _MORE_STEPS * (d > _LONG), incomplete.reshape(-1)
        layers = groups.layers, observed
        n_estimated = condition(layers, moments, model, n_steps, flags, size, members, estimates)
        return estimates[0][:n_estimated], values[:n_estimated], weights[:n_estimated]


@Kernel
def group_moments(layers: Singles, size: int, numbers: Ints, means: Singles, covariances: Singles) -> None:
    """Write the means (B, L, d) and the covariances (B + 1, d, d) of groups, and last their sum.

    Members have numbers (B, n) in a block (C, h, w). Vectors are patches, or single channels of these.
    Covariances are sums, not divided by the number of vectors of a group.
    """
    (n_groups, n_members), (n_vectors, d) = numbers.shape, means.shape[1:]
    samples = np.empty((n_members * n_vectors, d), np.float32)
    entries, flat, n_entries = samples.reshape(-1), covariances.reshape(-1), Index(d * d)
    total = Index(n_groups) * n_entries
    for i in range(n_entries):
        flat[total + i] = _ZERO
    for b in range(n_groups):
        for n in range(n_members):
            _gather(layers, size, numbers[b, n], entries, n * n_vectors * d)
        _subtract_means(entries, means[b].reshape(-1))
        np.dot(samples.T, samples, covariances[b])
        for i in range(n_entries):
            flat[total + i] += flat[Index(b) * n_entries + i]


@PartialKernel
def _gather(layers: Singles, size: int, number: int, out: Singles, first: int) -> None:
    """Copy the patch with some number of layers (C, h, w) to a flat array, from some place on."""
    (n_layers, height, width), flat, to = layers.shape, layers.reshape(-1), Index(first)
    start = number // (width - size + 1) * width + number % (width - size + 1)
    for layer in range(n_layers):
        for i in range(size):
            at = Index(start + (layer * height + i) * width)
            for k in range(Index(size)):
                out[to + k] = flat[at + k]
            to += Index(size)


@PartialKernel
def _subtract_means(members: Singles, means: Singles) -> None:
    """Compute the mean of members, each with as many entries, and subtract it from all of them."""
    n_entries = Index(means.size)
    n_members = Index(members.size) // n_entries
    share = _ONE / np.float32(n_members)
    for j in range(n_entries):
        means[j] = _ZERO
    for n in range(n_members):
        for j in range(n_entries):
            means[j] += share * members[n * n_entries + j]
    for n in range(n_members):
        for j in range(n_entries):
            members[n * n_entries + j] -= means[j]


@Kernel
def condition(
    layers: tuple[Singles, Singles],
    moments: tuple[Singles, Singles],
    model: tuple[np.float32, np.float32, np.float32, np.float32, np.float32],
    n_steps: int,
    incomplete: Bools,
    size: int,
    members: Ints,
    estimates: tuple[Ints, Singles, Singles],
) -> int:
    r"""Estimate members of groups, given their observed pixels o, and weigh the estimates by their variances.

    .. math::

        & C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o) \\
        & C_{m,m} + \sigma^2 I - C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} C_{o,m}

    (of the latter the diagonal), by a few steps of conjugate gradients: the covariances of similar patches
    have few large eigenvalues. Each direction p of these steps also tells by how much it reduces the
    variances, :math:`(C_{m,o} p)^2 / p^T (C_{o,o} + \sigma^2 I) p`; the variances are upper bounds, and exact
    after as many steps as there are observed entries (Wenger et al., "Posterior and computational uncertainty
    in Gaussian processes", 2022, :DOI:`10.48550/arXiv.2205.15449`).

    Layers are those of the groups, and of the mask (c, h, w): 1 if a pixel is observed, otherwise 0. Moments
    are those of `group_moments`. The model is the center that was subtracted from the layers, noise, relative
    noise, the fraction of the mean covariance, and one over the number of vectors of a group; the noise has
    a weight of 1. Members (B, E) are left out if their patches are not incomplete. Overwrites the estimates,
    numbers (N,), values (N, L, d) and weights (N, d), and returns how many there are.
    """
    pixels, observed = layers
    (means, covariances), (center, noise, relative, fraction, scale) = moments, model
    (numbers, values, weights), (n_groups, n_vectors, d) = estimates, means.shape
    matrix, variances = np.empty((d, d), np.float32), np.empty(d, np.float32)
    n_rows, n_estimated = members.shape[1] * n_vectors, 0
    seen, reductions = np.empty((members.shape[1], d), np.float32), np.empty((n_rows, d), np.float32)
    work, flat = np.empty((3, n_rows, d), np.float32), values.reshape(-1)
    trace = max(_trace(covariances[n_groups]), _TINY)
    for b in range(n_groups):
        share = fraction * _trace(covariances[b]) / trace
        _blend((_ONE - fraction) * scale, covariances[b], share * scale, covariances[n_groups], matrix)
        own = max(min(noise, relative * _trace(matrix) / np.float32(d)), _MIN_NOISE)
        for i in range(d):
            matrix[i, i] += own
            variances[i] = matrix[i, i]
        first = n_estimated
        for number in members[b]:
            if number < len(incomplete) and incomplete[number]:
                _gather(observed, size, number, seen.reshape(-1), (n_estimated - first) * d)
                _gather(pixels, size, number, flat, n_estimated * n_vectors * d)
                numbers[n_estimated] = number
                n_estimated += 1
        if n_estimated > first:
            vectors = values[first:n_estimated].reshape(-1, d)
            _solve(matrix, means[b], seen.reshape(-1), n_steps, vectors, reductions.reshape(-1), work)
            for n in range(first, n_estimated):
                at = (n - first) * n_vectors
                _weigh(noise, own, variances, reductions[at : at + n_vectors], weights[n])
    for i in range(Index(n_estimated * n_vectors * d)):
        flat[i] += center
    return n_estimated


@PartialKernel
def _trace(matrix: Singles) -> np.float32:
    result = _ZERO
    for i in range(len(matrix)):
        result += matrix[i, i]
    return result


@PartialKernel
def _blend(kept: np.float32, one: Singles, share: np.float32, other: Singles, out: Singles) -> None:
    """Set a matrix to parts of two others."""
    for i in range(len(out)):
        a, b, row = one[i], other[i], out[i]
        for j in range(Index(len(row))):
            row[j] = kept * a[j] + share * b[j]


@PartialKernel
def _weigh(
    noise: np.float32, least: np.float32, variances: Singles, reductions: Singles, out: Singles
) -> None:
    """Set the weights of a patch: noise over variances, less the largest reduction of its vectors (L, d)."""
    d = Index(len(out))
    for j in range(d):
        out[j] = _ZERO
    for v in range(len(reductions)):
        vector = reductions[v]
        for j in range(d):
            out[j] = max(out[j], vector[j])
    for j in range(d):
        out[j] = noise / max(variances[j] - out[j], least)


@PartialKernel
def _solve(
    matrix: Singles,
    means: Singles,
    seen: Singles,
    n_steps: int,
    vectors: Singles,
    reductions: Singles,
    work: Singles,
) -> None:
    """Replace vectors (R, d) by their conditional means, and set the reductions of their variances (R, d).

    All take the same number of steps of conjugate gradients, so that their products with the matrix are one.
    The solutions of the systems are only needed multiplied by the matrix, as the directions are anyway.
    """
    n_rows, n_means, d = len(vectors), len(means), Index(vectors.shape[1])
    directions, products = work[1, :n_rows], work[2, :n_rows]
    residual, direction, product = work[0].reshape(-1), directions.reshape(-1), products.reshape(-1)
    vector, mean = vectors.reshape(-1), means.reshape(-1)
    energies, least = np.empty(n_rows, np.float32), np.empty(n_rows, np.float32)
    for r in range(n_rows):
        row, own, mask, energy = Index(r) * d, Index(r % n_means) * d, Index(r // n_means) * d, _ZERO
        for j in range(d):
            entry = seen[mask + j] * (vector[row + j] - mean[own + j])
            residual[row + j] = entry
            energy += entry * entry
        for j in range(d):
            direction[row + j] = residual[row + j]
            reductions[row + j] = _ZERO
        for j in range(d):
            vector[row + j] = mean[own + j]
        energies[r], least[r] = energy, _MIN_RESIDUAL * energy
    for step in range(n_steps):
        np.dot(directions, matrix, products)
        for r in range(n_rows):
            row, mask, curvature, energy = Index(r) * d, Index(r // n_means) * d, _ZERO, _ZERO
            for j in range(d):
                curvature += direction[row + j] * product[row + j]
            curvature = _ONE / max(curvature, _TINY)
            counts = step < _VARIANCE_STEPS and energies[r] > least[r]
            weight, length = curvature if counts else _ZERO, energies[r] * curvature
            for j in range(d):
                vector[row + j] += length * product[row + j]
                reductions[row + j] += weight * product[row + j] * product[row + j]
            if step == n_steps - 1:
                continue  # the next direction is not needed
            for j in range(d):
                residual[row + j] -= length * seen[mask + j] * product[row + j]
                energy += residual[row + j] * residual[row + j]
            ratio = energy / max(energies[r], _TINY)
            for j in range(d):
                direction[row + j] = ratio * direction[row + j] + residual[row + j]
            energies[r] = energy
