"""Healing a stroke: just there, from what is known around it."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings, restore
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.copying import CopySource, Offset
from inpaint_app.engine.heal import HealedStroke, HealRequest, Paint, heal, surroundings
from inpaint_app.engine.painted import BrushTip, HealedPicture, faded, put_rect
from inpaint_app.errors import UserError
from inpaint_app.model.masks import MaskDelta, PackedMask
from inpaint_app.model.picture import Rect

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)
STROKE = Rect(100, 60, 6, 40)


@pytest.fixture
def smooth() -> np.ndarray:
    """A picture of slow waves, 240 x 200."""
    rows, columns = np.mgrid[:240, :200]
    return (120 + 50 * np.sin(rows / 20) + 40 * np.cos(columns / 15)).astype(np.uint8)


def healed(pixels, mask, before=None, *, rect=STROKE, **more) -> HealedStroke:
    before = before or HealedPicture(pixels, PackedMask.pack(np.zeros(mask.shape, bool)))
    outer = surroundings(rect, FAST, mask.shape)[1]
    request = HealRequest(pixels, before, mask[outer.slices], rect, FAST)
    return heal(request, JobControl(**more))


def painted(pixels, mask, tip, copy=None, before=None) -> HealedStroke:
    """Heal a stroke of which nothing was missing before."""
    before = before or HealedPicture(pixels, PackedMask.empty(mask.shape))
    outer, flipped = surroundings(STROKE, FAST, mask.shape)[1], mask[STROKE.slices]
    delta = MaskDelta(STROKE, np.packbits(flipped))
    paint = Paint(flipped, delta, tip, copy)
    packed = PackedMask.pack(mask)
    request = HealRequest(pixels, before, mask[outer.slices], STROKE, FAST, None, packed, paint)
    return heal(request, JobControl())


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_half_of_the_opacity_is_half_way_to_the_healed_pixels(smooth, dtype) -> None:
    damaged, mask = drawn(smooth.astype(dtype), STROKE)
    full = painted(damaged, mask, BrushTip(6)).picture.image.astype(float)
    half = painted(damaged, mask, BrushTip(6, opacity=0.5))
    assert np.abs(half.picture.image - (full + damaged) / 2).max() <= 0.5
    assert np.array_equal(half.picture.touched.unpack(), mask)
    faded_out = put_rect(half.picture, faded(half.before, half.full, half.fades, 0.0))
    assert np.array_equal(faded_out.image, damaged)
    again = put_rect(half.picture, faded(half.before, half.full, half.fades, 1.0))
    assert np.array_equal(again.image, full.astype(dtype))


def test_a_soft_stroke_keeps_what_is_at_its_rim(smooth) -> None:
    damaged, mask = drawn(smooth, STROKE)
    hard = painted(damaged, mask, BrushTip(6)).picture.image.astype(int)
    soft = painted(damaged, mask, BrushTip(6, hardness=0.0)).picture.image.astype(int)
    rim, core = (slice(100, 101), slice(65, 95)), (slice(102, 104), slice(65, 95))
    assert np.abs(soft - damaged)[rim].mean() < 0.3 * np.abs(hard - damaged)[rim].mean()
    assert np.abs(soft - hard)[core].mean() < 0.1 * np.abs(hard - damaged)[core].mean()


def test_what_is_truly_missing_is_healed_in_full(smooth) -> None:
    damaged, mask = drawn(smooth, STROKE)
    nothing = HealedPicture(damaged, PackedMask.empty(mask.shape))
    outer = surroundings(STROKE, FAST, mask.shape)[1]
    paint = Paint(np.ones((6, 40), bool), None, BrushTip(6, 0.0, 0.3))
    packed = PackedMask.pack(mask)
    request = HealRequest(damaged, nothing, mask[outer.slices], STROKE, FAST, None, packed, paint)
    assert np.array_equal(heal(request, JobControl()).picture.image, healed(damaged, mask).picture.image)


def test_a_clone_copies_and_strokes_beside_it_leave_it_alone(smooth) -> None:
    mask = np.zeros(smooth.shape, bool)
    mask[STROKE.slices] = True
    clone = painted(smooth, mask, BrushTip(6), CopySource(Offset(-60, 30), keeps_tones=False))
    assert np.array_equal(clone.picture.image[STROKE.slices], smooth[40:46, 90:130])
    assert np.array_equal(clone.picture.image[~mask], smooth[~mask])
    assert np.array_equal(clone.picture.filled.unpack(), mask)
    beside = Rect(108, 60, 4, 40)
    both = mask.copy()
    both[beside.slices] = True
    after = healed(smooth, both, clone.picture, rect=beside)
    assert np.array_equal(after.picture.image[STROKE.slices], smooth[40:46, 90:130])
    plain = healed(smooth, both, replace(clone.picture, touched=None), rect=beside)
    assert not np.array_equal(plain.picture.image[STROKE.slices], smooth[40:46, 90:130])


def test_a_source_beside_the_picture_is_refused_in_a_sentence(smooth) -> None:
    mask = np.zeros(smooth.shape, bool)
    mask[STROKE.slices] = True
    with pytest.raises(UserError, match="nothing to copy"):
        painted(smooth, mask, BrushTip(6), CopySource(Offset(900, 0), keeps_tones=True))


def drawn(pixels: np.ndarray, *rects: Rect) -> tuple[np.ndarray, np.ndarray]:
    damaged, mask = pixels.copy(), np.zeros(pixels.shape[:2], bool)
    for rect in rects:
        damaged[rect.slices], mask[rect.slices] = 0, True
    return damaged, mask


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_stroke_on_an_intact_picture_changes_only_its_pixels(smooth, dtype) -> None:
    whole = np.stack([smooth, smooth // 2, 255 - smooth], axis=2).astype(dtype)
    whole = whole / np.float32(255) if dtype is np.float32 else whole
    damaged, mask = drawn(whole, STROKE)
    stroke = healed(damaged, mask)
    image, scale = stroke.picture.image, 1 / 255 if dtype is np.float32 else 1
    assert image.dtype == dtype
    assert np.array_equal(image[~mask], whole[~mask])
    assert np.abs(image.astype(float) - whole).max() < 12 * scale
    assert np.array_equal(stroke.picture.filled.unpack(), mask)
    assert not damaged[mask].any(), "the damaged picture stays as it is"


def test_what_is_missing_nearby_is_not_taken_for_observed(smooth) -> None:
    near, far = Rect(112, 50, 12, 60), Rect(10, 10, 20, 20)
    damaged, mask = drawn(smooth, STROKE, near, far)
    stroke = healed(damaged, mask)
    inner = surroundings(STROKE, FAST, mask.shape)[0]
    image = stroke.picture.image.astype(int)
    assert np.abs(image[STROKE.slices] - smooth[STROKE.slices]).max() < 25
    outside = np.ones(mask.shape, bool)
    outside[inner.slices] = False
    assert np.array_equal(stroke.picture.image[outside], damaged[outside])
    assert not (stroke.picture.filled.unpack() & outside).any()


def test_a_stroke_in_a_result_keeps_the_rest_of_it(smooth) -> None:
    earlier = Rect(30, 30, 5, 60)
    damaged, mask = drawn(smooth, earlier, STROKE)
    only = mask.copy()
    only[STROKE.slices] = False
    first = restore(damaged, only, FAST)
    stroke = healed(damaged, mask, HealedPicture(first.image, PackedMask.pack(only), first))
    assert np.array_equal(stroke.picture.image[:80], first.image[:80])
    assert np.abs(stroke.picture.image.astype(int) - smooth).max() < 25
    assert np.array_equal(stroke.picture.filled.unpack(), mask)
    assert stroke.picture.restoration.atoms is first.atoms, "its dictionary is used"


def test_a_healed_stroke_can_be_taken_back_and_put_again(smooth) -> None:
    damaged, mask = drawn(smooth, STROKE)
    stroke = healed(damaged, mask)
    back = put_rect(stroke.picture, stroke.before)
    assert np.array_equal(back.image, damaged)
    assert not back.filled.unpack().any()
    again = put_rect(back, stroke.after)
    assert np.array_equal(again.image, stroke.picture.image)


def test_a_wide_stroke_is_smooth_first_and_textured_then(smooth) -> None:
    rng = np.random.default_rng(0)
    textured = np.clip(smooth + rng.normal(0, 20, smooth.shape), 0, 255).astype(np.uint8)
    wide = Rect(100, 60, 19, 30)
    damaged, mask = drawn(textured, wide)
    reports: list[object] = []
    last = healed(damaged, mask, rect=wide, on_report=reports.append)
    quick = [each for each in reports if isinstance(each, HealedStroke)]
    assert len(quick) == 1

    def detail(stroke: HealedStroke) -> float:
        return float(np.diff(stroke.picture.image[106:113, 66:84].astype(float), axis=1).std())

    assert detail(last) > 4 * detail(quick[0])


def test_nothing_around_a_stroke_is_an_error_in_a_sentence() -> None:
    pixels = np.zeros((60, 60), np.uint8)
    outer = surroundings(Rect(5, 5, 20, 20), FAST, pixels.shape)[1]
    nothing = HealedPicture(pixels, PackedMask.pack(np.zeros(pixels.shape, bool)))
    everything = np.ones(pixels.shape, bool)[outer.slices]
    with pytest.raises(UserError, match="nothing to restore it from"):
        heal(HealRequest(pixels, nothing, everything, Rect(5, 5, 20, 20), FAST), JobControl())
