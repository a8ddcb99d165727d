import numpy as np
import pytest

from dictsel_core.restoration.image import Image, ValueRange, as_image


def image_of(pixels, mask):
    """An image (H, W) or (H, W, C) with a mask (H, W) or (H, W, c)."""
    return as_image(pixels.reshape(*pixels.shape[:2], -1), mask.reshape(*mask.shape[:2], -1))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(6, 7, 1), (6, 7, 2), (6, 7, 3), (6, 7, 4)])
def test_planes_have_unit_range_and_render_back(dtype, shape):
    rng = np.random.default_rng(0)
    image = rng.integers(3, 90, shape).astype(dtype)
    mask = rng.random(shape[:2]) < 0.4
    whole = image_of(image, mask)
    planes = whole.planes()
    assert planes.shape == (6, 7, whole.n_channels)
    assert planes.dtype == np.float32
    assert (planes[mask] == 0).all()
    assert planes[~mask].min() == 0
    assert planes[~mask].max() == 1
    rendered = whole.render(planes, keep_observed=False)
    assert rendered.dtype == image.dtype
    np.testing.assert_allclose(rendered[~mask], image[~mask], rtol=1e-6)
    np.testing.assert_array_equal(whole.render(planes)[~mask], image[~mask])


def test_rendering_clips_to_the_observed_range_and_rounds_once():
    image = np.array([[10, 20, 0, 0]], np.uint8)
    whole = image_of(image, np.array([[False, False, True, True]]))
    planes = np.array([[0.3, 0.3, -5.0, 0.449]], np.float32)[:, :, None]
    assert whole.render(planes)[:, :, 0].tolist() == [[10, 20, 10, 14]]
    assert whole.render(planes, keep_observed=False)[:, :, 0].tolist() == [[13, 13, 10, 14]]
    assert image.tolist() == [[10, 20, 0, 0]]


def test_channels_of_very_different_ranges_have_their_own():
    nuclei, membranes = np.array([[0, 40000, 7]]), np.array([[3, 91, 7]])
    whole = image_of(np.dstack([nuclei, membranes]).astype(np.uint16), np.array([[False, False, True]]))
    assert whole.planes()[0, :2].tolist() == [[0, 0], [1, 1]]
    rendered = whole.render(np.full((1, 3, 2), 0.5, np.float32))
    assert rendered[0, 2].tolist() == [20000, 47]
    alike = image_of(np.dstack([nuclei, nuclei // 2]).astype(np.uint16), np.array([[False, False, True]]))
    assert alike.ranges[0] == alike.ranges[1]


def test_layers_that_are_equal_are_one():
    image, mask = np.zeros((4, 5, 3)), np.eye(4, 5, dtype=bool)
    assert image_of(image, np.dstack([mask] * 3)).missing.shape == (4, 5, 1)
    layers = np.dstack([mask, mask, ~mask])
    assert image_of(image, layers).missing.shape == (4, 5, 3)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "uint64", "float32"])
def test_values_outside_a_range_are_outside_the_unit_range(dtype):
    unit = ValueRange(100, 110).to_unit(np.array([90, 100, 105, 120], dtype))
    np.testing.assert_allclose(unit, [-1, 0, 0.5, 2])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (6, 8), (7, 5)])
def test_planes_of_integers_are_those_of_the_definition(dtype, shape):
    rng = np.random.default_rng(0)
    image, mask = rng.integers(0, 256, (*shape, 3)).astype(dtype), rng.random(shape) < 0.5
    whole = Image(image, mask[:, :, None], (ValueRange(0, 255),) * 3)
    expected = np.where(mask[:, :, None], 0, image / 255)
    np.testing.assert_allclose(whole.planes(), expected, rtol=1e-6)


def test_a_range_is_that_of_all_observed_values(monkeypatch):
    """Row by row, up to where no other value is possible."""
    monkeypatch.setattr(
        "dictsel_core.restoration.image.row_bands", lambda shape: map(slice, range(3), range(1, 4))
    )
    image, mask = np.array([[5, 9], [0, 255], [7, 7]], np.uint8), np.zeros((3, 2), bool)
    assert image_of(image, mask).ranges == (ValueRange(0, 255),)
    mask[1] = True
    assert image_of(image, mask).ranges == (ValueRange(5, 9),)
    assert image_of(image.astype(float), mask).ranges == (ValueRange(5.0, 9.0),)
