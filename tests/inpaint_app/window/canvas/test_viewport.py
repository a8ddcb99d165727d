"""Zoom and place, as arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaint_app.window.canvas.viewport import MAX_ZOOM, Viewport

PANE = (400.0, 300.0)


def viewport(width: int = 1000, height: int = 500) -> Viewport:
    shared = Viewport()
    shared.set_pane_size("only", *PANE)
    shared.set_picture_size(width, height)
    return shared


def to_pane(shared: Viewport, x: float, y: float) -> tuple[float, float]:
    """Return the screen pixel of a place of the picture."""
    left, top = shared.origin(PANE)
    return left + x * shared.zoom, top + y * shared.zoom


def test_a_new_picture_is_fitted():
    shared = viewport()
    assert shared.is_fitted
    assert shared.zoom == pytest.approx(0.4)
    assert shared.center == (500, 250)


def test_small_pictures_are_enlarged_to_fit_but_not_beyond_the_limit():
    assert viewport(100, 100).zoom == pytest.approx(3)
    assert viewport(1, 1).zoom == MAX_ZOOM


def test_the_smallest_pane_decides():
    shared = viewport()
    shared.set_pane_size("second", 200, 1000)
    assert shared.zoom == pytest.approx(0.2)
    shared.remove_pane("second")
    assert shared.zoom == pytest.approx(0.4)


def test_fitted_pictures_follow_the_size_of_the_pane_and_others_do_not():
    shared = viewport()
    shared.set_pane_size("only", 800, 600)
    assert shared.zoom == pytest.approx(0.8)
    shared.show_actual_size()
    shared.set_pane_size("only", 400, 300)
    assert shared.zoom == 1


def test_another_picture_of_the_same_size_is_seen_at_the_same_place():
    shared = viewport()
    shared.set_zoom(2, at=(100, 100))
    center = shared.center
    shared.set_picture_size(1000, 500)
    assert (shared.zoom, shared.center) == (2, center)
    shared.set_picture_size(999, 500)
    assert shared.is_fitted


@given(st.floats(150, 850), st.floats(120, 380), st.floats(1.5, 40))
def test_the_place_under_the_pointer_stays_there(x, y, zoom):
    shared = viewport()
    shared.set_zoom(2, at=(x, y))
    shared.pan(-40, 20)
    before = to_pane(shared, x, y)
    shared.set_zoom(zoom * 2, at=(x, y))
    assert to_pane(shared, x, y) == pytest.approx(before, abs=1)


def test_panning_moves_the_picture_by_screen_pixels():
    shared = viewport()
    shared.set_zoom(4)
    before = to_pane(shared, 500, 250)
    shared.pan(12, -8)
    after = to_pane(shared, 500, 250)
    assert (after[0] - before[0], after[1] - before[1]) == (12, -8)


def test_the_picture_cannot_be_moved_out_of_sight():
    shared = viewport()
    shared.set_zoom(2)
    shared.pan(1e6, 1e6)
    assert to_pane(shared, 0, 0) == (0, 0)
    shared.pan(-1e6, -1e6)
    assert to_pane(shared, 1000, 500) == PANE


def test_a_picture_narrower_than_the_pane_is_centered():
    shared = viewport(1000, 100)
    shared.set_zoom(1)
    shared.pan(0, 50)
    assert shared.center[1] == 50


@given(st.floats(1e-6, 1e6))
def test_zoom_keeps_within_its_limits(zoom):
    shared = viewport()
    shared.set_zoom(zoom)
    assert shared.min_zoom <= shared.zoom <= MAX_ZOOM
    assert shared.min_zoom <= shared.fit_zoom


@given(st.floats(0.1, 60), st.floats(0, 1000), st.floats(0, 500))
def test_places_go_there_and_back(zoom, x, y):
    shared = viewport()
    shared.set_zoom(zoom)
    assert shared.to_picture(*to_pane(shared, x, y), PANE) == pytest.approx((x, y), abs=1e-6)


def test_a_change_is_told_once_and_no_change_is_not(qtbot):
    shared = viewport()
    with qtbot.waitSignal(shared.changed, timeout=600_000):
        shared.zoom_step(1)
    told = []
    shared.changed.connect(lambda: told.append(1))
    shared.set_zoom(shared.zoom)
    shared.zoom_step(-1)
    assert told == [1]
