"""Groups of similar patches."""

import numpy as np
import pytest

from dictsel_core.restoration.similar import Search, Tile, patch_rows, similar_patches, spans


def tiles(shape, search):
    return [Tile(down, across) for down in spans(shape[0], search) for across in spans(shape[1], search)]


@pytest.mark.parametrize("shape", [(8, 8), (9, 40), (61, 33)])
def test_tiles_hold_every_reference_once_with_all_patches_around_it(shape):
    search = Search(size=8, radius=5, n_members=10)
    last = np.array(shape) - search.size
    seen = []
    for tile in tiles(shape, search):
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
    grid = [sorted({*range(0, end + 1, 4), end}) for end in last.tolist()]
    assert sorted(seen) == [(r, c) for r in grid[0] for c in grid[1]]


def test_similar_patches_are_the_nearest_ones():
    rng = np.random.default_rng(0)
    search = Search(size=4, radius=3, n_members=12)
    picture = rng.random((20, 20, 1)).astype(np.float32) - 0.5
    for tile in tiles((20, 20), search):
        patches = patch_rows(picture[tile.region], 4)[:, 0]
        groups = similar_patches(patches, tile.references, tile.candidates, 12, 5)
        for reference, candidates, group in zip(tile.references, tile.candidates, groups, strict=True):
            distances = np.square(patches[candidates] - patches[reference]).sum(axis=1)
            order = candidates[np.argsort(distances, kind="stable")]
            assert set(group.tolist()) == set(order[:12].tolist())
            assert set(group[:5].tolist()) == set(order[:5].tolist())
            assert reference in group[:5]
