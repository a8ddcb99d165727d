"""Only what is missing costs: the same as a computation that leaves nothing out."""

from dataclasses import replace

import numpy as np
import pytest
from blocks import patches_at
from moments import literal_estimates
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core import standard_ground_set
from dictsel_core._util.parallel import single_threaded_blas
from dictsel_core.refinement.rounds import DEFAULT_OPTIONS, grid_offsets, refine_round
from dictsel_core.refinement.search import Block, find_groups, spans
from dictsel_core.restoration.coding import MirroredPatches, SparseCoder


@pytest.fixture(autouse=True)
def one_blas_thread():
    """The library always computes so; the rounding of a product depends on it."""
    with single_threaded_blas:
        yield


#: By a fifth step, conjugate gradients have solved the systems of thin pictures, and rounding decides.
OPTIONS = replace(DEFAULT_OPTIONS, n_steps=4)
#: Every kind of mask: fractions are of random pixels.
DAMAGES = ["scratches", "holes", "text", "border", "block", 0.01, 0.2, 0.5, 0.8, 0.97]
SHAPES = {"odd": (71, 83), "thin": (9, 150), "tall": (140, 13), "several tiles": (80, 110)}


def damage(kind, shape, n_layers=1):
    rng = np.random.default_rng(5)
    mask = np.zeros((*shape, n_layers), bool)
    for layer in range(n_layers):
        if kind == "scratches":
            for row in range(shape[0]):
                column = (row * (layer + 2) // 3) % max(shape[1] - 3, 1)
                mask[row, column : column + 3, layer] = True
        elif kind == "holes":
            for row, column in rng.integers(0, shape, (3, 2)):
                mask[row : row + 12, column : column + 7, layer] = True
        elif kind == "text":
            mask[4::9, 3 + layer :: 2, layer] = mask[6::9, 2::7, layer] = True
        elif kind == "border":
            mask[:3, :, layer] = mask[:, -2:, layer] = mask[-1:, :, layer] = True
        elif kind == "block":
            mask[::2, ::3, layer] = True  # a regular pattern, such as that of a color filter
            mask[3:20, 5:30, layer] = True
        else:
            mask[:, :, layer] = rng.random(shape) < kind
    return mask


def picture(shape, n_channels):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    planes = [0.5 + 0.3 * np.sin(0.4 * rows + 0.7 * columns * (1 + c)) for c in range(n_channels)]
    noise = np.random.default_rng(6).normal(0, 0.03, (*shape, n_channels))
    return np.clip(np.stack(planes, axis=2) + noise, 0, 1).astype(np.float32)


def full_round(planes, missing, search, relaxation, estimator, offsets=(0, 0)):
    """One round that finds the groups of all references, and adds up whole patches, one after the other."""
    size, n_channels = search.size, planes.shape[2]
    sums, weights = np.zeros(planes.shape), np.zeros(planes.shape)
    for down in spans(planes.shape[0], search, offsets[0]):
        for across in spans(planes.shape[1], search, offsets[1]):
            block = Block(down, across)
            everything = np.ones((len(down.references), len(across.references)), bool)
            groups = find_groups(planes, block, search, everything)
            numbers = groups.numbers
            unknown = patches_at(missing[block.region], size, numbers)
            kept = unknown[:, 0].any(axis=(1, 2, 3))
            if not kept.any():
                continue
            patches = patches_at(planes[block.region], size, numbers[kept])
            gaps = unknown[kept][:, : estimator.n_estimated]
            estimates, certain = literal_estimates(estimator, patches, gaps)
            block_sums, block_weights = (np.zeros((*block.shape, n_channels)) for _ in range(2))
            for nearest, values, certainties in zip(numbers[kept], estimates, certain, strict=True):
                for number, estimate, weight in zip(nearest, values, certainties, strict=False):
                    row, column = divmod(int(number), across.n_patches)
                    area = np.s_[row : row + size, column : column + size]
                    weighted = estimate * weight
                    block_sums[area] += weighted.reshape(n_channels, size, size).transpose(1, 2, 0)
                    block_weights[area] += weight.reshape(-1, size, size).transpose(1, 2, 0)
            sums[block.region] += block_sums
            weights[block.region] += block_weights
    change = relaxation * (sums / np.where(weights > 0, weights, 1) - planes)
    new = np.clip(planes + change, 0, 1).astype(np.float32)
    return np.where(missing & (weights > 0), new, planes)


def assert_close(planes, expected, missing):
    """Few pixels differ by much: where systems are ill-conditioned, rounding decides."""
    differences = np.abs(planes - expected)
    assert (differences[~np.broadcast_to(missing, planes.shape)] == 0).all()
    assert np.sqrt(np.mean(np.square(differences))) < 1 / 255


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_round_is_that_of_the_full_computation(kind, shape):
    planes, missing = picture(shape, 1), damage(kind, shape)
    search = OPTIONS.search(0, 3)
    expected = full_round(planes, missing, search, OPTIONS.relaxation, OPTIONS.estimator(0, 3))
    results = [planes.copy() for _ in range(2)]
    for threads, result in enumerate(results, start=1):
        list(refine_round(result, missing, 0, 3, threads=threads, options=OPTIONS))
    assert (results[0] == results[1]).all()
    assert_close(results[0], expected, missing)


@pytest.mark.parametrize("kind", ["scratches", "holes", 0.01, 0.5])
@pytest.mark.parametrize("n_layers", [1, 3], ids=["shared mask", "mask per channel"])
def test_a_round_in_color_is_that_of_the_full_computation(kind, n_layers):
    shape = 61, 83
    planes, missing = picture(shape, 3), damage(kind, shape, n_layers)
    search = OPTIONS.search(2, 3)
    offsets = grid_offsets(2, search.stride)
    expected = full_round(planes, missing, search, 1.0, OPTIONS.estimator(2, 3), offsets)
    list(refine_round(planes, missing, 2, 3, threads=2, options=OPTIONS))
    assert_close(planes, expected, missing)


def test_a_round_reads_the_picture_only():
    """The region of a cell may be the whole picture, which must not be changed on the way."""
    planes = np.full((24, 24, 1), 0.25, np.float32)
    missing = damage(0.5, (24, 24))
    list(refine_round(planes, missing, 0, 3, threads=1, options=OPTIONS))
    assert (planes[~missing] == 0.25).all()
    assert planes == pytest.approx(0.25, abs=1e-6)


def full_estimates(coder, filled, missing, wanted, thinning):
    """Medians over a stack of all votes for all pixels, channel by channel."""
    size = coder.size
    covers = sliding_window_view(np.pad(wanted, size - 1), (size, size)).any(axis=(2, 3))
    rows, columns = np.nonzero(covers)
    used = {1: rows >= 0, 2: (rows + columns) % 2 == 0, 4: (rows % 2 == 0) & (columns % 2 == 0)}[thinning]
    rows, columns = rows[used], columns[used]

    planes = filled.transpose(2, 0, 1)
    rebuilt = np.empty((len(planes), len(rows), size * size), np.float32)
    patches = MirroredPatches(missing.shape, size)
    coder.rebuild(filled, missing, patches, rows, columns, rebuilt, 0)
    return np.stack(
        [
            full_medians(plane, each.reshape(-1, size, size), rows, columns, wanted)
            for plane, each in zip(planes, rebuilt, strict=True)
        ],
        axis=2,
    )


def full_medians(filled, rebuilt, rows, columns, wanted):
    size, (height, width) = rebuilt.shape[1], filled.shape
    votes = np.full((size, size, height + size - 1, width + size - 1), np.nan, np.float32)
    votes[:, :, rows, columns] = rebuilt.transpose(1, 2, 0)
    stack = np.stack(
        [
            votes[size - 1 - i, size - 1 - j, i : i + height, j : j + width]
            for i in range(size)
            for j in range(size)
        ]
    )
    medians = np.full(filled.shape, np.nan, np.float32)
    for row, column in np.argwhere(wanted):
        known = np.sort(stack[:, row, column][~np.isnan(stack[:, row, column])])
        if known.size:
            medians[row, column] = (known[(known.size - 1) // 2] + known[known.size // 2]) / 2
    return np.where(np.isnan(medians), filled, medians)


@pytest.mark.parametrize("fill_weight", [0.0, 0.1])
@pytest.mark.parametrize("thinning", [1, 2, 4])
@pytest.mark.parametrize("kind", DAMAGES)
def test_coding_has_the_bits_of_the_full_computation(kind, thinning, fill_weight, monkeypatch):
    shape = 41, 47
    planes, missing = picture(shape, 3), damage(kind, shape)[:, :, 0]
    atoms = standard_ground_set().atoms[:, 3:60:4]
    # Products of other shapes round.
    monkeypatch.setattr("dictsel_core.restoration.coding._REBUILD_CHUNK", 1 << 20)
    filled = np.where(missing[:, :, None], np.float32(0.4), planes)
    coder = SparseCoder(atoms, 5, fill_weight, thinning=thinning, threads=2)
    expected = full_estimates(coder, filled, missing, missing, thinning)
    for _, pixels, values in coder.estimates(filled, missing, missing):
        filled.reshape(-1, 3)[pixels] = values
    assert (filled == expected).all()
