import numpy as np
import pytest
from pictures import photograph
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from dictsel_core import psnr, ssim
from dictsel_core.evaluation import error_map, observed_range, rmse


@pytest.mark.parametrize("color", [False, True])
def test_figures_are_those_of_scikit_image(color):
    original = photograph(color=color)
    noisy = (original.astype(int) + np.random.default_rng(0).integers(-9, 9, original.shape)).clip(0, 255)
    noisy = noisy.astype(np.uint8)
    assert psnr(original, noisy) == pytest.approx(peak_signal_noise_ratio(original, noisy))
    expected = structural_similarity(original, noisy, channel_axis=2 if color else None)
    assert ssim(original, noisy) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (5, 9), (300, 40), (257, 8, 3), (520, 11)])
def test_ssim_is_that_of_scikit_image_in_every_shape_and_under_masks(shape):
    rng = np.random.default_rng(1)
    original = rng.random(shape).cumsum(axis=0) / shape[0]
    noisy = original + 0.1 * rng.normal(size=shape)
    window = min(7, *shape[:2])
    expected, values = structural_similarity(
        original,
        noisy,
        win_size=window - 1 + window % 2,
        data_range=1.0,
        channel_axis=2 if len(shape) == 3 else None,
        full=True,
    )
    mask = rng.random(shape[:2]) < 0.3
    assert ssim(original, noisy, data_range=1) == pytest.approx(expected, rel=1e-9)
    assert ssim(original, noisy, mask=mask, data_range=1) == pytest.approx(values[mask].mean(), rel=1e-9)


def test_a_mask_restricts_the_figures_to_missing_pixels():
    original = photograph(32)
    damaged = original.copy()
    damaged[:16] = 255 - damaged[:16]
    top = np.zeros(original.shape, bool)
    top[:16] = True
    assert psnr(original, damaged, mask=~top) == float("inf")
    assert psnr(original, damaged, mask=top) == pytest.approx(psnr(original, damaged) - 10 * np.log10(2))
    assert ssim(original, damaged, mask=top) < ssim(original, damaged) < ssim(original, damaged, mask=~top)


def test_a_picture_scores_the_same_in_every_unit():
    original = photograph(64)
    original[0, :2] = 0, 255
    image = np.minimum(original + np.uint8(3), 255).astype(np.uint8)
    expected, error = psnr(original, image), rmse(original, image)
    factors = {np.uint16: 257, np.int32: 1000, np.float32: 1 / 64, np.float64: 40.0}
    for dtype, factor in factors.items():
        one, other = (np.asarray(each * float(factor)).astype(dtype) for each in (original, image))
        assert psnr(one, other) == pytest.approx(expected)
        assert rmse(one, other) == pytest.approx(error * factor, rel=1e-6)
        assert ssim(one, other) == pytest.approx(ssim(original, image), rel=1e-5)
    assert psnr(original * 1.0, image * 1.0, data_range=2550) == pytest.approx(expected + 20)


def test_only_what_is_observed_sets_the_range():
    values = np.array([[[270.0, 280.0], [400.0, np.nan]], [[np.inf, 300.0], [271.0, -5.0]]])
    mask = np.zeros(values.shape, bool)
    mask[0, 1, 0] = mask[1, 1, 1] = True
    assert observed_range(values) == 405
    assert observed_range(values, mask) == observed_range(np.ma.array(values, mask=mask)) == 30
    assert observed_range(values, mask.any(axis=-1)) == 30
    assert observed_range(np.array([[7, 7]])) == 1
    assert observed_range(np.array([[-(2**63), 2**63 - 1]])) == 2.0**64
    assert observed_range(np.zeros((2, 2), np.uint8)) == 255
    assert observed_range(np.array([[-1e308, 1e308]])) < np.inf


def test_what_is_nan_in_the_reference_does_not_count():
    original = photograph(32) / 1.0
    image = original + 2
    unknown = original.copy()
    unknown[:8] = np.nan
    below = np.ones(original.shape, bool)
    below[:8] = False
    assert rmse(unknown, image) == pytest.approx(2)
    assert psnr(unknown, image) == pytest.approx(
        psnr(original, image, mask=below, data_range=np.ptp(original[8:]))
    )
    assert np.isfinite(ssim(unknown, image))
    with pytest.raises(ValueError, match="image is NaN where the reference is not"):
        psnr(image, unknown)
    for measure in (psnr, ssim, rmse, lambda one, _: observed_range(one)):
        with pytest.raises(ValueError, match=r"(reference|image) holds no number"):
            measure(np.full((8, 8), np.nan), np.zeros((8, 8)))
    with pytest.raises(ValueError, match="no pixel to count"):
        psnr(unknown, image, mask=~below)


def test_error_map_is_the_mean_absolute_error_by_pixel():
    original = np.zeros((4, 5, 3), np.uint8)
    image = original.copy()
    image[1, 2] = (3, 0, 6)
    errors = error_map(original, image)
    assert errors.shape == (4, 5)
    assert errors[1, 2] == 3
    assert errors.sum() == 3


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda a: psnr(a, a[:2]), "same shape"),
        (lambda a: psnr(a[0], a[0]), "height, width"),
        (lambda a: psnr(a, a, mask=np.zeros(a.shape, bool)), "no pixel to count"),
        (lambda a: psnr(a, a, mask=np.zeros((1, 9), bool)), "shape of the images"),
        (lambda a: psnr(a, a, mask=np.ones(a.shape[-1], bool)), "shape of the images"),
        (lambda a: psnr(a, a, data_range=0), "positive"),
        (lambda a: ssim(a[:2], a[:2]), "at least 3 x 3"),
        (lambda a: psnr(a[:0], a[:0]), "and pixels, not .0, 8."),
        (lambda a: ssim(a.reshape(4, 8, 2), a.reshape(4, 8, 2)), "which axis .* holds channels"),
        (lambda a: error_map(a[None, None], a[None, None]), "at most three axes"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(np.zeros((8, 8)))


@pytest.mark.parametrize("measure", [psnr, ssim, error_map])
@pytest.mark.parametrize("dtype", ["u2", "i8"])
def test_the_order_of_bytes_does_not_matter(measure, dtype):
    values = np.random.default_rng(0).integers(0, 1000, (2, 8, 8))
    one, other = values.astype(f">{dtype}"), values.astype(f"<{dtype}")
    np.testing.assert_array_equal(measure(one[0], other[1]), measure(other[0], other[1]))


@pytest.mark.parametrize("measure", [psnr, ssim, error_map])
def test_mixed_ranges_are_refused(measure):
    original = photograph(16)
    with pytest.raises(TypeError, match="reference is uint8 and image is float64"):
        measure(original, original / 255)
    with pytest.raises(TypeError, match="reference is uint8 and image is uint16"):
        measure(original, original.astype(np.uint16) * 257)
    measure(original / 255, (original / 255).astype(np.float32))


def test_values_of_different_dtypes_need_a_data_range():
    original = photograph(16)
    assert psnr(original, original + 2.55, data_range=255) == pytest.approx(40)


def test_channels_may_be_on_any_axis_and_are_never_guessed():
    rng = np.random.default_rng(0)
    original = rng.random((12, 14, 5))
    noisy, mask = original + 0.1 * rng.normal(size=original.shape), rng.random((12, 14)) < 0.5
    first = [np.moveaxis(each, -1, 0) for each in (original, noisy)]
    assert ssim(*first, channel_axis=0) == pytest.approx(ssim(original, noisy, channel_axis=-1))
    masked = ssim(original, noisy, channel_axis=-1, mask=mask)
    assert ssim(*first, channel_axis=0, mask=mask.astype(np.uint8)) == pytest.approx(masked)
    np.testing.assert_allclose(error_map(*first, channel_axis=0), error_map(original, noisy, channel_axis=2))
    with pytest.raises(ValueError, match="channel_axis=-1"):
        ssim(original, noisy)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_differences_of_large_integers_are_exact(dtype):
    top = np.iinfo(dtype).max
    one, other = np.full((8, 8), top, dtype), np.full((8, 8), top - 1, dtype)
    assert error_map(one, other).max() == error_map(other, one).max() == 1
    assert psnr(one, other, data_range=1) == 0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_figures_do_not_depend_on_the_scale_of_floats(scale):
    rng = np.random.default_rng(0)
    one, other = rng.random((16, 16)), rng.random((16, 16))
    for measure in (psnr, ssim):
        scaled = measure(one * scale, other * scale, data_range=scale)
        assert scaled == pytest.approx(measure(one, other, data_range=1.0))


def test_errors_beyond_float64_are_infinite_and_not_a_warning():
    one, other = np.full((8, 8), 1.5e308), np.full((8, 8), -1.5e308)
    assert psnr(one, other, data_range=1.0) == -np.inf
    assert -1 <= ssim(one, other, data_range=1.0) <= 1
    assert (error_map(one, other) == np.inf).all()
