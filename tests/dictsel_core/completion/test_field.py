"""The matches of patches around a hole."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core.completion.field import PatchField, fill_by_best
from dictsel_core.completion.scale import PATCH_SIZE, finest_scale, touching


@pytest.fixture
def scale():
    rng = np.random.default_rng(5)
    tile = rng.random((12, 12, 1), np.float32)
    image = np.tile(tile, (4, 4, 1))  # every patch occurs again, 12 pixels away
    hole = np.zeros(image.shape[:2], bool)
    hole[20:26, 20:27] = True
    return finest_scale(image, hole, hole)


def test_targets_touch_the_hole_and_sources_do_not(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    height, width = scale.shape
    for y in range(height - PATCH_SIZE + 1):
        for x in range(width - PATCH_SIZE + 1):
            touches = scale.hole[y : y + PATCH_SIZE, x : x + PATCH_SIZE].any()
            assert (y * field.shape[1] + x in field.targets) == touches
            assert (y * field.shape[1] + x in scale.sources) == (not touches)


def exact_distances(scale, field, targets, sources):
    """Distances by definition, without steps of gray: pixels and texture, with less weight for means."""

    def patches(numbers):
        windows = sliding_window_view(scale.planes.astype(float), (PATCH_SIZE, PATCH_SIZE), axis=(0, 1))
        chosen = windows[np.divmod(numbers, field.shape[1])]
        pixels, middle = chosen[:, : scale.n_channels], PATCH_SIZE // 2
        return pixels.reshape(*pixels.shape[:2], -1), chosen[:, scale.n_channels :, middle, middle]

    (pixels, texture), (others, other_texture) = patches(targets), patches(sources)
    difference, n_pixels = pixels - others, PATCH_SIZE**2
    squares = np.square(difference).sum(axis=(1, 2))
    means = 0.85 * n_pixels * np.square(difference.mean(axis=2)).sum(axis=1)
    rough = 100 * scale.n_channels * np.square(texture - other_texture).sum(axis=1)
    return squares - means + rough


def test_distances_are_those_of_pixels_texture_and_means(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    scale.planes[scale.hole] = 0.3
    field.comparison.update()
    field.search(1)
    expected = exact_distances(scale, field, field.targets, field.matches)
    np.testing.assert_allclose(field.distances, expected, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("n_channels", [1, 3])
def test_the_search_never_makes_matches_worse(n_channels):
    rng = np.random.default_rng(3)
    image = rng.random((50, 60, n_channels), np.float32)
    hole = np.zeros(image.shape[:2], bool)
    hole[0:14, 20:37] = hole[30:50, 48:60] = True  # at two borders
    scale = finest_scale(image, hole, hole)
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.search(2)
    before = field.distances.copy()
    field.search(2)
    assert (field.distances <= before).all()
    for row, column in zip(*np.divmod(field.matches, field.shape[1]), strict=True):
        assert not hole[row : row + 7, column : column + 7].any()
    fill_by_best(scale, field)
    assert np.isfinite(scale.planes).all()
    assert (scale.planes[~hole][:, :n_channels] == image[~hole]).all()


def test_the_full_search_finds_the_nearest_of_all(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.search_all()
    for number, target in enumerate(field.targets):
        distances = exact_distances(scale, field, np.full(len(scale.sources), target), scale.sources)
        np.testing.assert_allclose(field.distances[number], distances.min(), atol=1e-3)


def test_the_random_search_comes_near_the_full_one(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.search(6)
    best = PatchField(scale, np.random.default_rng(0), 1)
    best.search_all()
    assert not touching(scale.barred).ravel()[field.matches].any()
    assert np.mean(field.distances < best.distances + 0.05) > 0.9  # those of random patches are about 8


def test_matches_are_inherited_from_the_coarser_scale(scale):
    coarser = PatchField(scale.halved(), np.random.default_rng(0), 1)
    coarser.search_all()
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.inherit(coarser)
    sources = np.stack(np.divmod(field.matches, field.shape[1]))
    parents = np.stack(np.divmod(field.targets, field.shape[1])) // 2
    parents = np.minimum(parents, np.array(coarser.shape)[:, None] - 1)
    numbers = coarser.numbers[parents[0] * coarser.shape[1] + parents[1]]
    expected = 2 * np.stack(np.divmod(coarser.matches[numbers], coarser.shape[1]))
    inherited = (numbers >= 0) & (np.abs(sources - expected) <= 1).all(axis=0)
    assert inherited.mean() > 0.5


def test_perfect_matches_give_the_pixels_back(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.search_all()
    original = scale.planes.copy()
    scale.planes[scale.hole] = 0.5  # the matches know better, but for their means
    before = np.abs(scale.planes - original)[scale.hole][:, 0].mean()
    fill_by_best(scale, field)
    assert (scale.planes[~scale.hole] == original[~scale.hole]).all()
    assert np.abs(scale.planes - original)[scale.hole][:, 0].mean() < 0.5 * before
