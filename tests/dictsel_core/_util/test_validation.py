"""Input that nobody should give, and what is said about it: one sentence of our own, before any work."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from pictures import photograph, random_mask

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    RestoreSettings,
    estimate_psnr,
    iter_restore,
    omp,
    psnr,
    replacement_ols,
    replacement_omp,
    restore,
    ssim,
    standard_ground_set,
    tune,
)
from dictsel_core.constraints import OracleMatroid
from dictsel_core.evaluation import error_map
from dictsel_core.learning import ksvd, mod
from dictsel_core.online import FixedHedge, OnlineSDSMA, alpha_regret, utilities
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp

FAST = RestoreSettings.preset("fast")
SELECTORS = [replacement_omp, replacement_ols, replacement_greedy, sds_ma, sds_omp]


def numbers(n_points=20, n_features=64):
    return np.random.default_rng(0).normal(size=(n_points, n_features))


def ramp(low, high, dtype, size=24):
    """Integers between two limits that no float holds exactly, and a mask."""
    steps = [low + (high - low) * i // (2 * size - 2) for i in range(2 * size - 1)]
    image = np.array([[steps[i + j] for j in range(size)] for i in range(size)], dtype=dtype)
    mask = random_mask(image.shape, 0.5)
    mask[0, 0] = mask[-1, -1] = False
    return image, mask


@pytest.mark.parametrize("preset", ["fast", "balanced", "best", "paper"])
@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (2**64 - 2**20 - 1, 2**64 - 1, np.uint64),
        (0, 2**64 - 1, np.uint64),
        (2**63 - 2**20 - 1, 2**63 - 1, np.int64),
        (-(2**63), -(2**63) + 2**20 + 1, np.int64),
        (-(2**63), 2**63 - 1, np.int64),
        (2**53 + 1, 2**53 + 10**6 + 1, np.uint64),
    ],
)
def test_integers_beyond_the_precision_of_floats_are_restored_without_wrapping(low, high, dtype, preset):
    image, mask = ramp(low, high, dtype)
    restored = restore(np.where(mask, 0, image).astype(dtype), mask, preset).image
    assert restored.dtype == dtype
    values = [[int(each) for each in row] for row in restored]
    assert all(low <= each <= high for row in values for each in row)
    largest = max(
        abs(each - int(wanted))
        for row, originals in zip(values, image, strict=True)
        for each, wanted in zip(row, originals, strict=True)
    )
    assert largest < (high - low) / 4, "the ramp is found again"
    if preset != "paper":  # which replaces observed pixels
        np.testing.assert_array_equal(restored[~mask], image[~mask])


@pytest.mark.parametrize("value", [2**53 + 1, 2**64 - 1])
def test_a_constant_picture_stays_constant_to_the_last_digit(value):
    image = np.full((16, 16), value, np.uint64)
    assert (restore(image, random_mask((16, 16), 0.5), "paper").image == value).all()


def test_what_is_missing_of_a_constant_color_stays_within_the_observed_range():
    image = np.full((16, 16, 3), 7.0)
    mask = np.zeros(image.shape, bool)
    mask[:, :, 1] = True
    assert (restore(image, mask, FAST).image == 7).all()


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_floats_of_any_size_are_restored_alike(scale):
    original = photograph(32) / 255.0
    mask = random_mask(original.shape, 0.5)
    expected = restore(original, mask).image
    found = restore(original * scale, mask).image / scale
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert estimate_psnr(original * scale, mask, FAST).is_known


@pytest.mark.parametrize(
    "extremes", [(-1.7e308, 1.7e308), (np.longdouble(0), np.finfo(np.longdouble).max)], ids=["double", "long"]
)
def test_a_range_beyond_float64_is_named_as_such(extremes):
    image = np.zeros((8, 8), np.asarray(extremes).dtype)
    image[0, :2] = extremes
    mask = np.zeros((8, 8), bool)
    mask[4] = True
    with pytest.raises(ValueError, match="too wide for float64; divide it"):
        iter_restore(image, mask)


def test_what_a_masked_array_hides_is_missing():
    original = photograph(48, color=True)
    mask = random_mask(original.shape[:2], 0.4)
    layers = random_mask(original.shape, 0.3, seed=1)
    hidden = np.ma.array(np.where(layers, 0, original), mask=layers)
    np.testing.assert_array_equal(restore(hidden, None, FAST).image, restore(original, layers, FAST).image)
    both = restore(original, layers | mask[:, :, None], FAST).image
    np.testing.assert_array_equal(restore(hidden, mask, FAST).image, both)
    np.testing.assert_array_equal(restore(hidden, np.dstack([mask] * 4)[:, :, :3], FAST).image, both)
    assert type(both) is np.ndarray


def test_a_masked_array_of_nan_is_restored_and_tuned():
    image = photograph(32) / 255.0
    mask = random_mask(image.shape, 0.5)
    hidden = np.ma.masked_invalid(np.where(mask, np.nan, image))
    np.testing.assert_array_equal(restore(hidden).image, restore(image, mask).image)
    assert estimate_psnr(hidden, None, FAST) == estimate_psnr(image, mask, FAST)


def test_without_any_mask_nothing_is_restored():
    with pytest.raises(TypeError, match="mask must say which pixels are missing"):
        restore(photograph(16))
    with pytest.raises(TypeError, match="its dtype is float64; pass mask > 0"):
        restore(photograph(16), np.eye(16))
    with pytest.raises(TypeError, match="mask must be a plain array"):
        restore(photograph(16), np.ma.array(random_mask((16, 16), 0.5), mask=True))


@pytest.mark.parametrize("dtype", ["timedelta64[s]", "datetime64[s]", "complex128", "bool", "U1", "O"])
def test_pictures_that_hold_no_numbers_are_refused(dtype):
    image, mask = np.ones((8, 8), "i8").astype(dtype), np.eye(8, dtype=bool)
    for function in (restore, tune, estimate_psnr):
        with pytest.raises(TypeError, match="image must hold integers or floats, but its dtype is"):
            function(image, mask)


@pytest.mark.parametrize("function", [restore, iter_restore, tune, estimate_psnr])
def test_settings_are_settings_or_a_preset_or_left_out(function):
    image, mask = photograph(16), random_mask((16, 16), 0.5)
    with pytest.raises(ValueError, match="There is no preset 'quick'; choose one of paper, fast"):
        function(image, mask, "quick")
    with pytest.raises(TypeError, match="settings must be RestoreSettings or the name of a preset"):
        function(image, mask, {"rounds": 0})


def test_a_preset_is_named_and_none_means_the_defaults():
    image, mask = photograph(32), random_mask((32, 32), 0.5)
    for settings, same in ((None, RestoreSettings()), ("fast", FAST), ("balanced", RestoreSettings())):
        found, expected = restore(image, mask, settings), restore(image, mask, same)
        assert found.settings == expected.settings
        np.testing.assert_array_equal(found.image, expected.image)
    assert estimate_psnr(image, mask, "fast") == estimate_psnr(image, mask, FAST)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"mean_sparsity": np.inf}, ValueError, "mean_sparsity must be a number above 0, up to 64, not inf"),
        ({"mean_sparsity": 10**400}, ValueError, "mean_sparsity must be a number above 0, up to 64"),
        ({"mean_sparsity": np.nan}, ValueError, "mean_sparsity must be a number above 0, up to 64, not nan"),
        ({"mean_sparsity": True}, TypeError, "mean_sparsity must be a number above 0, up to 64, not True"),
        ({"bases": None}, TypeError, "bases must be a sequence of names, .* not None"),
        ({"bases": 3}, TypeError, "bases must be a sequence of names, .* not 3"),
        ({"bases": ()}, ValueError, "bases must name at least one basis"),
        ({"bases": ([],)}, TypeError, r"named by a string such as 'dct' or 'haar', not by \[\]"),
        ({"bases": ("dct", "dct")}, ValueError, "must not name a basis twice"),
        ({"patch_size": 64}, ValueError, "patch_size must be a whole number from 2 to 32, not 64"),
        ({"n_atoms": "many"}, TypeError, "n_atoms must be a whole number from 1 to 4096, not 'many'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, error, sentence):
    with pytest.raises(error, match=sentence):
        RestoreSettings(**change)


@pytest.mark.parametrize(
    ("bases", "error", "sentence"),
    [
        (None, TypeError, "bases must be a sequence of names"),
        (([],), TypeError, "named by a string"),
        ((), ValueError, "at least one basis"),
    ],
)
def test_bases_that_are_no_names_are_refused(bases, error, sentence):
    with pytest.raises(error, match=sentence):
        standard_ground_set(bases=bases)


def test_a_budget_that_no_patch_can_use_up_is_no_budget():
    mask = random_mask((32, 32), 0.5)
    runs = [
        restore(photograph(32), mask, replace(FAST, sparsity=4, mean_sparsity=mean_sparsity))
        for mean_sparsity in (4, 5.5, 64)
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0].image, other.image)


@pytest.mark.parametrize("select", SELECTORS)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_data_whose_squares_leave_float64_are_refused(select, size):
    with pytest.raises(ValueError, match="data must be scaled by a constant"):
        select(standard_ground_set(), numbers() * size, IndividualSparsity(3), 4)


@pytest.mark.parametrize("select", SELECTORS)
@pytest.mark.parametrize("size", [1e140, 1e-140])
def test_data_of_any_other_size_give_the_same_dictionary(select, size):
    data = numbers()
    usual = select(standard_ground_set(), data, IndividualSparsity(3), 4)
    scaled = select(standard_ground_set(), data * size, IndividualSparsity(3), 4)
    assert scaled.indices.tolist() == usual.indices.tolist()
    np.testing.assert_allclose(scaled.objective / size / size, usual.objective, rtol=1e-9)


def test_learning_coding_and_online_selection_refuse_such_data_too():
    data = numbers() * 1e200
    with pytest.raises(ValueError, match="data must be scaled by a constant"):
        ksvd(data, 4, 2)
    with pytest.raises(ValueError, match="data must be scaled by a constant"):
        omp(np.eye(64), data, 2)
    with pytest.raises(ValueError, match="dictionary must be scaled by a constant"):
        omp(np.eye(64) * 1e200, numbers(), 2)
    with pytest.raises(ValueError, match="data must be scaled by a constant"):
        OnlineSDSMA(standard_ground_set(), 3, 2).observe(data[0])


@pytest.mark.parametrize(
    ("blocks", "error", "sentence"),
    [
        (None, TypeError, "blocks must be a sequence of blocks, such as .*, not None"),
        (5, TypeError, "blocks must be a sequence of blocks"),
        ("ab", TypeError, "blocks must be a sequence of blocks"),
        ([], ValueError, "at least one block"),
        ([None], TypeError, r"blocks\[0\] must be"),
        ([[0], [[1], [2, 3]]], ValueError, r"blocks\[1\] must be an array, but its rows differ in length"),
        ([[0], []], ValueError, "blocks must not be empty"),
        ([np.array([0, 1], "m8[s]")], TypeError, r"blocks\[0\] must be"),
    ],
)
def test_blocks_that_are_none_are_refused(blocks, error, sentence):
    with pytest.raises(error, match=sentence):
        BlockSparsity(blocks, 1)


def test_lists_of_different_lengths_are_no_arrays():
    rows = [[1.0, 2.0], [1.0]]
    for name, function in {
        "dictionary": lambda: omp(rows, [[1.0, 2.0]], 1),
        "sparsity": lambda: omp(np.eye(2), [[1.0, 2.0]], rows),
        "reference": lambda: psnr(rows, rows),
        "image": lambda: restore(rows),
        "player": lambda: alpha_regret(rows, rows),
        "gains": lambda: FixedHedge(3, rate=1.0).observe(rows),
        "labels": lambda: BlockSparsity.from_labels(rows, 2),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} must be an array, but its rows differ in length"):
            function()


def test_the_mask_of_a_mask_is_not_lost_in_silence():
    hidden = np.ma.masked_equal([[True, False]], True)
    with pytest.raises(TypeError, match="mask must be a plain array; fill what it hides"):
        omp(np.eye(2), [[1.0, 2.0]], 1, mask=hidden)


@pytest.mark.parametrize("largest", [1, 255])
def test_masks_of_data_may_be_the_integers_that_masks_of_pictures_may_be(largest):
    rng = np.random.default_rng(0)
    atoms, data, mask = rng.normal(size=(6, 9)), rng.normal(size=(20, 6)), rng.random((20, 6)) < 0.2
    expected = omp(atoms, data, 3, mask=mask)
    found = omp(atoms, data, 3, mask=np.where(mask, largest, 0))
    np.testing.assert_array_equal(found.rebuilt, expected.rebuilt)
    with pytest.raises(ValueError, match="only 0 and 255"):
        omp(atoms, data, 3, mask=np.where(mask, 7, 0))


def test_labels_are_one_for_each_patch():
    with pytest.raises(ValueError, match="labels must not be empty"):
        BlockSparsity.from_labels([], 1)
    with pytest.raises(TypeError, match="labels must be a one-dimensional array of whole numbers"):
        BlockSparsity.from_labels([0.5], 1)


@pytest.mark.parametrize("rng", ["seed", -1, 1.5, True, np.random.RandomState(0)])
def test_random_generators_are_generators_or_seeds(rng):
    error = ValueError if rng == -1 else TypeError
    with pytest.raises(error, match="rng must be"):
        FixedHedge(3, rate=0.1, rng=rng)
    with pytest.raises(error, match="rng must be"):
        ksvd(numbers(), 4, 2, rng=rng)
    with pytest.raises(error, match="rng must be"):
        OnlineSDSMA(standard_ground_set(), 3, 2, rng=rng)


@pytest.mark.parametrize(
    ("data_range", "error"), [("1", TypeError), (0, ValueError), (np.nan, ValueError), (np.inf, ValueError)]
)
def test_data_ranges_are_positive_numbers(data_range, error):
    picture = photograph(16)
    for metric in (psnr, ssim):
        with pytest.raises(error, match="data_range must be"):
            metric(picture, picture, data_range=data_range)


@pytest.mark.parametrize("metric", [psnr, ssim, error_map])
def test_metrics_measure_plain_pictures_of_numbers(metric):
    times = np.ones((8, 8), "m8[s]")
    with pytest.raises(TypeError, match="reference must hold real numbers, but its dtype is timedelta64"):
        metric(times, times)
    with pytest.raises(TypeError, match="image must be a plain array"):
        metric(np.ones((8, 8)), np.ma.masked_less(np.ones((8, 8)), 0))


def test_psnr_does_not_depend_on_the_unit_however_large():
    picture = photograph(16) / 255.0
    noisy = picture + 0.1
    expected = psnr(picture, noisy, data_range=1)
    assert psnr(picture * 1e200, noisy * 1e200, data_range=1e200) == pytest.approx(expected)


def test_a_sparsity_beyond_the_dictionary_costs_sds_omp_nothing():
    ground_set, data, found, peaks = standard_ground_set(), numbers(200), [], []
    tracemalloc.start()
    for sparsity in (5, 10**9):
        tracemalloc.reset_peak()
        found.append(sds_omp(ground_set, data, IndividualSparsity(sparsity), 5))
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert found[0].indices.tolist() == found[1].indices.tolist()
    np.testing.assert_array_equal(found[0].objective, found[1].objective)
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("largest", [1, 255])
def test_masks_of_integers_mean_the_same_everywhere(largest):
    rng = np.random.default_rng(0)
    ground_set, data = standard_ground_set((4, 4)), rng.normal(size=(30, 16))
    mask = rng.random(data.shape) < 0.3
    functions = {
        "omp": lambda m: omp(ground_set.atoms[:, :8], data, 3, mask=m).coefficients,
        "select": lambda m: replacement_omp(ground_set, data, IndividualSparsity(2), 3, mask=m).objective,
        "learn": lambda m: mod(data, 3, 2, mask=m, max_iterations=2).dictionary,
        "utilities": lambda m: utilities(ground_set.atoms[:, :8], data, 3, mask=m),
        "restore": lambda m: restore(data, m, "fast").image,
    }
    for function in functions.values():
        np.testing.assert_array_equal(function(mask * np.uint8(largest)), function(mask))
    for wrong, error in ((mask * 1.0, TypeError), (mask * 7, ValueError)):
        for function in functions.values():
            with pytest.raises(error, match="mask must be boolean"):
                function(wrong)


@pytest.mark.parametrize("select", SELECTORS)
def test_caps_beyond_any_integer_are_no_caps(select):
    found, expected = (
        select(standard_ground_set(), numbers(), IndividualSparsity(s), 4) for s in (10**30, 4)
    )
    assert found.indices.tolist() == expected.indices.tolist()


def test_other_caps_beyond_any_integer_are_no_caps_either():
    data, ground_set = numbers(), standard_ground_set()
    huge = np.full(len(data), 2**64 - 1, np.uint64)
    expected = replacement_omp(ground_set, data, IndividualSparsity(4), 4)
    for constraint in (
        IndividualSparsity(huge),
        AverageSparsity(10**30, 10**30),
        MatroidSparsity(PartitionMatroid(np.zeros(len(ground_set), int), 10**30)),
        BlockSparsity(np.arange(len(data))[:, None], 10**30),
    ):
        assert replacement_omp(ground_set, data, constraint, 4).indices.tolist() == expected.indices.tolist()
    np.testing.assert_array_equal(omp(np.eye(64), data, 10**30).rebuilt, omp(np.eye(64), data, 64).rebuilt)


def test_an_oracle_that_raises_is_named_as_the_users_own():
    def independent(atoms):
        return {0: True}[len(atoms)]

    constraint = MatroidSparsity(OracleMatroid(independent))
    with pytest.raises(
        ValueError, match=r"The oracle .*independent of an OracleMatroid .* KeyError: 1"
    ) as caught:
        replacement_omp(standard_ground_set(), numbers(), constraint, 3)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_oracle_whose_answer_is_no_truth_value_is_named_too():
    constraint = MatroidSparsity(OracleMatroid(lambda atoms: np.array([True, False])))
    with pytest.raises(ValueError, match=r"could not say whether .* is independent"):
        replacement_omp(standard_ground_set(), numbers(), constraint, 3)
