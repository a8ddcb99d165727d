"""Images that were enlarged by repeating their pixels."""

import numpy as np
import pytest
from pictures import photograph
from tiles import restore_in_tiles

from dictsel_core import RestoreSettings, estimate_psnr, psnr, restore
from dictsel_core.evaluation import estimation
from dictsel_core.restoration.holdout import held_out_errors
from dictsel_core.restoration.image import Image
from dictsel_core.restoration.scales import changes_of, joint_changes, repeat_of

FAST = RestoreSettings(rounds=0)


def enlarged(image, rows=2, columns=2, top=0, left=0):
    return image.repeat(rows, axis=0).repeat(columns, axis=1)[top:, left:]


def repeats(image, mask, settings=FAST):
    return restore(image, mask, settings).plan.repeats


def dropped(shape, fraction, seed=0):
    return np.random.default_rng(seed).random(shape) < fraction


@pytest.mark.parametrize(
    ("rows", "columns", "top", "left", "expected"),
    [(2, 2, 0, 0, ((2, 0), (2, 0))), (3, 1, 1, 0, ((3, 2), (1, 0))), (2, 4, 1, 3, ((2, 1), (4, 1)))],
)
def test_a_plan_knows_how_an_image_was_enlarged(rows, columns, top, left, expected):
    image = enlarged(photograph(40), rows, columns, top, left)
    mask = dropped(image.shape, 0.5)
    assert repeats(image, mask) == expected
    assert restore_in_tiles(image, mask, FAST, 64)[1].repeats == expected


def test_a_photograph_is_not_taken_for_enlarged():
    image = photograph(64)
    for fraction in (0.02, 0.5, 0.9):
        assert repeats(image, dropped(image.shape, fraction)) == ((1, 0), (1, 0))


def test_the_procedure_of_the_paper_stays_what_it_is():
    image = enlarged(photograph(32))
    restored = restore(image, dropped(image.shape, 0.5), "paper")
    assert restored.plan.repeats == ((2, 0), (2, 0))
    pairs = restored.image.reshape(32, 2, 32, 2)
    assert (pairs != pairs[:, :1, :, :1]).any()


def test_few_changes_tell_nothing():
    image = np.zeros((64, 64), np.uint8)
    image[:, 20:40] = 200  # both edges are in even columns
    assert repeats(image, dropped(image.shape, 0.3)) == ((1, 0), (1, 0))
    assert repeat_of(frozenset(range(4, 64, 4))) == (1, 0)
    assert repeat_of(frozenset(range(5, 69, 4))) == (4, 1)


def test_missing_pixels_are_not_compared():
    image = enlarged(photograph(40))
    mask = dropped(image.shape, 0.2)
    scribbled = np.where(mask, np.random.default_rng(1).integers(0, 256, image.shape), image)
    assert repeats(scribbled.astype(np.uint8), mask) == ((2, 0), (2, 0))


@pytest.mark.parametrize("axis", [0, 1])
def test_two_parts_change_where_the_whole_does(axis):
    image = enlarged(photograph(24), 2, 3)[:, :, None]
    mask = dropped(image.shape, 0.3)

    def changes(start, stop):
        part = (slice(None),) * axis + (slice(start, stop),)
        return changes_of(image[part], mask[part], start, axis)

    length = image.shape[axis]
    assert joint_changes(changes(0, 17), changes(16, length)) == changes(0, length)


def test_pixels_that_were_one_are_equal():
    small = photograph(40)
    image, mask = enlarged(small, 2, 3), dropped((80, 120), 0.7)
    restored = restore(image, mask, FAST).image.reshape(40, 2, 40, 3)
    assert (restored == restored[:, :1, :, :1]).all()
    known = ~mask.reshape(40, 2, 40, 3).all(axis=(1, 3))
    np.testing.assert_array_equal(restored[:, 0, :, 0][known], small[known])


def test_tiles_of_an_enlarged_image_are_alike():
    image = enlarged(photograph(64), 3, 2, 1, 1)
    result, plan = restore_in_tiles(image, dropped(image.shape, 0.6), RestoreSettings(rounds=1), 64)
    assert plan.repeats == ((3, 2), (2, 1))
    cells = result[2:-3].reshape(-1, 3, image.shape[1]).astype(int)
    differences = np.abs(cells - cells[:, :1])
    tops = 2 + 3 * np.arange(len(cells))
    assert (differences[tops // 64 == (tops + 2) // 64] == 0).all()
    assert (differences <= 1).all()  # where two tiles share a cell, each has its own estimate of it


def test_channels_with_masks_of_their_own():
    small = np.stack([photograph(32), photograph(32)[::-1], photograph(32).T], axis=2)
    image = enlarged(small)
    mask = dropped(image.shape, 0.5)
    mask[:, :, 1] = True
    restored = restore(image, mask, FAST).image
    for channel in (0, 2):
        pairs = restored[:, :, channel].reshape(32, 2, 32, 2)
        assert (pairs == pairs[:, :1, :, :1]).all()


def test_the_default_is_not_worse_than_no_refinement():
    image = enlarged(photograph(64))
    mask = dropped(image.shape, 0.5)
    fast, default = (psnr(image, restore(image, mask, name).image) for name in (FAST, "balanced"))
    assert default > fast - 0.05


def test_an_image_of_which_only_a_part_is_enlarged_is_not():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (512, 320), dtype=np.uint8)
    image[:, :256] = rng.integers(0, 255, (128, 64), dtype=np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    mask = np.zeros(image.shape, bool)
    mask[::9, :256] = mask[200, 300:310] = True
    _, plan = restore_in_tiles(image, mask, "fast", 64)
    assert plan.repeats == ((1, 0), (1, 0))


def test_trials_on_parts_know_where_repetitions_begin():
    """A part that begins within a repetition would otherwise be made equal across its borders."""
    image = enlarged(photograph(80), 3, 3)
    mask = dropped(image.shape, 0.5)
    plan = restore(image, mask, FAST).plan
    assert plan.repeats == ((3, 0), (3, 0))
    starts: list[tuple[int, int]] = []
    errors = estimation.held_out_errors

    def watched(part, plan, held_out, **options):
        starts.append(options["origin"])
        return errors(part, plan, held_out, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimation, "held_out_errors", watched)
        patch.setattr(estimation, "_MAX_PIXELS", 200**2)  # so that the image is larger than its tiles
        estimate_psnr(image, mask, FAST)
    assert any(start != (0, 0) for start in starts)
    whole = Image(image[:, :, None], mask[:, :, None], plan.ranges)
    part = whole.part(np.s_[128:240, 128:240])
    held_out = dropped(part.missing.shape, 0.05, seed=3) & ~part.missing
    right = held_out_errors(part, plan, held_out, origin=(128, 128)).mean()
    assert right < 0.5 * held_out_errors(part, plan, held_out).mean()
