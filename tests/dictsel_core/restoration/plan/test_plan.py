"""A restoration in blocks is the restoration of the whole image, bit for bit."""

import json
from dataclasses import replace

import numpy as np
import pytest
from blocks import blocks_of, given_arrays, plan_in_blocks, read, restore_in_blocks, run_stage
from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import photograph

from dictsel_core import ImageSpec, PictureSurvey, RestorePlan, RestoreSettings, restore
from dictsel_core.completion import completion
from dictsel_core.restoration.plan import trial

FAST = RestoreSettings.preset("fast")
SHORT = RestoreSettings(rounds=2)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 2)
    monkeypatch.setattr(completion, "_N_MORE", 1)


def picture(dtype="uint8", n_channels=1, height=173, width=150):
    gray = np.pad(photograph(72), ((0, height - 72), (0, width - 72)), mode="symmetric").astype(float)
    noise = np.random.default_rng(0).normal(0, 6, (height, width, n_channels))
    image = (0.8 * gray[:, :, None] * (1 - 0.2 * np.arange(n_channels)) + 20 + noise).clip(0, 255)
    scaled = {"uint8": image, "uint16": image * 200, "float32": image / 255}[dtype].astype(dtype)
    return scaled if n_channels > 1 else scaled[:, :, 0]


def damage(kind, height=173, width=150, seed=0):
    rng = np.random.default_rng(seed)
    mask = np.zeros((height, width), bool)
    if kind == "hole":
        mask[20:110, 40:100] = True
        mask[130:134] = True
    elif kind == "scratches":
        for start in rng.integers(0, height, 6):
            columns = np.arange(width)
            rows = (start + columns * rng.uniform(-1, 1)).astype(int) % height
            mask[rows, columns] = mask[(rows + 1) % height, columns] = True
    else:
        mask |= rng.random((height, width)) < kind
    return mask


def separate(mask):
    return np.stack([mask, np.roll(mask, 17, 1), np.roll(mask, 31, 0)], axis=2)


CASES = [
    (FAST, "uint8", 1, 0.8, 64),
    (FAST, "uint16", 1, "scratches", 128),
    (FAST, "uint8", 3, "hole", 128),
    (SHORT, "float32", 1, 0.5, 64),
    (SHORT, "uint8", 1, "scratches", 64),
    (SHORT, "uint8", 1, "hole", 128),
]


def assert_same_picture(result, whole):
    """Check that blocks are the whole."""
    np.testing.assert_array_equal(result, whole)


@pytest.mark.parametrize(("chosen", "dtype", "n_channels", "kind", "size"), CASES)
def test_blocks_are_the_whole(chosen, dtype, n_channels, kind, size):
    image, mask = picture(dtype, n_channels), damage(kind)
    result, plan = restore_in_blocks(image, mask, chosen, size)
    whole = restore(image, mask, chosen)
    assert_same_picture(result, whole.image)
    assert plan.settings == whole.settings
    np.testing.assert_array_equal(plan.atoms, whole.dictionary)


@pytest.mark.parametrize("unknown", [False, True])
def test_blocks_are_the_whole_with_masks_per_channel(unknown):
    image, mask = picture("uint8", 3, 72, 130), separate(damage(0.5, 72, 130))
    mask[:, :, 2] |= unknown
    chosen = replace(SHORT, rounds=1)
    result, _ = restore_in_blocks(image, mask, chosen, 64)
    assert_same_picture(result, restore(image, mask, chosen).image)


@pytest.mark.parametrize("settings_", ["paper", RestoreSettings(rounds=0, patch_size=7, bases=("dct",))])
def test_blocks_are_the_whole_with_other_settings(settings_):
    image, mask = picture(), damage(0.4)
    result, _ = restore_in_blocks(image, mask, settings_, 128)
    np.testing.assert_array_equal(result, restore(image, mask, settings_).image)


@pytest.mark.parametrize(("shape", "size"), [((65, 65), 24), ((64, 192), 8)])
def test_no_patch_of_the_sample_need_begin_in_a_block(shape, size):
    image, mask = picture("float32", 1, 173, 192)[: shape[0], : shape[1]], damage(0.3, *shape)
    mask[:, 64:128] = True
    chosen = RestoreSettings(rounds=0, patch_size=size, bases=("dct",))
    result, _ = restore_in_blocks(image, mask, chosen, 64)
    np.testing.assert_array_equal(result, restore(image, mask, chosen).image)


@pytest.mark.parametrize(("harmful", "n_rounds"), [(False, 8), (True, 0)])
def test_the_number_of_rounds_is_decided_on_a_sample(harmful, n_rounds, monkeypatch):
    monkeypatch.setattr(trial, "is_harmful", lambda change: harmful and len(change) > 100)
    image, mask = picture("uint8", 1, 200, 140), damage(0.5, 200, 140)
    plans = [plan_in_blocks(image, mask, "best", size) for size in (64, 256)]
    assert plans[0].digest == plans[1].digest
    assert plans[0].n_rounds == n_rounds


@pytest.fixture(scope="module")
def computed():
    """All arrays of a plan, each computed as a single block."""
    image, mask = picture(), damage(0.6) | damage("hole")
    plan, arrays = plan_in_blocks(image, mask, SHORT, 64), given_arrays(image, mask)
    for stage in plan.stages:
        run_stage(stage, arrays, 1024)
    return plan, arrays


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_block_of_any_stage_is_its_slice(computed, data):
    plan, arrays = computed
    stage = data.draw(st.sampled_from([each for each in plan.stages if each.name != "texture-1"]))
    region = []
    for length in stage.shape:
        start = 2 * data.draw(st.integers(0, (length - 1) // 2))
        stop = min(start + 2 * data.draw(st.integers(1, 60)), length)
        region.append(slice(start, stop))
    for each, result in zip(
        stage.writes, stage.apply(read(arrays, stage.reads(*region)), *region), strict=True
    ):
        np.testing.assert_array_equal(result, arrays[each.name][tuple(region)])


def test_stages_do_not_change_what_they_read(computed):
    plan, arrays = computed
    stage = plan.stages[-2]
    place = slice(0, 64), slice(64, 128)
    blocks = read(arrays, stage.reads(*place))
    before = [each.copy() for each in blocks]
    stage.apply(blocks, *place)
    assert all((a == b).all() for a, b in zip(before, blocks, strict=True))


@pytest.mark.parametrize(
    "rows", [slice(1, 64), slice(0, 63), slice(64, 64), slice(-2, 64), slice(0, 174), slice(0, 64, 2)]
)
def test_illegal_blocks_are_refused(computed, rows):
    stage = computed[0].stages[-2]
    with pytest.raises(ValueError, match="rows must"):
        stage.reads(rows, slice(0, 64))
    with pytest.raises(ValueError, match="rows must"):
        stage.apply([], rows, slice(0, 64))


def test_surveys_take_blocks_on_a_coarser_grid():
    survey = PictureSurvey(ImageSpec(173, 150), "fast")
    assert survey.grid == 64
    with pytest.raises(ValueError, match="multiples of 64"):
        survey.reads(slice(32, 64), slice(0, 64))


def test_blocks_of_the_wrong_shape_are_refused(computed):
    stage = computed[0].stages[0]
    with pytest.raises(ValueError, match="There must be 2 blocks"):
        stage.apply([], slice(0, 4), slice(0, 4))
    with pytest.raises(ValueError, match="8 rows, 8 columns"):
        stage.apply([np.zeros((9, 8, 1)), np.zeros((8, 8, 1), bool)], slice(0, 4), slice(0, 4))


@pytest.mark.parametrize(
    ("blocks", "error", "sentence"),
    [
        ([np.zeros((8, 8, 1), np.uint8)], ValueError, r"There must be 2 blocks \(image, mask\)"),
        ([np.zeros((8, 8), np.uint8), np.zeros((8, 8), bool)], ValueError, "8 columns and 1 layers"),
        ([np.zeros((8, 8, 3), np.uint8), np.zeros((8, 8, 1), bool)], ValueError, "8 columns and 1 layers"),
        ([np.zeros((8, 8, 1)), np.zeros((8, 8, 1), bool)], TypeError, "image must be of uint8"),
        ([np.zeros((8, 8, 1), np.uint8)] * 2, TypeError, "mask must be of bool"),
        (
            [np.zeros((8, 8, 1), np.uint8), np.full((8, 8, 1), 255, np.uint8).view(bool)],
            ValueError,
            "must hold True and False",
        ),
    ],
)
def test_blocks_that_do_not_fit_the_image_are_refused_by_a_survey(blocks, error, sentence):
    survey, whole = PictureSurvey(ImageSpec(8, 8), "fast"), (slice(0, 8), slice(0, 8))
    with pytest.raises(error, match=sentence):
        survey.measure(blocks, *whole)
    with pytest.raises(TypeError, match="rows must be a slice, not 3"):
        survey.reads(3, slice(0, 8))


def test_every_stage_reads_what_was_written_before(computed):
    plan, _ = computed
    known = {"image", "mask"}
    for stage in plan.stages:
        assert stage.arrays <= known
        known |= {each.name for each in stage.writes}
        known -= set(plan.released_after(stage))
    assert known == {"image", "mask", plan.output}
    assert len({stage.name for stage in plan.stages}) == len(plan.stages)


def test_a_plan_is_the_same_after_json(computed):
    plan, arrays = computed
    again = RestorePlan.from_json(plan.to_json(), threads=1)
    assert again.to_json() == plan.to_json()
    assert again.digest == plan.digest
    assert again.settings.threads == 1
    stage = again.stages[-2]
    place = slice(0, 64), slice(64, 128)
    result = stage.apply(read(arrays, stage.reads(*place)), *place)[0]
    np.testing.assert_array_equal(result, arrays[stage.writes[0].name][place])


def test_another_plan_has_another_digest(computed):
    plan, _ = computed
    other = replace(plan, settings=replace(plan.settings, rounds=1))
    assert other.digest != plan.digest


def test_json_of_something_else_is_refused(computed):
    for text in ("[]", "{}", "no", "1"):
        with pytest.raises(ValueError, match="not the JSON of a plan"):
            RestorePlan.from_json(text)
    values = json.loads(computed[0].to_json())
    for part in ({"spec": None}, {"holes": 1}):
        with pytest.raises(ValueError, match="not the JSON of a plan"):
            RestorePlan.from_json(json.dumps(values | part))
    del values["atoms"]
    with pytest.raises(ValueError, match="not the JSON of a plan"):
        RestorePlan.from_json(json.dumps(values))
    values = json.loads(computed[0].to_json()) | {"version": "0.0.0"}
    with pytest.raises(ValueError, match=r"made by version 0\.0\.0"):
        RestorePlan.from_json(json.dumps(values))
    values = json.loads(computed[0].to_json())


def test_blocks_that_are_not_there_or_there_twice_are_noticed():
    image, mask = picture(), damage(0.5)
    arrays = given_arrays(image, mask)
    survey = PictureSurvey(ImageSpec(*image.shape), "fast")
    looks = [survey.measure(read(arrays, survey.reads(*each)), *each) for each in blocks_of(image.shape, 128)]
    for wrong in (looks[:-1], [*looks, looks[0]]):
        with pytest.raises(ValueError, match="each of them once"):
            survey.details(sum(wrong[1:], wrong[0]))


def test_nothing_observed_is_refused_and_nothing_missing_is_a_copy():
    image = picture()
    with pytest.raises(ValueError, match="Every pixel of the image is missing"):
        plan_in_blocks(image, np.ones(image.shape, bool), "fast", 128)
    result, plan = restore_in_blocks(image, np.zeros(image.shape, bool), "fast", 128)
    assert (result == image).all()
    assert len(plan.stages) == 1
    assert plan.nothing_missing


def test_too_many_channels_are_refused():
    with pytest.raises(ValueError, match="17 channels, and at most 16"):
        PictureSurvey(ImageSpec(64, 64, 17))
    image = np.zeros((64, 64, 5), np.uint8)
    with pytest.raises(ValueError, match="5 channels that miss pixels of their own, and at most 4"):
        plan_in_blocks(image, np.random.default_rng(0).random(image.shape) < 0.5, "fast", 64)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0, 5), ValueError),
        ((1.5, 5), TypeError),
        ((5, 5, 3, "uint8", 2), ValueError),
        ((5, 5, 1, "complex64"), TypeError),
    ],
)
def test_images_that_cannot_be_are_refused(arguments, error):
    with pytest.raises(error):
        ImageSpec(*arguments)


def test_a_dtype_is_kept_by_its_name():
    assert ImageSpec(4, 5, dtype=np.uint16) == ImageSpec(4, 5, dtype="uint16")


def test_a_survey_of_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="spec must be an ImageSpec, not int"):
        PictureSurvey(1)
