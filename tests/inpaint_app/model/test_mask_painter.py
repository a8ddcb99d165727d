"""A mask painted by hand: brush, eraser, rectangle, undo."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaint_app.model import masks
from inpaint_app.model.masks import MaskDelta, MaskPainter, PackedMask
from inpaint_app.model.picture import Rect

SHAPE = (40, 56)


def empty(shape=SHAPE) -> MaskPainter:
    return MaskPainter(np.zeros(shape, np.bool_))


def random_mask(seed: int = 0, shape=SHAPE):
    return np.random.default_rng(seed).random(shape) < 0.4


def outside(mask, rect: Rect):
    rest = mask.copy()
    rest[rect.slices] = False
    return rest


@pytest.mark.parametrize(("diameter", "count"), [(1, 1), (2, 4), (3, 9)])
def test_small_brushes_have_their_size(diameter, count):
    painter = empty()
    painter.begin_stroke(20.3, 30.8, diameter=diameter)
    painter.end_stroke()
    assert painter.mask.sum() == count
    assert painter.mask[20, 30]


@pytest.mark.parametrize("diameter", [1, 4, 7, 12])
def test_brush_marks_what_is_within_its_radius_of_the_line(diameter):
    painter = empty()
    painter.begin_stroke(10.5, 12.5, diameter=diameter)
    painter.extend_stroke(25.5, 40.5)
    points = np.array(((10.5, 12.5), (25.5, 40.5)))
    start, end = points if diameter % 2 else np.rint(points)
    for row, column in np.ndindex(SHAPE):
        center = np.array((row + 0.5, column + 0.5))
        place = np.clip((center - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1)
        distance = np.linalg.norm(center - start - place * (end - start))
        if abs(distance - diameter / 2) > 1e-3:
            assert painter.mask[row, column] == (distance < diameter / 2)


def test_brush_has_the_same_shape_wherever_it_is_put_down():
    shapes = []
    for row, column in ((20.01, 20.99), (20.5, 20.5), (20.99, 20.01)):
        painter = empty()
        rect = painter.begin_stroke(row, column, diameter=5)
        shapes.append(painter.mask[rect.slices])
    assert np.array_equal(shapes[0], shapes[1])
    assert np.array_equal(shapes[0], shapes[2])


def test_fast_strokes_leave_no_gap():
    painter = empty()
    painter.begin_stroke(5, 2, diameter=3)
    painter.extend_stroke(35, 53)
    rows = np.flatnonzero(painter.mask.any(axis=1))
    assert np.array_equal(rows, np.arange(rows[0], rows[-1] + 1))


def test_eraser_takes_away_what_the_brush_has_painted():
    painter = empty()
    for missing in (True, False):
        painter.begin_stroke(10, 10, diameter=6, missing=missing)
        painter.extend_stroke(20, 30)
        painter.end_stroke()
    assert not painter.mask.any()


def test_a_stroke_is_one_change_that_can_be_taken_back():
    start = random_mask()
    painter = MaskPainter(start)
    painter.begin_stroke(5, 5, diameter=4)
    for column in range(6, 50):
        painter.extend_stroke(8 + column % 5, column)
    covered, delta, _ = painter.end_stroke()
    painted = painter.mask.copy()
    assert not outside(painted ^ start, covered).any()
    painter.flip(delta)
    assert np.array_equal(painter.mask, start)
    painter.flip(delta)
    assert np.array_equal(painter.mask, painted)


def test_crossing_its_own_path_does_not_confuse_a_stroke():
    start = random_mask(3)
    painter = MaskPainter(start)
    painter.begin_stroke(5, 5, diameter=9)
    for row, column in ((30, 30), (5, 30), (30, 5), (5, 5)):
        painter.extend_stroke(row, column)
    painter.flip(painter.end_stroke()[1])
    assert np.array_equal(painter.mask, start)


def test_a_canceled_stroke_leaves_no_trace():
    start = random_mask(1)
    painter = MaskPainter(start)
    painter.begin_stroke(5, 5, diameter=9)
    painter.extend_stroke(30, 30)
    painter.cancel_stroke()
    assert np.array_equal(painter.mask, start)
    assert painter.end_stroke() is None


def test_strokes_beside_the_picture_change_nothing():
    painter = empty()
    assert painter.begin_stroke(-50, -50, diameter=9) is None
    assert painter.extend_stroke(-50, 500) is None
    assert painter.end_stroke() is None


def test_painting_over_what_is_missing_changes_nothing():
    painter = MaskPainter(np.ones(SHAPE, np.bool_))
    painter.begin_stroke(5, 5, diameter=9)
    assert painter.end_stroke()[:2] == (Rect(1, 1, 9, 9), None), "it is told all the same what it covers"
    assert painter.fill(Rect(3, 3, 10, 10)) is None


def test_rectangle_is_cut_at_the_border():
    painter = empty()
    assert painter.fill(Rect(-5, 50, 10, 100)).rect == Rect(0, 50, 5, 6)
    assert painter.mask.sum() == 30


@pytest.mark.parametrize("shape", [SHAPE, (7, 5), (7, 5, 3)])
def test_inverting_and_clearing_can_be_taken_back(shape):
    start = random_mask(2, shape)
    painter = MaskPainter(start)
    inverted = painter.invert()
    assert np.array_equal(painter.mask, ~start)
    cleared = painter.replace(None)
    assert not painter.mask.any()
    assert painter.replace(None) is None, "nothing is left to clear"
    painter.flip(cleared)
    painter.flip(inverted)
    assert np.array_equal(painter.mask, start)


def test_another_mask_can_be_taken_back_and_must_fit():
    start, other = random_mask(2), random_mask(3)
    painter = MaskPainter(start)
    delta = painter.replace(other)
    assert np.array_equal(painter.mask, other)
    painter.flip(delta)
    assert np.array_equal(painter.mask, start)
    with pytest.raises(ValueError, match="must be"):
        painter.replace(other[1:])


@pytest.mark.parametrize("shape", [SHAPE, (7, 5, 3)])
def test_two_changes_are_joined(shape):
    start = random_mask(2, shape)
    painter = MaskPainter(start)
    first, second = painter.fill(Rect(1, 1, 3, 2)), painter.replace(random_mask(4, shape))
    painter.flip(first.joined(second, painter.depth))
    assert np.array_equal(painter.mask, start)
    again = painter.invert()
    assert again.joined(painter.invert(), painter.depth) is None, "nothing is left of them"


def test_a_packed_mask_is_the_mask():
    for mask in (random_mask(2), np.stack([random_mask(2), random_mask(3)], axis=2)):
        packed = PackedMask.pack(mask)
        assert np.array_equal(packed.unpack(), mask)
        assert packed.fraction == mask.mean()
        assert packed.same_pixels(PackedMask.pack(mask))
        assert not packed.same_pixels(PackedMask.pack(~mask))
        assert packed.bits.nbytes <= mask.nbytes / 7


def test_channels_are_painted_together():
    start = random_mask(5, (*SHAPE, 3))
    painter = MaskPainter(start)
    painter.begin_stroke(20, 20, diameter=8)
    _, delta, _ = painter.end_stroke()
    changed = painter.mask != start
    assert painter.mask[20, 20].all()
    assert changed[15:25, 15:25].any()
    painter.flip(delta)
    assert np.array_equal(painter.mask, start)


def test_the_given_mask_is_not_changed_and_the_view_is_read_only():
    start = random_mask()
    copy = start.copy()
    painter = MaskPainter(start)
    painter.invert()
    assert np.array_equal(start, copy)
    with pytest.raises(ValueError, match="read-only"):
        painter.mask[0, 0] = True


ACTIONS = st.one_of(
    st.tuples(
        st.just("stroke"),
        st.lists(st.tuples(st.floats(-9, 50), st.floats(-9, 65)), min_size=1, max_size=4),
        st.integers(1, 12),
        st.booleans(),
    ),
    st.tuples(st.just("fill"), st.integers(-5, 45), st.integers(-5, 60), st.booleans()),
    st.tuples(st.sampled_from(["invert", "clear"])),
)


def act(painter: MaskPainter, action) -> MaskDelta | None:
    if action[0] == "stroke":
        _, points, diameter, missing = action
        rects = [painter.begin_stroke(*points[0], diameter=diameter, missing=missing)]
        rects += [painter.extend_stroke(*point) for point in points[1:]]
        ended = painter.end_stroke()
        delta = None if ended is None else ended[1]
        told = [rect for rect in rects if rect is not None]
        assert (reduce(Rect.united, told) if told else None) == (None if delta is None else delta.rect)
        return delta
    if action[0] == "fill":
        return painter.fill(Rect(action[1], action[2], 12, 9), missing=action[3])
    return painter.invert() if action[0] == "invert" else painter.replace(None)


@given(st.lists(ACTIONS, max_size=12))
def test_taking_everything_back_gives_the_first_mask_and_making_it_again_the_last(actions):
    start = random_mask(7)
    painter = MaskPainter(start)
    deltas = [delta for delta in (act(painter, action) for action in actions) if delta is not None]
    last = painter.mask.copy()
    for delta in reversed(deltas):
        painter.flip(delta)
    assert np.array_equal(painter.mask, start)
    for delta in deltas:
        painter.flip(delta)
    assert np.array_equal(painter.mask, last)


@given(st.lists(ACTIONS, max_size=8))
def test_nothing_changes_outside_of_the_rectangle_that_is_told(actions):
    painter = MaskPainter(random_mask(8))
    for action in actions:
        before = painter.mask.copy()
        delta = act(painter, action)
        told = Rect(0, 0, 0, 0) if delta is None else delta.rect
        assert not outside(before ^ painter.mask, told).any()


def test_long_lines_are_the_same_as_short_ones_in_a_row():
    places = np.linspace((10.5, 20.5), (390.5, 700.5), 77)
    at_once, in_steps = empty((400, 720)), empty((400, 720))
    at_once.begin_stroke(*places[0], diameter=9)
    at_once.extend_stroke(*places[-1])
    in_steps.begin_stroke(*places[0], diameter=9)
    for place in places[1:]:
        in_steps.extend_stroke(*place)
    differing = at_once.mask ^ in_steps.mask
    assert differing.sum() < 0.05 * at_once.mask.sum()  # every place is moved onto a pixel
    assert at_once.mask.sum() == pytest.approx(9 * np.hypot(380, 680) + 64, rel=0.02)


@pytest.mark.parametrize("shape", [(37, 5), (41, 3, 3)])
def test_large_steps_are_undone_band_by_band(monkeypatch, shape) -> None:
    monkeypatch.setattr(masks, "_BAND", 40)
    rng = np.random.default_rng(0)
    before, after = rng.random(shape) < 0.5, rng.random(shape) < 0.5
    painter = MaskPainter(before)
    delta = painter.replace(after)
    painter.flip(delta)
    assert np.array_equal(painter.mask, before)
    painter.flip(delta)
    assert np.array_equal(painter.mask, after)
