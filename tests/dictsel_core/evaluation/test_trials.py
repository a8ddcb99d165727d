"""What is held out, and where."""

import numpy as np
from pictures import photograph, random_mask

from dictsel_core import RestoreSettings
from dictsel_core.evaluation.estimation import depths, narrow_damage, trials
from dictsel_core.restoration.image import as_image


def made(mask, image=None):
    layers = mask if mask.ndim == 3 else mask[:, :, None]
    pixels = photograph(mask.shape[0])[:, :, None] if image is None else image
    narrow = narrow_damage(layers, RestoreSettings(), np.dtype("uint8"))
    return list(trials(as_image(pixels, layers), narrow, np.random.default_rng(0)))


def hidden(trial):
    return trial.image.missing | trial.held_out


def test_held_out_pixels_were_observed():
    for mask in (random_mask((96, 96), 0.7), random_mask((96, 96), 0.05)):
        (trial,) = made(mask)
        assert trial.held_out.any()
        assert not (trial.held_out & trial.image.missing).any()


def test_dense_damage_gets_hardly_denser():
    (trial,) = made(random_mask((96, 96), 0.7))
    assert hidden(trial).mean() < 0.75


def test_scratches_are_moved_as_they_are():
    mask = np.zeros((96, 96), bool)
    mask[40:43, 10:80] = True
    (trial,) = made(mask)
    assert depths(hidden(trial))[trial.held_out].max() <= 3
    assert trial.held_out.sum() > 2 * mask.sum(), "several copies"


def test_wide_holes_are_neither_moved_nor_covered():
    mask = np.zeros((128, 128), bool)
    mask[50:80, 20:60] = True
    assert made(mask) == []
    mask[100, 10:120] = True
    (trial,) = made(mask)
    assert trial.narrow.sum() == 110
    assert not trial.held_out[mask].any()
    assert depths(hidden(trial))[trial.held_out].max() == 1


def test_damage_is_moved_to_the_same_content_and_out_of_its_own_way():
    mask = np.zeros((128, 128), bool)
    mask[60:63, 20:100] = True
    (trial,) = made(mask)
    rows = np.flatnonzero(trial.held_out.any(axis=(1, 2)))
    distances = np.minimum(np.abs(rows - 60), np.abs(rows - 62))
    assert distances.min() >= 6
    assert distances.max() <= 48


def test_channels_keep_their_own_masks():
    image = photograph(64, color=True)
    mask = np.stack([random_mask((64, 64), 0.1, seed) for seed in range(3)], axis=2)
    for trial in made(mask, image):
        assert trial.held_out.shape == mask.shape
        assert not (trial.held_out & mask).any()
