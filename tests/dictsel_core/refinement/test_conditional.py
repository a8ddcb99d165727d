"""The oracle of the refinement: conditional means and variances of Gaussian vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moments import conditional_moments


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), part=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
def test_conditional_means_are_those_of_the_definition(seed, part):
    rng = np.random.default_rng(seed)
    n_groups, n_members, n_layers, d = 3, 4, 2, 9
    samples = rng.normal(size=(n_groups, 12, d))
    covariances = (samples.swapaxes(1, 2) @ samples / 12).astype(np.float32)
    missing = rng.random((n_groups, n_members, d)) < part
    deviations = rng.normal(size=(n_groups, n_members, n_layers, d)).astype(np.float32)
    deviations[np.broadcast_to(missing[:, :, None], deviations.shape)] = 0
    means, variances = conditional_moments(
        covariances.copy(), deviations, missing, np.full(n_groups, 0.1, np.float32)
    )
    for g, e in np.ndindex(n_groups, n_members):
        m, o = missing[g, e], ~missing[g, e]
        inner = covariances[g][np.ix_(o, o)] + 0.1 * np.eye(o.sum())
        reduced = covariances[g][np.ix_(m, o)] @ np.linalg.solve(inner, covariances[g][np.ix_(o, m)])
        literal_variances = np.diag(covariances[g])[m] + 0.1 - np.diag(reduced)
        assert (variances[g, e, m] > literal_variances - 2e-3).all()  # they are bounds
        assert (variances[g, e, m] <= np.diag(covariances[g])[m] + 0.1 + 2e-3).all()
        for layer in range(n_layers):
            literal = covariances[g][np.ix_(m, o)] @ np.linalg.solve(inner, deviations[g, e, layer, o])
            assert means[g, e, layer, m] == pytest.approx(literal, abs=2e-3)


def test_variances_of_similar_patches_are_nearly_exact():
    rng = np.random.default_rng(0)
    scales = 0.5 ** np.arange(64)  # few large eigenvalues, as similar patches have
    basis = np.linalg.qr(rng.normal(size=(64, 64)))[0]
    covariance = (basis * scales) @ basis.T
    missing = rng.random((1, 5, 64)) < 0.8
    deviations = rng.multivariate_normal(np.zeros(64), covariance, size=(1, 5, 1)) * ~missing[:, :, None]
    single = covariance.astype(np.float32)[None]
    _, variances = conditional_moments(
        single, deviations.astype(np.float32), missing, np.full(len(single), 0.01, np.float32)
    )
    for e in range(5):
        m, o = missing[0, e], ~missing[0, e]
        inner = covariance[np.ix_(o, o)] + 0.01 * np.eye(o.sum())
        reduced = covariance[np.ix_(m, o)] @ np.linalg.solve(inner, covariance[np.ix_(o, m)])
        literal = np.diag(covariance)[m] + 0.01 - np.diag(reduced)
        assert variances[0, e, m] == pytest.approx(literal, rel=0.3)
