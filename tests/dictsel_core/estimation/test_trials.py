"""What is held out, and where."""

import numpy as np
from pictures import photograph, random_mask

from dictsel_core.completion import wide_parts
from dictsel_core.estimation.trials import REACH, depths, trials
from dictsel_core.restoration.canvas import as_canvas


def made(mask, image=None):
    layers = mask if mask.ndim == 3 else mask[:, :, None]
    canvas = as_canvas(photograph(mask.shape[0]) if image is None else image, layers)
    wide = wide_parts(np.asarray(layers.all(axis=2)), REACH)
    return list(trials(canvas, wide, np.random.default_rng(0)))


def test_held_out_pixels_were_observed_and_are_hidden():
    for mask in (random_mask((96, 96), 0.7), random_mask((96, 96), 0.05)):
        (trial,) = made(mask)
        assert trial.held_out.any()
        assert not (trial.held_out & trial.missing).any()
        assert (trial.canvas.missing == trial.held_out | trial.missing).all()


def test_dense_damage_gets_hardly_denser():
    (trial,) = made(random_mask((96, 96), 0.7))
    assert trial.canvas.missing.mean() < 0.75


def test_scratches_are_moved_as_they_are():
    mask = np.zeros((96, 96), bool)
    mask[40:43, 10:80] = True
    (trial,) = made(mask)
    assert depths(trial.canvas.missing)[trial.held_out].max() <= 3
    assert trial.held_out.sum() > 2 * mask.sum(), "several copies"


def test_holes_are_moved_apart_from_each_other():
    mask = np.zeros((128, 128), bool)
    mask[10:34, 10:34] = True
    found = made(mask)
    assert len(found) == 2
    for trial in found:
        assert depths(trial.canvas.missing).max() == 12
        assert trial.held_out.sum() >= 2 * 24**2


def test_channels_keep_their_own_masks():
    image = photograph(64, color=True)
    mask = np.stack([random_mask((64, 64), 0.1, seed) for seed in range(3)], axis=2)
    (trial,) = made(mask, image)
    assert trial.held_out.shape == mask.shape
    assert not (trial.held_out & mask).any()
