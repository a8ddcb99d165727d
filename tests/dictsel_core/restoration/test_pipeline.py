import threading
from dataclasses import replace

import numpy as np
import pytest
from pictures import photograph, random_mask

from dictsel_core import (
    RestoreSettings,
    iter_restore,
    omp,
    psnr,
    replacement_omp,
    restore,
    standard_ground_set,
)
from dictsel_core._util.parallel import single_threaded_blas
from dictsel_core.restoration import PRESETS, plan

FAST = RestoreSettings(rounds=0)


def hide(image, mask, value=0):
    full = mask if mask.shape == image.shape else np.broadcast_to(mask[..., None], image.shape)
    return np.where(full, value, image).astype(image.dtype)


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("fraction", [0.5, 0.8])
def test_random_damage_is_repaired(color, fraction):
    original = photograph(color=color)
    mask = random_mask(original.shape[:2], fraction)
    damaged = hide(original, mask)
    result = restore(damaged, mask)
    error = np.square(result.image.astype(float) - original).sum()
    assert error < 0.02 * np.square(damaged.astype(float) - original).sum()
    assert result.missing_fraction == pytest.approx(mask.mean())
    np.testing.assert_array_equal(result.image[~mask], original[~mask])


@pytest.mark.parametrize(
    ("shape", "fraction", "changes", "n_selected"),
    [
        ((45, 42), 0.6, {"n_atoms": 24}, 24),
        ((96, 96), 0.3, {"n_atoms": 40, "constraint": "individual"}, 39),  # one atom wins twice
    ],
)
def test_the_paper_preset_is_the_papers_procedure(shape, fraction, changes, n_selected):
    """Appendix E by hand: select on adjacent patches, code all shifted patches inside, take medians."""
    (height, width), (down, across) = shape, (shape[0] // 8, shape[1] // 8)
    original = photograph(height)[:, :width]
    mask = random_mask(original.shape, fraction)
    settings = replace(RestoreSettings.preset("paper"), coding_sparsity=4, **changes)
    result = restore(hide(original, mask), mask, settings)

    low, high = int(original[~mask].min()), int(original[~mask].max())
    plane = ((original.astype(float) - low) / (high - low)).astype(np.float32)
    plane[mask] = 0
    tiles, hidden = (
        each[: 8 * down, : 8 * across].reshape(down, 8, across, 8).swapaxes(1, 2).reshape(-1, 64)
        for each in (plane, mask)
    )
    selection = replacement_omp(
        standard_ground_set(),
        tiles,
        settings.constraint_for(len(tiles)),
        settings.n_atoms,
        mask=hidden,
        repeats="steps",
    )
    assert result.selection.indices.tolist() == selection.indices.tolist()
    assert len(selection.indices) == n_selected
    patches, missing = (
        np.lib.stride_tricks.sliding_window_view(each, (8, 8)).reshape(-1, 64) for each in (plane, mask)
    )
    rebuilt = omp(selection.dictionary, patches, 4, mask=missing).rebuilt.reshape(height - 7, width - 7, 8, 8)
    votes = np.full((64, *shape), np.nan)
    for i in range(8):
        for j in range(8):
            votes[i * 8 + j, i : i + height - 7, j : j + width - 7] = rebuilt[:, :, i, j]
    expected = np.nanmedian(votes, axis=0).clip(0, 1) * (high - low) + low
    assert np.abs(result.image - expected).max() <= 0.51  # rounding to whole numbers
    assert (result.image[~mask] != original[~mask]).any()  # observed pixels are replaced too


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.uint32, np.float32, np.float64])
def test_dtype_range_and_input_are_respected(dtype, preset):
    original = photograph(32).astype(dtype) * dtype(7) - dtype(20 if np.dtype(dtype).kind != "u" else 0)
    if np.dtype(dtype).kind == "f":
        original *= dtype(1e-3)
    mask = random_mask(original.shape, 0.6)
    damaged = original.copy()
    damaged[mask] = np.nan if np.dtype(dtype).kind == "f" else 0
    damaged.flags.writeable = mask.flags.writeable = False
    before = damaged.copy()
    image = restore(damaged, mask, RestoreSettings.preset(preset)).image
    np.testing.assert_array_equal(damaged, before)
    assert image.dtype == dtype
    assert image.shape == original.shape
    assert np.isfinite(image).all()
    low, high = original[~mask].min(), original[~mask].max()
    assert low <= image.min()
    assert image.max() <= high


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 9), (3, 3), (7, 8), (8, 8), (17, 5), (40, 33, 3), (20, 21, 2), (19, 18, 4)]
)
def test_any_shape(shape):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, shape).astype(np.uint8)
    mask = rng.random(shape[:2]) < 0.5
    mask[0, 0] = False
    restored = restore(image, mask, channel_axis=2 if len(shape) == 3 else None).image
    assert restored.shape == shape
    np.testing.assert_array_equal(restored[~mask], image[~mask])


def test_nothing_missing_is_said_and_returned_unchanged():
    picture = photograph(24)
    result = restore(picture, np.zeros(picture.shape, bool))
    assert result.nothing_missing
    assert result.image is not picture
    np.testing.assert_array_equal(result.image, picture)


def test_channels_that_are_observed_help_those_that_are_not():
    original = photograph(96, color=True)
    mask = random_mask(original.shape, 0.7)  # by channel
    together = restore(hide(original, mask), mask).image
    alone = np.dstack([restore(hide(original, mask)[:, :, c], mask[:, :, c]).image for c in range(3)])
    assert psnr(original, together) > psnr(original, alone) + 0.5
    np.testing.assert_array_equal(together[~mask], original[~mask])


def test_of_a_channel_that_is_missing_altogether_gray_is_the_best_guess():
    original = photograph(48, color=True)
    mask = np.zeros(original.shape, bool)
    mask[:, :, 1] = True  # no green anywhere
    restored = restore(hide(original, mask), mask).image
    np.testing.assert_array_equal(restored[:, :, [0, 2]], original[:, :, [0, 2]])
    gray = original[:, :, [0, 2]].astype(float).mean(axis=2)
    assert np.abs(restored[:, :, 1] - gray).max() <= 1


@pytest.mark.parametrize("constraint", ["average", "individual"])
@pytest.mark.parametrize(("size", "fraction"), [(128, 0.98), (32, 0.95), (16, 0.9)])
def test_hardly_anything_observed_is_better_than_its_mean(size, fraction, constraint):
    original = photograph(size)
    settings = RestoreSettings(constraint=constraint)
    for seed in range(3):
        mask = random_mask(original.shape, fraction, seed)
        restored = restore(hide(original, mask), mask, settings).image
        guess = np.where(mask, original[~mask].mean(), original).astype(np.uint8)
        assert psnr(original, restored) > psnr(original, guess) - 0.5


def test_the_paper_preset_fills_wide_holes_too():
    original = photograph(128)
    mask = np.zeros(original.shape, bool)
    mask[30:90, 40:100] = True
    restored = restore(hide(original, mask), mask, RestoreSettings.preset("paper")).image
    guess = np.where(mask, original[~mask].mean(), original).astype(np.uint8)
    # Its patches extrapolate from the rim of a hole: nothing to be proud of, and nothing gone astray.
    assert psnr(original, restored, mask=mask) > psnr(original, guess, mask=mask) - 1


def test_wide_holes_are_filled_with_detail_and_without_a_seam_or_else_smoothly():
    original = photograph(128)
    mask = np.zeros(original.shape, bool)
    mask[30:90, 40:100] = True
    restored = restore(hide(original, mask), mask).image.astype(int)
    smooth = restore(hide(original, mask), mask, RestoreSettings(fill="smooth")).image
    details = [np.abs(np.diff(each.astype(int), axis=1))[mask[:, 1:]].mean() for each in (restored, smooth)]
    assert details[0] > 2 * details[1]
    seam = np.abs(restored[30:90, 40] - restored[30:90, 39]).mean()
    ordinary = np.abs(np.diff(original.astype(int), axis=1))[~mask[:, 1:]].mean()
    assert seam < 3 * ordinary
    guess = np.where(mask, int(original[~mask].mean()), original)
    assert psnr(original, smooth) > psnr(original, guess.astype(np.uint8)) + 1


@pytest.mark.parametrize("preset", PRESETS)
def test_one_observed_pixel_is_enough_to_finish(preset):
    mask = np.ones((70, 50), bool)
    mask[3, 4] = False
    image = np.full((70, 50), 9, np.uint8)
    assert (restore(image, mask, RestoreSettings.preset(preset)).image == 9).all()


def test_the_result_does_not_depend_on_threads_or_on_earlier_runs():
    original = photograph(80, color=True)
    mask = random_mask(original.shape[:2], 0.7)
    images = [restore(hide(original, mask), mask, replace(FAST, threads=n)).image for n in (1, 2, 5, 2)]
    for other in images[1:]:
        np.testing.assert_array_equal(images[0], other)


def test_missing_pixels_are_never_read():
    original = photograph(48)
    mask = random_mask(original.shape, 0.6)
    first, second = (restore(hide(original, mask, value), mask).image for value in (0, 255))
    np.testing.assert_array_equal(first, second)


def test_a_large_picture_is_represented_by_a_seeded_sample(monkeypatch):
    monkeypatch.setattr(plan, "MAX_PATCHES", 30)
    original = photograph(96)
    mask = random_mask(original.shape, 0.6)
    runs = [restore(hide(original, mask), mask, replace(FAST, seed=seed)) for seed in (0, 0, 1)]
    assert len(runs[0].selection.supports) == 30
    np.testing.assert_array_equal(runs[0].image, runs[1].image)
    assert (runs[0].image != runs[2].image).any()


def test_steps_advance_and_show_the_picture():
    original = photograph(64)
    mask = random_mask(original.shape, 0.7)
    run = iter_restore(hide(original, mask), mask)
    with pytest.raises(RuntimeError, match="no result yet"):
        _ = run.result
    steps = list(run)
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < fractions[-1] <= 1
    assert {step.stage for step in steps} == {"select", "coarse", "code", "refine"}
    shown = [step.image for step in steps if step.image is not None]
    assert shown
    assert all(image.shape == original.shape and image.dtype == np.uint8 for image in shown)
    assert psnr(original, shown[-1]) > psnr(original, hide(original, mask))
    assert set(run.result.seconds) == {"select", "coarse", "code", "refine"}


def test_cancelling_leaves_no_thread_behind():
    original = photograph(96)
    mask = random_mask(original.shape, 0.7)
    with single_threaded_blas:  # its one thread stays
        before = threading.active_count()
    for n_steps in (1, 10, 20, 25):
        run = iter_restore(hide(original, mask), mask)
        for _ in range(n_steps):
            next(run, None)
        run.close()
    assert threading.active_count() == before


def test_the_result_tells_how_it_came_about():
    original = photograph(64)
    mask = random_mask(original.shape, 0.7)
    result = restore(hide(original, mask), mask, replace(FAST, n_atoms=9, coding_sparsity=4))
    assert result.dictionary.shape == (64, 9)
    assert len(result.origins) == len(result.usage) == 9
    assert result.usage.sum() > 0
    assert 1 <= result.mean_patch_atoms <= 4
    assert result.settings.n_atoms == 9


def test_fewer_observed_pixels_get_smaller_dictionaries():
    sizes = [FAST.resolved(fraction, 256).n_atoms for fraction in (0.05, 0.2, 0.5, 0.9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert FAST.resolved(0.5, 10).n_atoms == 10


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"constraint": "other"}, ValueError, "constraint must be individual or average"),
        ({"n_atoms": 0}, ValueError, "n_atoms must be a whole number from 1"),
        ({"sparsity": 0}, ValueError, "sparsity must be a whole number from 1"),
        ({"sparsity": 10**9}, ValueError, "from 1 to 64"),
        ({"mean_sparsity": -1}, ValueError, "mean_sparsity must be a number above 0"),
        ({"mean_sparsity": 0}, ValueError, "mean_sparsity must be a number above 0"),
        ({"mean_sparsity": 1e308}, ValueError, "up to 64"),
        ({"mean_sparsity": float("inf")}, ValueError, "mean_sparsity must be"),
        ({"mean_sparsity": "a"}, TypeError, "mean_sparsity must be a number"),
        ({"coding_sparsity": 1.5}, TypeError, "whole number"),
        ({"patch_size": 1}, ValueError, "patch_size must be a whole number from 2"),
        ({"patch_size": 96}, ValueError, "from 2 to 32"),
        ({"patch_size": 32, "bases": ("dct", "haar", "db4", "db2", "db3")}, ValueError, "fewer bases"),
        ({"rounds": 10**6}, ValueError, "from 0 to 100"),
        ({"keep_observed": "no"}, TypeError, "keep_observed must be true or false"),
        ({"literal": 1}, TypeError, "literal must be true or false"),
        ({"bases": "dct"}, TypeError, "sequence of names"),
        ({"fill_weight": 2}, ValueError, "from 0 to 1"),
        ({"threads": 0}, ValueError, "threads"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(change, error, sentence):
    with pytest.raises(error, match=sentence):
        RestoreSettings(**change)


@pytest.mark.parametrize(
    ("image", "mask", "error", "sentence"),
    [
        (np.zeros((4, 4)), np.ones((4, 4), bool), ValueError, "Every pixel of the image is missing"),
        (np.zeros((4, 4)), np.zeros((4, 5), bool), ValueError, "mask must have the shape of the image"),
        (np.zeros((4, 4)), np.zeros((4, 4)), TypeError, "mask must be boolean"),
        (np.zeros(4), np.zeros(4, bool), ValueError, "image must have the shape"),
        (np.zeros((5, 5, 4)), np.zeros((5, 5), bool), ValueError, "channel_axis=-1 .* axes="),
        (np.zeros((0, 4)), np.zeros((0, 4), bool), ValueError, "image must have the shape"),
        (np.full((4, 4), np.nan), np.eye(4, dtype=bool), ValueError, "mark such pixels as missing"),
        (np.full((4, 4), "a"), np.eye(4, dtype=bool), TypeError, "integers or floats"),
    ],
)
def test_bad_pictures_are_refused_before_any_step(image, mask, error, sentence):
    with pytest.raises(error, match=sentence):
        iter_restore(image, mask)


def test_unknown_presets_are_refused():
    with pytest.raises(ValueError, match="choose one of paper, fast"):
        RestoreSettings.preset("best of all")


def test_the_result_knows_the_patches_that_the_dictionary_was_selected_on():
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (20, 37, 3), dtype=np.uint8)
    restored = restore(picture, rng.random((20, 37)) < 0.5, RestoreSettings(n_atoms=4))
    positions = restored.patch_positions
    assert len(positions) == len(restored.selection.supports)
    assert (positions % restored.settings.patch_size == 0).all()
    assert (positions >= 0).all()
    assert (positions < (20, 37)).all()
    corners, counts = np.unique(positions, axis=0, return_counts=True)
    assert len(corners) == 3 * 5, "every patch has enough observed pixels"
    assert (counts == 3).all(), "once per channel"


@pytest.mark.parametrize(("preset", "fraction"), [(FAST, 0.5), ("best", 0.9)])
def test_the_supports_are_those_of_the_patches_at_their_positions(preset, fraction):
    """The weights rebuild the observed pixels there, which they would not do anywhere else."""
    original = photograph(256)
    mask = random_mask(original.shape, fraction)
    result = restore(hide(original, mask), mask, preset)
    low, high = int(original[~mask].min()), int(original[~mask].max())
    size, atoms = result.settings.patch_size, result.selection.ground_set.atoms

    def squared_error(positions):
        error = 0.0
        for (row, column), support, weights in zip(
            positions, result.selection.supports, result.selection.coefficients, strict=True
        ):
            place = np.s_[row : row + size, column : column + size]
            values = (original[place].astype(float).ravel() - low) / (high - low)
            observed = ~mask[place].ravel()
            error += np.square(values[observed] - atoms[:, support][observed] @ weights).sum()
        return error

    positions = result.patch_positions
    assert squared_error(positions) < 0.3 * squared_error(np.roll(positions, 1, axis=0))


def test_the_result_counts_the_patches_that_were_coded():
    original = photograph(40)
    mask = np.ones(original.shape, bool)
    mask[::2] = False
    result = restore(original, mask, replace(FAST, patch_size=5, bases=("dct",), coding_sparsity=4))
    n_fine = (40 + 3) * (40 + 4)  # every patch of odd size; those beyond the first row miss no pixel
    assert result.n_coded_patches == n_fine, "nothing is missing on coarser scales"
    assert result.usage.max() <= n_fine
    assert (result.usage_fractions == result.usage / n_fine).all()
    assert result.mean_patch_atoms == pytest.approx(result.usage.sum() / n_fine)
    assert 1 <= result.mean_patch_atoms <= 4


@pytest.mark.parametrize("n_atoms", [20, 60])
@pytest.mark.parametrize("fill_weight", [1e-30, 0.01])
def test_little_weight_of_the_fill_is_enough_in_wide_holes(fill_weight, n_atoms):
    rows, columns = np.mgrid[:64, :64]
    image = 0.5 + 0.3 * np.sin(rows / 15) + 0.1 * np.cos(columns / 11)
    mask = np.zeros(image.shape, bool)
    mask[20:44, 20:44] = True
    settings = RestoreSettings(rounds=0, fill_weight=fill_weight, n_atoms=n_atoms)
    assert np.abs(restore(image, mask, settings).image - image).max() < 0.15
