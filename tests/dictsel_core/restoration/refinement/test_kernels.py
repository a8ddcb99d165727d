"""Compiled kernels of the refinement do what NumPy does."""

from dataclasses import replace

import numpy as np
import pytest
from kernels import needs_numba, with_numpy
from moments import exact_moments

from dictsel_core.restoration.refinement.estimator import TileEstimates
from dictsel_core.restoration.refinement.refiner import DEFAULT_OPTIONS, Refiner
from dictsel_core.restoration.refinement.similar import find_groups
from dictsel_core.restoration.refinement.tiles import Search, Tile, patches_at, spans

pytestmark = needs_numba


def texture(shape, n_channels, noise=0.03):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    planes = [0.5 + 0.3 * np.sin(0.4 * rows + 0.7 * columns * (1 + c)) for c in range(n_channels)]
    noises = np.random.default_rng(6).normal(0, noise, (*shape, n_channels))
    return np.clip(np.stack(planes, axis=2) + noises, 0, 1).astype(np.float32)


PICTURES = {
    "texture": texture((70, 90), 3),
    "smooth": texture((50, 60), 1, noise=0),
    "constant": np.full((40, 45, 1), 0.3, np.float32),
    "two values": (texture((60, 40), 1) > 0.5).astype(np.float32),
    "as small as a patch": texture((8, 8), 1),
    "thin": texture((9, 120), 2),
}
SEARCHES = {
    "first round": DEFAULT_OPTIONS.search(0, 4),
    "last round": DEFAULT_OPTIONS.search(3, 4),
    "odd": Search(size=5, radius=4, n_members=7, stride=3),
    "large patches": Search(size=11, radius=6, n_members=12, stride=9, penalty=1e-3),
    "pixels": Search(size=1, radius=2, n_members=5, stride=7),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_groups_are_the_same(picture, search):
    if min(picture.shape[:2]) < search.size:
        return
    down, across = (spans(length, search, 2) for length in picture.shape[:2])
    for tile in (Tile(down[0], across[0]), Tile(down[-1], across[-1])):
        shape = len(tile.vertical.references), len(tile.horizontal.references)
        wanted = np.random.default_rng(1).random(shape) < 0.7
        wanted[0, 0] = True
        found = find_groups(picture, tile, search, wanted)
        expected = with_numpy(lambda tile=tile, wanted=wanted: find_groups(picture, tile, search, wanted))
        np.testing.assert_array_equal(found.numbers, expected.numbers)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_groups_over_several_images_are_the_same(search):
    images = [PICTURES["texture"], PICTURES["texture"][::-1], PICTURES["texture"] + np.float32(0.1)]
    down, across = (spans(length, search, 2) for length in images[0].shape[:2])
    planes, tile = Tile(down[-1], across[0]).below_each_other(images)
    wanted = np.ones((len(tile.vertical.references), len(tile.horizontal.references)), bool)
    found = find_groups(planes, tile, search, wanted)
    expected = with_numpy(lambda: find_groups(planes, tile, search, wanted))
    np.testing.assert_array_equal(found.numbers, expected.numbers)
    assert (found.numbers >= tile.n_patches).any()


@pytest.mark.parametrize("n_layers", [1, 3])
def test_sums_have_the_same_bits(n_layers):
    rng = np.random.default_rng(2)
    values = rng.random((200, 3, 25)).astype(np.float32)
    weights = rng.random((200, n_layers, 25)).astype(np.float32)
    estimates = TileEstimates(rng.integers(0, 16 * 26, 200), values, 5, weights)
    missing = rng.random((20, 30, n_layers)) < 0.4
    found, expected = estimates.summed(missing), with_numpy(lambda: estimates.summed(missing))
    np.testing.assert_array_equal(found.pixels, expected.pixels)
    np.testing.assert_array_equal(found.sums, expected.sums)
    np.testing.assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize("number", [0, 3], ids=["first round", "last round"])
@pytest.mark.parametrize("fraction", [0.05, 0.9])
@pytest.mark.parametrize(("name", "n_layers"), [("texture", 1), ("texture", 3), ("constant", 1), ("thin", 2)])
def test_estimates_differ_less_than_they_are_approximate(name, n_layers, fraction, number, monkeypatch):
    """Both are steps of conjugate gradients in float32."""
    picture, estimator = PICTURES[name][:24, :26], DEFAULT_OPTIONS.estimator(number, 4)
    missing = np.random.default_rng(3).random((*picture.shape[:2], n_layers)) < fraction
    missing[:10, :10] = True
    search = DEFAULT_OPTIONS.search(number, 4, small=n_layers > 1)
    tile = Tile(*(spans(length, search)[0] for length in picture.shape[:2]))

    def estimates():
        found = estimator.estimate(picture, missing, tile, search)
        return found.values, found.weights, patches_at(missing[tile.region], search.size, found.numbers)

    values, weights, gaps = estimates()
    with monkeypatch.context() as patch:
        numpy_values, numpy_weights, _ = with_numpy(estimates)
        patch.setattr("dictsel_core.restoration.refinement.estimator.conditional_moments", exact_moments)
        exact, _, _ = with_numpy(estimates)
    gaps = gaps.reshape(*weights.shape)

    def difference(one, other):
        return np.sqrt(
            np.mean(np.square(one - other, dtype=np.float64), where=np.broadcast_to(gaps, one.shape))
        )

    # Where systems are ill-conditioned, errors of both have the same size, but little else in common.
    assert difference(values, numpy_values) <= 3 * difference(numpy_values, exact) + 1e-6
    assert np.median(np.abs(weights / numpy_weights - 1)[gaps]) < 0.05


@pytest.mark.parametrize(
    ("name", "size"),
    [("texture", 8), ("texture", 2), ("smooth", 8), ("constant", 8), ("as small as a patch", 8)],
)
def test_rounds_agree(name, size):
    picture, options = PICTURES[name], replace(DEFAULT_OPTIONS, size=size)
    missing = np.random.default_rng(3).random((*picture.shape[:2], 1)) < 0.7

    def refined(threads=1):
        planes = picture.copy()
        list(Refiner(missing, threads, options).round(planes, 0, 4))
        return planes

    found = refined()
    np.testing.assert_allclose(found, with_numpy(refined), atol=0.1 / 255)
    np.testing.assert_array_equal(found, refined(threads=3))
