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
