"""The color of damage: it lacks the tint of a print."""

import numpy as np
import pytest

from dictsel_core.detection.colors import tint_evidence
from dictsel_core.detection.plane import prepare

SHAPE = (80, 120)
TINT = np.array([1.0, 0.85, 0.6])
CRACK, BOW, DOUBTFUL = (
    (slice(10, 13), slice(5, 100)),
    (slice(40, 50), slice(20, 40)),
    (slice(60, 62), slice(5, 60)),
)


def picture(tint=TINT, paper=(1.0, 1.0, 1.0)):
    """A gradient in one tint, with a light crack, a light bow of that tint, and a doubtful light line."""
    gray = np.linspace(40, 200, SHAPE[1]) + np.random.default_rng(0).normal(0, 3, SHAPE)
    gray[BOW] = 190
    image = gray[..., None] * np.asarray(tint)
    for place in (CRACK, DOUBTFUL):
        image[place] = 190 * np.asarray(paper)
    return image.clip(0, 255).astype(np.uint8)


def evidence(image, logits):
    marks = np.zeros(SHAPE, np.intp)
    for number, place in enumerate((CRACK, BOW, DOUBTFUL), 1):
        marks[place] = number
    pixels = np.flatnonzero(marks)
    numbers = marks.reshape(-1)[pixels] - 1
    return tint_evidence(prepare(image), SHAPE, (pixels, numbers), np.array(logits, float))


def test_sure_damage_that_lacks_the_tint_tells_things_from_damage():
    crack, bow, doubtful = evidence(picture(), [3, 1, 0])
    assert crack > 1
    assert bow < -1
    assert doubtful > 1


def test_no_evidence_without_sure_damage():
    assert not evidence(picture(), [1, 1, 0]).any()


def test_no_evidence_if_damage_has_the_tint_too():
    assert not evidence(picture(paper=TINT), [3, 1, 0]).any()


@pytest.mark.parametrize("tint", [(1, 1, 1), (1, 0.99, 0.98)])
def test_no_evidence_in_gray_photographs(tint):
    assert not evidence(picture(tint), [3, 1, 0]).any()


def test_no_evidence_in_photographs_of_many_colors():
    image = np.random.default_rng(1).integers(0, 256, (*SHAPE, 3), np.uint8)
    assert not evidence(image, [3, 1, 0]).any()


def test_regions_of_a_smaller_plane_are_found_in_the_picture():
    large = np.repeat(np.repeat(picture(), 2, axis=0), 2, axis=1)
    marks = np.zeros(SHAPE, np.intp)
    marks[CRACK], marks[BOW] = 1, 2
    pixels = np.flatnonzero(marks)
    numbers = marks.reshape(-1)[pixels] - 1
    crack, bow = tint_evidence(prepare(large), SHAPE, (pixels, numbers), np.array([3.0, 1.0]))
    assert crack > 1 > -1 > bow


def test_color_tells_nothing_of_a_gray_picture():
    assert not tint_evidence(
        prepare(picture()[..., 0]), SHAPE, (np.array([3]), np.array([0])), np.ones(1)
    ).any()


def test_values_that_stand_for_no_data_do_no_harm():
    image = picture().astype(np.float32)
    image[CRACK] = np.finfo(np.float32).max
    image[30, 40] = np.nan
    assert np.isfinite(evidence(image, [3, 1, 0])).all()
    pixels, numbers = np.flatnonzero(np.ones(SHAPE)), np.zeros(SHAPE[0] * SHAPE[1], np.intp)
    assert np.isfinite(tint_evidence(prepare(image), SHAPE, (pixels, numbers), np.ones(1))).all()
