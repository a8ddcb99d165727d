"""How dense damage is, and what the refinement assumes."""

import numpy as np
import pytest

from dictsel_core import restore
from dictsel_core.refinement.rounds import BEST_OPTIONS, DEFAULT_OPTIONS, options_for


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
    assert options_for(0.6, 4) == DEFAULT_OPTIONS
    assert options_for(0.2, 4).noise < options_for(0.4, 4).noise < DEFAULT_OPTIONS.noise
    assert options_for(0.2, 4).noise_decay == 1


def test_many_rounds_have_denser_references_at_the_end():
    assert options_for(0.6, 8) == BEST_OPTIONS
    assert options_for(0.2, 8).last_stride < options_for(0.2, 4).last_stride


def test_the_noise_falls_more_slowly_the_more_rounds_there_are():
    assert 1 < options_for(0.6, 32).noise_decay < options_for(0.6, 8).noise_decay


@pytest.mark.parametrize("density", [0.2, 0.6])
def test_all_members_of_the_groups_of_repetitive_images_are_estimated_before_the_last_round(density):
    options = options_for(density, 8, is_repetitive=True)
    assert options.n_estimated == options.n_members < BEST_OPTIONS.n_members
    assert options.noise == options_for(density, 8).noise
