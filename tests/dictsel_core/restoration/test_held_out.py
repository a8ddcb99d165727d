"""Observed pixels that are held out."""

import numpy as np
import pytest

from dictsel_core.restoration.holdout import folds, hold_out, sample_held_out


@pytest.mark.parametrize("part", [0.05, 0.2, 0.8])
def test_held_out_pixels_are_a_few_observed_ones(part):
    rng = np.random.default_rng(4)
    missing = np.zeros((200, 200), bool)
    if part > 0.3:
        missing |= rng.random(missing.shape) < part
    else:
        missing[:, 20 : 20 + round(200 * part)] = True
    held_out = sample_held_out(missing, 0.04, rng)
    assert not (held_out & missing).any()
    assert 0.005 < held_out.sum() / (~missing).sum() < 0.12


def test_nothing_is_held_out_where_little_is_observed():
    missing = np.ones((60, 60, 2), bool)
    missing[:30, :, 0] = False
    missing[3, 4, 1] = False
    held_out = hold_out(missing, np.random.default_rng(0))
    assert not held_out[:, :, 1].any()
    assert not (held_out & missing).any()


@pytest.mark.parametrize(("size", "fraction", "n_folds"), [(300, 0.8, 1), (40, 0.8, 4), (200, 0.05, 1)])
def test_small_images_have_several_folds(size, fraction, n_folds):
    missing = np.random.default_rng(0).random((size, size)) < fraction
    found = folds(missing, np.random.default_rng(1))
    assert len(found) == n_folds
    assert all(fold.any() and not (fold & missing).any() for fold in found)


def test_sparse_damage_is_held_out_in_its_own_shape():
    missing = np.zeros((100, 100), bool)
    missing[20:24, 10:90] = True
    (fold,) = folds(missing, np.random.default_rng(0))
    rows = np.flatnonzero(fold.any(axis=1))
    assert len(rows) == 4
    assert (np.diff(rows) == 1).all()
    assert fold.sum() == missing.sum()
