"""A mask in several sizes."""

import numpy as np
import pytest

from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid

SHAPES = [(700, 530), (701, 531), (1030, 300)]


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_hold_the_part_that_is_marked(shape):
    mask = np.random.default_rng(0).random(shape) < 0.3
    coverage = MaskPyramid(mask)
    assert coverage.shape == shape
    assert np.array_equal(coverage.level(0), 255 * mask)
    rows, columns = shape[0] // 4, shape[1] // 4
    parts = mask[: 4 * rows, : 4 * columns].reshape(rows, 4, columns, 4).mean(axis=(1, 3))
    assert np.abs(coverage.level(2)[:rows, :columns] - 255 * parts).max() <= 5


def test_what_is_full_stays_full_and_a_single_pixel_is_not_lost():
    mask = np.ones((1024, 1024), np.bool_)
    assert (MaskPyramid(mask).level(2) == 255).all()
    mask[:] = False
    mask[500, 77] = True
    assert MaskPyramid(mask).level(2)[125, 19] > 0


@pytest.mark.parametrize("shape", SHAPES)
def test_updating_a_part_equals_making_it_anew(shape):
    rng = np.random.default_rng(1)
    mask = rng.random(shape) < 0.3
    coverage = MaskPyramid(mask)
    for _ in range(20):
        rect = Rect(*(int(n) for n in rng.integers((-5, -5, 1, 1), (*shape, 90, 90)))).clipped(shape)
        mask[rect.slices] ^= rng.random(mask[rect.slices].shape) < 0.5
        coverage.update(mask, rect)
        fresh = MaskPyramid(mask)
        for level in range(3):
            assert np.array_equal(coverage.level(level), fresh.level(level))


def test_a_pixel_is_marked_if_a_channel_of_it_is():
    mask = np.zeros((6, 6, 3), np.bool_)
    mask[2, 3, 1] = True
    assert MaskPyramid(mask).level(0).sum() == 255


def test_more_than_half_is_dense():
    mask = np.zeros((900, 900), np.bool_)
    assert not MaskPyramid(mask).is_dense
    mask[:, :300] = True
    assert not MaskPyramid(mask).is_dense
    mask[:, :600] = True
    assert MaskPyramid(mask).is_dense


def test_rectangles_are_covered_as_far_as_they_lie_within():
    rects = [Rect(2, 3, 4, 5), Rect(-3, -3, 5, 5), Rect(-9, 0, 4, 4), Rect(18, 28, 9, 9), Rect(5, 5, 0, 3)]
    covered = np.zeros((20, 30), np.bool_)
    for rect in rects:
        covered[rect.clipped(covered.shape).slices] = True
    assert np.array_equal(MaskPyramid.of_rects(rects, (20, 30)).level(0), 255 * covered)


def test_an_empty_part_changes_nothing():
    mask = np.zeros((6, 6), np.bool_)
    coverage = MaskPyramid(mask)
    coverage.update(~mask, Rect(9, 9, 3, 3))
    assert not coverage.level(0).any()
