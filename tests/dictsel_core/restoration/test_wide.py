"""Wide holes in a restoration: texture, where it is wanted."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings, iter_restore, restore, restore_region, ssim
from dictsel_core.completion import completion

FAST = RestoreSettings.preset("fast")
SMOOTH = replace(FAST, fill="smooth")


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 2)
    monkeypatch.setattr(completion, "_N_MORE", 1)


def picture(dtype=np.uint8, n_channels=3):
    rows, columns = np.mgrid[:110, :120]
    stripes = np.sin(0.8 * rows + 0.5 * columns) * np.sin(0.6 * columns)
    planes = [127 + 100 * stripes + 5 * c for c in range(n_channels)]
    image = np.stack(planes, axis=2).astype(dtype)
    return image if n_channels > 1 else image[:, :, 0]


def hole(size, shape=(110, 120)):
    mask = np.zeros(shape, bool)
    mask[40 : 40 + size, 45 : 45 + size] = True
    return mask


@pytest.mark.parametrize("settings", [FAST, RestoreSettings(), RestoreSettings(rounds=None)])
def test_a_wide_hole_gets_the_texture_around_it(settings):
    image, mask = picture(n_channels=1), hole(30)
    mask[5:8] = True  # thin damage is refined as ever
    textured = restore(image, mask, settings)
    smooth = restore(image, mask, replace(settings, fill="smooth"))
    assert ssim(image, textured.image, mask=hole(30)) > ssim(image, smooth.image, mask=hole(30)) + 0.2
    assert textured.seconds["texture"] > 0
    assert "texture" not in smooth.seconds
    assert (textured.image[~mask] == image[~mask]).all()


@pytest.mark.parametrize("settings", [FAST, RestoreSettings()])
def test_narrow_damage_has_the_same_bits_with_every_fill(settings):
    image, mask = picture(n_channels=1)[:64, :64], np.random.default_rng(3).random((64, 64)) < 0.5
    mask[30:46, :30] = True  # 16 pixels: not wide
    assert (
        restore(image, mask, settings).image == restore(image, mask, replace(settings, fill="smooth")).image
    ).all()


def test_floats_are_measurements_and_stay_smooth_unless_asked():
    image, mask = picture(np.float32, 1), hole(30)
    smooth = restore(image, mask, SMOOTH).image
    assert (restore(image, mask, FAST).image == smooth).all()
    asked = restore(image, mask, replace(FAST, fill="texture")).image
    assert (asked[mask] != smooth[mask]).any()


def test_texture_is_for_holes_of_half_the_width_too():
    image, mask = picture(n_channels=1), hole(12)
    assert (restore(image, mask, FAST).image == restore(image, mask, SMOOTH).image).all()
    asked = restore(image, mask, replace(FAST, fill="texture")).image
    assert (asked != restore(image, mask, SMOOTH).image).any()


def test_channels_that_are_observed_in_the_hole_are_kept_and_used():
    image, mask = picture(), np.repeat(hole(30)[:, :, None], 3, axis=2)
    mask[:, :, 1] = False
    assert (restore(image, mask, FAST).image == restore(image, mask, SMOOTH).image).all()
    mask[40:65, 45:70, 1] = True
    result = restore(image, mask, FAST)
    assert result.seconds["texture"] > 0
    assert (result.image[~mask] == image[~mask]).all()


def test_steps_tell_of_the_texture_and_advance():
    steps = list(iter_restore(picture(n_channels=1), hole(30), RestoreSettings(rounds=1)))
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages == ["select", "coarse", "code", "texture", "refine"]
    assert any(step.stage == "texture" and step.partial is not None for step in steps)


def test_threads_do_not_change_the_texture():
    image, mask = picture(), hole(24)
    first, second = (restore(image, mask, replace(FAST, threads=n)).image for n in (1, 2))
    assert (first == second).all()


def test_a_region_restored_again_gets_texture_too():
    image = picture(n_channels=1)
    before = hole(3)
    first = restore(image, before, FAST)
    result = restore_region(image, hole(30), first, np.s_[40:70, 45:75])
    assert result.seconds["texture"] > 0
    smooth = restore(image, hole(30), SMOOTH).image
    assert ssim(image, result.image, mask=hole(30)) > ssim(image, smooth, mask=hole(30)) + 0.2
