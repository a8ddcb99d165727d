"""Kernels of the refinement against short definitions with NumPy."""

import numpy as np
import pytest
from blocks import candidates, patches_at, references
from moments import exact_moments, literal_estimates
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core.refinement.rounds import DEFAULT_OPTIONS
from dictsel_core.refinement.search import Block, Search, find_groups, spans


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


def literal_groups(planes, block, search, wanted):
    """The nearest candidates of each wanted reference, by distances without their last bits."""
    region = planes[block.region]
    low, high = region.min(), region.max()
    gray = (region - (low + high) / np.float32(2)).mean(axis=2, keepdims=True)
    scale = np.float32(2048 // search.size) / max((high - low) / np.float32(2), np.float32(1e-6))
    n_across = block.horizontal.n_patches
    offsets = np.arange(block.n_planes) * block.plane_height * n_across
    groups = []
    for reference, first in zip(
        references(block)[wanted.ravel()], candidates(block)[wanted.ravel()], strict=True
    ):
        numbers = (offsets[:, None] + first).ravel()
        patches = np.rint(patches_at(gray, search.size, numbers).astype(np.float64) * scale)
        own = np.rint(patches_at(gray, search.size, np.array([reference])).astype(np.float64) * scale)
        distances = np.square(patches - own).sum(axis=(1, 2, 3)).astype(np.float32)
        steps = np.subtract(np.divmod(first, n_across), np.reshape(divmod(reference, n_across), (2, 1)))
        penalties = np.float32(search.penalty * float(scale) ** 2) * np.square(steps).sum(
            axis=0, dtype=np.float32
        )
        keys = (distances + np.tile(penalties, block.n_planes)).view(np.int32)
        bits = (1 << (len(keys) - 1).bit_length()) - 1
        keys = (keys & ~bits) | np.arange(len(keys))
        keys[np.flatnonzero(numbers == reference)[0]] = -1
        members = numbers[np.argsort(keys, kind="stable")[: search.n_members]]
        groups.append([*members[members < block.n_patches], *members[members >= block.n_patches]])
    return np.array(groups)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_groups_are_the_same(picture, search):
    if min(picture.shape[:2]) < search.size:
        pytest.skip("no patch fits")
    down, across = (spans(length, search, 2) for length in picture.shape[:2])
    block = Block(down[-1], across[-1])
    shape = len(block.vertical.references), len(block.horizontal.references)
    wanted = np.random.default_rng(1).random(shape) < 0.2
    wanted[0, 0] = True
    found = find_groups(picture, block, search, wanted)
    expected = literal_groups(picture, block, search, wanted)
    if picture.shape[2] == 1:  # the mean of several channels is rounded
        np.testing.assert_array_equal(found.numbers, expected)
    assert (np.sort(found.numbers) == np.sort(expected)).mean() > 0.95


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_groups_over_several_images_are_the_same(search):
    image = PICTURES["texture"][:, :, :1]
    images = [image, image[::-1], image + np.float32(0.01)]
    down, across = (spans(length, search, 2) for length in images[0].shape[:2])
    planes, block = Block(down[-1], across[0]).below_each_other(images)
    wanted = np.zeros((len(block.vertical.references), len(block.horizontal.references)), bool)
    wanted[::3, ::3] = True
    found = find_groups(planes, block, search, wanted)
    np.testing.assert_array_equal(found.numbers, literal_groups(planes, block, search, wanted))
    assert (found.numbers >= block.n_patches).any()


@pytest.mark.parametrize("number", [0, 3], ids=["first round", "last round"])
@pytest.mark.parametrize("fraction", [0.05, 0.9])
@pytest.mark.parametrize(("name", "n_layers"), [("texture", 1), ("texture", 3), ("constant", 1), ("thin", 2)])
def test_estimates_differ_less_than_they_are_approximate(name, n_layers, fraction, number):
    """Both are steps of conjugate gradients in float32."""
    picture, estimator = PICTURES[name][:24, :26], DEFAULT_OPTIONS.estimator(number, 4)
    missing = np.random.default_rng(3).random((*picture.shape[:2], n_layers)) < fraction
    missing[:10, :10] = True
    search = DEFAULT_OPTIONS.search(number, 4, small=n_layers > 1)
    block = Block(*(spans(length, search)[0] for length in picture.shape[:2]))
    found = estimator.estimate(picture, missing, block, search)
    hidden = missing[block.region].any(axis=2)
    incomplete = sliding_window_view(hidden, (search.size, search.size)).any(axis=(2, 3))
    wanted = incomplete[block.vertical.references[:, None], block.horizontal.references]
    numbers = find_groups(picture, block, search, wanted).numbers
    patches = patches_at(picture[block.region], search.size, numbers)
    members = numbers[:, : estimator.n_estimated]
    gaps = patches_at(missing[block.region], search.size, members)
    literal, weights = literal_estimates(estimator, patches, gaps)
    exact, _ = literal_estimates(estimator, patches, gaps, exact_moments)
    gaps = gaps.reshape(*gaps.shape[:3], -1)
    incomplete = gaps.any(axis=(2, 3))
    np.testing.assert_array_equal(found.numbers, members[incomplete])
    literal, weights, exact, gaps = (each[incomplete] for each in (literal, weights, exact, gaps))

    def difference(one, other):
        where = np.broadcast_to(gaps, other.shape)
        return np.sqrt(np.mean(np.square(one.reshape(other.shape) - other), where=where))

    # Where systems are ill-conditioned, errors of both have the same size, but little else in common.
    assert difference(found.values, exact) <= 3 * difference(literal, exact) + 1e-5
    ratios = found.weights.reshape(weights.shape) / weights
    assert np.median(np.abs(ratios - 1)[gaps]) < 0.1
