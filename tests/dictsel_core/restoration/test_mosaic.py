"""Images in tiles: nearly as good as the whole, and the same whatever the order."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from pictures import photograph, random_mask
from tiles import mosaic_of, restore_in_tiles

from dictsel_core import RestoreSettings, iter_restore, psnr, restore, restore_region
from dictsel_core.completion import completion, wide_parts
from dictsel_core.restoration import Mosaic, large, mosaic, plan_from_bytes, plan_to_bytes

FAST = RestoreSettings(rounds=0)
SHORT = RestoreSettings(rounds=2)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 2)
    monkeypatch.setattr(completion, "_N_MORE", 1)


def picture(dtype="uint8", n_channels=1, shape=(200, 170)):
    gray = np.pad(photograph(100), [(0, length - 100) for length in shape], mode="reflect").astype(float)
    image = (0.8 * gray[:, :, None] * (1 - 0.2 * np.arange(n_channels)) + 20).clip(0, 255)
    scaled = {"uint8": image, "uint16": image * 200, "float32": image / 255}[dtype].astype(dtype)
    return scaled if n_channels > 1 else scaled[:, :, 0]


def damage(kind, shape=(200, 170)):
    mask = np.zeros(shape, bool)
    if kind == "hole":
        mask[40:120, 40:100] = True
        mask[130:134] = True
    elif kind == "scratches":
        mask[::17] = mask[1::17] = mask[:, 40:43] = True
    else:
        mask |= random_mask(shape, kind)
    return mask


@pytest.mark.parametrize(
    ("settings", "dtype", "n_channels", "kind"),
    [
        (FAST, "uint8", 1, 0.8),
        (FAST, "uint16", 1, "scratches"),
        (SHORT, "float32", 1, 0.5),
        (SHORT, "uint8", 3, 0.6),
        (SHORT, "uint8", 1, "scratches"),
    ],
)
def test_tiles_are_as_good_as_the_whole(settings, dtype, n_channels, kind):
    image, mask = picture(dtype, n_channels), damage(kind)
    in_tiles, plan = restore_in_tiles(image, mask, settings, 64)
    whole = restore(image, mask, settings)
    assert psnr(image, in_tiles, mask=mask) > psnr(image, whole.image, mask=mask) - 0.5
    np.testing.assert_array_equal(in_tiles[~mask], image[~mask])
    assert plan.settings == whole.plan.settings


def test_one_tile_is_the_whole():
    image, mask = picture(), damage(0.5)
    in_tiles, plan = restore_in_tiles(image, mask, SHORT, 256)
    whole = restore(image, mask, SHORT)
    np.testing.assert_array_equal(in_tiles, whole.image)
    np.testing.assert_array_equal(plan.dictionary.atoms.atoms, whole.dictionary)


@pytest.mark.parametrize("unknown", [False, True])
def test_channels_with_masks_of_their_own(unknown):
    image, mask = picture("uint8", 3), damage(0.5)
    masks = np.stack([mask, np.roll(mask, 17, 1), np.roll(mask, 31, 0)], axis=2)
    masks[:, :, 2] |= unknown
    settings = replace(SHORT, rounds=1)
    in_tiles, plan = restore_in_tiles(image, masks, settings, 128)
    whole = restore(image, masks, settings)
    assert plan.observed_channels == (True, True, not unknown)
    assert not plan.shares_mask
    assert psnr(image, in_tiles, mask=masks) > psnr(image, whole.image, mask=masks) - 0.3


def test_a_channel_that_a_tile_misses_is_related_to_the_others_as_elsewhere():
    image = picture("uint8", 3)
    masks = np.zeros(image.shape, bool)
    masks[64:128, 64:128, 1] = True
    in_tiles, plan = restore_in_tiles(image, masks, FAST, 64)
    whole = restore(image, masks, FAST)
    assert plan.differences == whole.plan.differences != ()
    assert psnr(image, in_tiles, mask=masks) > psnr(image, whole.image, mask=masks) - 0.5


def test_a_mask_per_channel_that_is_the_same_for_all_is_one_mask():
    image, mask = picture("uint8", 3), damage(0.5)
    one, plan = restore_in_tiles(image, mask, FAST, 128)
    three, _ = restore_in_tiles(image, np.stack([mask] * 3, axis=2), FAST, 128)
    assert plan.shares_mask
    np.testing.assert_array_equal(one, three)


def test_wide_holes_cross_tiles_and_are_filled_once():
    image, mask = picture(), damage("hole")
    in_tiles, plan = restore_in_tiles(image, mask, SHORT, 64)
    assert len(plan.holes) == 1
    wide = wide_parts(mask, 8)
    whole = restore(image, mask, SHORT).image
    narrow = mask & ~wide
    assert np.abs(in_tiles[narrow].astype(float) - whole[narrow]).mean() < 3
    assert in_tiles[wide].std() > 0.5 * whole[wide].std(), "not fog"


def test_a_tile_of_which_nothing_is_observed_continues_what_is_around():
    """Smooth floats: the coarse scale that all tiles share tells what is in the middle."""
    y, x = np.mgrid[:448, :448] / 448
    image = (y + x).astype(np.float32)
    mask = np.zeros(image.shape, bool)
    mask[20:428, 20:428] = True
    in_tiles, plan = restore_in_tiles(image, mask, FAST, 64)
    assert plan.coarse is not None
    assert np.abs(in_tiles - image).max() < 0.35
    steps = [np.abs(np.diff(in_tiles, axis=axis)).max() for axis in (0, 1)]
    assert max(steps) < 0.1, "no seam"


@pytest.mark.parametrize("settings", ["paper", RestoreSettings(rounds=0, patch_size=7, bases=("dct",))])
def test_other_settings(settings):
    image, mask = picture(), damage(0.4)
    in_tiles, _ = restore_in_tiles(image, mask, settings, 128)
    whole = restore(image, mask, settings).image
    assert psnr(image, in_tiles) > psnr(image, whole) - 0.5


def test_the_rounds_of_best_are_decided_once():
    image, mask = picture(), damage(0.5)
    _, plan = restore_in_tiles(image, mask, "best", 128)
    assert plan.n_rounds in (0, 8)


def test_halos_are_inside_and_on_a_grid():
    tiles = mosaic_of(np.zeros((200, 170, 1), np.uint8), FAST, 64).tiles()
    assert len(tiles) == 4 * 3
    covered = np.zeros((200, 170), int)
    for tile in tiles:
        covered[tile.region] += 1
        assert tile.origin[0] % 16 == tile.origin[1] % 16 == 0
        assert (np.zeros((200, 170))[tile.outer][tile.inner]).shape == covered[tile.region].shape
    assert (covered == 1).all()


def test_a_survey_of_all_tiles_is_needed():
    image, mask = picture()[:, :, None], damage(0.5)[:, :, None]
    mosaic = mosaic_of(image, FAST, 64)
    surveys = [mosaic.survey(image[each.outer], mask[each.outer], each) for each in mosaic.tiles()]
    with pytest.raises(ValueError, match="each of them once"):
        mosaic.plan(surveys[1:], lambda region: (image[region], mask[region]))


def test_nothing_observed_is_refused_and_nothing_missing_is_a_copy():
    image = picture()
    with pytest.raises(ValueError, match="Every pixel of the image is missing"):
        restore_in_tiles(image, np.ones(image.shape, bool), FAST, 128)
    result, plan = restore_in_tiles(image, np.zeros(image.shape, bool), FAST, 128)
    np.testing.assert_array_equal(result, image)
    assert plan.missing_fraction == 0


def test_too_many_channels_are_refused():
    image = np.zeros((64, 64, 5), np.uint8)
    with pytest.raises(ValueError, match="5 channels that miss pixels of their own, and at most 4"):
        restore_in_tiles(image, random_mask(image.shape, 0.5), FAST, 64)


@pytest.mark.parametrize("data", [b"", b"{}", b"PK\x05\x06" + bytes(18)])
def test_bytes_of_something_else_are_no_plan(data):
    with pytest.raises(ValueError, match="not a plan"):
        plan_from_bytes(data)


def test_a_plan_is_the_same_after_bytes():
    image, mask = picture("uint8", 3), damage("hole")
    _, plan = restore_in_tiles(image, mask, FAST, 64)
    again = plan_from_bytes(plan_to_bytes(plan), threads=3)
    assert plan_to_bytes(again) == plan_to_bytes(plan)
    assert again.settings.threads == 3
    assert again.holes == plan.holes


def test_the_coarse_scale_of_a_huge_image_stays_small():
    level = Mosaic((400_000, 250_000, 3), "uint8", FAST).level
    assert (400_000 >> level) * (250_000 >> level) <= 1 << 22


def test_tiles_begin_at_pixels_of_the_coarse_scale(monkeypatch):
    monkeypatch.setattr(mosaic, "_MAX_COARSE", 1)
    image, mask = picture(shape=(400, 210)), damage("hole", (400, 210))
    in_tiles, plan = restore_in_tiles(image, mask, replace(FAST, fill="smooth"), 192)
    assert plan.level == 6
    np.testing.assert_array_equal(in_tiles[~mask], image[~mask])
    monkeypatch.undo()
    finer, _ = restore_in_tiles(image, mask, replace(FAST, fill="smooth"), 192)
    assert psnr(image, in_tiles, mask=mask) > psnr(image, finer, mask=mask) - 1
    for side in (0, 32, 100):
        with pytest.raises(ValueError, match="multiple of 64"):
            Mosaic((400, 210, 1), "uint8", FAST, side)


class TestArraysOfDask:
    @pytest.fixture(autouse=True)
    def _dask(self):
        self.da = pytest.importorskip("dask.array")  # here, so that the other tests run without it

    def lazily(self, image, mask, **options):
        chunks = (64, 64, 3)[: image.ndim]
        return restore(self.da.from_array(image, chunks), self.da.from_array(mask, (64, 64)), FAST, **options)

    def test_they_are_restored_tile_by_tile(self):
        image, mask = picture("uint8", 3), damage("hole")
        expected, _ = restore_in_tiles(image, mask, FAST, 64)
        restored = self.lazily(image, mask)
        assert restored.image.chunks[0][0] == 64
        assert restored.image.dtype == image.dtype
        np.testing.assert_array_equal(np.asarray(restored.image), expected)
        assert restored.missing_fraction == pytest.approx(mask.mean())

    @pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
    def test_the_result_does_not_depend_on_the_scheduler(self, scheduler):
        image, mask = picture(), damage(0.5)
        expected, _ = restore_in_tiles(image, mask, FAST, 64)
        lazy = self.lazily(image, mask).image
        np.testing.assert_array_equal(lazy.compute(scheduler=scheduler), expected)

    def test_channels_may_be_first(self):
        image, mask = picture("uint8", 3), damage(0.5)
        first = self.da.from_array(image.transpose(2, 0, 1), (3, 64, 64))
        found = restore(first, self.da.from_array(mask, (64, 64)), FAST, channel_axis=0).image
        np.testing.assert_array_equal(found.compute().transpose(1, 2, 0), self.lazily(image, mask).image)

    def test_nan_is_missing_and_stacks_are_refused(self):
        image = np.where(damage(0.3), np.nan, picture("float32"))
        assert np.isfinite(restore(self.da.from_array(image, 64), settings=FAST).image.compute()).all()
        stack = self.da.zeros((2, 64, 64), dtype="uint8")
        with pytest.raises(ValueError, match="must hold a single image"):
            restore(stack, self.da.zeros((2, 64, 64), dtype=bool), FAST, axes=(1, 2))
        with pytest.raises(ValueError, match="mask must have the shape of the image"):
            restore(self.da.zeros((64, 64)), self.da.zeros((64, 60), dtype=bool), FAST)

    def test_masks_hold_what_they_may_hold_in_memory(self):
        image, mask = picture(), damage(0.3)
        expected = self.lazily(image, mask).image.compute()
        found = self.lazily(image, mask.astype(np.uint8) * 255).image.compute()
        np.testing.assert_array_equal(found, expected)
        with pytest.raises(ValueError, match="only 0 and 255"):
            self.lazily(image, mask.astype(np.uint8) * 7)
        with pytest.raises(TypeError, match="must be boolean"):
            self.lazily(image, mask.astype(float))

    @pytest.mark.parametrize(
        ("dtype", "mask", "message"),
        [
            ("uint8", None, "which pixels are missing"),
            ("bool", damage(0.3), "bool"),
            ("complex64", None, "co"),
        ],
    )
    def test_what_is_refused_in_memory_is_refused(self, dtype, mask, message):
        with pytest.raises(TypeError, match=message):
            restore(self.da.zeros((200, 170), dtype=dtype), mask, FAST)


@pytest.fixture
def in_tiles_of_64(monkeypatch):
    """Let every image count as large, and tiles be small."""
    monkeypatch.setattr(import_module("dictsel_core.restoration.restore"), "MAX_VALUES", 0)
    monkeypatch.setattr(large, "TILE", 64)
    monkeypatch.setattr(large, "_SMOOTHED", 32)


@pytest.mark.usefixtures("in_tiles_of_64")
@pytest.mark.parametrize(
    ("settings", "dtype", "n_channels", "kind"),
    [
        (SHORT, "uint8", 3, "scratches"),
        (SHORT, "uint16", 1, "hole"),
        (FAST, "float32", 1, 0.8),
        (replace(FAST, keep_observed=False), "uint8", 1, 0.5),
    ],
)
def test_a_large_image_is_restored_in_tiles(settings, dtype, n_channels, kind):
    image, mask = picture(dtype, n_channels), damage(kind)
    expected, plan = restore_in_tiles(image, mask, settings, 64)
    for threads in (1, 2):
        restored = restore(image, mask, replace(settings, threads=threads))
        np.testing.assert_array_equal(restored.image, expected)
        np.testing.assert_array_equal(restored.dictionary, plan.dictionary.atoms.atoms)
        assert restored.usage.sum() > restored.n_coded_patches > 0
        assert restored.n_rounds == plan.n_rounds
        assert restored.settings.rounds == settings.rounds


@pytest.mark.usefixtures("in_tiles_of_64")
def test_steps_of_a_large_image_show_the_tiles_that_are_done():
    image, mask = picture("uint8", 3), damage("hole")
    run = iter_restore(image, mask, SHORT)
    steps = list(run)
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    assert {"select", "texture", "code", "refine"} <= {step.stage for step in steps}
    images = [step.image for step in steps if step.make_partial]
    differ = [np.count_nonzero(each != run.result.image) for each in images]
    assert differ[0] > 0 == differ[-1]
    for each in images:
        np.testing.assert_array_equal(each[~mask], image[~mask])


@pytest.mark.usefixtures("in_tiles_of_64")
@pytest.mark.parametrize(("kind", "n_channels"), [(0.4, 1), ("hole", 3), ("channels", 3)])
def test_tiles_that_are_still_to_come_have_smooth_estimates(kind, n_channels):
    image = picture("float32", n_channels)
    if kind == "channels":
        mask = np.random.default_rng(1).random(image.shape) < 0.4
        mask[:, :, 1] |= damage("hole")
    else:
        mask = np.broadcast_to(damage(kind).reshape(200, 170, *[1] * (image.ndim - 2)), image.shape)
    damaged = np.where(mask, np.nan, image)
    first = next(step.partial for step in iter_restore(damaged, settings=SHORT) if step.make_partial)
    assert np.isfinite(first.image).all()
    assert psnr(image, first.image, mask=mask) > 15
    np.testing.assert_array_equal(first.image[~mask], image[~mask])
    region = np.s_[100:110, 90:140]
    again = restore_region(damaged, mask, first, region)
    assert psnr(image[region], again.image[region], mask=mask[region]) > 15


@pytest.mark.usefixtures("in_tiles_of_64")
def test_a_large_image_in_which_nothing_is_missing_is_copied():
    image = picture()
    assert restore(image, np.zeros(image.shape, bool)).nothing_missing


@pytest.mark.usefixtures("in_tiles_of_64")
def test_a_region_of_a_large_image_is_restored_again():
    image, mask = picture(), damage(0.5)
    first = restore(image, mask, SHORT)
    assert first.plan.coarse is None or first.plan.level
    mask[100:110, 30:40] = True
    second = restore_region(image, mask, first, np.s_[100:110, 30:40])
    assert psnr(image, second.image, mask=mask) > psnr(image, first.image, mask=mask) - 1
    assert second.region == np.s_[92:118, 22:48]
