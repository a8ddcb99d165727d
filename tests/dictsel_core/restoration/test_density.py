"""How dense damage is, and what the refinement assumes."""

import numpy as np
import pytest

from dictsel_core.restoration.density import damage_density, options_for
from dictsel_core.restoration.refinement import DEFAULT_OPTIONS


def random_mask(fraction, shape=(160, 160, 1)):
    return np.random.default_rng(0).random(shape) < fraction


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8, 1.0])
def test_the_density_of_random_damage_is_its_fraction(fraction):
    assert damage_density(random_mask(fraction)) == pytest.approx(fraction, abs=0.02)


def test_density_does_not_depend_on_what_is_intact():
    mask = np.zeros((160, 160, 1), bool)
    mask[:40, :40] = random_mask(0.8, (40, 40, 1))
    assert damage_density(mask) == pytest.approx(0.8, abs=0.05)
    assert damage_density(np.zeros((7, 9, 3), bool)) == 0


def test_dense_damage_has_the_default_options_and_a_scratch_less_noise():
    assert options_for(random_mask(0.6)) == DEFAULT_OPTIONS
    scratch = np.zeros((64, 64, 1), bool)
    scratch[30:32] = True
    thin = options_for(scratch)
    assert thin.noise < DEFAULT_OPTIONS.noise
    assert thin.noise_decay == 1
