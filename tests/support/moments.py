"""Conditional moments of Gaussian vectors, from their definition."""

import numpy as np


def exact_moments(covariances, deviations, missing, noise, n_steps):
    """Conditional means and variances as they are defined."""
    means, variances = np.zeros(deviations.shape), np.ones(missing.shape)
    for g, e in np.ndindex(missing.shape[:2]):
        m, o = missing[g, e], ~missing[g, e]
        inner = covariances[g][np.ix_(o, o)] + noise[g] * np.eye(o.sum())
        gain = np.linalg.solve(inner, covariances[g][np.ix_(o, m)])
        means[g, e][:, m] = deviations[g, e][:, o] @ gain
        reduction = (gain * covariances[g][np.ix_(o, m)]).sum(axis=0)
        variances[g, e, m] = np.diag(covariances[g])[m] + noise[g] - reduction
    return means, variances


def conditional_moments(covariances, deviations, missing, noise, n_steps=8):
    """The same by steps of conjugate gradients, of which six count for the variances."""
    covariances = covariances + noise[:, None, None] * np.eye(covariances.shape[1], dtype=np.float32)
    observed = np.broadcast_to(~missing[:, :, None], deviations.shape)
    residual = direction = deviations.astype(np.float32)
    means, reductions = np.zeros_like(residual), np.zeros_like(residual)
    energy = np.square(residual).sum(axis=3, keepdims=True)
    least = 1e-4 * energy
    for step in range(n_steps + 10 * (missing.shape[2] > 64)):
        product = direction @ covariances[:, None]
        curvature = np.maximum((direction * product).sum(axis=3, keepdims=True), 1e-30)
        if step < 6:
            reductions = reductions + (energy > least) * np.square(product) / curvature
        means = means + energy / curvature * product
        residual = residual - energy / curvature * product * observed
        before, energy = energy, np.square(residual).sum(axis=3, keepdims=True)
        direction = residual + energy / np.maximum(before, 1e-30) * direction
    variances = np.einsum("bdd->bd", covariances)[:, None] - reductions.max(axis=2)
    return means, np.maximum(variances, noise[:, None, None])


def shrunk_covariances(samples, fraction):
    """Covariances of samples (B, n, d), shrunk towards their mean scaled to the variance of each."""
    covariances = samples.swapaxes(1, 2) @ samples / samples.shape[1]
    mean, traces = covariances.mean(axis=0), np.einsum("bdd->b", covariances)
    shares = fraction * traces / max(np.trace(mean), np.finfo(np.float32).tiny)
    return (1 - fraction) * covariances + shares[:, None, None] * mean


def literal_estimates(estimator, patches, gaps, moments=conditional_moments):
    """Estimates (B, E, C, size * size) of the first members of groups, and their weights.

    Parameters
    ----------
    estimator : GaussianEstimator
    patches : (B, n, C, size, size) ndarray
    gaps : (B, E, c, size, size) ndarray of bool
        Missing pixels of the first members.
    moments : callable
    """
    n_groups, n_estimated = gaps.shape[:2]
    gaps = gaps.reshape(n_groups, n_estimated, -1)
    d = gaps.shape[2]
    members = patches.reshape(*patches.shape[:2], -1, d)
    means = members.mean(axis=1, keepdims=True)
    members = members - means
    covariances = shrunk_covariances(members.reshape(n_groups, -1, d), estimator.shared)
    noise = estimator.relative_noise * np.einsum("bdd->b", covariances) / d
    noise = np.clip(noise, 1e-9, estimator.noise).astype(np.float32)
    deviations = np.where(gaps[:, :, None], 0, members[:, :n_estimated]).astype(np.float32)
    values, variances = moments(covariances, deviations, gaps, noise, estimator.n_steps)
    shape = (n_groups, n_estimated, -1, patches.shape[3] * patches.shape[4])
    return (values + means).reshape(shape), (estimator.noise / variances).reshape(shape)
