"""Rectangles of pixels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inpaint_app.model.picture import Rect

SHAPE = (12, 15)
RECTS = st.builds(Rect, st.integers(-4, 14), st.integers(-4, 17), st.integers(-2, 9), st.integers(-2, 9))


def pixels(rect: Rect) -> set[tuple[int, int]]:
    return {
        (row, column)
        for row in range(rect.row, rect.row + rect.height)
        for column in range(rect.column, rect.column + rect.width)
    }


@given(RECTS)
def test_clipping_keeps_the_pixels_within(rect):
    clipped = rect.clipped(SHAPE)
    assert pixels(clipped) == pixels(rect) & set(np.ndindex(SHAPE))
    marked = np.zeros(SHAPE, np.bool_)
    marked[clipped.slices] = True
    assert marked.sum() == len(pixels(clipped))


@given(RECTS, RECTS)
def test_union_is_the_smallest_around_both(first, second):
    united = first.united(second)
    both = pixels(first) | pixels(second)
    assert both <= pixels(united)
    if both:
        rows, columns = {row for row, _ in both}, {column for _, column in both}
        height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
        assert united == Rect(min(rows), min(columns), height, width)


def test_empty_rectangles():
    assert Rect(1, 1, 0, 5).is_empty
    assert Rect(1, 1, 5, -1).is_empty
    assert not Rect(1, 1, 1, 1).is_empty
