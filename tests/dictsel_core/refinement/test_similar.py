"""Groups of similar patches."""

from itertools import product

import numpy as np
import pytest
from blocks import candidates as candidates_of
from blocks import patches_at
from blocks import references as references_of

from dictsel_core.refinement.search import Block, Search, find_groups, spans


def blocks(shape, search, offset=0):
    down, across = (spans(length, search, offset) for length in shape)
    return [Block(*each) for each in product(down, across)]


@pytest.mark.parametrize(("shape", "offset"), [((8, 8), 0), ((9, 40), 0), ((61, 33), 0), ((9, 61), 3)])
def test_blocks_hold_every_reference_once_with_all_patches_around_it(shape, offset):
    search = Search(size=8, radius=5, n_members=10, stride=4)
    last = np.array(shape) - search.size
    seen = []
    for block in blocks(shape, search, offset):
        width = block.horizontal.n_patches

        def place(number, block=block, width=width):
            return block.vertical.start + number // width, block.horizontal.start + number % width

        assert 0 <= block.vertical.start < block.vertical.stop <= shape[0]
        assert 0 <= block.horizontal.start < block.horizontal.stop <= shape[1]
        for reference, candidates in zip(references_of(block), candidates_of(block), strict=True):
            row, column = place(reference)
            seen.append((int(row), int(column)))
            rows, columns = place(candidates)
            near = {
                (r, c)
                for r in range(max(0, row - 5), min(last[0], row + 5) + 1)
                for c in range(max(0, column - 5), min(last[1], column + 5) + 1)
            }
            assert near <= set(zip(rows.tolist(), columns.tolist(), strict=True))
            assert rows.max() <= last[0] and columns.max() <= last[1]
    grid = [sorted({0, *range(offset, end + 1, 4), end}) for end in last.tolist()]
    assert sorted(seen) == [(r, c) for r in grid[0] for c in grid[1]]


@pytest.mark.parametrize("penalty", [0.0, 0.01])
@pytest.mark.parametrize("n_channels", [1, 3])
def test_groups_are_the_nearest_patches_with_the_reference_first(n_channels, penalty):
    rng = np.random.default_rng(0)
    search = Search(size=4, radius=3, n_members=12, stride=2, penalty=penalty)
    picture = rng.random((30, 45, n_channels)).astype(np.float32)
    for block in blocks((30, 45), search):
        shape = len(block.vertical.references), len(block.horizontal.references)
        wanted = rng.random(shape) < 0.4
        groups = find_groups(picture, block, search, wanted)
        everything = np.arange(block.vertical.n_patches * block.horizontal.n_patches)
        patches = patches_at(picture[block.region], 4, everything).reshape(len(everything), n_channels, 16)
        found = {int(group[0]): group for group in groups.numbers}
        assert set(found) == set(references_of(block)[wanted.ravel()].tolist())
        gray = patches.mean(axis=1)
        for reference, candidates in zip(references_of(block), candidates_of(block), strict=True):
            if int(reference) in found:
                distances = np.square(gray[candidates] - gray[reference]).sum(axis=1)
                width = block.horizontal.n_patches
                for numbers, own in zip(np.divmod(candidates, width), divmod(reference, width), strict=True):
                    distances += penalty * np.square(numbers - own)
                of_members = dict(zip(candidates.tolist(), distances, strict=True))
                members = [of_members[number] for number in found[int(reference)].tolist()]
                assert members == pytest.approx(np.sort(distances)[:12], abs=0.01)  # they are rounded
        layers = groups.layers.transpose(1, 2, 0) + groups.center
        assert layers == pytest.approx(picture[block.region], abs=1e-6)


def test_groups_have_members_in_other_images_at_the_same_places():
    rng = np.random.default_rng(0)
    search = Search(size=4, radius=3, n_members=12, stride=2, penalty=0.01)
    images = [rng.random((30, 45, 1)).astype(np.float32) for _ in range(3)]
    for block in blocks((30, 45), search):
        regions, tall = block.below_each_other(images)
        wanted = np.ones((len(block.vertical.references), len(block.horizontal.references)), bool)
        groups = find_groups(regions, tall, search, wanted)
        everything = np.arange(block.n_patches)
        patches = np.stack([patches_at(each[block.region], 4, everything) for each in images])
        patches = patches.reshape(3, len(everything), 16)
        width = block.horizontal.n_patches
        for group, reference, candidates in zip(
            groups.numbers, references_of(block), candidates_of(block), strict=True
        ):
            distances = np.square(patches[:, candidates] - patches[0, reference]).sum(axis=2)
            for numbers, own in zip(np.divmod(candidates, width), divmod(reference, width), strict=True):
                distances += 0.01 * np.square(numbers - own)
            rows, columns = np.divmod(group, width)
            plane, rows = np.divmod(rows, block.plane_height)
            assert group[0] == reference
            assert (np.diff((plane > 0).astype(int)) >= 0).all(), "those of other images come last"
            of_members = dict(zip(candidates.tolist(), distances.T, strict=True))
            members = [of_members[r * width + c][p] for p, r, c in zip(plane, rows, columns, strict=True)]
            assert sorted(members) == pytest.approx(np.sort(distances.ravel())[:12], abs=0.01)
