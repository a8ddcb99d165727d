"""Detection on drawn damage whose truth is known."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import ndimage

from dictsel_core import detect_damage
from dictsel_core.damage_kinds import DAMAGE_KINDS
from dictsel_core.detection import (
    analyze_damage,
    dead,
    iter_analyze_damage,
    work,
)
from dictsel_core.progress import GeneratorRun

SHAPE = (120, 150)


def scene(color=False, seed=0):
    """A smooth picture with an edge and a little noise, 0 to 255."""
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.normal(size=SHAPE), 12)
    values = 110 + 30 * smooth / np.abs(smooth).max() + rng.normal(0, 1.5, SHAPE)
    values[:, 100:] += 45
    return np.stack([values, values - 8, values - 15], axis=-1) if color else values


def as_uint8(values):
    return values.clip(0, 255).round().astype(np.uint8)


def scratched(color=False):
    """A picture with a slanting bright and a steep dark line, each two pixels wide."""
    values, truth = scene(color), np.zeros(SHAPE, bool)
    for column in range(15, 130):
        row = 20 + column // 3
        values[row : row + 2, column] += 50
        truth[row : row + 2, column] = True
    for row in range(20, 110):
        values[row, 30 + row // 8 : 32 + row // 8] -= 50
        truth[row, 30 + row // 8 : 32 + row // 8] = True
    return as_uint8(values), truth


def recall(mask, truth):
    return (mask & truth).sum() / truth.sum()


def precision(mask, truth):
    return (mask & ndimage.maximum_filter(truth, 5)).sum() / max(mask.sum(), 1)


@pytest.mark.parametrize("color", [False, True], ids=["gray", "color"])
def test_scratches_are_found_and_edges_are_not(color):
    image, truth = scratched(color)
    mask = detect_damage(image, ["scratches"]).mask
    assert recall(mask, truth) > 0.85
    assert precision(mask, truth) > 0.92  # rims reach over the edge where they meet it


def test_a_scratch_is_found_in_every_direction():
    rows, columns = np.indices((100, 100)) - 49.5
    for angle in np.linspace(0, np.pi, 7, endpoint=False):
        away = np.abs(rows * np.cos(angle) - columns * np.sin(angle))
        truth = (away < 1) & (np.hypot(rows, columns) < 40)
        image = as_uint8(np.random.default_rng(3).normal(100, 2, (100, 100)) + 40 * truth)
        assert recall(detect_damage(image, ["scratches"]).mask, truth) > 0.8, angle


def test_dust_is_found_and_scratches_are_no_dust():
    values, truth = scene(), np.zeros(SHAPE, bool)
    for row, column, size, change in ((20, 20, 3, 60), (60, 50, 5, -50), (90, 120, 4, 60), (40, 125, 6, 50)):
        truth[row : row + size, column : column + size] = True
        values[row : row + size, column : column + size] += change
    detection = detect_damage(as_uint8(values), ["dust"])
    assert recall(detection.mask, truth) == 1
    assert precision(detection.mask, truth) > 0.95
    assert detection.labels.max() == len(detection.kinds) == 4
    line, where = scratched()
    assert (detect_damage(line, ["dust"]).mask & where).sum() < 0.05 * where.sum()


@pytest.mark.parametrize("color", [False, True], ids=["gray", "color"])
def test_dead_pixels_are_found_exactly(color):
    image = as_uint8(scene(color))
    truth = np.zeros(SHAPE, bool)
    truth[[10, 50, 80, 100], [12, 70, 30, 140]] = True
    image[truth] = 255
    image[20, 20] = 0
    if color:
        image[70, 90, 2] = 255  # one channel is enough
        truth[70, 90] = True
    truth[20, 20] = True
    np.testing.assert_array_equal(detect_damage(image, ["dead_pixels"]).mask, truth)


def test_dead_lines_near_each_other_and_near_the_border_are_found():
    image = np.random.default_rng(0).normal(120, 20, (160, 160)).clip(0, 255).astype(np.uint8)
    rows, columns = [5, 90, 120], [40, 60, 75]
    image[rows], image[:, columns] = 10, 250
    mask = detect_damage(image, ["dead_lines"], sensitivity=0.3).mask
    assert mask[rows].all()
    assert mask[:, columns].all()
    assert mask.mean() < 6 / 160


def test_dead_rows_and_columns_are_found_exactly():
    values, truth = scene(), np.zeros(SHAPE, bool)
    values[:, 40] = 20
    values[77] += 40
    values[60:, 81:83] = 200
    truth[:, 40] = truth[77] = truth[60:, 81:83] = True
    mask = detect_damage(as_uint8(values), ["dead_lines"]).mask
    assert recall(mask, truth) > 0.97
    assert precision(mask, truth) == 1


def test_dead_lines_of_many_rows_are_found_from_some_of_them():
    image = np.random.default_rng(0).normal(120, 12, (2100, 64)).clip(0, 255).astype(np.uint8)
    image[:, 30] = 10
    image[1001] = 250
    mask = detect_damage(image, ["dead_lines"]).mask
    assert mask[:, 30].all()
    assert mask[1001].all()
    assert mask.sum() == 2100 + 63


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 2), (7, 9)])
def test_the_second_largest_neighbor_is_its_definition(shape):
    plane = np.random.default_rng(3).integers(0, 5, shape).astype(np.float32)
    padded = np.pad(plane, 1, mode="reflect" if min(shape) > 1 else "edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*shape, 9)
    expected = np.sort(np.delete(around, 4, axis=2), axis=2)
    np.testing.assert_array_equal(dead._second_largest(plane), expected[..., -2])
    np.testing.assert_array_equal(dead._second_smallest(plane), expected[..., 1])


def stamped(ground, ink, *, down=False):
    """A picture tinted by `ground`, with six letters across or down."""
    truth = np.zeros(SHAPE, bool)
    for left in range(50, 104, 9):  # letters: vertical strokes with a bar
        truth[80:92, left : left + 2] = truth[85:87, left : left + 6] = True
    if down:
        truth = np.roll(np.rot90(truth), (0, 10), (0, 1))[: SHAPE[0]]
        truth = np.pad(truth, ((0, 0), (0, SHAPE[1] - truth.shape[1])))
    image = as_uint8(scene(color=True) * ground)
    image[truth] = ink
    return image, truth


@pytest.mark.parametrize(
    ("ground", "ink"),
    [((1, 1, 1), (255, 130, 30)), ((1.1, 0.6, 0.3), (230, 40, 60)), ((1.1, 0.6, 0.3), (60, 70, 190))],
    ids=["orange on gray", "red on brown", "blue on brown"],
)
@pytest.mark.parametrize("down", [False, True], ids=["across", "down"])
def test_a_stamp_is_one_region(ground, ink, down):
    image, truth = stamped(ground, ink, down=down)
    detection = detect_damage(image, ["stamps"])
    assert recall(detection.mask, truth) == 1
    assert precision(detection.mask, truth) > 0.95
    assert detection.kinds == ("stamps",)


def test_gray_pictures_and_single_colored_marks_are_no_stamps():
    image, _ = stamped((1, 1, 1), (255, 130, 30))
    assert not detect_damage(image.mean(axis=2), ["stamps"]).mask.any()
    image[:, 58:] = image[:1, 58:]
    assert not detect_damage(image, ["stamps"]).mask.any()


def test_the_mask_covers_soft_rims():
    values = scene()
    rows, columns = np.indices(SHAPE)
    away = np.abs(rows - 60 - 4 * np.sin(columns / 9))
    opacity = np.exp(-((away / 2.2) ** 2)) * (np.abs(columns - 75) < 60)
    mask = detect_damage(as_uint8(values + opacity * (235 - values))).mask
    assert recall(mask, opacity > 0.25) > 0.9
    assert mask.sum() < 2.5 * (opacity > 0.25).sum()


@pytest.mark.parametrize("ink", [8, 245], ids=["film border", "margin of a print"])
def test_the_frame_of_a_picture_is_no_damage(ink):
    image = np.full((SHAPE[0] + 30, SHAPE[1] + 30), ink, np.uint8)
    image[14:-16, 12:-18] = as_uint8(scene())
    assert not detect_damage(image).mask.any()


def test_undamaged_pictures_have_no_marks():
    for color in (False, True):
        assert not detect_damage(as_uint8(scene(color)), DAMAGE_KINDS).mask.any()


def test_a_larger_sensitivity_finds_a_superset():
    image, _ = scratched(color=True)
    image = as_uint8(image + np.random.default_rng(0).normal(0, 6, image.shape))
    analysis = analyze_damage(image, DAMAGE_KINDS)
    masks = [analysis.mask(sensitivity) for sensitivity in np.linspace(0, 1, 11)]
    assert masks[-1].sum() > masks[0].sum()
    for smaller, larger in pairwise(masks):
        assert not (smaller & ~larger).any()


@pytest.mark.parametrize("kind", DAMAGE_KINDS)
def test_depth_and_scale_do_not_matter(kind):
    image, _ = scratched(color=True)
    image[60, 60] = 255
    expected = detect_damage(image, [kind], sensitivity=0.8).mask
    for same in (image.astype(np.uint16) * 257, image.astype(np.int64) * 1000 - 70_000):
        mask = detect_damage(same, [kind], sensitivity=0.8).mask
        assert np.mean(mask != expected) < 0.003  # coarse steps between values count as noise


def test_nan_and_missing_pixels_are_no_damage_and_do_no_harm():
    image, truth = scratched()
    values = image.astype(np.float32) / 255
    values[80:100, 60:90] = np.nan
    missing = np.zeros(SHAPE, bool)
    missing[5:15, 100:110] = True
    values[missing] = 50.0
    analysis = analyze_damage(values, DAMAGE_KINDS, missing=missing)
    assert not analysis.mask(1)[missing | np.isnan(values)].any()
    assert recall(analysis.mask(0.5), truth & ~np.isnan(values)) > 0.8
    assert precision(analysis.mask(0.5), truth) > 0.92


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (3, 3), (17, 5), (9, 9, 3), (3, 2000, 3)])
@pytest.mark.parametrize("value", [7, np.nan])
def test_tiny_constant_and_empty_pictures_have_no_damage(shape, value):
    assert not detect_damage(np.full(shape, value, np.float32), DAMAGE_KINDS, sensitivity=1).mask.any()


@pytest.mark.parametrize(("dtype", "value"), [("float32", -3.4028235e38), ("float64", 1e300)])
@pytest.mark.parametrize("channels", [(), (3,)], ids=["gray", "color"])
def test_a_value_for_no_data_hides_nothing_else(dtype, value, channels):
    image = np.random.default_rng(0).normal(0.5, 0.01, (96, 128, *channels)).astype(dtype)
    image[40, 10:110] += 0.3
    before = detect_damage(image, ["scratches"]).mask
    image[80, 20] = value
    after = detect_damage(image, ["scratches"]).mask
    assert after[40, 20:100].all()
    assert np.count_nonzero(before != after) < 10


def test_input_is_not_changed():
    image, _ = scratched(color=True)
    values = image.astype(np.float32)
    values[3, 3] = np.nan
    values.flags.writeable = False
    assert detect_damage(values, DAMAGE_KINDS).mask.any()


def test_regions_can_be_taken_out_one_by_one():
    image, truth = scratched()
    analysis = analyze_damage(image)
    row, column = np.argwhere(truth & analysis.mask())[0]
    numbers = analysis.regions_at(int(row), int(column))
    assert numbers
    assert analysis.kind_of(numbers[0]) == "scratches"
    less = analysis.mask(removed=numbers)
    assert not less[row, column]
    assert (analysis.mask().ravel()[analysis.region_pixels(numbers[0])]).all()
    assert not analysis.regions_at(0, 0)
    assert not analysis.regions_at(int(row) - 1, int(column) + SHAPE[1]), "no pixel of the picture"
    with pytest.raises(IndexError, match="no region"):
        analysis.kind_of(analysis.n_regions)


def test_what_was_found_agrees_with_mask_and_labels():
    image, _ = scratched()
    analysis = analyze_damage(image, ["scratches"])
    detection = analysis.detection(0.5)
    found = analysis.found(0.5)["scratches"]
    assert found.n_pixels == detection.mask.sum() > 0
    assert found.n_regions == len(detection.kinds)
    np.testing.assert_array_equal(detection.labels > 0, detection.mask)
    assert (detection.confidence[detection.mask] >= 0.5).all()
    np.testing.assert_array_equal(detection.mask, analysis.mask(0.5, kinds=["scratches"]))


def test_steps_are_many_and_name_the_kinds():
    image, _ = scratched()
    run = iter_analyze_damage(image, DAMAGE_KINDS)
    steps = list(run)
    assert tuple(dict.fromkeys(step.kind for step in steps)) == run.result.kinds == DAMAGE_KINDS
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    for kind in set(DAMAGE_KINDS) - {"dust", "stamps"}:  # found with the scratches; none in gray pictures
        assert sum(step.kind == kind for step in steps) > 2  # it can be abandoned in between


@pytest.mark.parametrize("size", [3, 15])
def test_a_filter_in_bands_is_that_of_the_whole(size, monkeypatch):
    monkeypatch.setattr(work, "_BAND_PIXELS", 7 * SHAPE[1])
    plane = scene().astype(np.float32)
    opened = GeneratorRun(work.open_in_bands(plane, size)).finish()
    np.testing.assert_array_equal(opened, ndimage.grey_opening(plane, size=(size, size)))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((np.zeros((4, 4, 2)),), {}, ValueError, r"\(H, W\) or \(H, W, 3\)"),
        ((np.zeros((0, 4)),), {}, ValueError, "empty"),
        ((np.zeros((4, 4), complex),), {}, TypeError, "real numbers"),
        ((np.zeros((4, 4)), ["rust"]), {}, ValueError, "'rust'"),
        ((np.zeros((4, 4)), []), {}, ValueError, "names none"),
        ((np.zeros((4, 4)),), {"sensitivity": 1.5}, ValueError, "at most 1"),
        ((np.zeros((4, 4)),), {"sensitivity": -1}, ValueError, "at least 0"),
        ((np.zeros((4, 4)),), {"missing": np.zeros((4, 5), bool)}, ValueError, "missing must have the shape"),
        ((np.zeros((4, 4)),), {"missing": np.zeros((4, 4))}, TypeError, "boolean"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(arguments, options, error, words):
    with pytest.raises(error, match=words):
        detect_damage(*arguments, **options)


def test_a_single_channel_and_a_masked_array_are_pictures_too():
    image, _ = scratched()
    expected = detect_damage(image, ["scratches"]).mask
    np.testing.assert_array_equal(detect_damage(image[:, :, None], ["scratches"]).mask, expected)
    hidden = np.zeros(SHAPE, bool)
    hidden[:60] = True
    masked = np.ma.array(image, mask=hidden)
    expected = detect_damage(image, ["scratches"], missing=hidden).mask
    np.testing.assert_array_equal(detect_damage(masked, ["scratches"]).mask, expected)
    np.testing.assert_array_equal(
        detect_damage(image, ["scratches"], missing=np.uint8(255) * hidden).mask, expected
    )


@pytest.mark.parametrize("number", [-1, 10**6])
def test_only_regions_that_exist_are_taken_out(number):
    image = np.full((64, 64), 120, np.uint8)
    image[30:33, 40:43] = 255
    with pytest.raises(IndexError, match=f"no region {number}"):
        analyze_damage(image, ["dust"]).mask(removed=[number])


def test_a_range_beyond_float64_is_refused():
    image = np.full((64, 64), 1.5e308)
    image[:32] *= -1
    with pytest.raises(ValueError, match="too wide for float64; divide it by a constant"):
        detect_damage(image, ["dust"])
