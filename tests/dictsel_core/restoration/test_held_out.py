"""Observed pixels that are held out."""

import numpy as np
import pytest

from dictsel_core.restoration.holdout import hold_out


@pytest.mark.parametrize("part", [0.05, 0.2, 0.8])
def test_held_out_pixels_are_a_few_observed_ones(part):
    rng = np.random.default_rng(4)
    missing = np.zeros((200, 200, 1), bool)
    if part > 0.3:
        missing |= rng.random(missing.shape) < part
    else:
        missing[:, 20 : 20 + round(200 * part)] = True
    held_out = hold_out(missing, rng)
    assert not (held_out & missing).any()
    assert 0.04 < held_out.sum() / (~missing).sum() < 0.25


def test_nothing_is_held_out_where_little_is_observed():
    missing = np.ones((60, 60, 2), bool)
    missing[:30, :, 0] = False
    missing[3, 4, 1] = False
    for seed in range(10):
        held_out = hold_out(missing, np.random.default_rng(seed))
        assert not held_out[:, :, 1].any()
        assert not (held_out & missing).any()


def test_single_pixels_of_each_channel_are_held_out_by_themselves():
    missing = np.random.default_rng(0).random((60, 60, 3)) < 0.5
    held_out = hold_out(missing, np.random.default_rng(1))
    assert 0.01 < held_out[:, :, 0][held_out[:, :, 1]].mean() < 0.15


def test_sparse_damage_is_held_out_in_its_own_shape():
    missing = np.zeros((100, 100, 1), bool)
    missing[20:24, 10:90] = True
    held_out = hold_out(missing, np.random.default_rng(0))
    rows = np.flatnonzero(held_out.any(axis=(1, 2)))
    assert len(rows) % 4 == 0
    assert all((np.diff(copy) == 1).all() for copy in rows.reshape(-1, 4))
    assert held_out.sum() > missing.sum()
