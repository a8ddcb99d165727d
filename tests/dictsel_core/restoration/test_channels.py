"""Channels with masks of their own, which are estimated from each other."""

import numpy as np
from pictures import photograph, random_mask

from dictsel_core import RestoreSettings, restore


def differences(image, mask):
    """Pairs of channels of which the second helps to estimate the first."""
    return restore(image, mask, "fast").plan.differences


def test_a_channel_that_differs_by_a_constant_is_known_where_the_other_is():
    gray = photograph(48) / 510.0
    image = np.dstack([gray, gray + 0.25, gray])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 1] = random_mask(gray.shape, 0.6)
    restored = restore(image, mask, RestoreSettings(rounds=0))
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
