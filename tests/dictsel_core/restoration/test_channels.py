"""Channels with masks of their own, which are estimated from each other."""

import numpy as np
import pytest
from blocks import given_arrays, plan_in_blocks, run_stage
from pictures import photograph, random_mask

from dictsel_core.restoration.coding.detail import detail_sum


def estimated(image, mask, channel):
    """Estimates of a channel in unit range, and the names of the differences they are made from."""
    plan, arrays = plan_in_blocks(image, mask, "fast", 64), given_arrays(image, mask)
    for stage in plan.stages:
        run_stage(stage, arrays, 64)
        if stage.name == f"channel-{channel}":
            return arrays[stage.writes[0].name][:, :, 0], stage.differences
    raise AssertionError


def test_a_channel_that_differs_by_a_constant_is_known_where_the_other_is():
    gray = photograph(48) / 510.0
    image = np.dstack([gray, gray + 0.25, gray])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 1] = random_mask(gray.shape, 0.6)
    estimates, differences = estimated(image, mask, 1)
    assert [each.other for each in differences] == [0, 2]
    scale = image.max() - image.min()
    np.testing.assert_allclose(estimates * scale + image.min(), image[:, :, 1], atol=0.01)
    assert not estimated(image, mask, 0)[1], "nothing of it is missing"


def test_what_has_more_detail_than_the_channel_is_not_used():
    rng = np.random.default_rng(0)
    smooth = np.add.outer(np.arange(48), np.arange(48)) / 96
    image = np.dstack([smooth, rng.random((48, 48)), smooth])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 0] = mask[:, :, 2] = random_mask((48, 48), 0.5)
    assert not estimated(image, mask, 0)[1]


def test_detail_is_what_a_coarser_scale_does_not_have():
    noise = np.random.default_rng(0).random((32, 32)).astype(np.float32)
    flat = np.full((32, 32), 0.5, np.float32)
    nothing, everything = np.zeros((32, 32), bool), np.ones((32, 32), bool)
    assert detail_sum(flat, nothing) < detail_sum(noise, nothing)
    assert detail_sum(noise, everything) == 0


@pytest.mark.parametrize("cut", [16, 18])
def test_the_detail_of_two_parts_is_that_of_the_whole(cut):
    rng = np.random.default_rng(0)
    plane, missing = rng.random((40, 36)).astype(np.float32), rng.random((40, 36)) < 0.4
    above = detail_sum(plane[: cut + 2], missing[: cut + 2], np.s_[:cut, :])
    below = detail_sum(plane[cut - 2 :], missing[cut - 2 :], np.s_[2:, :])
    assert above + below == detail_sum(plane, missing)
