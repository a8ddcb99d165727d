"""Previews: where one paints or looks, and as large as time allows."""

import numpy as np
import pytest

from inpaint_app.model.picture import Rect
from inpaint_app.window.services.running import PreviewSize, preview_rect

EVERYTHING = np.ones((1000, 1000), bool)


def test_a_preview_lies_in_the_middle_of_what_is_visible() -> None:
    assert preview_rect(EVERYTHING[:72, :96], 160, Rect(10, 20, 32, 40)) == Rect(10, 20, 32, 40)
    assert preview_rect(EVERYTHING, 160, Rect(100, 200, 400, 600)) == Rect(220, 420, 160, 160)
    assert preview_rect(np.ones((1000, 2000, 3), bool), 170) == Rect(415, 915, 170, 170)


def test_it_lies_around_the_focus_as_long_as_that_is_visible() -> None:
    visible = Rect(100, 200, 400, 600)
    assert preview_rect(EVERYTHING, 100, visible, (300, 400)) == Rect(250, 350, 100, 100)
    assert preview_rect(EVERYTHING, 100, visible, (105, 790)) == Rect(100, 700, 100, 100), (
        "within what is seen"
    )
    assert preview_rect(EVERYTHING, 100, visible, (50, 50)) == preview_rect(EVERYTHING, 100, visible)


def test_it_lies_where_something_is_missing() -> None:
    mask = np.zeros((1000, 1000), bool)
    assert preview_rect(mask, 100) == Rect(450, 450, 100, 100)
    mask[100, 100] = mask[700, 600] = True
    assert preview_rect(mask, 100) == Rect(650, 550, 100, 100), "nearest to the middle"


def test_it_is_seen_in_a_large_picture() -> None:
    assert preview_rect(np.ones((3000, 3600), bool), 48).width == 300
    assert preview_rect(np.ones((3000, 9000), bool), 48).width == 320


def test_nothing_is_chosen_beside_the_picture() -> None:
    assert preview_rect(EVERYTHING[:72, :96], 160, Rect(100, 0, 50, 50)).is_empty


@pytest.mark.parametrize(("seconds", "grows"), [(0.05, True), (5.0, False)])
def test_the_next_preview_is_larger_after_a_quick_one_and_smaller_after_a_slow_one(seconds, grows) -> None:
    size = PreviewSize()
    before = size.side
    for _ in range(20):
        size.learn(Rect(0, 0, before, before), seconds)
    assert (size.side > before) is grows
    assert 48 <= size.side <= 768


def test_small_differences_change_nothing() -> None:
    size = PreviewSize()
    before = size.side
    size.learn(Rect(0, 0, before, before), 0.35)
    assert size.side == before
