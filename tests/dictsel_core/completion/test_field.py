"""The matches of patches around a hole."""

import numpy as np
import pytest

from dictsel_core.completion.field import PatchField
from dictsel_core.completion.scale import PATCH_SIZE, finest_scale, touching
from dictsel_core.completion.votes import fill_by_votes


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


def test_the_full_search_finds_the_nearest_of_all(scale):
    field = PatchField(scale, np.random.default_rng(0), 1)
    field.search_all()
    described = field._describe(field.targets)
    distances = np.square(described[:, None] - field.described_sources).sum(axis=2)
    np.testing.assert_allclose(field.distances, distances.min(axis=1), atol=1e-4)


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
    fill_by_votes(scale, field)
    assert (scale.planes[~scale.hole] == original[~scale.hole]).all()
    assert np.abs(scale.planes - original)[scale.hole][:, 0].mean() < 0.5 * before
