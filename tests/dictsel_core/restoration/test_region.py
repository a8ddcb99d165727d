"""A region restored again: what changes, what stays, and how near it is to a full run."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings, restore, restore_region
from dictsel_core.restoration import iter_restore_region

STROKE = np.s_[60:66, 90:130]
REACH = np.s_[52:74, 82:138]


def damaged(n_channels):
    rows, columns = np.mgrid[:140, :220]
    planes = [127 + 90 * np.sin(0.21 * rows + 0.17 * columns + c) for c in range(n_channels)]
    image = np.stack(planes, axis=2).astype(np.uint8)
    mask = np.zeros(image.shape[:2], bool)
    mask[20:23, 10:200] = mask[30:120, 95:98] = mask[100:110, 150:160] = True
    return (image[:, :, 0] if n_channels == 1 else image), mask


@pytest.mark.parametrize("n_channels", [1, 3, 4])
def test_only_the_region_changes_and_comes_near_a_full_run(n_channels):
    image, mask = damaged(n_channels)
    channels = {"channel_axis": None if n_channels == 1 else -1}
    first = restore(image, mask, **channels)
    more = mask.copy()
    more[STROKE] = True
    local = restore_region(image, more, first, STROKE, **channels)
    full = restore(image, more, **channels)
    outside = np.ones(mask.shape, bool)
    outside[REACH] = False
    assert (local.image[outside] == first.image[outside]).all()
    assert (local.image[~more] == image[~more]).all()
    errors = np.abs(local.image[STROKE].astype(int) - image[STROKE])
    assert errors.mean() < 2
    assert np.abs(local.image.astype(int) - full.image)[STROKE].mean() < 2
    assert local.selection is first.selection
    assert local.missing_fraction == pytest.approx(more.mean())
    assert local.region == REACH and first.region is None


def test_pixels_that_are_no_longer_missing_come_back():
    image, mask = damaged(1)
    first = restore(image, mask)
    fewer = mask.copy()
    fewer[95:115, 145:165] = False
    second = restore_region(image, fewer, first, np.s_[95:115, 145:165])
    assert (second.image[~fewer] == image[~fewer]).all()
    assert (second.image[:80] == first.image[:80]).all()
    assert second.selection is first.selection, "for the next stroke"
    assert not second.nothing_missing


@pytest.mark.parametrize("n_channels", [1, 3])
def test_pixels_that_come_back_may_be_outside_of_the_range_before(n_channels):
    image, mask = damaged(n_channels)
    image[100:110, 150:160] = 0  # the others are 37 or more
    mask[100:110, 164:168] = True
    first = restore(image, mask, "fast")
    mask[100:110, 150:160] = False
    second = restore_region(image, mask, first, np.s_[100:110, 150:160])
    full = restore(image, mask, "fast")
    assert (second.image[~mask] == image[~mask]).all()
    assert np.abs(second.image.astype(int) - full.image)[100:110, 164:168].mean() < 2


def test_pixels_that_come_back_must_be_finite():
    image, mask = damaged(1)
    holed = np.where(mask, np.nan, image / 255)
    first = restore(holed, mask, "fast")
    mask[100:110, 150:160] = False
    with pytest.raises(ValueError, match="finite"):
        restore_region(holed, mask, first, np.s_[100:110, 150:160])


def test_missing_values_of_the_image_are_not_used():
    image, mask = damaged(3)
    first = restore(image, mask)
    mask[STROKE] = True
    results = [
        restore_region(np.where(mask[:, :, None], fill, image).astype(np.uint8), mask, first, STROKE).image
        for fill in (0, 255)
    ]
    assert (results[0] == results[1]).all()


def test_in_place_gives_the_same_image_without_a_copy():
    image, mask = damaged(3)
    first = restore(image, mask, "fast", channel_axis=-1)
    mask[STROKE] = True
    copied = restore_region(image, mask, first, STROKE, channel_axis=-1)
    assert not np.shares_memory(copied.image, first.image)
    changed = restore_region(image, mask, first, STROKE, channel_axis=-1, in_place=True)
    assert np.shares_memory(changed.image, first.image)
    assert (changed.image == copied.image).all() and (first.image == copied.image).all()
    first.image.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        restore_region(image, mask, first, STROKE, channel_axis=-1, in_place=True)


def test_a_first_stroke_selects_its_own_dictionary():
    image, mask = damaged(1)
    nothing = np.zeros_like(mask)
    first = restore(image, nothing)
    nothing[STROKE] = True
    result = restore_region(image, nothing, first, STROKE)
    assert result.selection is not None
    assert result.n_rounds == RestoreSettings().rounds
    assert np.abs(result.image[STROKE].astype(int) - image[STROKE]).mean() < 3


def test_steps_report_progress_and_can_be_left():
    image, mask = damaged(1)
    first = restore(image, mask, RestoreSettings(rounds=0))
    mask[STROKE] = True
    run = iter_restore_region(image, mask, first, STROKE)
    fractions = [step.fraction for step in run]
    assert fractions == sorted(fractions) and len(fractions) > 1
    assert run.result.n_rounds == 0
    before = first.image.copy()
    next(iter(iter_restore_region(image, mask, first, STROKE)))
    assert (first.image == before).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"image": np.zeros((3, 4), np.uint8)}, ValueError, "image must be the one"),
        ({"region": (3, 4)}, TypeError, "two slices"),
        ({"region": slice(3, 4)}, TypeError, "two slices"),
        ({"region": np.s_[500:600, 0:4]}, ValueError, "must contain pixels"),
        ({"region": np.s_[0:8:2, 0:4]}, ValueError, "without a step"),
        ({"region": np.s_[0.5:8, 0:4]}, TypeError, "slices of whole numbers"),
        ({"previous": np.zeros((3, 4))}, TypeError, "previous must be a Restoration"),
    ],
)
def test_what_cannot_be_continued_is_refused(change, error, message):
    image, mask = damaged(1)
    arguments = {"image": image, "mask": mask, "previous": restore(image, mask, "fast"), "region": STROKE}
    with pytest.raises(error, match=message):
        restore_region(**(arguments | change))


def test_restorations_that_replaced_observed_pixels_cannot_be_continued():
    image, mask = damaged(1)
    paper = replace(RestoreSettings.preset("paper"), n_atoms=12)
    with pytest.raises(ValueError, match="use restore instead"):
        restore_region(image, mask, restore(image, mask, paper), STROKE)


def test_a_first_stroke_on_an_enlarged_image_knows_its_pixels():
    pixels = np.random.default_rng(0).integers(0, 255, (80, 80), dtype=np.uint8)
    image, stroke = pixels.repeat(3, axis=0).repeat(3, axis=1), np.s_[100:140, 103:140]
    mask = np.zeros(image.shape, bool)
    first = restore(image, mask, "fast")
    mask[stroke] = np.random.default_rng(1).random(mask[stroke].shape) < 0.4
    result = restore_region(image, mask, first, stroke)
    np.testing.assert_array_equal(result.image, image)
    again = np.s_[181:221, 170:201]
    mask[again] = np.random.default_rng(2).random(mask[again].shape) < 0.4
    np.testing.assert_array_equal(restore_region(image, mask, result, again).image, image)


def test_a_channel_that_is_now_missing_everywhere_is_like_the_others():
    image = np.repeat(damaged(1)[0][:, :, None], 3, axis=2)
    masks = np.zeros(image.shape, bool)
    masks[STROKE] = True
    first = restore(image, masks, "fast")
    masks[:, :, 1] = True
    result = restore_region(image, masks, first, np.s_[:, :])
    assert np.abs(result.image.astype(int) - image)[:50].max() <= 1


def test_another_channel_is_restored_from_the_rest_too():
    noise = np.random.default_rng(0).integers(0, 200, (90, 100), dtype=np.uint8)
    image = np.stack([noise, noise + 20, noise + 40], axis=2)
    masks = np.zeros(image.shape, bool)
    masks[10:30, 10:30, 0] = True
    first = restore(image, masks, "fast")
    stroke = np.s_[50:70, 50:70]
    masks[(*stroke, 1)] = True
    result = restore_region(image, masks, first, stroke)
    assert np.abs(result.image.astype(int) - image)[stroke].max() <= 8


def test_a_thin_stroke_after_dense_damage_is_refined_as_thin():
    image, thin = damaged(1)
    dense = np.random.default_rng(0).random(image.shape) < 0.8
    dense[50:] = False
    first = restore(image, dense, RestoreSettings(rounds=1))
    stroke = np.s_[80:140, 60:130]
    mask = dense.copy()
    mask[stroke] = thin[stroke]
    result = restore_region(image, mask, first, stroke)
    assert first.plan.damage_density > 0.7
    assert result.plan.damage_density < 0.5
