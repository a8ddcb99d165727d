"""Groups of similar patches."""

from itertools import product

import numpy as np
import pytest

from dictsel_core.restoration.refinement.similar import find_groups
from dictsel_core.restoration.refinement.tiles import Search, Tile, patches_at, spans


def tiles(shape, search, offset=0):
    down, across = (spans(length, search, offset) for length in shape)
    return [Tile(*each) for each in product(down, across)]


@pytest.mark.parametrize(("shape", "offset"), [((8, 8), 0), ((9, 40), 0), ((61, 33), 0), ((9, 61), 3)])
def test_tiles_hold_every_reference_once_with_all_patches_around_it(shape, offset):
    search = Search(size=8, radius=5, n_members=10, stride=4)
    last = np.array(shape) - search.size
    seen = []
    for tile in tiles(shape, search, offset):
        width = tile.horizontal.n_patches

        def place(number, tile=tile, width=width):
            return tile.vertical.start + number // width, tile.horizontal.start + number % width

        assert 0 <= tile.vertical.start < tile.vertical.stop <= shape[0]
        assert 0 <= tile.horizontal.start < tile.horizontal.stop <= shape[1]
        for reference, candidates in zip(tile.references, tile.candidates, strict=True):
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
    for tile in tiles((30, 45), search):
        shape = len(tile.vertical.references), len(tile.horizontal.references)
        wanted = rng.random(shape) < 0.4
        groups = find_groups(picture, tile, search, wanted)
        everything = np.arange(tile.vertical.n_patches * tile.horizontal.n_patches)
        patches = patches_at(picture[tile.region], 4, everything).reshape(len(everything), n_channels, 16)
        found = {int(group[0]): group for group in groups.numbers}
        assert set(found) == set(tile.references[wanted.ravel()].tolist())
        gray = patches.mean(axis=1)
        for reference, candidates in zip(tile.references, tile.candidates, strict=True):
            if int(reference) in found:
                distances = np.square(gray[candidates] - gray[reference]).sum(axis=1)
                width = tile.horizontal.n_patches
                for numbers, own in zip(np.divmod(candidates, width), divmod(reference, width), strict=True):
                    distances += penalty * np.square(numbers - own)
                of_members = dict(zip(candidates.tolist(), distances, strict=True))
                members = [of_members[number] for number in found[int(reference)].tolist()]
                assert members == pytest.approx(np.sort(distances)[:12], abs=0.01)  # they are rounded
        layers = groups.layers.transpose(1, 2, 0) + groups.center
        assert layers == pytest.approx(picture[tile.region], abs=1e-6)


def test_groups_have_members_in_other_images_at_the_same_places():
    rng = np.random.default_rng(0)
    search = Search(size=4, radius=3, n_members=12, stride=2, penalty=0.01)
    images = [rng.random((30, 45, 1)).astype(np.float32) for _ in range(3)]
    for tile in tiles((30, 45), search):
        regions, tall = tile.below_each_other(images)
        wanted = np.ones((len(tile.vertical.references), len(tile.horizontal.references)), bool)
        groups = find_groups(regions, tall, search, wanted)
        everything = np.arange(tile.n_patches)
        patches = np.stack([patches_at(each[tile.region], 4, everything) for each in images])
        patches = patches.reshape(3, len(everything), 16)
        width = tile.horizontal.n_patches
        for group, reference, candidates in zip(
            groups.numbers, tile.references, tile.candidates, strict=True
        ):
            distances = np.square(patches[:, candidates] - patches[0, reference]).sum(axis=2)
            for numbers, own in zip(np.divmod(candidates, width), divmod(reference, width), strict=True):
                distances += 0.01 * np.square(numbers - own)
            rows, columns = np.divmod(group, width)
            plane, rows = np.divmod(rows, tile.plane_height)
            assert group[0] == reference
            assert (np.diff((plane > 0).astype(int)) >= 0).all(), "those of other images come last"
            of_members = dict(zip(candidates.tolist(), distances.T, strict=True))
            members = [of_members[r * width + c][p] for p, r, c in zip(plane, rows, columns, strict=True)]
            assert sorted(members) == pytest.approx(np.sort(distances.ravel())[:12], abs=0.01)
