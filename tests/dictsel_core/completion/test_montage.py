"""Pieces that are copied into a hole: how they are cut, and how they are blended."""

from itertools import product

import numpy as np
import pytest

from dictsel_core.completion.blending import blended
from dictsel_core.completion.montage import Expansion, Montage
from dictsel_core.completion.scale import finest_scale
from dictsel_core.completion.seams import Seams

OFFSETS = np.array([(0, 9), (10, 0), (-9, 4), (0, -11)])


def make_scale(image, hole):
    return finest_scale(image.astype(np.float32), hole, hole)


def small_hole(seed, height=3, width=3):
    rng = np.random.default_rng(seed)
    hole = np.zeros((32, 33), bool)
    hole[14 : 14 + height, 15 : 15 + width] = True
    return make_scale(rng.random((32, 33, 2)), hole), rng


def random_offsets(scale, rng):
    offsets = np.zeros((*scale.shape, 2), int)
    offsets[scale.hole] = OFFSETS[rng.integers(0, len(OFFSETS), scale.hole.sum())]
    return offsets


def total_cost(seams, offsets):
    """Return the cost of all offsets, pixel by pixel and pair by pair."""
    flat, width = offsets.reshape(-1, 2), seams.shape[1]
    cost = 0.0
    for pixel in np.flatnonzero(seams.hole):
        one = np.array([pixel])
        cost += seams.alone(one, flat[pixel])[0]
        for step in (1, width, -1, -width):
            other = one + step
            if not seams.hole[other[0]]:
                cost += seams.at_border(other, flat[pixel])[0]
            elif step > 0:
                cost += seams.between(one, other, flat[one], flat[other])[0]
    return cost


@pytest.mark.parametrize("seed", range(12))
def test_an_offer_is_taken_by_those_pixels_for_which_it_costs_least(seed):
    scale, _ = small_hole(seed)
    seams = Seams(scale, scale.planes[:, :, :2])
    # Two offsets alone: then costs of pairs are at most the sum of those of changing either.
    before = np.zeros((*scale.shape, 2), int)
    before[scale.hole] = OFFSETS[0]
    pixels, costs = np.argwhere(scale.hole), []
    for takes in product([False, True], repeat=len(pixels)):
        offsets = before.copy()
        rows, columns = pixels[list(takes)].T
        offsets[rows, columns] = OFFSETS[1]
        costs.append(total_cost(seams, offsets))
    Expansion(seams, before).offer(OFFSETS[1], np.flatnonzero(scale.hole))
    assert total_cost(seams, before) <= min(costs) + 0.01


@pytest.mark.parametrize("seed", range(8))
def test_no_offer_raises_the_cost(seed):
    scale, rng = small_hole(seed, 6, 7)
    seams, offsets = Seams(scale), random_offsets(scale, rng)
    expansion = Expansion(seams, offsets)
    cost = total_cost(seams, offsets)
    for offset in [*OFFSETS, *OFFSETS]:
        where = scale.hole & (rng.random(scale.shape) < 0.7)
        outside = offsets[scale.hole & ~where].copy()
        changed = expansion.offer(offset, np.flatnonzero(where))
        after = total_cost(seams, offsets)
        assert after <= cost + 1e-9
        assert changed or after == cost
        assert (offsets[scale.hole & ~where] == outside).all()
        cost = after


def test_no_pixel_is_copied_that_may_not_be():
    scale, rng = small_hole(4, 8, 8)
    seams, offsets = Seams(scale), random_offsets(scale, rng)
    allowed = seams.is_allowed(np.flatnonzero(scale.hole), offsets[scale.hole])
    assert allowed.all()
    Expansion(seams, offsets).offer(
        np.array([3, 3]), np.flatnonzero(scale.hole)
    )  # leads into the hole for most
    assert seams.is_allowed(np.flatnonzero(scale.hole), offsets[scale.hole]).all()


def periodic(n_channels=3, shape=(96, 110), period=32):
    rng = np.random.default_rng(9)
    tile = rng.random((16, 16, n_channels)).repeat(2, 0).repeat(2, 1)[:period, :period]
    return np.tile(tile, (4, 4, 1))[: shape[0], : shape[1]]


def test_pieces_of_a_pattern_are_found_again_on_finer_scales():
    image = periodic(period=31)  # no multiple of 2
    hole = np.zeros(image.shape[:2], bool)
    hole[40:56, 40:60] = True
    fine = make_scale(image, hole)
    coarse = fine.halved()
    offsets = np.zeros((*coarse.shape, 2), int)
    offsets[coarse.hole] = (0, 15)
    offsets[:24][coarse.hole[:24]] = (16, 0)
    montage = Montage(coarse, offsets).finer(fine)
    list(montage.polish())
    rows, columns = (np.argwhere(hole) + montage.offsets[hole]).T
    np.testing.assert_array_equal(image[rows, columns], image[hole])


def test_blending_returns_the_picture_where_pieces_fit():
    image = periodic()
    hole = np.zeros(image.shape[:2], bool)
    hole[40:56, 40:60] = True
    scale = make_scale(image, hole)
    offsets = np.zeros((*hole.shape, 2), int)
    offsets[hole] = (0, 32)
    np.testing.assert_allclose(blended(scale, offsets), image[hole], atol=1e-3)


def test_blending_takes_light_from_around_and_detail_from_the_pieces():
    image = periodic(1)
    lit = 0.5 * image + np.linspace(0, 0.4, image.shape[1])[None, :, None]
    hole = np.zeros(image.shape[:2], bool)
    hole[40:56, 40:60] = True
    scale = make_scale(lit, hole)
    offsets = np.zeros((*hole.shape, 2), int)
    offsets[hole] = (0, 32)
    copied = lit[40:56, 72:92].reshape(-1, 1)
    assert np.abs(copied - lit[hole]).mean() > 0.1
    assert np.abs(blended(scale, offsets) - lit[hole]).mean() < 0.03


def test_color_does_not_bleed_over_a_strong_edge():
    image = np.zeros((60, 80, 1))
    image[:, 40:] = 1.0
    hole = np.zeros((60, 80), bool)
    hole[25:35, 40:50] = True  # white, beside black
    scale = make_scale(image, hole)
    offsets = np.zeros((60, 80, 2), int)
    offsets[hole] = (0, 20)
    assert blended(scale, offsets).min() > 0.9
