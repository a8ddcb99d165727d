"""What is looked at: modes, tools and brush, as values."""

import pytest

from inpaint_app.window.document.view_state import (
    COMPARISON,
    ERROR_MAP,
    MAX_BRUSH,
    MIN_BRUSH,
    SIDE_BY_SIDE,
    SPLIT,
    ViewState,
)


def test_the_mode_before_a_comparison_is_remembered() -> None:
    view = ViewState().with_mode(SPLIT).with_mode(COMPARISON)
    assert (view.mode, view.mode_before_comparison) == (COMPARISON, SPLIT)
    assert view.with_mode(ERROR_MAP).mode_before_comparison is ERROR_MAP


@pytest.mark.parametrize(
    ("mode", "panes", "expected"),
    [
        (SPLIT, ("damaged",), SIDE_BY_SIDE),
        (COMPARISON, ("damaged",), COMPARISON),
        (ERROR_MAP, ("damaged", "restored"), ERROR_MAP),
        (SPLIT, (), SPLIT),
    ],
)
def test_a_tool_brings_a_pane_that_it_works_on_into_sight(mode, panes, expected) -> None:
    view = ViewState().with_mode(mode).with_tool("toy", panes)
    assert (view.tool, view.mode) == ("toy", expected)


def test_every_step_changes_the_brush_and_its_size_is_limited() -> None:
    view, seen = ViewState().with_brush(0), []
    assert view.brush_diameter == MIN_BRUSH
    while not seen or view.brush_diameter != seen[-1]:
        seen.append(view.brush_diameter)
        view = view.with_resized_brush(1)
    assert seen[-1] == MAX_BRUSH
    for _ in seen:
        view = view.with_resized_brush(-1)
    assert view.brush_diameter == MIN_BRUSH
