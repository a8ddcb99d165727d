"""The size of previews: in the middle of what is visible, and as large as time allows."""

import pytest

from inpaint_app.image.rect import Rect
from inpaint_app.window.session.preview_size import PreviewSize


def test_a_preview_lies_in_the_middle_of_what_is_visible() -> None:
    size = PreviewSize()
    assert size.choose(Rect(10, 20, 32, 40), (72, 96)) == Rect(10, 20, 32, 40)
    assert size.choose(Rect(100, 200, 400, 600), (1000, 1000)) == Rect(220, 420, 160, 160)
    assert size.choose(None, (1000, 2000, 3)) == Rect(420, 920, 160, 160)


def test_nothing_is_chosen_beside_the_picture() -> None:
    assert PreviewSize().choose(Rect(100, 0, 50, 50), (72, 96)).is_empty


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
