"""Which holes are wide, and what they are filled with."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import gaussian_filter

from dictsel_core.completion import (
    completion,
    fill_part,
    fill_wide_parts,
    hole_boxes,
    hole_cells,
    hole_parts,
    wide_parts,
)
from dictsel_core.progress import GeneratorRun


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr(completion, "_N_ITERATIONS", 2)
    monkeypatch.setattr(completion, "_N_MORE", 1)


def waves(shape=(120, 140), n_channels=1):
    """A pattern that repeats itself, of unit range."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    planes = [0.5 + 0.4 * np.sin(rows * 0.9 + c) * np.sin(columns * 0.7) for c in range(n_channels)]
    return np.stack(planes, axis=2).astype(np.float32)


def square(shape, top, left, size):
    mask = np.zeros(shape, bool)
    mask[top : top + size, left : left + size] = True
    return mask


def filled(image, hole, seed=0, threads=1, observed=None):
    planes = np.where(hole[:, :, None], image[~hole].mean(axis=0), image).astype(np.float32)
    observed = ~hole if observed is None else observed
    steps = list(fill_wide_parts(planes, hole, observed, seed, threads))
    return planes, steps


@pytest.mark.parametrize(("size", "is_wide"), [(16, False), (17, True), (40, True)])
def test_holes_are_wide_from_twice_the_reach(size, is_wide):
    hole = np.zeros((100, 100), bool)
    hole[30 : 30 + size, 20:70] = True
    assert (wide_parts(hole, 8) == (hole & is_wide)).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("length", "reach"), [(40, 8), (17, 5)])  # 17 x 17 is a spot
def test_wide_holes_are_found_wherever_they_are(seed, length, reach):
    rng = np.random.default_rng(seed)
    for top, left in rng.integers(-20, 60, (20, 2)):
        mask = np.zeros((101, 107), bool)
        mask[max(top, 0) : max(top + 17, 0), max(left, 0) : max(left + length, 0)] = True
        around = np.pad(mask, reach, constant_values=True)  # as if nothing were observed there
        expected = sliding_window_view(around, (2 * reach + 1,) * 2).all(axis=(2, 3)).any()
        if length == 17 or np.count_nonzero(mask.any(axis=0)) > 24:  # less is a spot too
            assert wide_parts(mask, 8).any() == expected


def test_beyond_the_border_nothing_is_observed():
    for size, is_wide in ((9, True), (8, False)):
        band = np.zeros((60, 60), bool)
        band[:size] = True
        assert wide_parts(band, 8).any() == is_wide


@pytest.mark.parametrize(("size", "is_spot"), [(10, False), (11, True), (16, True)])
def test_a_spot_is_a_small_hole_with_little_else_missing_around_it(size, is_spot):
    spot = square((200, 200), 90, 90, size)
    assert (wide_parts(spot, 8) == (spot & is_spot)).all()
    letters = spot.copy()
    letters[70:84, 60:140] = letters[112:126, 60:140] = True
    assert not wide_parts(letters, 8).any()
    dropouts = spot | (np.random.default_rng(0).random(spot.shape) < 0.3)
    assert not wide_parts(dropouts, 8).any()
    stroke = spot.copy()
    stroke[92:96, 90:130] = True
    assert not wide_parts(stroke, 8).any()


@pytest.mark.parametrize(("contrast", "is_filled"), [(0.1, True), (0.01, False)])
def test_spots_are_filled_where_there_is_texture_around_and_wide_holes_everywhere(contrast, is_filled):
    image = 0.5 + contrast * np.random.default_rng(0).uniform(-1, 1, (120, 140, 1)).astype(np.float32)
    for size, expected in ((14, is_filled), (20, True)):
        hole = square((120, 140), 50, 50, size)
        planes = np.where(hole[:, :, None], np.float32(0.5), image)
        run = GeneratorRun(fill_wide_parts(planes, hole, ~hole, 0, 1))
        assert (run.finish() == (hole & expected)).all()
        assert (planes[hole].std() > contrast / 4) == expected


def test_an_edge_is_no_texture():
    image = np.full((120, 140, 1), 0.2, np.float32)
    image[:, 57:] = 0.8
    hole = square((120, 140), 50, 50, 14)
    assert not GeneratorRun(fill_wide_parts(image, hole, ~hole, 0, 1)).finish().any()


def test_thin_damage_is_never_wide_even_beside_a_hole():
    scratches = np.random.default_rng(0).random((100, 100)) < 0.8
    scratches[50:62] = True
    assert not wide_parts(scratches, 8).any()
    hole = square((100, 100), 10, 10, 30)
    mask = hole.copy()
    mask[20:24] = True
    wide = wide_parts(mask, 8)
    assert wide[hole].all()
    assert not wide[:, 50:].any()


@pytest.mark.parametrize("n_channels", [1, 3])
def test_a_pattern_is_continued(n_channels):
    image = waves(n_channels=n_channels)
    hole = square(image.shape[:2], 40, 50, 30)
    result, steps = filled(image, hole)
    assert (result[~hole] == image[~hole]).all()
    assert np.square(result - image)[hole].mean() < 0.1 * image[hole].var()
    assert steps == sorted(steps)
    assert steps[-1] == 1


def test_the_result_depends_on_the_seed_and_not_on_threads():
    rng = np.random.default_rng(1)
    image = rng.random((90, 90, 1), np.float32)
    hole = square((90, 90), 30, 30, 24)
    first, second, other = filled(image, hole), filled(image, hole, threads=3), filled(image, hole, seed=1)
    assert (first[0] == second[0]).all()
    assert (first[0] != other[0]).any()


def test_restored_pixels_are_copied_only_if_there_is_little_else():
    image = waves()
    hole = square(image.shape[:2], 40, 50, 30)
    image[:, :30] = 0.95  # restored, and unlike all else
    observed = ~hole
    observed[:, :30] = False
    result, _ = filled(image, hole, observed=observed)
    assert np.square(result - waves())[hole].mean() < 0.1 * waves()[hole].var()
    nothing_else, _ = filled(image, hole, observed=np.zeros_like(hole))
    assert np.isfinite(nothing_else).all()


@pytest.mark.parametrize("shape", [(5, 40), (40, 40), (41, 200)])
def test_with_nothing_to_copy_from_the_smooth_estimate_stays(shape):
    hole = np.ones(shape, bool)
    hole[:, -3:] = False
    image = np.random.default_rng(0).random((*shape, 1), np.float32)
    result, steps = filled(image, hole)
    assert (result[~hole] == image[~hole]).all()
    assert (result[hole] == image[~hole].mean(axis=0)).all()
    assert steps[-1] == 1


def parts_of(wide, n_channels=1):
    return hole_parts(hole_boxes(hole_cells(wide), wide.shape), wide.shape, n_channels)


def test_every_pixel_of_a_hole_is_in_one_part_and_large_holes_have_several():
    wide = np.zeros((300, 2600), bool)
    wide[20:60, 20:60] = wide[20:60, 70:110] = wide[100:200, 1000:2500] = True
    parts = parts_of(wide, 3)
    covered = np.zeros(wide.shape, int)
    for part in parts:
        covered[part.region] += part.hole(wide[part.region])
    assert (covered == wide).all()
    assert [part.wave for part in parts] == [0, 0, 1]  # two that share patches, and two parts of the third


def test_holes_are_found_in_blocks():
    wide = square((200, 300), 20, 30, 40) | square((200, 300), 120, 40, 60) | square((200, 300), 150, 250, 33)
    blocks = [(top, left) for top in (0, 64, 128, 192) for left in range(0, 300, 64)]
    cells = [hole_cells(wide[top : top + 64, left : left + 64], top, left) for top, left in blocks[::-1]]
    assert hole_boxes(np.concatenate(cells), wide.shape) == hole_boxes(hole_cells(wide), wide.shape)


def test_holes_do_not_depend_on_each_other():
    image = waves((120, 200))
    one, other = square(image.shape[:2], 40, 30, 30), square(image.shape[:2], 30, 110, 40)
    assert len(parts_of(one | other)) == 2
    both, _ = filled(image, one | other)
    smooth = np.where((one | other)[:, :, None], image[~(one | other)].mean(axis=0), image)
    for part, hole in zip(parts_of(one | other), (other, one), strict=True):
        region = smooth[part.region].astype(np.float32)
        wide = (one | other)[part.region]
        list(fill_part(part, region, wide, ~wide, 0, 1))
        assert (region[hole[part.region]] == both[hole]).all()


def test_texture_keeps_its_contrast_even_if_it_cannot_be_predicted():
    rng = np.random.default_rng(0)
    image = rng.random((90, 90, 1), np.float32)
    hole = square((90, 90), 30, 30, 24)
    result = filled(image, hole)[0]
    assert 0.8 < result[hole].std() / image[~hole].std() < 1.2


def test_a_hole_of_any_shape_is_filled_from_what_may_be_copied():
    image = waves((150, 170), 3)
    rng = np.random.default_rng(3)
    for _ in range(3):
        hole = np.zeros(image.shape[:2], bool)
        for top, left in rng.integers(10, 90, (4, 2)):
            hole[top : top + 50, left : left + rng.integers(10, 50)] = True
        result, _ = filled(image, hole)
        assert np.isfinite(result).all()
        low, high = image[~hole].min(axis=0), image[~hole].max(axis=0)
        assert (result[hole] >= low).all()
        assert (result[hole] <= high).all()


def test_a_smooth_place_does_not_fill_a_hole_in_texture():
    rng = np.random.default_rng(4)
    rough = gaussian_filter(rng.normal(size=(120, 120)), 1.5)
    image = (0.5 + 0.15 * rough / rough.std()).astype(np.float32)[:, :, None]
    image[:, 90:] = 0.5  # fits to everything, and has the cheapest seams
    hole = np.zeros((120, 120), bool)
    hole[40:80, 30:70] = True
    damaged = np.where(hole[:, :, None], np.float32(0.5), image)
    for _ in fill_wide_parts(damaged, hole, ~hole, 0, 1):
        pass
    assert damaged[hole].std() > 0.8 * image[hole].std()


def test_a_hole_shows_what_is_known_of_it_before_it_is_done():
    rows, columns = np.mgrid[:120, :140]
    image = (0.5 + 0.4 * np.sin(rows * 0.2) * np.sin(columns * 0.15)).astype(np.float32)[:, :, None]
    hole = square(image.shape[:2], 30, 40, 50)
    planes = np.where(hole[:, :, None], np.float32(0.5), image)
    contrasts = [float(planes[hole].std()) for _ in fill_wide_parts(planes, hole, ~hole, 0, 1)]
    first_shown = next(number for number, contrast in enumerate(contrasts) if contrast > 0.05)
    assert 0 < first_shown < len(contrasts) / 3
    assert contrasts[-1] > 0.1
