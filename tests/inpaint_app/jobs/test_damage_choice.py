"""Choosing among found damage."""

import numpy as np
import pytest

from dictsel_core import DamageAnalysis
from dictsel_core.detection.regions import regions_from_points
from inpaint_app.jobs.damage_choice import DamageChoice, count_chosen, mark_damage, region_near

SHAPE = (20, 30)
BOTH = ("scratches", "dust")


@pytest.fixture
def analysis() -> DamageAnalysis:
    """A certain scratch in row 5, a doubtful one in row 15, and a speck."""

    def row(number: int) -> np.ndarray:
        return np.arange(number * 30, number * 30 + 30)

    lines = regions_from_points(
        SHAPE, np.concatenate([row(5), row(15)]), np.repeat([0, 1], 30), np.array([0.9, 0.3])
    )
    speck = regions_from_points(SHAPE, np.array([10 * 30 + 10]), np.array([0]), np.array([0.8]))
    return DamageAnalysis(SHAPE, {"scratches": lines, "dust": speck})


def test_sensitivity_kinds_and_removed_regions_choose(analysis) -> None:
    nothing = np.zeros(SHAPE, bool)

    def rows(choice: DamageChoice) -> list[int]:
        return np.flatnonzero(mark_damage(nothing, None, analysis, choice).mask.any(axis=1)).tolist()

    assert rows(DamageChoice(BOTH, 0.5)) == [5, 10]
    assert rows(DamageChoice(BOTH, 0.9)) == [5, 10, 15]
    assert rows(DamageChoice(("dust",), 0.9)) == [10]
    assert rows(DamageChoice(BOTH, 0.9, frozenset({0}))) == [10, 15]
    assert rows(DamageChoice()) == []
    assert count_chosen(analysis, DamageChoice(BOTH, 0.9, frozenset({0}))) == {"scratches": 1, "dust": 1}


@pytest.mark.parametrize("channels", [(), (3,)])
def test_what_is_missing_for_other_reasons_stays(analysis, channels) -> None:
    mask = np.zeros((*SHAPE, *channels), bool)
    mask[4:6, :10] = True
    first = mark_damage(mask, None, analysis, DamageChoice(BOTH, 0.5))
    assert first.mask[5].all()
    assert not first.added[5, :10].any()
    painted = first.mask.copy()
    painted[18] = True
    second = mark_damage(painted, first.added, analysis, DamageChoice(("dust",), 0.5))
    assert not second.mask[5, 10:].any()
    assert second.mask[5, :10].all()
    assert second.mask[18].all()


def test_a_click_near_a_region_finds_it(analysis) -> None:
    choice = DamageChoice(BOTH, 0.5)
    assert region_near(analysis, choice, 7, 20) == 0
    assert region_near(analysis, choice, 10, 11) == 2
    assert region_near(analysis, choice, 15, 20) is None, "it is too doubtful to be in the mask"
    assert region_near(analysis, DamageChoice(("dust",)), 5, 25) is None
    assert region_near(analysis, DamageChoice(BOTH, 0.5, frozenset({0})), 5, 5) == 0, "to be brought back"
