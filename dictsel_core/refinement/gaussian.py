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
        size, members = groups.size, groups.numbers[:, : self.n_estimated]
        # Channels with masks of their own form one long vector; channels that share a mask form several.
        d = len(observed) * size**2
        n_groups, n_vectors = len(members), len(groups.layers) * size**2 // d
        moments = reused("means", (n_groups, n_vectors, d)), reused("sums", (n_groups + 1, d, d))
        means, covariances = moments
        group_moments(groups.layers, size, groups.numbers, means, covariances[:-1])
        np.sum(covariances[:-1], axis=0, out=covariances[-1])
        traces = covariances.trace(axis1=1, axis2=2)
        factor = np.float32(1 / (groups.numbers.shape[1] * n_vectors))
        kept, shared = (np.float32(part) * factor for part in (1 - self.shared, self.shared))
        shares = shared * traces[:-1] / max(traces[-1], _TINY)
        variances = (kept * traces[:-1] + shares * traces[-1]) / np.float32(d)
        noises = np.clip(np.float32(self.relative_noise) * variances, _MIN_NOISE, np.float32(self.noise))
        flags = incomplete.reshape(-1)
        is_wanted = (members < len(flags)) & flags.take(members, mode="clip")
        numbers, ends = members[is_wanted], np.cumsum(np.count_nonzero(is_wanted, axis=1))
        values, weights = (
            reused("estimates", (len(numbers), n_vectors, d)),
            reused("weights", (len(numbers), d)),
        )
        n_steps, layers = self.n_steps + _MORE_STEPS * (d > _LONG), (groups.layers, observed)
        model = kept, np.float32(self.noise), shares, noises
        condition(layers, size, (numbers, ends), moments, model, n_steps, values, weights)
        values += groups.center
        return numbers, values, weights


@Kernel
def group_moments(layers: Singles, size: int, numbers: Ints, means: Singles, covariances: Singles) -> None:
    """Write the means (B, L, d) and the covariances (B, d, d) of groups.

    Members have numbers (B, n) in a block (C, h, w). Vectors are patches, or single channels of these.
    Covariances are sums, not divided by the number of vectors of a group.
    """
    (n_groups, n_members), (n_vectors, d) = numbers.shape, means.shape[1:]
    samples, n_entries = np.empty((n_members * n_vectors, d), np.float32), Index(n_vectors * d)
    entries, flat, share = samples.reshape(-1), means.reshape(-1), _ONE / np.float32(n_members)
    for b in range(n_groups):
        own = Index(b) * n_entries
        for j in range(n_entries):
            flat[own + j] = _ZERO
        for n in range(n_members):
            first = Index(n) * n_entries
            _gather(layers, size, numbers[b, n], entries, first)
            for j in range(n_entries):
                flat[own + j] += share * entries[first + j]
        for n in range(Index(n_members)):
            for j in range(n_entries):
                entries[n * n_entries + j] -= flat[own + j]
        np.dot(samples.T, samples, covariances[b])


@PartialKernel
def _gather(layers: Singles, size: int, number: int, out: Singles, to: np.uintp) -> None:
    """Copy the patch with some number of layers (C, h, w) to a flat array, from some place on."""
    (n_layers, height, width), flat = layers.shape, layers.reshape(-1)
    start = number // (width - size + 1) * width + number % (width - size + 1)
    for layer in range(n_layers):
        for i in range(size):
            at = Index(start + (layer * height + i) * width)
            for k in range(Index(size)):
                out[to + k] = flat[at + k]
            to += Index(size)


@Kernel
def condition(
    layers: tuple[Singles, Singles],
    size: int,
    members: tuple[Ints, Ints],
    moments: tuple[Singles, Singles],
    model: tuple[np.float32, np.float32, Singles, Singles],
    n_steps: int,
    values: Singles,
    weights: Singles,
) -> None:
    r"""Estimate members of groups, given their observed pixels o, and weigh the estimates by their variances.

    .. math::

        & C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} (y_o - \mu_o) \\
        & C_{m,m} + \sigma^2 I - C_{m,o} (C_{o,o} + \sigma^2 I)^{-1} C_{o,m}

    (of the latter the diagonal), by a few steps of conjugate gradients: the covariances of similar patches
    have few large eigenvalues. Each direction p of these steps also tells by how much it reduces the
    variances, :math:`(C_{m,o} p)^2 / p^T (C_{o,o} + \sigma^2 I) p`; the variances are upper bounds, and exact
    after as many steps as there are observed entries (Wenger et al., "Posterior and computational uncertainty
    in Gaussian processes", 2022, :DOI:`10.48550/arXiv.2205.15449`).

    Layers are those of the groups, and of the mask (c, h, w): 1 if a pixel is observed, otherwise 0. Members
    have numbers (N,), those of a group up to its end, (B,). Moments are those of `group_moments`, with the
    sum of all covariances behind them. The model is the fraction of its covariance that a group keeps, the
    noise that has a weight of 1, the fraction of the sum that each group takes, (B,), and its noise, (B,).
    Overwrites values (N, L, d) and weights (N, d).
    """
    (numbers, ends), (means, covariances), (kept, noise, shares, noises) = members, moments, model
    (_, n_vectors, d), n_most, first = means.shape, 0, 0
    for end in ends:
        n_most, first = max(n_most, end - first), end
    length, n_entries, flat, certain = Index(d), Index(d * d), values.reshape(-1), weights.reshape(-1)
    matrix, variances = np.empty((d, d), np.float32), np.empty(d, np.float32)
    seen, reductions = np.empty(n_most * d, np.float32), np.empty(n_most * n_vectors * d, np.float32)
    work, entries, sums = (
        np.empty((3 * n_most * n_vectors, d), np.float32),
        matrix.reshape(-1),
        covariances.reshape(-1),
    )
    total, first = Index(len(ends)) * n_entries, 0
    for b in range(len(ends)):
        end, start, own, share = ends[b], Index(b) * n_entries, noises[b], shares[b]
        if end == first:
            continue
        for i in range(n_entries):
            entries[i] = kept * sums[start + i] + share * sums[total + i]
        for i in range(length):
            entries[i * (length + Index(1))] += own
            variances[i] = entries[i * (length + Index(1))]
        for n in range(first, end):
            _gather(layers[1], size, numbers[n], seen, Index((n - first) * d))
            _gather(layers[0], size, numbers[n], flat, Index(n * n_vectors * d))
        vectors = flat[first * n_vectors * d : end * n_vectors * d]
        _solve(matrix, means[b].reshape(-1), seen, n_steps, vectors, reductions, work)
        for n in range(Index(end - first)):
            to, at = (Index(first) + n) * length, n * Index(n_vectors) * length
            for j in range(length):
                certain[to + j] = reductions[at + j]
            for v in range(Index(1), Index(n_vectors)):
                for j in range(length):
                    certain[to + j] = max(certain[to + j], reductions[at + v * length + j])
            for j in range(length):
                certain[to + j] = noise / max(variances[j] - certain[to + j], own)
        first = end


@PartialKernel
def _solve(
    matrix: Singles,
    mean: Singles,
    seen: Singles,
    n_steps: int,
    vector: Singles,
    reductions: Singles,
    work: Singles,
) -> None:
    """Replace vectors (R * d,) by their conditional means, and set the reductions of their variances.

    All take the same number of steps of conjugate gradients, so that their products with the matrix are one.
    The solutions of the systems are only needed multiplied by the matrix, as the directions are anyway.
    """
    d = Index(len(matrix))
    n_rows, n_means = len(vector) // len(matrix), len(mean) // len(matrix)
    directions, products = work[:n_rows], work[n_rows : 2 * n_rows]
    direction, product = directions.reshape(-1), products.reshape(-1)
    residual = work[2 * n_rows :].reshape(-1)
    energies, least = np.empty(n_rows, np.float32), np.empty(n_rows, np.float32)
    for r in range(n_rows):
        row, own, mask, energy = Index(r) * d, Index(r % n_means) * d, Index(r // n_means) * d, _ZERO
        for j in range(d):
            entry = seen[mask + j] * (vector[row + j] - mean[own + j])
            residual[row + j] = entry
            direction[row + j] = entry
            energy += entry * entry
        for j in range(d):
            vector[row + j] = mean[own + j]
            reductions[row + j] = _ZERO
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
