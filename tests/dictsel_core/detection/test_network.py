"""The network: its convolutions, its weights, and that tiles and threads do not matter."""

from importlib import resources

import numpy as np
import pytest
from scipy import ndimage

from dictsel_core.detection import analyze_damage, learned, network


def random_layer(n_in, n_out, side, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.integers(-127, 128, (n_out, n_in, side, side), np.int8)
    return weight, *rng.uniform(0.001, 0.02, (2, n_out)).astype(np.float32)


def framed(features):
    return np.pad(features, ((0, 0), (1, 1), (1, 1)))


def literal(features, weight, scale, bias):
    """The definition: sums over channels of correlations with zeros outside, rectified."""
    maps = [
        sum(ndimage.correlate(x, w, mode="constant") for x, w in zip(features, each, strict=True))
        for each in weight.astype(float) * scale[:, None, None, None]
    ]
    return np.maximum(np.array(maps) + bias[:, None, None], 0)


@pytest.mark.parametrize("rows", [6, 130], ids=["one band", "several bands"])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_is_its_definition(rows, stride):
    features = np.random.default_rng(1).normal(size=(3, rows, 64)).astype(np.float32)
    layer = random_layer(3, 5, 3)
    result = network._convolved(framed(features), network._Layer(*layer), stride)
    expected = literal(features, *layer)[:, ::stride, ::stride]
    np.testing.assert_allclose(result[:, 1:-1, 1:-1], expected, atol=1e-4)
    assert not result[:, [0, -1]].any()
    assert not result[:, :, [0, -1]].any()


def test_pixels_become_channels_and_again_pixels():
    rng = np.random.default_rng(0)
    plane, tint = rng.random((32, 48), np.float32), rng.random((2, 16, 24), np.float32)
    given = network._given(plane, tint)
    np.testing.assert_array_equal(network._pixels(given[:4, 1:-1, 1:-1]), plane - np.float32(0.5))
    np.testing.assert_array_equal(given[4:, 1:-1, 1:-1], 4 * tint)
    assert not given[:, [0, -1]].any()
    assert not given[:, :, [0, -1]].any()


def test_the_weights_are_small_and_hold_no_objects():
    file = resources.files("dictsel_core.detection") / "network.npz"
    assert len(file.read_bytes()) < 2_000_000
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in arrays.values()} == {"i", "f"}


def damaged(shape=(300, 400)):
    rng = np.random.default_rng(2)
    smooth = ndimage.gaussian_filter(rng.normal(size=shape), 15)
    values = 110 + 40 * smooth / np.abs(smooth).max() + rng.normal(0, 2, shape)
    for row, column in rng.integers(10, np.array(shape) - 10, (40, 2)):
        values[row : row + 4, column : column + 3] = 235
    values[:, 200:202] = 230
    return values.clip(0, 255).astype(np.uint8)


def colored(shape=(300, 400)):
    leaves = ndimage.gaussian_filter(np.random.default_rng(3).normal(size=(*shape, 3)), (9, 9, 0))
    return np.where(damaged(shape)[..., None] > 200, 235, 110 + 900 * leaves).clip(0, 255).astype(np.uint8)


def test_results_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(learned, "_TILE", 128)
    masks = []
    for threads in (1, 3):
        monkeypatch.setattr(learned, "as_thread_count", lambda _, n=threads: n)
        analysis = analyze_damage(colored())
        masks.append((analysis.mask(0.9), analysis.confidences))
    np.testing.assert_array_equal(masks[0][0], masks[1][0])
    np.testing.assert_array_equal(masks[0][1], masks[1][1])


@pytest.mark.parametrize("image", [damaged(), colored((301, 397))], ids=["gray", "color, odd sides"])
def test_tiles_are_not_seen(monkeypatch, image):
    whole = analyze_damage(image).mask()
    monkeypatch.setattr(learned, "_TILE", 128)
    assert np.mean(analyze_damage(image).mask() != whole) < 0.001


def test_large_pictures_are_looked_at_at_a_reduced_size(monkeypatch):
    image = np.kron(damaged(), np.ones((2, 2), np.uint8))
    monkeypatch.setattr(learned, "_MAX_PIXELS", image.size / 2)
    found = analyze_damage(image).mask()
    small = analyze_damage(damaged()).mask()
    assert np.mean(found != np.kron(small, np.ones((2, 2), bool))) < 0.002
