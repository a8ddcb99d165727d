"""Non-local refinement against its definition, written out pixel by pixel."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from blocks import candidates as candidates_of
from blocks import references as references_of
from blocks import refine
from pictures import photograph

from dictsel_core import RestoreSettings, iter_restore, psnr, restore
from dictsel_core.refinement.rounds import DEFAULT_OPTIONS as OPTIONS
from dictsel_core.refinement.rounds import grid_offsets, refine_round
from dictsel_core.refinement.search import Block, spans

FAST, BEST = RestoreSettings(rounds=0), RestoreSettings.preset("best")


def blocks(shape, search, offsets):
    down, across = (spans(length, search, offset) for length, offset in zip(shape, offsets, strict=True))
    return [Block(*each) for each in product(down, across)]


def texture(height, width, n_channels=1):
    """Stripes that repeat, with a different phase in every channel."""
    rows, columns = np.mgrid[:height, :width]
    planes = [0.5 + 0.4 * np.sin(0.5 * rows + 0.8 * columns + 0.3 * c) for c in range(n_channels)]
    return np.stack(planes, axis=2).astype(np.float32)


def literal_round(picture, missing, search, relaxation, estimator, offsets):
    """One round as the module's docstring tells it, with no thought of speed."""
    height, width, n_channels = picture.shape
    size, joint, noise = search.size, missing.shape[2] > 1, estimator.noise
    sums, weights = np.zeros(picture.shape), np.zeros(picture.shape)
    for block in blocks((height, width), search, offsets):
        across = block.horizontal.n_patches

        def cut(planes, number, block=block, across=across):
            row, column = block.vertical.start + number // across, block.horizontal.start + number % across
            return planes[row : row + size, column : column + size]

        low, high = (float(extreme(picture[block.region])) for extreme in (np.min, np.max))
        level = (high - low) / 2 / (2048 // size)  # groups are found in a picture of so many levels
        gray = np.rint((picture.mean(axis=2) - (low + high) / 2) / level) * level
        groups = []
        for reference, candidates in zip(references_of(block), candidates_of(block), strict=True):
            if not cut(missing, reference).any():
                continue
            steps = np.subtract(np.divmod(candidates, across), np.reshape(divmod(reference, across), (2, 1)))
            distances = search.penalty * np.square(steps).sum(axis=0)
            distances += [np.square(cut(gray, c) - cut(gray, reference)).sum() for c in candidates]
            members = candidates[np.argsort(distances, kind="stable")][: search.n_members]
            values = np.array([cut(picture, m).transpose(2, 0, 1) for m in members], np.float64)
            values = values.reshape(len(members), 1 if joint else n_channels, -1)
            centered = (values - values.mean(axis=0)).reshape(-1, values.shape[2])
            groups.append((members, values, centered.T @ centered / len(centered)))
        mean = np.mean([covariance for *_, covariance in groups], axis=0) if groups else None
        for members, values, covariance in groups:
            shared = estimator.shared
            mixed = (1 - shared) * covariance + shared * mean * np.trace(covariance) / np.trace(mean)
            for member, value in list(zip(members, values, strict=True))[: estimator.n_estimated]:
                gaps = cut(missing, member).transpose(2, 0, 1).reshape(1 if joint else -1, value.shape[1])[0]
                inner = mixed[np.ix_(~gaps, ~gaps)] + noise * np.eye((~gaps).sum())
                gain = np.linalg.solve(inner, mixed[~gaps]).T
                new = values.mean(axis=0) + (value - values.mean(axis=0))[:, ~gaps] @ gain.T
                weight = 1 / (np.diag(mixed) + noise - (gain * mixed[:, ~gaps]).sum(axis=1))
                as_patch = (n_channels, size, size)
                cut(sums, member)[...] += (weight * new).reshape(as_patch).transpose(1, 2, 0)
                cut(weights, member)[...] += weight.reshape(-1, size, size).transpose(1, 2, 0)
    estimate = picture + relaxation * (sums / np.where(weights > 0, weights, 1) - picture)
    return np.where(missing & (weights > 0), np.clip(estimate, 0, 1), picture)


@pytest.mark.slow
@pytest.mark.parametrize("n_layers", [1, 3], ids=["shared mask", "mask per channel"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_round_is_that_of_the_definition(n_layers, number):
    rng = np.random.default_rng(1)
    picture = texture(52, 47, 3) + rng.normal(0, 0.05, (52, 47, 3)).astype(np.float32)
    missing = rng.random((52, 47, n_layers)) < 0.6
    options = replace(OPTIONS, radius=10, n_steps=12)  # with more candidates, distances are less precise
    search = options.search(number, 2, small=n_layers > 1)
    relaxation, offsets = (OPTIONS.relaxation, 1.0)[number], grid_offsets(number, search.stride)
    expected = literal_round(picture, missing, search, relaxation, OPTIONS.estimator(number, 2), offsets)
    list(refine_round(picture, missing, number, 2, threads=2, options=options))
    # Few steps of conjugate gradients are near the exact solution, and variances are bounds.
    assert np.sqrt(np.mean(np.square(picture - expected))) < 5e-3


@pytest.mark.parametrize("n_layers", [1, 2])
def test_observed_pixels_stay_and_missing_ones_improve(n_layers):
    rng = np.random.default_rng(2)
    truth = texture(64, 64, 2)
    missing = rng.random((64, 64, n_layers)) < 0.7
    picture = np.where(missing, truth + rng.normal(0, 0.1, truth.shape), truth).astype(np.float32)
    before = np.abs(picture - truth).mean()
    refine(picture, missing, 3, 2)
    kept = ~np.broadcast_to(missing, truth.shape)
    assert (picture[kept] == truth[kept]).all()
    assert np.abs(picture - truth).mean() < 0.3 * before


def test_rounds_do_not_depend_on_the_number_of_threads():
    missing = np.random.default_rng(3).random((70, 90, 1)) < 0.5
    pictures = []
    for threads in (1, 2, 5):
        picture = texture(70, 90, 3) * ~missing
        refine(picture, missing, 2, threads)
        pictures.append(picture)
    assert (pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (5, 5), (7, 9), (8, 8), (11, 30)])
def test_small_pictures_are_refined_as_far_as_patches_fit(shape):
    picture = texture(*shape)
    missing = np.zeros((*shape, 1), bool)
    missing[::2] = True
    refine(picture, missing, 2)
    assert np.isfinite(picture).all()


def test_constant_pictures_stay_constant():
    picture = np.full((40, 40, 1), 0.25, np.float32)
    missing = np.random.default_rng(0).random((40, 40, 1)) < 0.8
    refine(picture, missing, 2)
    assert picture == pytest.approx(0.25, abs=1e-6)


def test_the_progress_of_a_round_grows():
    missing = np.random.default_rng(0).random((80, 40, 1)) < 0.5
    fractions = list(refine_round(texture(80, 40), missing, 0, 3, threads=1))
    assert fractions == sorted(fractions) and fractions[-1] == 1


def damaged_texture(dtype, n_channels=1, per_channel=False):
    planes = texture(72, 80, n_channels)
    original = (planes * 200).astype(dtype) if np.issubdtype(dtype, np.integer) else planes.astype(dtype)
    rng = np.random.default_rng(8)
    mask = rng.random(original.shape if per_channel else original.shape[:2]) < 0.6
    if n_channels == 1:
        original, mask = original[:, :, 0], mask.reshape(72, 80)
    return original, mask


@pytest.mark.slow
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize("name", ["fast", "balanced", "best", "finest"])
def test_presets_beat_no_refinement(name, n_channels, per_channel):
    original, mask = damaged_texture(np.uint8, n_channels, per_channel)
    coded, refined = (restore(original, mask, each) for each in (FAST, name))
    assert psnr(original, refined.image) > psnr(original, coded.image) + 0.5
    assert refined.n_rounds >= 2 and coded.n_rounds == 0
    assert "refine" in refined.seconds and "refine" not in coded.seconds


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_observed_values_come_back_exactly_though_some_were_held_out(dtype):
    original, mask = damaged_texture(dtype)
    image = restore(original, mask, BEST).image
    assert image.dtype == original.dtype
    assert (image[~mask] == original[~mask]).all()
    assert np.isfinite(image).all()


@pytest.mark.parametrize("rounds", [3, None])
def test_every_round_shows_its_picture_and_pictures_shown_do_not_change(rounds):
    original, mask = damaged_texture(np.uint8)
    run = iter_restore(original, mask, replace(FAST, rounds=rounds))
    steps = [(step, step.image.copy()) for step in run if step.image is not None]
    assert {step.stage for step, _ in steps} == {"coarse", "code", "refine"}
    for step, as_shown in steps:
        assert (step.image == as_shown).all()
        assert (step.image[~mask] == original[~mask]).all(), "held out or not"
        assert step.partial.selection is run.result.selection
    assert [step.partial.n_rounds for step, _ in steps][-run.result.n_rounds :] == list(
        range(1, run.result.n_rounds + 1)
    )
    assert (steps[-1][0].image == run.result.image).all()


def test_the_picture_shown_grows_better_while_patches_are_coded(monkeypatch):
    monkeypatch.setattr("dictsel_core.restoration.coding._BAND_VALUES", 1)
    original, mask = damaged_texture(np.uint8)
    run = iter_restore(original, mask, replace(FAST, rounds=0))
    shown = [step.image for step in run if step.image is not None]
    assert len(shown) > 3
    n_right = [int((image == run.result.image).sum()) for image in shown]
    assert n_right == sorted(set(n_right))
    assert n_right[-1] == original.size


def test_noise_is_restored_as_well_as_without_refinement():
    rng = np.random.default_rng(9)
    noise = rng.integers(0, 256, (96, 96), dtype=np.uint8)
    mask = rng.random(noise.shape) < 0.5
    fast, best = (psnr(noise, restore(noise, mask, each).image) for each in (FAST, BEST))
    assert best > fast - 0.05


def test_refinement_and_replaced_pixels_exclude_each_other():
    with pytest.raises(ValueError, match="rounds=0"):
        RestoreSettings(keep_observed=False)
    with pytest.raises(ValueError, match="rounds"):
        RestoreSettings(rounds=-1)


def test_settings_come_back_as_asked_so_that_a_recipe_gives_the_same_picture():
    original, mask = damaged_texture(np.uint8)
    first = restore(original, mask, BEST)
    assert first.settings.rounds is None
    assert (restore(original, mask, first.settings).image == first.image).all()


@pytest.mark.slow
@pytest.mark.parametrize("value", [-3.4e38, np.nan, np.inf])
def test_no_data_values_at_missing_pixels_do_not_matter(value):
    original, mask = damaged_texture(np.float32)
    hidden = np.where(mask, np.float32(value), original)
    assert (restore(hidden, mask, BEST).image == restore(original, mask, BEST).image).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3])
def test_chance_does_not_keep_the_best_preset_from_refining(seed):
    original = photograph(128)
    mask = np.random.default_rng(seed).random(original.shape) < 0.5
    balanced, best = (restore(original, mask, each).image for each in (RestoreSettings(), BEST))
    assert psnr(original, best) > psnr(original, balanced) - 0.15
