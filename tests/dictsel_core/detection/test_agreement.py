"""What the sure spots of a picture have in common, and how far others agree with it."""

import numpy as np

from dictsel_core.detection.agreement import agreement

SURE, DOUBTFUL = 2.0, -1.0


def of(tones, sign, means, is_spot=None):
    """Return the agreement of regions of three pixels each, of one tone."""
    n = len(tones)
    values = np.repeat(np.array(tones, np.float32), 3)
    is_spot = np.ones(n, bool) if is_spot is None else np.array(is_spot)
    sign = np.array(sign, np.float32)
    return agreement(values, np.repeat(np.arange(n), 3), sign, np.array(means, float), is_spot)


def test_a_dark_spot_among_light_ones_is_told_from_a_light_one():
    balance, distance = of([0.9] * 6 + [0.1, 0.9], [1] * 6 + [-1, 1], [SURE] * 6 + [DOUBTFUL] * 2).T
    assert balance[6] == -6 / 9
    assert balance[7] == 6 / 9
    np.testing.assert_allclose(balance[:6], 5 / 8, err_msg="a spot is no evidence for itself")
    assert not distance.any()


def test_a_spot_of_another_tone_is_told():
    _, distance = of([0.9] * 5 + [0.6, 0.92], [1] * 7, [SURE] * 5 + [DOUBTFUL] * 2).T
    np.testing.assert_allclose(distance[5:], [0.3, 0.02], atol=1e-6)


def test_the_tone_is_that_of_the_pixels_that_stand_out_most():
    values = np.array([0.9] * 4 + [0.5] + [0.9] * 9 + [0.5], np.float32)
    numbers = np.repeat([0, 1, 2], 5)
    _, distance = agreement(values, numbers, np.ones(3, np.float32), np.full(3, SURE), np.ones(3, bool)).T
    np.testing.assert_allclose(distance, 0, atol=1e-6)


def test_lines_and_doubtful_spots_are_no_evidence():
    found = of([0.9] * 6 + [0.1], [1] * 6 + [-1], [SURE] * 3 + [DOUBTFUL] * 4, [False] * 3 + [True] * 4)
    assert not found.any()


def test_two_spots_tell_no_tone():
    _, distance = of([0.9, 0.9, 0.5], [1] * 3, [SURE, SURE, DOUBTFUL]).T
    assert not distance.any()


def test_nothing_found_is_nothing_said():
    assert of([], [], []).shape == (0, 2)
