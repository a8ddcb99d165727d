"""The smooth surface that completion starts from."""

import numpy as np
import pytest

from dictsel_core.completion.spline import smooth_fill


def with_hole(image, size):
    hole = np.zeros(image.shape[:2], bool)
    top, left = ((n - size) // 2 for n in hole.shape)
    hole[top : top + size, left : left + size] = True
    return np.where(hole[:, :, None], np.float32(0.5), image), hole


def test_a_plane_continues_where_the_hole_is_shallow():
    rows, columns = np.mgrid[:40, :40] / 100
    image = np.stack([0.1 + rows + columns, 0.9 - rows], axis=2).astype(np.float32)
    damaged, hole = with_hole(image, 8)
    before, after = (np.abs(each - image[hole]).max() for each in (damaged[hole], smooth_fill(damaged, hole)))
    assert after < 0.35 * before


def test_the_middle_of_a_deep_hole_keeps_its_estimate():
    image = np.random.default_rng(0).random((130, 130, 1), np.float32)
    damaged, hole = with_hole(image, 110)
    result = damaged.copy()
    result[hole] = smooth_fill(damaged, hole)
    assert (result[40:90, 40:90] == 0.5).all()
    assert (result[hole] >= 0).all()
    assert (result[hole] <= 1).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (40, 40)])
def test_with_nothing_around_it_an_estimate_stays(shape):
    planes = np.full((*shape, 2), 0.25, np.float32)
    assert smooth_fill(planes, np.ones(shape, bool)) == pytest.approx(0.25, abs=1e-4)


def test_very_deep_holes_are_left_alone():
    image = np.random.default_rng(0).random((160, 160, 1), np.float32)
    damaged, hole = with_hole(image, 140)
    assert (smooth_fill(damaged, hole) == 0.5).all()
