from dataclasses import replace

import numpy as np
import pytest
from pictures import photograph, random_mask

from dictsel_core import RestoreSettings, psnr, restore, tune
from dictsel_core.evaluation import iter_tune
from dictsel_core.evaluation import tuning as tuning_module
from dictsel_core.refinement.rounds import refine_round
from dictsel_core.restoration import holdout
from dictsel_core.restoration import tile as tile_module


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setattr(tuning_module, "N_ATOMS", (8, 32))
    monkeypatch.setattr(tuning_module, "CODING_SPARSITIES", (2, 8))
    monkeypatch.setattr(tuning_module, "MEAN_SPARSITIES", (3.0,))


def damaged(size=96, fraction=0.7, color=False):
    original = photograph(size, color)
    mask = random_mask(original.shape[:2], fraction)
    broken = original.copy()
    broken[mask] = 0
    return original, broken, mask


@pytest.mark.slow
def test_the_choice_is_near_the_best_of_the_grid(small_grid):
    original, broken, mask = damaged(128, 0.6)
    result = tune(broken, mask)
    chosen = result.settings.n_atoms, result.settings.coding_sparsity  # of the grid, or the usual ones
    true = {
        (k, s): psnr(
            original, restore(broken, mask, replace(result.settings, n_atoms=k, coding_sparsity=s)).image
        )
        for k, s in {(8, 2), (8, 8), (32, 2), (32, 8), chosen}
    }
    assert true[chosen] > max(true.values()) - 0.15


@pytest.mark.slow
def test_trials_are_sorted_seeded_and_keep_what_is_not_tuned(small_grid):
    _, broken, mask = damaged()
    asked = RestoreSettings(constraint="individual", bases=("dct", "haar"))
    first, second = (tune(broken, mask, asked, rng=3) for _ in range(2))
    assert first == second
    figures = [trial.estimated_psnr for trial in first.trials]
    assert figures == sorted(figures, reverse=True)
    assert first.estimated_psnr >= first.given_psnr
    assert first.settings in [trial.settings for trial in first.trials[:2]]
    assert first.n_tried == 5
    assert first.settings.constraint == "individual"
    assert first.settings.bases == ("dct", "haar")


def test_steps_advance_to_the_end(small_grid):
    _, broken, mask = damaged(64)
    run = iter_tune(broken, mask)
    steps = list(run)
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    assert "dB" in steps[0].message
    assert any(step.is_refining for step in steps)
    assert "refining" in steps[-1].message
    assert run.result.settings in [step.trial.settings for step in steps]


@pytest.mark.slow
def test_settings_that_are_best_already_are_kept(small_grid):
    _, broken, mask = damaged(96, 0.6)
    best = tune(broken, mask).settings
    poor = replace(best, n_atoms=2, coding_sparsity=1)
    first, again = tune(broken, mask, poor), tune(broken, mask, best)
    assert first.given == poor
    assert first.estimated_psnr > first.given_psnr
    assert again.settings == again.given == best
    assert again.estimated_psnr == again.given_psnr


@pytest.mark.slow
def test_a_dictionary_larger_than_any_of_the_grid_is_judged_as_it_is(small_grid):
    _, broken, mask = damaged(64)
    asked = RestoreSettings(n_atoms=100, sparsity=6, mean_sparsity=3.0)
    tuning = tune(broken, mask, asked)
    assert tuning.given.n_atoms == 100
    assert np.isfinite(tuning.given_psnr)


def test_tiny_pictures_can_be_tuned(small_grid):
    image = np.random.default_rng(0).integers(0, 255, (9, 9)).astype(np.uint8)
    tuning = tune(image, random_mask((9, 9), 0.5))
    assert tuning.settings.n_atoms in (8, 32, tuning.given.n_atoms)


def test_a_small_ground_set_can_be_tuned():
    _, broken, mask = damaged(48)
    settings = tune(broken, mask, RestoreSettings(patch_size=2, bases=("dct",))).settings
    assert settings.n_atoms <= 4


def test_what_cannot_be_judged_is_not_praised():
    image = photograph(32, color=True)
    lonely = np.ones((32, 32), bool)
    lonely[5, 5] = False
    hopeless = tune(image[:, :, 0], lonely)
    assert not np.isinf(hopeless.estimated_psnr)
    assert hopeless.settings == hopeless.given


@pytest.mark.parametrize("rounds", [2, 8])
@pytest.mark.parametrize("damage", ["lines", "random"])
def test_the_refinement_that_is_scored_is_the_one_that_is_made(small_grid, monkeypatch, damage, rounds):
    used = []

    def spy(*given, options, **rest):
        used.append(options)
        return refine_round(*given, options=options, **rest)

    monkeypatch.setattr(tile_module, "refine_round", spy)
    image, mask = photograph(64), random_mask((64, 64), 0.45)
    if damage == "lines":
        mask[...] = False
        mask[::9] = mask[1::9] = True
    settings = tune(image, mask, RestoreSettings(rounds=rounds)).settings
    tuned = set(used)
    used.clear()
    restore(image, mask, settings)
    assert set(used) == tuned
    assert tuned


def test_what_is_scored_is_what_restore_makes(small_grid, monkeypatch):
    """Colors with masks of their own are tried as they are, not as gray."""
    shapes = []
    errors = holdout.held_out_errors

    def spy(image, plan, held_out, **options):
        shapes.append((image.n_channels, plan.n_rounds))
        return errors(image, plan, held_out, **options)

    monkeypatch.setattr(tuning_module, "held_out_errors", spy)
    image = photograph(64, color=True)
    tune(image, random_mask(image.shape, 0.4), RestoreSettings(rounds=1))
    assert {(1, 0), (3, 1)} == set(shapes)
