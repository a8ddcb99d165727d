"""Channels with masks of their own, which are estimated from each other."""

import numpy as np
from pictures import photograph, random_mask

from dictsel_core import restore
from dictsel_core.restoration.channels import detail


def differences(image, mask):
    """Pairs of channels of which the second helps to estimate the first."""
    return restore(image, mask, "fast").plan.differences


def test_a_channel_that_differs_by_a_constant_is_known_where_the_other_is():
    gray = photograph(48) / 510.0
    image = np.dstack([gray, gray + 0.25, gray])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 1] = random_mask(gray.shape, 0.6)
    restored = restore(image, mask, "fast")
    assert restored.plan.differences == ((1, 0), (1, 2)), "nothing of the others is missing"
    np.testing.assert_allclose(restored.image, image, atol=0.01)


def test_what_has_more_detail_than_the_channel_is_not_used():
    rng = np.random.default_rng(0)
    smooth = np.add.outer(np.arange(48), np.arange(48)) / 96
    image = np.dstack([smooth, rng.random((48, 48)), smooth])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 0] = mask[:, :, 2] = random_mask((48, 48), 0.5)
    assert (0, 1) not in differences(image, mask)
    assert (2, 1) not in differences(image, mask)


def test_detail_is_what_a_coarser_scale_does_not_have():
    noise = np.random.default_rng(0).random((32, 32)).astype(np.float32)
    flat = np.full((32, 32), 0.5, np.float32)
    nothing, everything = np.zeros((32, 32), bool), np.ones((32, 32), bool)
    assert detail(flat, nothing) < detail(noise, nothing)
    assert detail(noise, everything) == 0
