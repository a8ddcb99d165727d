"""A mask painted by hand: brush, eraser, rectangle, undo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaint_app.model import mask_history
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.mask_origin import MaskOrigin
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.rect import Rect

SHAPE = (40, 56)


def empty(shape=SHAPE) -> MaskHistory:
    return MaskHistory(np.zeros(shape, np.bool_))


def random_mask(seed: int = 0, shape=SHAPE):
    return np.random.default_rng(seed).random(shape) < 0.4


def outside(mask, rect: Rect):
    rest = mask.copy()
    rest[rect.slices] = False
    return rest


@pytest.mark.parametrize(("diameter", "count"), [(1, 1), (2, 4), (3, 9)])
def test_small_brushes_have_their_size(diameter, count):
    history = empty()
    history.begin_stroke(20.3, 30.8, diameter=diameter)
    history.end_stroke()
    assert history.mask.sum() == count
    assert history.mask[20, 30]


@pytest.mark.parametrize("diameter", [1, 4, 7, 12])
def test_brush_marks_what_is_within_its_radius_of_the_line(diameter):
    history = empty()
    history.begin_stroke(10.5, 12.5, diameter=diameter)
    history.extend_stroke(25.5, 40.5)
    points = np.array(((10.5, 12.5), (25.5, 40.5)))
    start, end = points if diameter % 2 else np.rint(points)
    for row, column in np.ndindex(SHAPE):
        center = np.array((row + 0.5, column + 0.5))
        place = np.clip((center - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1)
        distance = np.linalg.norm(center - start - place * (end - start))
        if abs(distance - diameter / 2) > 1e-3:
            assert history.mask[row, column] == (distance < diameter / 2)


def test_brush_has_the_same_shape_wherever_it_is_put_down():
    shapes = []
    for row, column in ((20.01, 20.99), (20.5, 20.5), (20.99, 20.01)):
        history = empty()
        rect = history.begin_stroke(row, column, diameter=5)
        shapes.append(history.mask[rect.slices])
    assert np.array_equal(shapes[0], shapes[1])
    assert np.array_equal(shapes[0], shapes[2])


def test_fast_strokes_leave_no_gap():
    history = empty()
    history.begin_stroke(5, 2, diameter=3)
    history.extend_stroke(35, 53)
    rows = np.flatnonzero(history.mask.any(axis=1))
    assert np.array_equal(rows, np.arange(rows[0], rows[-1] + 1))


def test_eraser_takes_away_what_the_brush_has_painted():
    history = empty()
    for missing in (True, False):
        history.begin_stroke(10, 10, diameter=6, missing=missing)
        history.extend_stroke(20, 30)
        history.end_stroke()
    assert not history.mask.any()


def test_a_stroke_is_one_step():
    start = random_mask()
    history = MaskHistory(start)
    history.begin_stroke(5, 5, diameter=4)
    for column in range(6, 50):
        history.extend_stroke(8 + column % 5, column)
    history.end_stroke()
    painted = history.mask.copy()
    history.undo()
    assert np.array_equal(history.mask, start)
    assert not history.can_undo
    history.redo()
    assert np.array_equal(history.mask, painted)


def test_crossing_its_own_path_does_not_confuse_a_stroke():
    start = random_mask(3)
    history = MaskHistory(start)
    history.begin_stroke(5, 5, diameter=9)
    for row, column in ((30, 30), (5, 30), (30, 5), (5, 5)):
        history.extend_stroke(row, column)
    history.end_stroke()
    history.undo()
    assert np.array_equal(history.mask, start)


def test_a_canceled_stroke_leaves_no_trace():
    start = random_mask(1)
    history = MaskHistory(start)
    history.begin_stroke(5, 5, diameter=9)
    history.extend_stroke(30, 30)
    history.cancel_stroke()
    assert np.array_equal(history.mask, start)
    assert not history.can_undo


def test_strokes_beside_the_picture_change_nothing():
    history = empty()
    assert history.begin_stroke(-50, -50, diameter=9) is None
    assert history.extend_stroke(-50, 500) is None
    assert history.end_stroke() is None
    assert not history.can_undo


def test_painting_over_what_is_missing_is_no_step():
    history = MaskHistory(np.ones(SHAPE, np.bool_))
    history.begin_stroke(5, 5, diameter=9)
    assert history.end_stroke() is None
    assert history.fill(Rect(3, 3, 10, 10)) is None
    assert not history.can_undo


def test_rectangle_is_cut_at_the_border():
    history = empty()
    assert history.fill(Rect(-5, 50, 10, 100)) == Rect(0, 50, 5, 6)
    assert history.mask.sum() == 30


@pytest.mark.parametrize("shape", [SHAPE, (7, 5), (7, 5, 3)])
def test_invert_and_clear_can_be_undone(shape):
    start = random_mask(2, shape)
    history = MaskHistory(start)
    history.invert()
    assert np.array_equal(history.mask, ~start)
    history.clear()
    assert not history.mask.any()
    assert history.clear() is None, "nothing is left to clear"
    history.undo()
    history.undo()
    assert np.array_equal(history.mask, start)


def test_replaced_mask_can_be_undone_and_must_fit():
    start, other = random_mask(2), random_mask(3)
    history = MaskHistory(start)
    history.replace(other)
    assert np.array_equal(history.mask, other)
    history.undo()
    assert np.array_equal(history.mask, start)
    with pytest.raises(ValueError, match="must be"):
        history.replace(other[1:])


def test_a_given_mask_is_neither_painted_nor_unsaved_wherever_undoing_leads():
    history = MaskHistory(random_mask(2))
    states = [(history.origin, history.is_saved)]
    for edit in (
        history.invert,
        lambda: history.replace(random_mask(3)),
        lambda: history.fill(Rect(0, 0, 9, 9)),
        history.mark_saved,
        history.invert,
    ):
        edit()
        states.append((history.origin, history.is_saved))
    given, painted = MaskOrigin(), MaskOrigin(is_painted=True)
    inverted, both = MaskOrigin(is_inverted=True), MaskOrigin(is_painted=True, is_inverted=True)
    states_expected = [(given, True), (inverted, False), (given, True), (painted, False), (painted, True)]
    assert states == [*states_expected, (both, False)]
    for state in ((painted, True), (given, True), (inverted, False), (given, True)):
        history.undo()
        assert (history.origin, history.is_saved) == state
    history.redo()
    assert history.origin == inverted
    history.replace(history.mask.copy())
    assert history.is_saved, "another source holds the same mask"


def test_forgetting_old_steps_forgets_no_painting():
    history = MaskHistory(np.zeros((64, 64), np.bool_), max_bytes=1)
    history.invert()
    history.replace(np.zeros((64, 64), np.bool_))
    history.undo()
    assert history.origin.is_inverted
    assert not history.is_saved


def test_clearing_leaves_nothing_of_what_was_given():
    history = MaskHistory(random_mask(2))
    history.clear()
    assert history.origin == MaskOrigin(is_given=False)
    history.fill(Rect(0, 0, 9, 9))
    assert history.origin == MaskOrigin(is_given=False, is_painted=True)


def test_a_packed_mask_is_the_mask():
    for mask in (random_mask(2), np.stack([random_mask(2), random_mask(3)], axis=2)):
        packed = PackedMask.pack(mask)
        assert np.array_equal(packed.unpack(), mask)
        assert packed.fraction == mask.mean()
        assert packed.same_pixels(PackedMask.pack(mask))
        assert not packed.same_pixels(PackedMask.pack(~mask))
        assert packed.bits.nbytes <= mask.nbytes / 7


def test_a_new_step_forgets_what_was_undone():
    history = empty()
    history.fill(Rect(0, 0, 3, 3))
    history.undo()
    history.fill(Rect(5, 5, 3, 3))
    assert not history.can_redo
    assert history.redo() is None


def test_channels_are_painted_together():
    start = random_mask(5, (*SHAPE, 3))
    history = MaskHistory(start)
    history.begin_stroke(20, 20, diameter=8)
    history.end_stroke()
    changed = history.mask != start
    assert history.mask[20, 20].all()
    assert changed[15:25, 15:25].any()
    history.undo()
    assert np.array_equal(history.mask, start)


def test_the_given_mask_is_not_changed_and_the_view_is_read_only():
    start = random_mask()
    copy = start.copy()
    history = MaskHistory(start)
    history.invert()
    assert np.array_equal(start, copy)
    with pytest.raises(ValueError, match="read-only"):
        history.mask[0, 0] = True


def test_memory_is_bounded_and_the_last_step_is_kept():
    history = MaskHistory(np.zeros((64, 64), np.bool_), max_bytes=1200)
    for _ in range(5):
        history.invert()  # 512 bytes each
    for _ in range(2):
        assert history.undo() is not None
    assert history.undo() is None
    tight = MaskHistory(np.zeros((64, 64), np.bool_), max_bytes=1)
    tight.invert()
    assert tight.can_undo


ACTIONS = st.one_of(
    st.tuples(
        st.just("stroke"),
        st.lists(st.tuples(st.floats(-9, 50), st.floats(-9, 65)), min_size=1, max_size=4),
        st.integers(1, 12),
        st.booleans(),
    ),
    st.tuples(st.just("fill"), st.integers(-5, 45), st.integers(-5, 60), st.booleans()),
    st.tuples(st.sampled_from(["invert", "clear", "undo", "redo"])),
)


def act(history: MaskHistory, action) -> list[Rect | None]:
    if action[0] == "stroke":
        _, points, diameter, missing = action
        rects = [history.begin_stroke(*points[0], diameter=diameter, missing=missing)]
        rects += [history.extend_stroke(*point) for point in points[1:]]
        history.end_stroke()
        return rects
    if action[0] == "fill":
        return [history.fill(Rect(action[1], action[2], 12, 9), missing=action[3])]
    return [getattr(history, action[0])()]


@given(st.lists(ACTIONS, max_size=12))
def test_undoing_everything_gives_the_first_mask_and_redoing_the_last(actions):
    start = random_mask(7)
    history = MaskHistory(start)
    for action in actions:
        act(history, action)
    last, n_undone = history.mask.copy(), 0
    while history.undo() is not None:
        n_undone += 1
    assert np.array_equal(history.mask, start)
    for _ in range(n_undone):
        history.redo()
    assert np.array_equal(history.mask, last)


@given(st.lists(ACTIONS, max_size=8))
def test_nothing_changes_outside_of_the_rectangle_that_is_told(actions):
    history = MaskHistory(random_mask(8))
    for action in actions:
        before = history.mask.copy()
        rects = [rect for rect in act(history, action) if rect is not None]
        told = Rect(0, 0, 0, 0)
        for rect in rects:
            told = told.united(rect)
        assert not outside(before ^ history.mask, told).any()


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
    monkeypatch.setattr(mask_history, "_BAND", 40)
    rng = np.random.default_rng(0)
    before, after = rng.random(shape) < 0.5, rng.random(shape) < 0.5
    history = MaskHistory(before)
    history.replace(after)
    history.undo()
    assert np.array_equal(history.mask, before)
    history.redo()
    assert np.array_equal(history.mask, after)
