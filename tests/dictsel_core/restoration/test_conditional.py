"""Conditional means of Gaussian vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dictsel_core.restoration.conditional import conditional_means


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
    expected = conditional_means(covariances.copy(), deviations, missing, 0.1)
    for g, e in np.ndindex(n_groups, n_members):
        m, o = missing[g, e], ~missing[g, e]
        inner = covariances[g][np.ix_(o, o)] + 0.1 * np.eye(o.sum())
        for layer in range(n_layers):
            literal = covariances[g][np.ix_(m, o)] @ np.linalg.solve(inner, deviations[g, e, layer, o])
            assert expected[g, e, layer, m] == pytest.approx(literal, abs=2e-3)
