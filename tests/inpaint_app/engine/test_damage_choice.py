"""Choosing among found damage."""

import numpy as np
import pytest

from dictsel_core.detection import DamageAnalysis
from dictsel_core.detection.regions import regions_from_points
from inpaint_app.engine.detect import DamageChoice, FoundDamage, mark_damage
from inpaint_app.model.picture import Rect

SHAPE = (20, 30)
BOTH = ("scratches", "dust")


@pytest.fixture
def damage() -> FoundDamage:
    """A certain light scratch in row 5, a doubtful dark one in row 15, and a light speck."""

    def row(number: int) -> np.ndarray:
        return np.arange(number * 30, number * 30 + 30)

    lines = regions_from_points(
        SHAPE, np.concatenate([row(5), row(15)]), np.repeat([0, 1], 30), np.array([0.9, 0.3])
    )
    speck = regions_from_points(SHAPE, np.array([10 * 30 + 10]), np.array([0]), np.array([0.8]))
    analysis = DamageAnalysis(SHAPE, {"scratches": lines, "dust": speck})
    return FoundDamage(analysis, np.array([0.4, -0.3, 0.2], np.float32))


def test_sensitivity_kinds_and_removed_regions_choose(damage) -> None:
    nothing = np.zeros(SHAPE, bool)

    def rows(choice: DamageChoice) -> list[int]:
        return np.flatnonzero(mark_damage(nothing, None, damage, choice).mask.any(axis=1)).tolist()

    assert rows(DamageChoice(BOTH, 0.5)) == [5, 10]
    assert rows(DamageChoice(BOTH, 0.9)) == [5, 10, 15]
    assert rows(DamageChoice(("dust",), 0.9)) == [10]
    assert rows(DamageChoice(BOTH, 0.9, frozenset({0}))) == [10, 15]
    assert rows(DamageChoice()) == []
    assert damage.count(DamageChoice(BOTH, 0.9, frozenset({0}))) == {"scratches": 1, "dust": 1}


@pytest.mark.parametrize("channels", [(), (3,)])
def test_what_is_missing_for_other_reasons_stays(damage, channels) -> None:
    mask = np.zeros((*SHAPE, *channels), bool)
    mask[4:6, :10] = True
    first = mark_damage(mask, None, damage, DamageChoice(BOTH, 0.5))
    assert first.mask[5].all()
    assert not first.added[5, :10].any()
    painted = first.mask.copy()
    painted[18] = True
    second = mark_damage(painted, first.added, damage, DamageChoice(("dust",), 0.5))
    assert not second.mask[5, 10:].any()
    assert second.mask[5, :10].all()
    assert second.mask[18].all()


def test_a_click_near_a_region_finds_it(damage) -> None:
    choice = DamageChoice(BOTH, 0.5)
    assert damage.region_near(choice, 7, 20) == 0
    assert damage.region_near(choice, 10, 11) == 2
    assert damage.region_near(choice, 15, 20) is None, "it is too doubtful to be in the mask"
    assert damage.region_near(DamageChoice(("dust",)), 5, 25) is None
    assert damage.region_near(DamageChoice(BOTH, 0.5, frozenset({0})), 5, 5) == 0, "to be brought back"


def test_limits_on_tone_size_and_place_choose(damage) -> None:
    def rows(**limits) -> list[int]:
        choice = DamageChoice(BOTH, 0.9, **limits)
        assert sum(damage.count(choice).values()) == damage.chosen(choice).sum()
        return np.flatnonzero(damage.mask(choice).any(axis=1)).tolist()

    assert rows() == [5, 10, 15]
    assert rows(tone="light") == [5, 10]
    assert rows(tone="dark") == [15]
    assert rows(smallest=2) == [5, 15]
    assert rows(largest=29) == [10]
    within = damage.selection(Rect(0, 0, 12, 8), np.ones((12, 8), bool))
    assert rows(within=within) == [5]
    assert damage.mask(DamageChoice(BOTH, 0.9, within=within))[5].sum() == 8, "it is cut off there"


def test_a_line_surrounds_regions_that_lie_inside_by_more_than_a_half(damage) -> None:
    choice, inside = DamageChoice(BOTH, 0.5), np.ones((8, 16), bool)
    assert damage.regions_inside(choice, Rect(4, 0, 8, 16), inside) == {0, 2}
    assert damage.regions_inside(choice, Rect(4, 0, 8, 14), inside[:, :14]) == {2}


def test_marks_are_in_the_order_of_the_picture(damage) -> None:
    assert damage.in_reading_order(DamageChoice(BOTH, 0.9)) == [0, 2, 1]
    assert damage.box(1) == Rect(15, 0, 1, 30)
