"""How dense damage is, and what the refinement assumes."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dictsel_core import restore


@cache
def plan_of_an_image():
    mask = np.zeros((16, 16), bool)
    mask[4:6] = True
    return restore(np.add.outer(np.arange(16), np.arange(16)), mask, "fast").plan


def options_for(density, n_rounds):
    """How a plan refines damage of some density in so many rounds."""
    plan = plan_of_an_image()
    settings = replace(plan.settings, rounds=n_rounds)
    return replace(plan, damage_density=density, settings=settings).refinement


def density(mask):
    """The density of damage that a restoration is planned for."""
    image = np.add.outer(np.arange(mask.shape[0]), np.arange(mask.shape[1])).astype(float)
    return restore(image, mask, "fast").plan.damage_density


def random_mask(fraction, shape=(160, 160)):
    return np.random.default_rng(0).random(shape) < fraction


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8])
def test_the_density_of_random_damage_is_its_fraction(fraction):
    assert density(random_mask(fraction)) == pytest.approx(fraction, abs=0.02)


def test_density_does_not_depend_on_what_is_intact_or_missing_entirely():
    mask = np.zeros((160, 160), bool)
    mask[:40, :40] = random_mask(0.8, (40, 40))
    mask[80:136, 80:136] = True
    assert density(mask) == pytest.approx(0.8, abs=0.05)


def test_dense_damage_has_the_default_options_and_thin_damage_less_noise():
    default = options_for(0.5, 4)
    assert options_for(0.6, 4) == options_for(0.9, 4) == default
    assert options_for(0.2, 4).noise < options_for(0.4, 4).noise < default.noise
    assert options_for(0.2, 4).noise_decay == 1


def test_many_rounds_have_denser_references_at_the_end():
    assert options_for(0.6, 8) == options_for(0.9, 16)
    for density in (0.2, 0.6):
        assert options_for(density, 4).last_stride < options_for(density, 2).last_stride
    assert options_for(0.6, 32).last_stride < options_for(0.6, 8).last_stride


def test_references_are_closer_in_later_rounds_and_always_if_patches_are_small():
    options = options_for(0.6, 8)
    strides = [options.search(number, 8).stride for number in range(8)]
    assert strides == sorted(strides, reverse=True)
    assert strides[0] > strides[4] > strides[7]
    small = [options.search(number, 8, small=True) for number in range(8)]
    assert all(search.stride <= search.size + 1 for search in small)


def test_the_noise_falls_more_slowly_the_more_rounds_there_are():
    assert 1 < options_for(0.6, 32).noise_decay < options_for(0.6, 8).noise_decay


def test_the_more_rounds_there_are_the_more_members_of_a_group_are_estimated():
    balanced, best, finest = (options_for(0.6, rounds) for rounds in (4, 8, 32))
    assert balanced.n_estimated < best.n_estimated < finest.n_estimated == finest.n_members


def shared(density, n_rounds):
    options = options_for(density, n_rounds)
    return [options.estimator(number, n_rounds).shared for number in range(n_rounds)]


def test_covariances_share_less_in_every_round_and_fall_less_in_thin_damage():
    dense, thin = shared(0.6, 8), shared(0.2, 8)
    assert dense == sorted(dense, reverse=True)
    assert thin == sorted(thin, reverse=True)
    assert dense[0] == thin[0] > thin[-1] > dense[-1] == 0


def test_a_single_round_shares_as_much_as_the_first_of_several():
    assert shared(0.6, 1) == shared(0.6, 2)[:1]


def test_the_last_of_very_many_rounds_is_like_the_others_unless_damage_is_thin():
    options = options_for(0.6, 32)
    assert (options.last_size, options.last_radius) == (options.size, options.radius)
    assert options_for(0.2, 32) == options_for(0.2, 8)
