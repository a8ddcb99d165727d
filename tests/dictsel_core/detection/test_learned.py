"""What becomes of the network's probabilities: regions, their rims and confidence, and the frame."""

import numpy as np
import pytest
from scipy import ndimage

from dictsel_core.detection import analyze_damage
from dictsel_core.detection.learned import mean_logits
from dictsel_core.detection.regions import regions_from_points
from dictsel_core.detection.rims import Surroundings, frame_of, with_rims


def test_marks_along_an_edge_are_the_frame_and_those_across_it_are_not():
    mask = np.zeros((200, 300), bool)
    mask[20:180, 1:3] = True
    mask[90:96] = True
    frame = frame_of(mask)
    assert frame[20:180, :3].all()
    assert not frame[:, 4:].any()
    assert not frame_of(mask & (np.indices(mask.shape)[1] > 4)).any()
    for turn in range(4):
        np.testing.assert_array_equal(frame_of(np.rot90(mask, turn)), np.rot90(frame, turn))


def test_pieces_of_an_edge_with_small_gaps_are_one_frame():
    mask = np.zeros((200, 300), bool)
    mask[198:, ::3] = True
    assert frame_of(mask)[199, 3:-3].all()
    short = np.zeros((200, 300), bool)
    short[198:, 100:115] = True
    assert not frame_of(short).any()


def test_a_region_ends_where_the_picture_is_as_around_or_no_damage_is_possible():
    shape, rng = (60, 80), np.random.default_rng(0)
    rows, columns = np.indices(shape)
    soft = np.exp(-(((rows - 30) / 2.0) ** 2))
    core = soft > 0.7
    possible = (columns < 60) & (abs(rows - 30) < 9)
    pixels = np.flatnonzero(core)
    regions = regions_from_points(shape, pixels, np.zeros(len(pixels), np.intp), np.array([0.9]))
    for sign in (1, -1):
        plane = (0.5 + sign * 0.4 * soft + rng.normal(0, 0.01, shape)).astype(np.float32)
        wide = np.zeros(shape, bool)
        wide.reshape(-1)[with_rims(regions, plane, possible, Surroundings.of(plane, core)).pixels] = True
        assert wide[(soft > 0.15) & possible].all()
        assert wide[:, :60].sum() <= 11 * 60
        assert wide[:, 62:].sum() == 5 * 18, "a row on each side"
    plain = np.full(shape, 0.5, np.float32)
    rim = with_rims(regions, plain, possible, Surroundings.of(plain, core))
    assert len(rim.pixels) == 80 * 5, "one row on each side, and no more"


def test_a_region_is_followed_into_another():
    plane = np.full((60, 80), 0.2, np.float32)
    plane[30:32] = 0.9
    sure = np.arange(30 * 80, 30 * 80 + 40)
    doubtful = np.arange(30 * 80 + 42, 30 * 80 + 80)
    numbers = np.repeat([0, 1], [len(sure), len(doubtful)])
    regions = regions_from_points(
        plane.shape, np.concatenate([sure, doubtful]), numbers, np.array([0.9, 0.2])
    )
    wide = with_rims(regions, plane, plane > 0.5, Surroundings.of(plane, plane > 0.5))
    first = np.zeros(plane.shape, bool)
    first.reshape(-1)[wide.pixels[wide.numbers() == 0]] = True
    assert first[30:32, :46].all()
    assert not first[:, 50:].any(), "so far, and no farther"


def test_surroundings_are_those_of_what_is_not_marked():
    plane = np.random.default_rng(1).normal(0.5, 0.1, (40, 48)).astype(np.float32)
    mask = np.zeros(plane.shape, bool)
    mask[18:22] = True
    marked = np.where(mask, np.float32(9), plane)
    around = Surroundings.of(marked, mask)
    mean, deviation = around.at(np.array([20 * 48 + 24]), 48)
    assert mean[0] == pytest.approx(0.5, abs=0.05)
    assert deviation[0] == pytest.approx(0.1, abs=0.03)


def test_a_region_is_as_likely_as_its_pixels_are_on_average():
    logits = np.full((40, 60), -5, np.float32)
    logits[5, 5:55] = 0.0
    logits[35, 5:55] = 2.0
    logits[36, 5:55] = -0.5
    _, numbers, means = mean_logits(logits, logits > -1)
    assert numbers.max() == 1
    expected = np.mean(1 / (1 + np.exp([-2.0, 0.5])))
    np.testing.assert_allclose(1 / (1 + np.exp(-means)), [0.5, expected], atol=1e-6)


def test_a_tint_changes_little_if_the_damage_is_gray_or_the_tint_is_that_of_sepia():
    rng = np.random.default_rng(2)
    smooth = ndimage.gaussian_filter(rng.normal(size=(200, 240)), 12)
    gray = 110 + 40 * smooth / np.abs(smooth).max() + rng.normal(0, 2, smooth.shape)
    gray[:, 120:122] = 215
    strong = gray[..., None] * np.array([1.1, 0.8, 0.35])
    strong[:, 120:122] = 215
    sepia = gray[..., None] * np.array([1.1, 0.95, 0.7])
    found = [analyze_damage(each.clip(0, 255).astype(np.uint8)).mask() for each in (gray, strong, sepia)]
    assert found[0][20:180, 120:122].all()
    assert (found[0] != found[1]).mean() < 0.002
    assert found[2][:, 120:122].mean() > 0.9
    assert not (found[2] & ~found[0]).any()
