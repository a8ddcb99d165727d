import numpy as np
import pytest
from pictures import photograph
from scipy import ndimage

from dictsel_core import restore
from dictsel_core.grain import match_grain

SIZE = 256


def smooth_picture(color: bool) -> np.ndarray:
    """A photograph without grain of its own."""
    whole = photograph(SIZE, color=color).astype(float)
    return ndimage.gaussian_filter(whole, (5, 5) + (0,) * color)


def noise(shape: tuple[int, ...], blur: float) -> np.ndarray:
    """Noise of variance 1, of which color channels have a part in common."""
    rng = np.random.default_rng(1)
    made = rng.normal(size=shape)
    if len(shape) == 3:
        made = 0.6 * made + 0.8 * rng.normal(size=(*shape[:2], 1))
    made = ndimage.gaussian_filter(made, (blur, blur) + (0,) * (len(shape) - 2))
    return made / made.std()


def bands(width: int = 5) -> np.ndarray:
    mask = np.zeros((SIZE, SIZE), bool)
    for start in (40, 110, 190):
        mask[20:230, start : start + width] = True
    return mask


def high_pass(image: np.ndarray) -> np.ndarray:
    values = image.astype(float)
    return values - ndimage.gaussian_filter(values, (2, 2) + (0,) * (values.ndim - 2))


def scatter(image: np.ndarray, where: np.ndarray) -> float:
    """Standard deviation of what is fine, whatever edges there are."""
    return 1.4826 * float(np.median(np.abs(high_pass(image)[where])))


def neighbor_correlation(image: np.ndarray, where: np.ndarray) -> float:
    fine = high_pass(image)
    both = where[1:] & where[:-1]
    return float(np.corrcoef(fine[1:][both].ravel(), fine[:-1][both].ravel())[0, 1])


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(("sigma", "blur"), [(4, 0), (12, 0), (4, 0.8), (10, 0.8), (10, 1.2)])
def test_restored_bands_have_level_and_spectrum_of_the_grain_around(color, sigma, blur):
    clean = smooth_picture(color)
    grainy = np.rint(clean + sigma * noise(clean.shape, blur)).clip(0, 255).astype(np.uint8)
    mask = bands()
    restored = restore(grainy, mask, "fast").image
    matched = match_grain(restored, mask)
    around = ndimage.binary_dilation(mask, iterations=9) & ~ndimage.binary_dilation(mask, iterations=3)
    wanted = scatter(grainy, around)
    assert scatter(restored, mask) < 0.75 * wanted
    assert scatter(matched, mask) == pytest.approx(wanted, rel=0.15)
    assert neighbor_correlation(matched, mask) == pytest.approx(
        neighbor_correlation(grainy, around), abs=0.15
    )
    if color:
        red, green = (matched[..., channel] for channel in (0, 1))
        together = np.corrcoef(high_pass(red)[mask], high_pass(green)[mask])[0, 1]
        original = np.corrcoef(high_pass(grainy[..., 0])[around], high_pass(grainy[..., 1])[around])[0, 1]
        assert together == pytest.approx(original, abs=0.15)


@pytest.mark.parametrize("color", [False, True])
def test_a_clean_picture_hardly_changes(color):
    clean = np.rint(smooth_picture(color)).astype(np.uint8)
    mask = bands()
    restored = restore(clean, mask, "fast").image
    changes = np.abs(match_grain(restored, mask).astype(int) - restored)[mask]
    assert changes.mean() < 0.25
    assert changes.max() <= 3


def test_grain_is_added_where_there_is_grain_around():
    image = np.full((SIZE, SIZE), 120, np.uint8)
    image[:, 128:] += np.random.default_rng(0).integers(0, 20, (SIZE, 128), np.uint8)
    mask = np.zeros(image.shape, bool)
    mask[20:240, 24:28] = mask[20:240, 220:224] = True
    image[mask] = 125
    matched = match_grain(image, mask)
    assert (matched[:, :128] == image[:, :128]).all()
    assert matched[20:240, 220:224].std() > 4


def test_what_has_grain_already_gets_no_more():
    grainy = np.rint(120 + 8 * noise((SIZE, SIZE), 0)).astype(np.uint8)
    mask = bands(20)
    matched = match_grain(grainy, mask)
    assert matched[mask].std() == pytest.approx(grainy[mask].std(), rel=0.1)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16])
def test_observed_pixels_stay_and_values_are_within_the_observed_range(dtype):
    image = (100 + 200 * np.random.default_rng(0).random((SIZE, SIZE, 4))).clip(0, 255).astype(dtype)
    before, mask = image.copy(), np.zeros(image.shape, bool)
    mask[30:200, 60:64, 1:] = True
    image[mask] = before[mask] = 250
    matched = match_grain(image, mask, channel_axis=-1, rng=3)
    assert matched.dtype == dtype
    assert (image == before).all()
    assert (matched[~mask] == image[~mask]).all()
    assert (matched[mask] != 250).any()
    assert matched.min() >= image[~mask].min()
    assert matched.max() <= image[~mask].max()
    assert (matched == match_grain(image, mask, channel_axis=-1, rng=3)).all()
    assert (matched != match_grain(image, mask, channel_axis=-1, rng=4)).any()
    moved = match_grain(np.moveaxis(image, 2, 0), np.moveaxis(mask, 2, 0), channel_axis=0, rng=3)
    assert (np.moveaxis(moved, 0, 2) == matched).all()


def test_floats_are_returned_as_they_are():
    image = np.random.default_rng(0).normal(0, 1, (64, 64)).astype(np.float32)
    matched = match_grain(image, np.eye(64, dtype=bool))
    assert (matched == image).all()
    assert matched is not image


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
def test_nothing_is_added_where_nothing_is_known_or_restored(fraction):
    image = np.random.default_rng(0).integers(0, 255, (70, 50), np.uint8)
    mask = np.random.default_rng(1).random(image.shape) < fraction
    assert (match_grain(image, mask) == image).all()


@pytest.mark.parametrize("size", [129, 130])
def test_restored_pixels_may_be_in_the_last_rows(size):
    image = np.random.default_rng(0).integers(100, 140, (size, size), np.uint8)
    mask = np.zeros(image.shape, bool)
    mask[60:, 60:66] = mask[60:66, 60:] = True
    image[mask] = 120
    assert match_grain(image, mask)[mask].std() > 6
